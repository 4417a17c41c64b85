#include "bench/sweep.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/predicted_step.h"
#include "bench/registry.h"

namespace bench {

void Sweep::prepare(SweepStudy& study) {
  constexpr double kShare = 0.2;    // of the time budget: points have the rest
  constexpr double kUsualNs = 4e8;  // of one dtype, on an idle machine
  std::set<Dtype> dtypes;
  for (const SweepPoint& point : study.plan.points) {
    dtypes.insert(point.spec.dtype);
  }
  const double budget_ns = study.left_ns();
  double expected_ns = kUsualNs;
  for (const Dtype dtype : dtypes) {
    const double before_ns = study.left_ns();
    if (study.interrupted() || budget_ns - before_ns + expected_ns > kShare * budget_ns) {
      return;
    }
    if (!study.device.unsupported(dtype)) {
      study.report(fmt::format("measuring the peak of {} in {}", study.device.info().id, name_of(dtype)));
      study.document.context.peaks[dtype] = study.device.peaks(dtype);
      expected_ns = std::max(expected_ns, before_ns - study.left_ns());
    }
  }
}

Point Sweep::predicted(const SweepPoint& point, Device& device) const {
  return predicted_point(point, device);
}

std::vector<const WorkloadType*> covered_workloads(const SweepType& sweep) {
  std::vector<const WorkloadType*> covered;
  for (const auto& workload : registry<WorkloadType>().entries()) {
    if (sweep.covers && sweep.covers(*workload)) {
      covered.push_back(workload.get());
    }
  }
  return covered;
}

}  // namespace bench
