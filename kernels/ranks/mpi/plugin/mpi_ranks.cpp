// The group of ranks by MPI. Compiled once for each MPI that is found, as a module of its own, for their
// libraries cannot be loaded together; see ../engine.cpp, which opens it.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>
#include <csignal>
#include <map>
#include <memory>
#include <string>

#include "bench/error.h"
#include "bench/ranks.h"

namespace bench::kernels {
namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) {
    return;
  }
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  std::string words(text.data(), static_cast<std::size_t>(length));
  while (!words.empty() && words.back() == '\n') {
    words.pop_back();
  }
  words.erase(0, words.find_last_of('\n') + 1);  // MPICH's are a stack of calls, the cause last
  // Neither library tells memory that it did not get from failures of its own.
  int kind = MPI_SUCCESS;
  MPI_Error_class(code, &kind);
  const bool is_memory = kind == MPI_ERR_NO_MEM || words.find("emory") != std::string::npos;
  const bool vague =
      !is_memory && (kind == MPI_ERR_INTERN || kind == MPI_ERR_OTHER || kind == MPI_ERR_UNKNOWN);
  throw RanksLost(std::string(call) + " failed" +
                  (is_memory ? ", because the host's memory is full: "
                   : vague   ? ", because the host's memory is full or the MPI library failed: "
                             : ": ") +
                  words);
}

// Whole fp32 values where the bytes are, for MPI counts in 31 bits.
struct Amount {
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
};

Amount amount_of(std::int64_t bytes) {
  constexpr std::int64_t kValue = sizeof(float);
  const bool values = bytes % kValue == 0;
  const std::int64_t count = values ? bytes / kValue : bytes;
  if (count > INT_MAX) {
    throw Unsupported("MPI counts to 2^31 - 1: a message holds up to 8 GiB of whole fp32 values");
  }
  return {static_cast<int>(count), values ? MPI_FLOAT : MPI_BYTE};
}

constexpr int kTag = 1;

class MpiPending final : public PendingCollective {
 public:
  explicit MpiPending(MPI_Request request) : request_(request) {}
  void poll() override {
    int done = 0;  // a request that is done is null from then on, and may be asked again
    check(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  }
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): MpiRanks::start() made the call
  void wait() override { check(MPI_Wait(&request_, MPI_STATUS_IGNORE), "MPI_Wait"); }

 private:
  MPI_Request request_;
};

void initialise() {
  int provided = 0;  // by the main thread alone; others, such as the watch's, make no calls
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
  // MPICH's launcher tells of a rank that died by a signal, on which its library ends this one without a
  // word.
  std::signal(SIGUSR1, SIG_IGN);
}

class MpiRanks final : public RankGroup {
 public:
  explicit MpiRanks(MPI_Comm group) : group_(group) {
    MPI_Comm_set_errhandler(group_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(group_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(group_, &size_), "MPI_Comm_size");
  }
  ~MpiRanks() override { group_ == MPI_COMM_WORLD ? MPI_Finalize() : MPI_Comm_free(&group_); }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<RankGroup> first(int ranks) override {
    MPI_Comm made = MPI_COMM_NULL;
    check(MPI_Comm_split(group_, rank_ < ranks ? 0 : MPI_UNDEFINED, rank_, &made), "MPI_Comm_split");
    return made == MPI_COMM_NULL ? nullptr : std::make_unique<MpiRanks>(made);
  }

  std::unique_ptr<PendingCollective> start(const Collective& c) override {
    const auto [count, type] = amount_of(c.bytes);
    const void* const from = c.from == c.to ? MPI_IN_PLACE : c.from;
    MPI_Request request = MPI_REQUEST_NULL;
    switch (c.kind) {
      case CollectiveKind::all_reduce:
        check(MPI_Iallreduce(from, c.to, count, MPI_FLOAT, MPI_SUM, group_, &request), "MPI_Iallreduce");
        break;
      case CollectiveKind::reduce_scatter:
        check(MPI_Ireduce_scatter_block(from, c.to, count, MPI_FLOAT, MPI_SUM, group_, &request),
              "MPI_Ireduce_scatter_block");
        break;
      case CollectiveKind::all_gather:
        check(MPI_Iallgather(part(c), count, type, c.to, count, type, group_, &request), "MPI_Iallgather");
        break;
      case CollectiveKind::send:
        check(MPI_Isend(c.from, count, type, c.peer, kTag, group_, &request), "MPI_Isend");
        break;
      case CollectiveKind::receive:
        check(MPI_Irecv(c.to, count, type, c.peer, kTag, group_, &request), "MPI_Irecv");
        break;
    }
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): MpiPending waits
    return std::make_unique<MpiPending>(request);
  }

  void run(const Collective& c) override {
    const auto [count, type] = amount_of(c.bytes);
    const void* const from = c.from == c.to ? MPI_IN_PLACE : c.from;
    switch (c.kind) {
      case CollectiveKind::all_reduce:
        return check(MPI_Allreduce(from, c.to, count, MPI_FLOAT, MPI_SUM, group_), "MPI_Allreduce");
      case CollectiveKind::reduce_scatter:
        return check(MPI_Reduce_scatter_block(from, c.to, count, MPI_FLOAT, MPI_SUM, group_),
                     "MPI_Reduce_scatter_block");
      case CollectiveKind::all_gather:
        return check(MPI_Allgather(part(c), count, type, c.to, count, type, group_), "MPI_Allgather");
      case CollectiveKind::send:
        return check(MPI_Send(c.from, count, type, c.peer, kTag, group_), "MPI_Send");
      case CollectiveKind::receive:
        return check(MPI_Recv(c.to, count, type, c.peer, kTag, group_, MPI_STATUS_IGNORE), "MPI_Recv");
    }
  }

  // Its name and version are the first line, up to a comma.
  std::map<std::string, std::string> software() const override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    std::string name(text.data(), static_cast<std::size_t>(length));
    name.resize(std::min(name.find_first_of(",\n"), name.size()));
    std::ranges::replace(name, '\t', ' ');
    return {{"mpi", name}};
  }

  void barrier() override { check(MPI_Barrier(group_), "MPI_Barrier"); }

 private:
  // Of an all_gather, where it lies at its place in the whole.
  const void* part(const Collective& c) const {
    return c.from == static_cast<const std::byte*>(c.to) + rank_ * c.bytes ? MPI_IN_PLACE : c.from;
  }

  MPI_Comm group_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace
}  // namespace bench::kernels

// The caller owns the group.
extern "C" bench::RankGroup* bench_join_ranks() {
  bench::kernels::initialise();
  return new bench::kernels::MpiRanks(MPI_COMM_WORLD);  // NOLINT(cppcoreguidelines-owning-memory)
}
