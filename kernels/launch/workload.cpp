// The workload `launch`: how long a kernel takes that does next to nothing. A sample is one launch; all of a
// batch are queued before the host waits, so that a batch of one is the round trip.
#include "kernels/launch/round_trip.h"
#include "kernels/workloads/operation_workload.h"

namespace bench::kernels {
namespace {

const Registration<WorkloadType> registered{operation_workload(OperationType<RoundTrip>{
    .name = "launch",
    .description = "an empty kernel's round trip from the host to the device and back",
    .modes = {"forward"},
    .options = {},
    .described = [](const WorkloadSpec& spec) { return RoundTrip{.launches = spec.batch}; },
    .single = [](RoundTrip /*trip*/) { return RoundTrip{.launches = 1}; },
    .tolerance = [](const RoundTrip& /*trip*/) { return 0.0; }})};

}  // namespace
}  // namespace bench::kernels
