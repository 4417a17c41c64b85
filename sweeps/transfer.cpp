// What does it take to move a batch to the device, and does pinned memory pay?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "bench/error.h"
#include "bench/measure/units.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "sweeps/series/points.h"
#include "sweeps/transfer/findings.h"
#include "sweeps/transfer/prove.h"
#include "sweeps/transfer/sizes.h"
#include "sweeps/transfer/studied.h"
#include "sweeps/transfer/tables.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;

const WorkloadType& copy_type() {
  const WorkloadType* const type = registry<WorkloadType>().find("copy");
  if (type == nullptr) {
    throw UsageError("--sweep transfer needs the workload copy, which this program was built without");
  }
  return *type;
}

struct Series {
  std::string direction;
  std::string kind;
  std::int64_t at_once = 1;
  bool cold_pages = false;
};

class Planner {
 public:
  Planner(const SweepRequest& request, Device& device)
      : options_(transfer_options(request)),
        own_memory_is_hosts_(device.host_accessible()),
        seed_(request.seed),
        type_(copy_type()) {}

  SweepPlan run() && {
    for (const std::string& direction : options_.directions) {
      for (const std::string& kind : options_.kinds) {
        for (const std::int64_t at_once : options_.at_once) {
          // A ring is shared, and both ways at once are several already.
          if (at_once == 1 || (kind != "staged" && direction != "both")) {
            add_series({.direction = direction, .kind = kind, .at_once = at_once});
          }
        }
        // Pinned pages are touched when they are locked. A device that has pages of its own never gets fresh
        // ones.
        const bool single = std::ranges::find(options_.at_once, 1) != options_.at_once.end();
        if (single && kind == "pageable" &&
            (direction == "d2h" || (direction == "h2d" && own_memory_is_hosts_))) {
          add_series({.direction = direction, .kind = kind, .at_once = 1, .cold_pages = true});
        }
      }
    }
    if (plan_.points.empty()) {
      throw UsageError(
          fmt::format("--in-flight: {} was given; accepted with --directions {} and --host-kinds {}: 1, for "
                      "several at once are copied one way only, from pinned or pageable memory",
                      fmt::join(options_.at_once, ","), fmt::join(options_.directions, ","),
                      fmt::join(options_.kinds, ",")));
    }
    // Small ones of every series come first, so that a short budget leaves out large ones.
    std::ranges::stable_sort(
        plan_.points, {}, [](const SweepPoint& point) { return point.params["bytes"].get<std::int64_t>(); });
    plan_.axes = {{"direction", options_.directions},
                  {"host-memory", options_.kinds},
                  {"bytes", sizes_},
                  {"in-flight", options_.at_once},
                  {"pages", {"touched", "cold"}}};
    plan_.share_of_budget = 0.35;  // with the rest, a minute of the usual time budget
    plan_.most_rounds = 12;
    plan_.most_samples = 32;
    return std::move(plan_);
  }

 private:
  // Not asked for by size: single copies at each power of two, as a curve that bends can only be told from so
  // many, up to 64 MiB (32 both ways); where the verdict rests on them, at every second one above too (1 GiB,
  // where a bus is crossed). The others at fewer, and no further than they still change.
  std::vector<std::int64_t> sizes_of(const Series& series) const {
    if (!options_.sizes.empty()) {
      return options_.sizes;
    }
    std::vector<std::int64_t> sizes;
    const auto grow = [&](std::int64_t first, std::int64_t last, std::int64_t factor) {
      for (std::int64_t bytes = first; bytes <= last; bytes *= factor) {
        sizes.push_back(bytes);
      }
    };
    if (series.at_once > 1) {
      grow(kKiB, 4 * kMiB, 16);
    } else if (series.cold_pages) {
      grow(4 * kKiB, 64 * kMiB, 4);
    } else if (series.direction == "both") {
      grow(kKiB, 32 * kMiB, 2);
    } else if (series.kind == "staged") {
      grow(kKiB, 64 * kMiB, 2);
    } else {
      grow(kKiB, 64 * kMiB, 2);
      // Within the host's memory nothing changes any more beyond its caches.
      grow(256 * kMiB, (own_memory_is_hosts_ ? 256 : 1024) * kMiB, 4);
    }
    return sizes;
  }

  void add_series(const Series& series) {
    std::string name = fmt::format("transfer/{}/{}", series.direction, series.kind);
    if (series.cold_pages) {
      name += "/pages:cold";
    }
    if (series.at_once > 1) {
      name += fmt::format("/in-flight:{}", series.at_once);
    }
    for (const std::int64_t bytes : sizes_of(series)) {
      SweepPoint point;
      point.workload = &type_;
      point.series = name;
      point.name = fmt::format("{}/bytes:{}", name, bytes);
      point.spec.mode = series.direction;
      point.spec.batch = series.at_once;
      point.spec.seed = seed_;
      for (const CommandOption& option : type_.options) {
        point.spec.options[option.name] = option.default_value;
      }
      point.spec.options["bytes"] = fmt::format("{}B", bytes);
      point.spec.options["host-memory"] = series.kind;
      point.spec.options["pages"] = series.cold_pages ? "cold" : "touched";
      point.spec.options["node"] = options_.node;
      point.params = {
          {"direction", series.direction}, {"host-memory", series.kind},           {"bytes", bytes},
          {"in-flight", series.at_once},   {"pages", point.spec.options["pages"]}, {"node", options_.node}};
      plan_.points.push_back(std::move(point));
      if (std::ranges::find(sizes_, bytes) == sizes_.end()) {
        sizes_.insert(std::ranges::upper_bound(sizes_, bytes), bytes);
      }
    }
  }

  TransferOptions options_;
  bool own_memory_is_hosts_;
  std::uint64_t seed_;
  const WorkloadType& type_;
  std::vector<std::int64_t> sizes_;
  SweepPlan plan_;
};

const Registration<Sweep> registered{Sweep{
    .name = "transfer",
    .question = "What does moving a batch to the device take, and does pinned memory pay?",
    .default_workload = "resnet18",
    .options =
        {{"sizes", "auto", "bytes of a copy: 4KiB,1MiB or 1KiB:1GiB:x2"},
         {"directions", "h2d,d2h,both", "host to device, device to host, both at once"},
         {"host-kinds", "pinned,pageable,staged", "host memory; staged: pageable by way of a pinned ring"},
         {"in-flight", "1,8", "copies started at once, up to 256"},
         {"numa-node", "near", "of the host's memory: near, far (from the device), any, or its number"},
         {"workers", "8", "loader workers, for the host memory that pinning takes; 0: none, up to 1024"},
         {"prefetch", "2", "batches each worker holds ready, up to 1024"}},
    .plan =
        [](const SweepRequest& request, Device& device) {
          check_studied(request, device);
          check_node(transfer_options(request), device);
          return Planner(request, device).run();
        },
    .predict = [](const SweepRequest& request, const SweepPlan& /*plan*/, Device& device,
                  ResultDocument& document) { note_transfer(request, device, document); },
    .prove = prove_transfer,
    .findings = transfer_findings,
    .tables = transfer_tables}};

}  // namespace
}  // namespace bench::sweeps
