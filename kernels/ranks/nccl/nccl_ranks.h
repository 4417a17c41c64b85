// A group of ranks whose collectives go from card to card by NCCL. Another group, the control, brings the
// ranks together and has the texts and barriers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/ranks.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/devices/cuda/handles.h"
#include "kernels/ranks/nccl/communicator.h"

namespace bench::kernels::nccl {

class NcclRanks final : public RankGroup {
 public:
  // `control` and `nccl` outlive the group, the card its last call.
  NcclRanks(RankGroup& control, Nccl& nccl, cuda::Card& card);
  ~NcclRanks() override;

  int rank() const override { return control_.rank(); }
  int size() const override { return control_.size(); }
  std::unique_ptr<RankGroup> first(int ranks) override;

  void run(const Collective& collective) override;
  // On the card's own stream.
  void queue(const Collective& collective) override;
  // Asks the card and NCCL in turn, so that a failure elsewhere is seen.
  void finish() override;
  // On a separate stream, which first waits for the work queued on the card's stream so far.
  std::unique_ptr<PendingCollective> start(const Collective& collective) override;
  // On the card's own stream, as one group of NCCL's.
  void exchange(std::span<const Collective> messages) override;
  std::optional<double> waited_on_device_ns() const override { return waited_ns_; }

  void gather(const void* own, void* all, std::int64_t bytes) override { control_.gather(own, all, bytes); }
  void barrier() override { control_.barrier(); }
  void expect_long_wait(bool expected) override { control_.expect_long_wait(expected); }
  void expect_ends() override { control_.expect_ends(); }
  bool carries_host_memory() const override { return false; }
  std::map<std::string, std::string> software() const override;
  void connect() override { communicator(); }
  void abandon() noexcept override;

 private:
  class Pending;
  // The stream's time before and after it waits.
  struct Wait {
    explicit Wait(cuda::Runtime& runtime) : before(runtime), after(runtime) {}
    cuda::CudaEvent before;
    cuda::CudaEvent after;
  };

  NcclRanks(std::unique_ptr<RankGroup> control, std::shared_ptr<Communicators> all, cuda::Card& card);
  Communicator& communicator();
  void enqueue(const Collective& collective, CUstream_st* stream);
  void wait_for(cuda::CudaEvent& done);
  void time_of(const std::function<void()>& queue);
  void record(cuda::CudaEvent& event, CUstream_st* stream);

  std::unique_ptr<RankGroup> own_control_;  // of a part
  RankGroup& control_;
  std::shared_ptr<Communicators> all_;
  cuda::Card& card_;
  cuda::CudaStream stream_;  // of collectives that were started
  cuda::CudaEvent ready_;
  cuda::CudaEvent done_;
  std::vector<std::unique_ptr<Wait>> waits_;  // since finish()
  double waited_ns_ = 0;
  std::shared_ptr<Communicator> communicator_;  // connected when first needed
};

// Checks that every rank has the library, in one version, and a card of one type and of its own. Every rank
// calls it. `nccl` is nullptr where it is missing. Throws UsageError, the same on every rank.
std::unique_ptr<RankGroup> connect_cards(RankGroup& control, Nccl* nccl, const std::string& why_missing,
                                         const Device& device, const LaunchVariables& environment);

}  // namespace bench::kernels::nccl
