// The workload `copy`: what moving a batch between host and device takes.
#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/copy/copy_workload.h"

namespace bench::kernels {
namespace {

const Registration<WorkloadType> registered{WorkloadType{
    .name = "copy",
    .kind = "operation",
    .description = "copies between host and device memory, pinned, pageable or staged",
    .modes = {"h2d", "d2h", "both"},
    .options = {{"bytes", "1MiB", "of one copy, up to 1024GiB"},
                {"host-memory", "pinned", "pinned, pageable, or staged: pageable by way of a pinned ring"},
                {"pages", "touched", "touched, or cold: the destination's are fresh from the system"},
                {"queue", "device", "device, or own: beside the device's other work"},
                {"node", "any",
                 "NUMA node of the host's memory: any, near, far (from the device), or its number"}},
    .check = [](const WorkloadSpec& spec) { copy_spec(spec); },
    .unsupported = [](const WorkloadSpec& spec, Device& device) -> std::optional<std::string> {
      const Transfers* const transfers = transfers_of(device);
      if (transfers == nullptr) {
        return "this device offers no copies to be measured";
      }
      try {
        return transfers->cannot_hold({.bytes = 1, .node = node_named(copy_spec(spec).node, *transfers)});
      } catch (const Unsupported& error) {
        return error.what();
      }
    },
    .plan = [](const WorkloadSpec& spec, Device& device) { return copy_plan(copy_spec(spec), device); },
    .make = [](const WorkloadSpec& spec, Device& device) -> std::unique_ptr<Workload> {
      return std::make_unique<CopyWorkload>(copy_spec(spec), device);
    }}};

}  // namespace
}  // namespace bench::kernels
