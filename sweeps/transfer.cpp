// The cost of moving a batch to the device, and whether pinned memory pays.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "sweeps/series/points.h"
#include "sweeps/transfer/answer.h"
#include "sweeps/transfer/copies.h"
#include "sweeps/transfer/options.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kMiB = 1024 * kKiB;
constexpr double kShareOfSteps = 0.2;  // of the time budget left after the points

// One batch that keeps a step short. A prediction costs nothing: a curve of them.
std::vector<std::int64_t> usual_batches(const Device& device) {
  if (device.model() == nullptr) {
    return {device.host_accessible() ? 4 : 32};
  }
  return {1, 2, 4, 8, 16, 32, 64, 128, 256};
}

// The steps of the verdict: with the batches asked for, else with the usual ones.
std::vector<WorkloadSpec> studied_steps(const SweepRequest& request, const Device& device) {
  if (request.dtypes.size() > 1) {
    std::vector<std::string> names;
    for (const Dtype dtype : request.dtypes) {
      names.emplace_back(name_of(dtype));
    }
    throw UsageError(
        fmt::format("--dtype: {} were given; accepted by --sweep transfer: one, that of the step",
                    fmt::join(names, ", ")));
  }
  std::vector<WorkloadSpec> steps;
  for (const std::int64_t batch : request.batches.empty() ? usual_batches(device) : request.batches) {
    WorkloadSpec& spec = steps.emplace_back();
    spec.mode = request.modes.front();
    spec.dtype = request.dtypes.empty() ? Dtype::fp32 : request.dtypes.front();
    spec.batch = batch;
    spec.seed = request.seed;
    for (const auto& [name, values] : option_values(request, spec.mode)) {
      spec.options[name] = values.front();
    }
    request.workload->configure(spec);  // a wrong option is known before anything is measured
  }
  return steps;
}

// Not asked for by size: single copies at each power of two up to 64 MiB (32 both ways); where the verdict
// rests on them, at every second one above too (1 GiB, where a bus is crossed). The others at fewer, and no
// further than they still change.
std::vector<std::int64_t> sizes_of(const CopyWay& way, bool own_memory_is_hosts) {
  std::vector<std::int64_t> sizes;
  const auto grow = [&](std::int64_t first, std::int64_t last, std::int64_t factor) {
    for (std::int64_t bytes = first; bytes <= last; bytes *= factor) {
      sizes.push_back(bytes);
    }
  };
  if (way.in_flight > 1) {
    grow(kKiB, 4 * kMiB, 16);
  } else if (way.first_touch) {
    grow(4 * kKiB, 64 * kMiB, 4);
  } else if (way.direction == "both") {
    grow(kKiB, 32 * kMiB, 2);
  } else {
    grow(kKiB, 64 * kMiB, 2);
    if (way.kind != "staged") {
      // Within the host's memory nothing changes any more beyond its caches.
      grow(256 * kMiB, (own_memory_is_hosts ? 256 : 1024) * kMiB, 4);
    }
  }
  return sizes;
}

std::vector<CopyWay> ways_of(const TransferOptions& options, bool own_memory_is_hosts) {
  const bool single = std::ranges::find(options.in_flight, 1) != options.in_flight.end();
  std::vector<CopyWay> ways;
  for (const std::string& direction : options.directions) {
    for (const std::string& kind : options.kinds) {
      for (const std::int64_t in_flight : options.in_flight) {
        // A ring is shared, and both ways at once are several already.
        if (in_flight == 1 || (kind != "staged" && direction != "both")) {
          ways.push_back({.direction = direction, .kind = kind, .in_flight = in_flight});
        }
      }
      // Pinned pages are touched when they are locked. A device that has pages of its own never gets fresh
      // ones.
      if (single && kind == "pageable" &&
          (direction == "d2h" || (direction == "h2d" && own_memory_is_hosts))) {
        ways.push_back({.direction = direction, .kind = kind, .first_touch = true});
      }
    }
  }
  if (ways.empty()) {
    throw UsageError(
        fmt::format("--in-flight: {} was given; accepted with --directions {} and --host-kinds {}: 1, for "
                    "several at once are copied one way only, from pinned or pageable memory",
                    fmt::join(options.in_flight, ","), fmt::join(options.directions, ","),
                    fmt::join(options.kinds, ",")));
  }
  return ways;
}

SweepPoint point_of(const CopyParams& params, const WorkloadType& type, std::uint64_t seed) {
  const auto bytes = static_cast<std::int64_t>(params.bytes);
  SweepPoint point;
  point.series = "transfer/" + params.way.label();
  point.name = fmt::format("{}/bytes:{}", point.series, bytes);
  point.params = params.to_json();
  point.spec.mode = params.way.direction;
  point.spec.batch = params.way.in_flight;
  point.spec.seed = seed;
  for (const CommandOption& option : type.options) {
    point.spec.options[option.name] = option.default_value;
  }
  point.spec.options["bytes"] = fmt::format("{}B", bytes);
  for (const char* const same : {"host-memory", "pages", "node"}) {
    point.spec.options[same] = point.params[same];
  }
  point.workload = type.configure(point.spec);
  return point;
}

SweepPlan plan_copies(const SweepRequest& request, const TransferOptions& options, const Device& device) {
  const WorkloadType* const type = registry<WorkloadType>().find("copy");
  if (type == nullptr) {
    throw UsageError("--sweep transfer needs the workload copy, which this program was built without");
  }
  SweepPlan plan;
  std::set<std::int64_t> all_sizes;
  for (const CopyWay& way : ways_of(options, device.host_accessible())) {
    const auto sizes = options.sizes.empty() ? sizes_of(way, device.host_accessible()) : options.sizes;
    all_sizes.insert(sizes.begin(), sizes.end());
    for (const std::int64_t bytes : sizes) {
      plan.points.push_back(point_of({.way = way, .bytes = static_cast<double>(bytes), .node = options.node},
                                     *type, request.seed));
    }
  }
  // Small ones of every series come first, so that a short budget leaves out large ones.
  std::ranges::stable_sort(plan.points, {},
                           [](const SweepPoint& point) { return read_copy_params(point.params)->bytes; });
  plan.axes = {{"direction", options.directions},
               {"host-memory", options.kinds},
               {"bytes", all_sizes},
               {"in-flight", options.in_flight},
               {"pages", {"touched", "cold"}}};
  plan.share_of_budget = 0.35;  // with the rest, a minute of the usual time budget
  plan.rounds.at_most = 12;
  plan.rounds.samples = 32;
  return plan;
}

// The steps, of a device that is not here.
SweepPlan plan_steps(const SweepRequest& request, const std::vector<WorkloadSpec>& steps) {
  SweepPlan plan;
  plan.axes = {{"batch", Json::array()}};
  for (const WorkloadSpec& spec : steps) {
    plan.axes["batch"].push_back(spec.batch);
    plan.points.push_back(batch_point(*request.workload, spec,
                                      fmt::format("transfer/{}/{}/{}/batch:{}", request.workload->name,
                                                  spec.mode, name_of(spec.dtype), spec.batch),
                                      "steps"));
  }
  return plan;
}

class TransferSweep : public Sweep {
 public:
  TransferSweep(const SweepRequest& request, Device& device)
      : options_(transfer_options(request, device)),
        steps_(studied_steps(request, device)),
        is_modelled_(device.model() != nullptr) {
    if (is_modelled_) {  // the data sheet has the bus, and no copy is timed
      plan_ = plan_steps(request, steps_);
      return;
    }
    plan_ = plan_copies(request, options_, device);
    const Transfers* const transfers = transfers_of(device);
    state_.crosses_bus = transfers != nullptr && transfers->crosses_bus();
    state_.workers = options_.workers;
    state_.prefetch = options_.prefetch;
    state_.node = options_.node;
  }

  const SweepPlan& plan() const override { return plan_; }

  void study(SweepStudy& sweep) override {
    Transfers* const transfers = transfers_of(sweep.device);
    if (transfers == nullptr) {
      return;
    }
    const TransferStudy study{.sweep = sweep, .transfers = *transfers, .node = options_.node};
    state_.pinning = study_pinning(study);
    sweep.save();
    state_.calls = study_calls(study);
    sweep.save();
    state_.steps.clear();  // of an earlier session
    auto left = static_cast<double>(steps_.size());
    for (const WorkloadSpec& step : steps_) {
      if (sweep.interrupted()) {
        break;
      }
      state_.steps.push_back(study_steps(study, step, kShareOfSteps * sweep.left_ns() / left--));
      sweep.save();
    }
  }

  std::vector<Finding> findings(const ResultDocument& document) const override {
    return transfer_findings(document, state_);
  }
  std::vector<TextTable> tables(const ResultDocument& document) const override {
    return transfer_tables(document, state_);
  }
  Json to_json() const override {
    return is_modelled_ ? Json::object() : Json{{"transfer", sweeps::to_json(state_)}};
  }
  // What was studied before stays until it is studied again.
  void restore(ResultDocument& document) override {
    TransferState before = transfer_state_in(document);
    state_.pinning = std::move(before.pinning);
    state_.calls = std::move(before.calls);
    state_.steps = std::move(before.steps);
  }

 private:
  TransferOptions options_;
  std::vector<WorkloadSpec> steps_;
  bool is_modelled_;
  SweepPlan plan_;
  TransferState state_;
};

const Registration<SweepType> BENCH_REGISTERED{SweepType{
    .name = "transfer",
    .question = "What does moving a batch to the device take, and does pinned memory pay?",
    .default_workload = "resnet18",
    .options =
        {{"sizes", "auto", "bytes of a copy: 4KiB,1MiB or 1KiB:1GiB:x2", "",
          [] { return std::vector<std::string>{"LIST"}; }},
         {"directions", "h2d,d2h,both", "host to device, device to host, both at once"},
         {"host-kinds", "pinned,pageable,staged", "host memory; staged: pageable by way of a pinned ring"},
         {"in-flight", "1,8", "copies started at once, up to 256"},
         {"numa-node", "near", "the memory's NUMA node: near, far (from the device), any, or its number"},
         {"workers", "8", "loader workers, for the host memory that pinning takes; 0: none, up to 1024"},
         {"prefetch", "2", "batches each worker holds ready, up to 1024"}},
    .make = [](const SweepRequest& request, Device& device) {
      return std::make_unique<TransferSweep>(request, device);
    }}};

}  // namespace
}  // namespace bench::sweeps
