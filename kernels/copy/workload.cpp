// The workload `copy`: what moving a batch between host and device takes.
#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/copy/copy_workload.h"

namespace bench::kernels {
namespace {

// The first word is the default.
CommandOption word_option(const char* name, const char* help, const std::vector<std::string>& words) {
  return {.name = name, .default_value = words.front(), .help = help, .words = [words] { return words; }};
}

const Registration<WorkloadType> registered{WorkloadType{
    .name = "copy",
    .kind = "operation",
    .description = "copies between host and device memory, pinned, pageable or staged",
    .modes = {"h2d", "d2h", "both"},
    .options = {{"bytes", "1MiB", "of one copy, up to 1024GiB"},
                word_option("host-memory", "host memory; staged: pageable by way of a pinned ring",
                            {"pinned", "pageable", "staged"}),
                word_option("pages", "cold: the destination's are fresh from the system",
                            {"touched", "cold"}),
                word_option("queue", "own: beside the device's other work", {"device", "own"}),
                word_option("node", "NUMA node of the host's memory; far: from the device",
                            {"any", "near", "far", "N"})},
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
