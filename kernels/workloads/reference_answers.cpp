#include "kernels/workloads/reference_answers.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "bench/error.h"
#include "bench/registry.h"

namespace bench::kernels {

std::unique_ptr<Device> open_reference_device() {
  const DeviceKind* cpu = registry<DeviceKind>().find("cpu");
  if (cpu == nullptr) {
    throw Unsupported("answers are checked on the CPU device, which this program was built without");
  }
  return cpu->open("cpu");
}

Answers ReferenceAnswers::to_first(std::int64_t count) {
  const std::scoped_lock lock(mutex_);
  const auto known = static_cast<std::int64_t>(known_.size());
  if (known < count) {
    std::ranges::move(compute_(known, count - known), std::back_inserter(known_));
  }
  return {known_.begin(), known_.begin() + count};
}

std::shared_ptr<ReferenceAnswers> SharedAnswers::of(const WorkloadSpec& spec,
                                                    ReferenceAnswers::Compute compute) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  auto& known = known_[{spec.mode, spec.options, spec.seed}];
  std::shared_ptr<ReferenceAnswers> answers = known.lock();
  if (answers == nullptr) {
    answers = std::make_shared<ReferenceAnswers>(std::move(compute));
    known = answers;
  }
  return answers;
}

}  // namespace bench::kernels
