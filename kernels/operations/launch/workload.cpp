// The workload `launch`: how long a kernel takes that does next to nothing. A sample is one launch; all of a
// batch are queued before the host waits, so that a batch of one is the round trip.
#include "kernels/operations/launch/round_trip.h"
#include "kernels/workloads/kernel_points.h"
#include "kernels/workloads/operation_workload.h"

namespace bench::kernels {
namespace {

// Hot and fp32 only: it touches no data that a cache could hold or a dtype could change.
std::vector<KernelPoint> launch_points(const KernelRequest& request, const Device& /*device*/) {
  KernelPoints points(request);
  for (const std::int64_t batch : batches_or(request, {1})) {
    points.add("forward", Dtype::fp32, batch, {}, {});
  }
  return std::move(points).take();
}

const Registration<WorkloadType> BENCH_REGISTERED{operation_workload(OperationType<RoundTrip>{
    .name = "launch",
    .description = "an empty kernel's round trip from the host to the device and back",
    .modes = {"forward"},
    .options = {},
    .describe = [](const WorkloadSpec& spec) { return RoundTrip{.launches = spec.batch}; },
    .single = [](RoundTrip /*trip*/) { return RoundTrip{.launches = 1}; },
    .tolerance = [](const RoundTrip& /*trip*/) { return 0.0; },
    .kernel_points = launch_points,
    .counts_launches = true})};

}  // namespace
}  // namespace bench::kernels
