#include "bench/sweep.h"

#include <fmt/format.h>

#include "bench/registry.h"

namespace bench {

void Sweep::prepare(SweepStudy& study) {
  std::set<Dtype> dtypes;
  for (const SweepPoint& point : study.plan.points) {
    dtypes.insert(point.spec.dtype);
  }
  for (const Dtype dtype : dtypes) {
    if (!study.device.unsupported(dtype) && !study.interrupted()) {
      study.report(fmt::format("measuring the peak of {} in {}", study.device.info().id, name_of(dtype)));
      study.document.context.peaks[dtype] = study.device.peaks(dtype);
    }
  }
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
