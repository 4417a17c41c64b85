#include "kernels/workloads/network/parallel_train.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/fingerprint.h"
#include "kernels/networks/passes/training.h"
#include "kernels/operations/tensor.h"
#include "kernels/workloads/network/train.h"

namespace bench::kernels {
namespace {

ProgramPlan accepted_plan(const NetworkPoint& point, Device& device) {
  if (point.dtype != Dtype::fp32) {
    throw Unsupported(fmt::format("ranks add up gradients in fp32, not in {}", name_of(point.dtype)));
  }
  if (!device.host_accessible()) {
    throw Unsupported(
        "ranks add up gradients in the host's memory; between cards that needs NCCL, which is not used yet");
  }
  if (point.launch != Launch::stream) {
    throw Unsupported("a step that ranks do together is not recorded: give --launch stream");
  }
  return plan_training(point, device);
}

}  // namespace

ParallelTrainWorkload::ParallelTrainWorkload(const NetworkPoint& point, std::int64_t bucket, RankGroup& ranks,
                                             Device& device)
    : ranks_(ranks), trainer_(accepted_plan(point, device), device, point.seed) {
  set_seeded_batch(trainer_, point.seed, static_cast<std::uint64_t>(ranks.rank()));
  if (ranks.size() > 1) {
    find_buckets(bucket);
  }
}

void ParallelTrainWorkload::find_buckets(std::int64_t least) {
  const ProgramPlan& plan = trainer_.plan();
  for (const ParameterGroup& group : plan.groups) {
    if (plan.program.blocks()[group.gradients].bytes == 0) {
      continue;
    }
    for (const UpdateSlice& slice : update_slices(plan, group, least)) {
      buckets_.push_back(
          {.behind = slice.behind, .data = trainer_.gradients(group) + slice.offset, .bytes = slice.bytes});
    }
  }
  std::ranges::stable_sort(buckets_, {}, &Bucket::behind);
}

// Time within the library counts as waiting: while it moves data nothing is computed.
void ParallelTrainWorkload::within_library(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  waited_ns_ += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

// MPI's libraries move data within their calls only.
void ParallelTrainWorkload::run_part(std::size_t begin, std::size_t end) {
  if (pending_.empty()) {
    return trainer_.run_part(begin, end);
  }
  for (std::size_t index = begin; index < end; ++index) {
    trainer_.run_part(index, index + 1);
    within_library([&] { pending_.back()->poll(); });
  }
}

void ParallelTrainWorkload::run_gradients() {
  waited_ns_ = 0;
  std::size_t done = 0;
  for (const Bucket& bucket : buckets_) {
    run_part(done, bucket.behind + 1);
    done = bucket.behind + 1;
    within_library([&] {
      pending_.push_back(ranks_.start({.kind = CollectiveKind::all_reduce,
                                       .from = bucket.data,
                                       .to = bucket.data,
                                       .bytes = bucket.bytes}));
    });
  }
  run_part(done, trainer_.plan().training->optimizer_begin);
  for (const auto& pending : pending_) {
    within_library([&] { pending->wait(); });
  }
  pending_.clear();
}

void ParallelTrainWorkload::step() {
  run_gradients();
  trainer_.run_optimizer();
}

std::vector<std::vector<float>> ParallelTrainWorkload::gradients() {
  std::vector<std::vector<float>> all;
  for (std::size_t index = 0; index < trainer_.plan().parameters.size(); ++index) {
    all.push_back(trainer_.gradient(index));
  }
  return all;
}

bool ParallelTrainWorkload::is_same_everywhere(const std::vector<std::vector<float>>& gradients) {
  std::string own;  // of each tensor
  for (const std::vector<float>& values : gradients) {
    own += fingerprint({reinterpret_cast<const char*>(values.data()), sizeof(float) * values.size()});
  }
  const std::vector<std::string> all = texts_of(ranks_, fingerprint(own));
  return std::ranges::all_of(all, [&](const std::string& other) { return other == all.front(); });
}

Verification ParallelTrainWorkload::verify() {
  trainer_.restart();
  trainer_.run_gradients();
  std::vector<std::vector<float>> expected = gradients();
  for (std::vector<float>& values : expected) {
    std::vector<float> sums(values.size());
    ranks_.run({.kind = CollectiveKind::all_reduce,
                .from = values.data(),
                .to = sums.data(),
                .bytes = static_cast<std::int64_t>(sizeof(float) * values.size())});
    values = std::move(sums);
  }
  run_gradients();
  const std::vector<std::vector<float>> found = gradients();
  Verification verification;
  verification.tolerance = 1e-5;
  std::size_t worst = 0;
  for (std::size_t index = 0; index < found.size(); ++index) {
    const double error = relative_error(found[index], expected[index]);
    if (!(error <= verification.error)) {
      verification.error = error;
      worst = index;
    }
  }
  const bool same = is_same_everywhere(found);
  verification.passed = verification.error <= verification.tolerance && same;
  const PlannedParameter& parameter = trainer_.plan().parameters.at(worst);
  verification.detail = fmt::format(
      "the sums of {} ranks' gradients in {} buckets against those tensor by tensor; the worst: {} {}{}",
      ranks_.size(), buckets_.size(), trainer_.plan().graph[parameter.layer].name, name_of(parameter.slot),
      same ? "" : "; ranks have different sums");
  trainer_.restart();
  return verification;
}

}  // namespace bench::kernels
