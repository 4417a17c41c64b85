#include "kernels/ranks/nccl/nccl_ranks.h"

#include <algorithm>
#include <exception>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/run/rank_consistency.h"
#include "kernels/devices/cuda/errors.h"

namespace bench::kernels::nccl {
namespace {

std::size_t values_in(std::int64_t bytes) {
  return static_cast<std::size_t>(bytes) / sizeof(float);
}

}  // namespace

NcclRanks::NcclRanks(RankGroup& control, Nccl& nccl, cuda::Card& card)
    : control_(control),
      all_(std::make_shared<Communicators>(nccl)),
      card_(card),
      stream_(card.runtime()),
      ready_(card.runtime()),
      done_(card.runtime()) {}

NcclRanks::NcclRanks(std::unique_ptr<RankGroup> control, std::shared_ptr<Communicators> all, cuda::Card& card)
    : own_control_(std::move(control)),
      control_(*own_control_),
      all_(std::move(all)),
      card_(card),
      stream_(card.runtime()),
      ready_(card.runtime()),
      done_(card.runtime()) {}

NcclRanks::~NcclRanks() = default;

std::unique_ptr<RankGroup> NcclRanks::first(int ranks) {
  std::unique_ptr<RankGroup> part = control_.first(ranks);
  return part == nullptr ? nullptr : std::unique_ptr<RankGroup>(new NcclRanks(std::move(part), all_, card_));
}

// The first rank's id is the communicator's.
Communicator& NcclRanks::communicator() {
  if (communicator_ == nullptr) {
    struct Given {
      int result = result::kSuccess;
      UniqueId id{};
    };
    Given own;
    if (rank() == 0) {
      own.result = all_->nccl().unique_id(own.id);
    }
    std::vector<Given> given(static_cast<std::size_t>(size()));
    control_.gather(&own, given.data(), sizeof(own));
    if (given.front().result != result::kSuccess) {
      throw RanksLost(fmt::format("ncclGetUniqueId of rank 0 failed: {} ({})", given.front().result,
                                  all_->nccl().error_text(given.front().result)));
    }
    card_.use();
    communicator_ = all_->make();
    communicator_->init(size(), given.front().id, rank());
  }
  return *communicator_;
}

void NcclRanks::enqueue(const Collective& c, CUstream_st* stream) {
  Communicator& communicator = this->communicator();
  Nccl& nccl = all_->nccl();
  card_.use();
  const auto call = [&](const char* name, const auto& queued) {
    communicator.call(name, [&](ncclComm* comm) { return queued(comm); });
  };
  const auto bytes = static_cast<std::size_t>(c.bytes);
  switch (c.kind) {
    case CollectiveKind::all_reduce:
      return call("ncclAllReduce", [&](ncclComm* comm) {
        return nccl.all_reduce(c.from, c.to, values_in(c.bytes), comm, stream);
      });
    case CollectiveKind::reduce_scatter: {
      // In place NCCL leaves a rank's result where its part was.
      auto* const start = static_cast<std::byte*>(c.to);
      std::byte* const result = c.from == c.to ? start + rank() * c.bytes : start;
      call("ncclReduceScatter", [&](ncclComm* comm) {
        return nccl.reduce_scatter(c.from, result, values_in(c.bytes), comm, stream);
      });
      if (result != start) {
        card_.runtime().check(card_.runtime().copy(start, result, bytes, stream),
                              "cudaMemcpyAsync of a rank's sums to the start");
      }
      return;
    }
    case CollectiveKind::all_gather:
      return call("ncclAllGather",
                  [&](ncclComm* comm) { return nccl.all_gather(c.from, c.to, bytes, comm, stream); });
    case CollectiveKind::send:
      return call("ncclSend", [&](ncclComm* comm) { return nccl.send(c.from, bytes, c.peer, comm, stream); });
    case CollectiveKind::receive:
      return call("ncclRecv",
                  [&](ncclComm* comm) { return nccl.receive(c.to, bytes, c.peer, comm, stream); });
  }
}

void NcclRanks::record(cuda::CudaEvent& event, CUstream_st* stream) {
  card_.runtime().check(card_.runtime().record(event.get(), stream), "cudaEventRecord of a collective");
}

void NcclRanks::run(const Collective& collective) {
  queue(collective);
  finish();
}

void NcclRanks::queue(const Collective& collective) {
  enqueue(collective, card_.stream());
}

void NcclRanks::finish() {
  cuda::Runtime& runtime = card_.runtime();
  card_.use();
  record(done_, card_.stream());
  for (int status = runtime.query(done_.get()); status != cuda::status::kSuccess;
       status = runtime.query(done_.get())) {
    if (status != cuda::status::kNotReady) {
      runtime.check(status, "cudaEventQuery of collectives");
    }
    if (communicator_ != nullptr) {
      communicator_->check();
    }
    std::this_thread::yield();
  }
  double waited_ms = 0;
  for (const auto& wait : waits_) {
    float ms = 0;
    runtime.check(runtime.elapsed_ms(ms, wait->before.get(), wait->after.get()), "cudaEventElapsedTime");
    waited_ms += ms;
  }
  waits_.clear();
  waited_ns_ = waited_ms * 1e6;
}

class NcclRanks::Pending final : public PendingCollective {
 public:
  explicit Pending(NcclRanks& group) : group_(group), done_(group.card_.runtime()) {
    group_.record(done_, group_.stream_.get());
  }
  void poll() override {}  // the card goes on by itself
  void wait() override { group_.wait_for(done_); }

 private:
  NcclRanks& group_;
  cuda::CudaEvent done_;
};

std::unique_ptr<PendingCollective> NcclRanks::start(const Collective& collective) {
  card_.use();
  record(ready_, card_.stream());
  card_.runtime().check(card_.runtime().stream_wait(stream_.get(), ready_.get()), "cudaStreamWaitEvent");
  enqueue(collective, stream_.get());
  return std::make_unique<Pending>(*this);
}

void NcclRanks::exchange(std::span<const Collective> messages) {
  if (messages.empty()) {
    return;
  }
  Communicator& communicator = this->communicator();
  Nccl& nccl = all_->nccl();
  const auto goes_on = [](int code) { return code == result::kSuccess || code == result::kInProgress; };
  const auto queued = [&](const Collective& c, ncclComm* comm) {
    const auto bytes = static_cast<std::size_t>(c.bytes);
    return c.kind == CollectiveKind::send ? nccl.send(c.from, bytes, c.peer, comm, card_.stream())
                                          : nccl.receive(c.to, bytes, c.peer, comm, card_.stream());
  };
  card_.use();
  time_of([&] {
    communicator.call("a group of ncclSend and ncclRecv", [&](ncclComm* comm) {
      int code = nccl.group_start();
      for (std::size_t i = 0; i < messages.size() && goes_on(code); ++i) {
        code = queued(messages[i], comm);
      }
      const int ended = nccl.group_end();
      return goes_on(code) ? ended : code;
    });
  });
}

// Between two events of the card's stream.
void NcclRanks::time_of(const std::function<void()>& queue) {
  auto wait = std::make_unique<Wait>(card_.runtime());
  record(wait->before, card_.stream());
  queue();
  record(wait->after, card_.stream());
  waits_.push_back(std::move(wait));
}

std::map<std::string, std::string> NcclRanks::software() const {
  int version = 0;
  all_->nccl().version(version);
  return {{"nccl", version_text(version)}};
}

void NcclRanks::wait_for(cuda::CudaEvent& done) {
  time_of([&] {
    card_.runtime().check(card_.runtime().stream_wait(card_.stream(), done.get()), "cudaStreamWaitEvent");
  });
}

void NcclRanks::abandon() noexcept {
  try {
    all_->abandon();
  } catch (const std::exception&) {
    // The process ends with the calls that could not be given up.
  }
}

namespace {

constexpr const char* kShared = "NCCL_MULTI_RANK_GPU_ENABLE";

bool shares_cards(const LaunchVariables& environment) {
  const char* const given = environment(kShared);
  return given != nullptr && std::string_view(given) == "1";
}

// Throws UsageError where two ranks have the same card.
void require_own_cards(const std::vector<std::string>& cards, bool sharing_allowed, int version) {
  constexpr int kShares = 23'000;  // 2.30
  for (std::size_t rank = 1; rank < cards.size(); ++rank) {
    const auto same =
        std::find(cards.begin(), cards.begin() + static_cast<std::ptrdiff_t>(rank), cards[rank]);
    if (same - cards.begin() == static_cast<std::ptrdiff_t>(rank)) {
      continue;
    }
    if (!sharing_allowed) {
      throw UsageError(fmt::format(
          "ranks {} and {} have the same GPU, {}: start at most one rank a GPU, or set {}=1 (NCCL 2.30 or "
          "later; it shows that answers are right, not how fast)",
          same - cards.begin(), rank, cards[rank], kShared));
    }
    if (version < kShares) {
      throw UsageError(fmt::format("{}: NCCL 2.30 or later takes several ranks on one GPU, and this is {}",
                                   kShared, version_text(version)));
    }
  }
}

}  // namespace

std::unique_ptr<RankGroup> connect_cards(RankGroup& control, Nccl* nccl, const std::string& why_missing,
                                         const Device& device, const LaunchVariables& environment) {
  const std::vector<std::string> missing = texts_of(control, nccl == nullptr ? why_missing : "");
  for (std::size_t rank = 0; rank < missing.size(); ++rank) {
    if (!missing[rank].empty()) {
      throw UsageError(fmt::format(
          "--device: ranks exchange data between GPUs by NCCL, which rank {} has not: {}; install it (pip "
          "install nvidia-nccl-cu13) and name its folder in LD_LIBRARY_PATH",
          rank, missing[rank]));
    }
  }
  int version = 0;
  nccl->version(version);
  require_consistent(control, {{.what = "version of nccl",
                                .value = version_text(version),
                                .advice = "install the same version on all hosts"}});
  const auto& details = device.info().details;
  const auto uuid = details.find("uuid");
  require_own_cards(texts_of(control, uuid == details.end() ? device.info().id : uuid->second),
                    shares_cards(environment), version);
  return std::make_unique<NcclRanks>(control, *nccl, cuda::card_of(device));
}

}  // namespace bench::kernels::nccl
