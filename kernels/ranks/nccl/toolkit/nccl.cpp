// NCCL itself, opened when ranks first need it: linked, it would be loaded (200 MB) whenever the program
// starts.
#include <nccl.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/component.h"
#include "bench/host/shared_library.h"
#include "bench/ranks.h"
#include "bench/registry.h"
#include "kernels/ranks/nccl/nccl.h"
#include "kernels/ranks/nccl/nccl_ranks.h"

namespace bench::kernels::nccl {
namespace {

static_assert(result::kSuccess == ncclSuccess && result::kInProgress == ncclInProgress &&
              sizeof(UniqueId) == sizeof(ncclUniqueId));

constexpr const char* kLibrary = "libnccl.so.2";

class NcclLibrary final : public Nccl {
 public:
  // Throws runtime_error naming the function where the library is too old.
  explicit NcclLibrary(const SharedLibrary& library) : library_(library) {}

  int version(int& version) override { return get_version_(&version); }
  int unique_id(UniqueId& id) override {
    ncclUniqueId made{};
    const ncclResult_t result = get_unique_id_(&made);
    std::copy_n(std::begin(made.internal), id.size(), id.begin());
    return result;
  }
  int init(ncclComm*& comm, int ranks, const UniqueId& id, int rank) override {
    ncclUniqueId given{};
    std::ranges::copy(id, std::begin(given.internal));
    return init_(&comm, ranks, given, rank);
  }
  int async_error(ncclComm* comm, int& error) override {
    ncclResult_t found = ncclSuccess;
    const ncclResult_t result = async_error_(comm, &found);
    error = found;
    return result;
  }
  int finalize(ncclComm* comm) override { return finalize_(comm); }
  int destroy(ncclComm* comm) override { return destroy_(comm); }
  int abort(ncclComm* comm) override { return abort_(comm); }

  int all_reduce(const void* from, void* to, std::size_t values, ncclComm* comm,
                 CUstream_st* stream) override {
    return all_reduce_(from, to, values, ncclFloat32, ncclSum, comm, stream);
  }
  int reduce_scatter(const void* from, void* to, std::size_t values, ncclComm* comm,
                     CUstream_st* stream) override {
    return reduce_scatter_(from, to, values, ncclFloat32, ncclSum, comm, stream);
  }
  int all_gather(const void* from, void* to, std::size_t bytes, ncclComm* comm,
                 CUstream_st* stream) override {
    return all_gather_(from, to, bytes, ncclInt8, comm, stream);
  }
  int send(const void* from, std::size_t bytes, int peer, ncclComm* comm, CUstream_st* stream) override {
    return send_(from, bytes, ncclInt8, peer, comm, stream);
  }
  int receive(void* to, std::size_t bytes, int peer, ncclComm* comm, CUstream_st* stream) override {
    return receive_(to, bytes, ncclInt8, peer, comm, stream);
  }

  int group_start() override { return group_start_(); }
  int group_end() override { return group_end_(); }

  std::string error_text(int code) override { return error_string_(static_cast<ncclResult_t>(code)); }
  std::string last_error() override {
    const char* const words = last_error_(nullptr);  // NCCL ignores the communicator
    return words == nullptr ? "" : words;
  }

 private:
  template <class Function>
  Function* function(const char* name) const {
    auto* const found = library_.find<Function>(name);
    if (found == nullptr) {
      throw std::runtime_error(fmt::format("{} has no function {}", kLibrary, name));
    }
    return found;
  }

  const SharedLibrary& library_;
// NOLINTBEGIN(bugprone-macro-parentheses): a member's name takes no parentheses
#define BENCH_NCCL(member, name) decltype(&::name) member = function<decltype(::name)>(#name)
  // NOLINTEND(bugprone-macro-parentheses)
  BENCH_NCCL(get_version_, ncclGetVersion);
  BENCH_NCCL(get_unique_id_, ncclGetUniqueId);
  BENCH_NCCL(init_, ncclCommInitRank);
  BENCH_NCCL(async_error_, ncclCommGetAsyncError);
  BENCH_NCCL(finalize_, ncclCommFinalize);
  BENCH_NCCL(destroy_, ncclCommDestroy);
  BENCH_NCCL(abort_, ncclCommAbort);
  BENCH_NCCL(all_reduce_, ncclAllReduce);
  BENCH_NCCL(reduce_scatter_, ncclReduceScatter);
  BENCH_NCCL(all_gather_, ncclAllGather);
  BENCH_NCCL(send_, ncclSend);
  BENCH_NCCL(receive_, ncclRecv);
  BENCH_NCCL(group_start_, ncclGroupStart);
  BENCH_NCCL(group_end_, ncclGroupEnd);
  BENCH_NCCL(error_string_, ncclGetErrorString);
  BENCH_NCCL(last_error_, ncclGetLastError);
#undef BENCH_NCCL
};

struct Opened {
  Opened() : library(kLibrary) {
    if (!library) {
      why_missing = library.why_missing();
      return;
    }
    try {
      nccl = std::make_unique<NcclLibrary>(library);
    } catch (const std::runtime_error& error) {
      why_missing = error.what();
    }
  }
  SharedLibrary library;
  std::unique_ptr<NcclLibrary> nccl;
  std::string why_missing;
};

std::unique_ptr<RankGroup> connect(RankGroup& control, Device& device) {
  std::string why_missing;
  Nccl* const nccl = opened_nccl(why_missing);
  return connect_cards(control, nccl, why_missing, device,
                       [](const char* name) { return std::getenv(name); });
}

const Registration<DeviceCollectives> BENCH_REGISTERED{{.name = "cuda", .connect = connect}};

const Registration<Component> component{
    {.name = "NCCL", .describe = [] {
       const std::string path = path_of_library(kLibrary);
       return path.empty() ? "not found, neither in LD_LIBRARY_PATH nor next to the program nor in the "
                             "system's folders"
                           : path;
     }}};

}  // namespace

Nccl* opened_nccl(std::string& why_missing) {
  static auto* const opened = new Opened;  // its threads may live as long as the process
  why_missing = opened->why_missing;
  return opened->nccl.get();
}

}  // namespace bench::kernels::nccl
