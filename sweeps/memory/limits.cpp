#include "sweeps/memory/limits.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/error.h"
#include "bench/measure/json_members.h"
#include "bench/measure/memory_line.h"
#include "bench/measure/search.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

constexpr std::int64_t kMostUnits = std::int64_t{1} << 40;

// Thrown where the planning ends.
class Ended : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Plans of one series, each made once.
class PlannedSeries {
 public:
  // All but the spec outlive it.
  PlannedSeries(const WorkloadType& type, WorkloadSpec spec, Device& device, const PlanningEnd& end)
      : type_(type), spec_(std::move(spec)), device_(device), end_(end), unit_(batch_unit(spec_)) {}

  // The limit of a cap, without the series' label and params; nullopt where no batch can run. Throws Ended.
  std::optional<Limit> limit(std::int64_t cap_bytes) {
    if (smallest() == 0) {
      return std::nullopt;
    }
    const MemoryPlan& first = *at(smallest()).plan;
    Limit limit{.cap_bytes = cap_bytes,
                .fixed_bytes = first.at_peak.fixed_part(),
                .setup_bytes = first.setup_peak,
                .smallest_batch = smallest() * unit_,
                .smallest_bytes = first.peak};
    if (first.peak > cap_bytes) {
      return limit;
    }
    const std::int64_t largest = largest_within(cap_bytes);
    const auto safe = static_cast<std::int64_t>(kSafeShare * static_cast<double>(cap_bytes)) - 1;
    limit.largest_batch = largest * unit_;
    limit.largest_bytes = at(largest).peak();
    limit.input_bytes = at(largest).plan ? at(largest).plan->at_peak[MemoryCategory::input] : 0;
    limit.next_bytes = at(largest + 1).peak();
    limit.next_unsupported = at(largest + 1).unsupported;
    limit.safe_batch = largest_within(safe) * unit_;
    return limit;
  }

 private:
  struct Planned {
    std::optional<MemoryPlan> plan;  // none where the batch is unsupported, or its bytes too many to count
    std::optional<std::string> unsupported;  // why

    std::optional<std::int64_t> peak() const { return plan ? std::optional(plan->peak) : std::nullopt; }
  };

  const Planned& at(std::int64_t units) {
    auto known = plans_.find(units);
    if (known == plans_.end()) {
      if (const auto reason = end_()) {
        throw Ended(*reason);
      }
      spec_.batch = units * unit_;
      Planned planned;
      try {
        planned.plan = type_.configure(spec_)->plan(device_);
      } catch (const Unsupported& refusal) {
        planned.unsupported = refusal.what();
      } catch (const OutOfMemory&) {
      }
      known = plans_.emplace(units, std::move(planned)).first;
    }
    return known->second;
  }

  // Units of the smallest batch that can run; some layers need more than one sample. 0 where none was found.
  std::int64_t smallest() {
    constexpr std::int64_t kMostTried = 64;
    for (std::int64_t units = 1; units <= kMostTried; ++units) {
      if (at(units).plan) {
        return units;
      }
    }
    return 0;
  }

  // A smallest() is there.
  std::int64_t largest_within(std::int64_t bytes) {
    if (!search_) {
      search_.emplace(smallest(), kMostUnits, [this](std::int64_t units) { return at(units).peak(); });
    }
    return search_->largest_within(bytes);
  }

  const WorkloadType& type_;
  WorkloadSpec spec_;
  Device& device_;
  const PlanningEnd& end_;
  std::int64_t unit_;
  std::map<std::int64_t, Planned> plans_;  // by units
  std::optional<LineSearch> search_;
};

}  // namespace

void members(auto& io, Of<LimitTrial> auto& trial) {
  io.optional("not_tried", trial.not_tried);
  if (trial.not_tried) {
    return;
  }
  io("largest_batch", trial.largest_batch);
  io("probes", trial.probes);
  io("tracked_bytes", trial.tracked_bytes);
  io("ran_a_step", trial.ran_a_step);
  io.optional("refused_batch", trial.refused_batch);
}

void members(auto& io, Of<Limit> auto& limit) {
  io("label", limit.label);
  io("params", limit.params);
  io("cap_bytes", limit.cap_bytes);
  io("fixed_bytes", limit.fixed_bytes);
  io("setup_bytes", limit.setup_bytes);
  io("smallest_batch", limit.smallest_batch);
  io("smallest_bytes", limit.smallest_bytes);
  io("largest_batch", limit.largest_batch);
  io.optional("largest_bytes", limit.largest_bytes);
  io.optional("next_bytes", limit.next_bytes);
  io.optional("next_unsupported", limit.next_unsupported);
  io("safe_batch", limit.safe_batch);
  io.optional("proof", limit.proof);
}

const Limit* Limits::find(std::string_view label, std::int64_t cap_bytes) const {
  const auto at = std::ranges::find_if(
      all, [&](const Limit& limit) { return limit.label == label && limit.cap_bytes == cap_bytes; });
  return at == all.end() ? nullptr : &*at;
}

void Limits::adopt(const Limits& before) {
  for (const Limit& limit : before.all) {
    if (left_out && find(limit.label, limit.cap_bytes) == nullptr) {
      all.push_back(limit);
      all.back().proof.reset();
      if (--left_out->count == 0) {
        left_out.reset();
      }
    }
  }
}

Json to_json(const Limit& limit) {
  return write_struct(limit);
}

Limit read_limit(const Field& field) {
  return read_struct<Limit>(field);
}

void predict_limits(const SweepRequest& request, const SweepPlan& plan, Device& device,
                    const PlanningEnd& end, Limits& limits) {
  limits.left_out.reset();
  std::set<std::string> seen;
  for (const SweepPoint& point : plan.points) {
    if (!seen.insert(point.series).second || point.workload->unsupported(device)) {
      continue;
    }
    const std::string label = memory_label(*params_as<BatchParams>(point), plan.axes);
    PlannedSeries series(*request.workload, point.spec, device, end);
    for (const std::int64_t cap : request.memory_caps) {
      if (limits.find(label, cap) != nullptr) {
        continue;
      }
      if (limits.left_out) {
        ++limits.left_out->count;
        continue;
      }
      try {
        if (auto limit = series.limit(cap)) {
          limit->label = label;
          limit->params = point.params;
          limit->params.erase("batch");
          limits.all.push_back(*std::move(limit));
        }
      } catch (const Ended& ended) {
        limits.left_out = Limits::LeftOut{.count = 1, .reason = ended.what()};
      }
    }
  }
}

}  // namespace bench::sweeps
