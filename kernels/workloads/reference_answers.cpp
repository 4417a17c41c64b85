#include "kernels/workloads/reference_answers.h"

#include <algorithm>
#include <iterator>
#include <numeric>
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

Answers ReferenceAnswers::of(const std::vector<std::int64_t>& rows) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::int64_t> missing;
  std::ranges::copy_if(rows, std::back_inserter(missing),
                       [&](std::int64_t row) { return !known_.contains(row); });
  if (!missing.empty()) {
    Answers computed = compute_(missing);
    for (std::size_t i = 0; i < missing.size(); ++i) {
      known_[missing[i]] = std::move(computed[i]);
    }
  }
  Answers answers;
  for (const std::int64_t row : rows) {
    answers.push_back(known_.at(row));
  }
  return answers;
}

Answers ReferenceAnswers::to_first(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return of(rows);
}

std::shared_ptr<ReferenceAnswers> SharedAnswers::of(const WorkloadSpec& spec,
                                                    ReferenceAnswers::Compute compute, std::int64_t batch) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  auto& known = known_[{spec.mode, spec.options, spec.seed, batch}];
  std::shared_ptr<ReferenceAnswers> answers = known.lock();
  if (answers == nullptr) {
    answers = std::make_shared<ReferenceAnswers>(std::move(compute));
    known = answers;
  }
  return answers;
}

}  // namespace bench::kernels
