// The workload `copy`: what moving a batch between host and device takes.
#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/registry.h"
#include "kernels/workloads/copy/copy_workload.h"
#include "kernels/workloads/options.h"

namespace bench::kernels {
namespace {

enum class HostMemoryWord { pinned, pageable, staged };

const BytesOption kBytes{"bytes", "1MiB", std::int64_t{1} << 40, "size of one copy"};
const WordOption<HostMemoryWord> kHostMemory{.name = "host-memory",
                                             .default_value = "pinned",
                                             .words = {{"pinned", HostMemoryWord::pinned},
                                                       {"pageable", HostMemoryWord::pageable},
                                                       {"staged", HostMemoryWord::staged}},
                                             .help = "host memory; staged: pageable by way of a pinned ring"};
const WordOption<bool> kFirstTouch{.name = "pages",
                                   .default_value = "touched",
                                   .words = {{"touched", false}, {"cold", true}},
                                   .help = "cold: the destination's are fresh from the system"};
const WordOption<bool> kOwnQueue{.name = "queue",
                                 .default_value = "device",
                                 .words = {{"device", false}, {"own", true}},
                                 .help = "own: overlapped with the device's other work"};

// A word, or a NUMA node's number.
CommandOption node_option() {
  return {.name = "node",
          .default_value = "any",
          .help = "NUMA node of the host's memory; far: from the device",
          .words = [] {
            return std::vector<std::string>{"any", "near", "far", "N"};
          }};
}

std::string read_node(const WorkloadSpec& spec) {
  constexpr std::int64_t kMost = 1023;
  const std::string text = option_text(spec, "node", "any");
  const auto number = whole_number(text);
  const bool named = text == "any" || text == "near" || text == "far";
  if (!named && (!number || *number < 0 || *number > kMost)) {
    throw UsageError(
        fmt::format("--node: {} was given; accepted: any, near, far, or a NUMA node's number", quote(text)));
  }
  return text;
}

class ConfiguredCopy final : public ConfiguredWorkload {
 public:
  explicit ConfiguredCopy(const WorkloadSpec& spec) : copy_(copy_spec(spec)) {}

  std::optional<std::string> unsupported(Device& device) const override {
    const Transfers* const transfers = transfers_of(device);
    if (transfers == nullptr) {
      return "this device offers no copies to be measured";
    }
    try {
      return transfers->cannot_hold({.bytes = 1, .node = node_named(copy_.node, *transfers)});
    } catch (const Unsupported& error) {
      return error.what();
    }
  }
  MemoryPlan plan(Device& device) const override { return copy_plan(copy_, device); }
  std::unique_ptr<Workload> make(Device& device) const override {
    return std::make_unique<CopyWorkload>(copy_, device);
  }

 private:
  CopySpec copy_;
};

WorkloadType copy_type() {
  WorkloadType type{
      .name = "copy",
      .kind = "operation",
      .description = "copies between host and device memory, pinned, pageable or staged",
      .modes = {"h2d", "d2h", "both"},
      .options = declare(kBytes, kHostMemory, kFirstTouch, kOwnQueue),
      .configure = [](const WorkloadSpec& spec) { return std::make_shared<ConfiguredCopy>(spec); }};
  type.options.push_back(node_option());
  return type;
}

const Registration<WorkloadType> registered{copy_type()};

}  // namespace

CopySpec copy_spec(const WorkloadSpec& spec) {
  const HostMemoryWord memory = kHostMemory.read(spec);
  return {.to_device = spec.mode != "d2h",
          .to_host = spec.mode != "h2d",
          .host = memory == HostMemoryWord::pinned ? HostKind::pinned : HostKind::pageable,
          .staged = memory == HostMemoryWord::staged,
          .cold_pages = kFirstTouch.read(spec),
          .own_queue = kOwnQueue.read(spec),
          .bytes = kBytes.read(spec),
          .in_flight = spec.batch,
          .node = read_node(spec),
          .seed = spec.seed};
}

}  // namespace bench::kernels
