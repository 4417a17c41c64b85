// One rank's part of a data-parallel training step: every rank has the whole network and samples of its own,
// and the ranks add up their gradients before each updates its parameters, which stay the same.
//
// Gradients are added up in buckets, neighbouring parameters of at least so many bytes, each from the moment
// on when the backward pass has left it, while that goes on with earlier layers (as PyTorch's
// DistributedDataParallel does). A bucket is a part of the block that the gradients lie in: it takes no
// memory of its own. Batch norms normalise over a rank's own samples.
//
// Ranks that share the optimizer each get the sums of their own shares of a bucket alone, update those, and
// then gather the parameters of all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "bench/ranks.h"
#include "bench/workload.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/workloads/network/gradient_buckets.h"
#include "kernels/workloads/network/network_workload.h"
#include "kernels/workloads/network/step.h"

namespace bench::kernels {

class ParallelTrainWorkload final : public RankStep<Trainer> {
 public:
  // The point is of as many ranks as the group has, whose collectives take the device's memory; its gradients
  // are fp32. `bucket`: bytes; where the point's ranks share the optimizer, that of their shares. Throws
  // Unsupported and OutOfMemory.
  ParallelTrainWorkload(NetworkPoint point, std::int64_t bucket, RankGroup& ranks, Device& device);

  void step() override;
  double queued_ns() const override { return device_.host_accessible() ? 0 : queued_ns_; }
  // The sums against those of each parameter's gradients alone, which nothing overlaps; and whether every
  // rank has the same bits, of the gradients or, where the optimizer is shared, of the parameters after a
  // step.
  Verification verify() override;

  std::size_t buckets() const { return buckets_.size(); }
  // Forward and backward passes: every rank's gradients become the sum; where the optimizer is shared, those
  // of its own shares, at the start of their bucket.
  void run_gradients();

 private:
  void run_part(std::size_t begin, std::size_t end);
  void start(const Collective& collective);
  void wait_for_all();
  void add_up(const GradientBucket& bucket);
  void gather_parameters();
  std::vector<float> values_at(const std::byte* data, std::int64_t bytes);
  Verification verify_sums();
  Verification verify_shares();

  bool shares_optimizer_;
  std::vector<GradientBucket> buckets_;
  std::vector<std::unique_ptr<PendingCollective>> pending_;
  double queued_ns_ = 0;
};

}  // namespace bench::kernels
