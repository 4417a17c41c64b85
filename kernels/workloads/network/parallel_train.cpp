#include "kernels/workloads/network/parallel_train.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/fingerprint.h"
#include "kernels/networks/passes/training.h"
#include "kernels/operations/tensor.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels {
namespace {

constexpr double kSumTolerance = 1e-5;

ProgramPlan accepted_plan(const NetworkPoint& point, Device& device) {
  if (point.dtype != Dtype::fp32) {
    throw Unsupported(fmt::format("ranks add up gradients in fp32, not in {}", name_of(point.dtype)));
  }
  return plan_training(point, device);
}

const NetworkPoint& of_rank(NetworkPoint& point, int rank) {
  point.training.rank = rank;
  return point;
}

}  // namespace

ParallelTrainWorkload::ParallelTrainWorkload(NetworkPoint point, std::int64_t bucket, RankGroup& ranks,
                                             Device& device)
    : RankStep(accepted_plan(of_rank(point, ranks.rank()), device), point.seed, {point, ranks, device},
               device),
      shares_optimizer_(point.training.shared_slice > 0) {
  set_seeded_batch(runner_, point.seed, static_cast<std::uint64_t>(ranks.rank()));
  if (ranks.size() > 1) {
    buckets_ = gradient_buckets(runner_, shares_optimizer_ ? point.training.shared_slice : bucket);
  }
}

// MPI's libraries move data within their calls only.
void ParallelTrainWorkload::run_part(std::size_t begin, std::size_t end) {
  if (pending_.empty()) {
    return runner_.run_part(begin, end);
  }
  for (std::size_t index = begin; index < end; ++index) {
    runner_.run_part(index, index + 1);
    ranks_.within_library([&] { pending_.back()->poll(); });
  }
}

void ParallelTrainWorkload::start(const Collective& collective) {
  if (collective.bytes > 0) {
    ranks_.within_library([&] { pending_.push_back(ranks_.group().start(collective)); });
  }
}

void ParallelTrainWorkload::wait_for_all() {
  for (const auto& pending : pending_) {
    ranks_.within_library([&] { pending->wait(); });
  }
  pending_.clear();
}

void ParallelTrainWorkload::add_up(const GradientBucket& bucket) {
  const auto in_place = [&](CollectiveKind kind, std::byte* data, std::int64_t bytes) {
    start({.kind = kind, .from = data, .to = data, .bytes = bytes});
  };
  if (!shares_optimizer_) {
    return in_place(CollectiveKind::all_reduce, bucket.data, bucket.bytes);
  }
  const auto [each, rest] = shares_of(bucket.bytes, ranks_.size());
  in_place(CollectiveKind::reduce_scatter, bucket.data, each);
  in_place(CollectiveKind::all_reduce, bucket.data + ranks_.size() * each, rest);
}

void ParallelTrainWorkload::run_gradients() {
  ranks_.restart_waiting();
  std::size_t done = 0;
  for (const GradientBucket& bucket : buckets_) {
    run_part(done, bucket.behind + 1);
    done = bucket.behind + 1;
    add_up(bucket);
  }
  run_part(done, runner_.plan().training->optimizer_begin);
  wait_for_all();
}

void ParallelTrainWorkload::gather_parameters() {
  for (const GradientBucket& bucket : buckets_) {
    const std::int64_t each = shares_of(bucket.bytes, ranks_.size()).each;
    start({.kind = CollectiveKind::all_gather,
           .from = bucket.weights + ranks_.rank() * each,
           .to = bucket.weights,
           .bytes = each});
  }
  wait_for_all();
}

void ParallelTrainWorkload::step() {
  const auto start = std::chrono::steady_clock::now();
  run_gradients();
  runner_.run_optimizer();
  if (shares_optimizer_) {
    gather_parameters();
  }
  queued_ns_ = std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
  ranks_.group().finish();
}

std::vector<float> ParallelTrainWorkload::values_at(const std::byte* data, std::int64_t bytes) {
  std::vector<float> values(static_cast<std::size_t>(bytes) / sizeof(float));
  device_.synchronize();
  device_.download(values.data(), data, bytes);
  return values;
}

Verification ParallelTrainWorkload::verify() {
  Verification verification = shares_optimizer_ ? verify_shares() : verify_sums();
  runner_.restart();
  return verification;
}

Verification ParallelTrainWorkload::verify_sums() {
  runner_.restart();
  runner_.run_gradients();
  std::vector<std::vector<float>> expected = runner_.all_gradients();
  for (std::vector<float>& values : expected) {
    ranks_.run(CollectiveKind::all_reduce, values);
  }
  run_gradients();
  ranks_.group().finish();
  const std::vector<std::vector<float>> found = runner_.all_gradients();
  Verification verification;
  verification.tolerance = kSumTolerance;
  std::size_t worst = 0;
  std::string bits;  // of each tensor
  for (std::size_t index = 0; index < found.size(); ++index) {
    const double error = relative_error(found[index], expected[index]);
    if (!(error <= verification.error)) {
      verification.error = error;
      worst = index;
    }
    bits += fingerprint_of(found[index]);
  }
  const bool same = ranks_.have_the_same(fingerprint(bits));
  verification.passed = verification.error <= verification.tolerance && same;
  const PlannedParameter& parameter = runner_.plan().parameters.at(worst);
  verification.detail = fmt::format(
      "the sums of {} ranks' gradients in {} buckets against those tensor by tensor; the worst: {} {}{}",
      ranks_.size(), buckets_.size(), runner_.plan().graph[parameter.layer].name, name_of(parameter.slot),
      same ? "" : "; ranks have different sums");
  return verification;
}

Verification ParallelTrainWorkload::verify_shares() {
  runner_.restart();
  runner_.run_gradients();
  std::vector<std::vector<float>> expected;  // of this rank's shares, bucket by bucket
  for (const GradientBucket& bucket : buckets_) {
    std::vector<float> sums = values_at(bucket.data, bucket.bytes);
    ranks_.run(CollectiveKind::all_reduce, sums);
    const auto each =
        static_cast<std::ptrdiff_t>(shares_of(bucket.bytes, ranks_.size()).each / sizeof(float));
    const auto own = sums.begin() + ranks_.rank() * each;
    expected.emplace_back(own, own + each);
  }
  run_gradients();
  ranks_.group().finish();
  Verification verification;
  verification.tolerance = kSumTolerance;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::int64_t each = shares_of(buckets_[i].bytes, ranks_.size()).each;
    const double error = each == 0 ? 0 : relative_error(values_at(buckets_[i].data, each), expected[i]);
    verification.error = error <= verification.error ? verification.error : error;
  }
  runner_.restart();
  step();
  std::string bits;
  for (const GradientBucket& bucket : buckets_) {
    bits += fingerprint_of(values_at(bucket.weights, bucket.bytes));
  }
  const bool same = ranks_.have_the_same(fingerprint(bits));
  verification.passed = verification.error <= verification.tolerance && same;
  verification.detail = fmt::format(
      "this rank's shares of the sums of {} ranks' gradients, in {} buckets, against whole buckets alone; "
      "and "
      "the parameters after a step{}",
      ranks_.size(), buckets_.size(), same ? "" : "; ranks have different parameters");
  return verification;
}

}  // namespace bench::kernels
