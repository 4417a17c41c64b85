#include "bench/run/probe.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/units.h"
#include "bench/run/interrupt.h"
#include "bench/run/prepared.h"

namespace bench {
namespace {

Json described(const MemoryPlan& plan) {
  Json json = Json::object();
  if (!plan.peak_at.empty()) {
    json = {{"peak_at", plan.peak_at},
            {"setup_peak_bytes", plan.setup_peak},
            {"step_peak_bytes", plan.in_step.total()},
            {"library_bytes", plan.library},
            {"feature_map_bytes", plan.feature_maps}};
  }
  return json;
}

}  // namespace

bool Prober::finished_earlier(const SweepPoint& point) {
  const MeasuredPoint* const known = ledger_.measured(point.name);
  return known != nullptr && known->stats.rounds >= settings_.min_rounds;
}

// Smaller points first, whatever their series, so that a short budget still compares the dtypes.
void Prober::probe_all(bool first, const std::function<void()>& after) {
  std::vector<const SweepPoint*> order;
  for (const SweepPoint& point : plan_.points) {
    if (point.first == first) {
      order.push_back(&point);
    }
  }
  std::ranges::stable_sort(order, {}, [](const SweepPoint* point) { return point->spec.batch; });
  for (const SweepPoint* point : order) {
    if (interrupted()) {
      return;
    }
    Series& series = series_[point->series];
    if (series.closed) {
      if (!plan_.open_ended) {
        ledger_.set_unmeasured(*point, series.status, series.reason);
      }
      continue;
    }
    if (finished_earlier(*point) || ledger_.in_error(*point)) {
      continue;
    }
    probe(*point, series);
    after();
  }
}

void Prober::close(Series& series, const SweepPoint& point, const std::string& status,
                   const std::string& reason) {
  series.closed = true;
  series.status = status;
  series.reason = reason;
  ledger_.set_unmeasured(point, status, reason);
}

// True where the budget has room for the point, judged by the series' previous one, or by what is known of
// it.
bool Prober::affordable(const Series& series, const SweepPoint& point) const {
  if (series.last_batch == 0 && !point.least_cost) {
    return clock_.left_ns() > 0;
  }
  std::vector<PointCost> admitted;
  for (const Admitted::Point& active : admitted_.points) {
    admitted.push_back(active.cost);
  }
  // Three rounds bound the spread between rounds only loosely: an open series stops growing early enough
  // for more.
  return admits(admitted, expected_of(series, point), clock_.left_ns(), rounds_needed());
}

// From the series' previous one, or what is known of it without; nothing where neither is.
PointCost Prober::expected_of(const Series& series, const SweepPoint& point) const {
  if (series.last_batch == 0) {
    return point.least_cost ? point.least_cost() : PointCost{};
  }
  const double growth = static_cast<double>(point.spec.batch) / static_cast<double>(series.last_batch);
  return {series.last_cost.setup_ns * std::max(1.0, growth / 2), series.last_cost.step_ns * growth};
}

// ", which take 2.4 min at least", where that was known before anything ran.
std::string Prober::least_text(const Series& series, const SweepPoint& point) const {
  if (series.last_batch != 0 || !point.least_cost) {
    return "";
  }
  const PointCost cost = expected_of(series, point);
  return fmt::format(", which take {} at least",
                     format_duration(cost.setup_ns + minimum_cost_ns(cost, rounds_needed())));
}

std::int64_t Prober::rounds_needed() const {
  return plan_.open_ended ? settings_.growing_rounds
                          : std::min(settings_.min_rounds, settings_.growing_rounds);
}

void Prober::probe(const SweepPoint& point, Series& series) {
  observer_.progress(
      clock_.progress(fmt::format("preparing {} ({} of {})", point.name, ++probed_, plan_.points.size()), 0));
  if (const auto reason = point.type(request_).unsupported(point.spec, device_)) {
    close(series, point, "unsupported", *reason);
    return;
  }
  try {
    const MemoryPlan plan = point.type(request_).plan(point.spec, device_);
    const std::int64_t predicted = plan.peak;
    if (predicted > settings_.memory_cap) {
      close(series, point, "oom",
            fmt::format("needs {} (predicted), the memory cap is {}", format_bytes(predicted),
                        format_bytes(settings_.memory_cap)));
      return;
    }
    if (!affordable(series, point)) {
      close(series, point, "skipped",
            fmt::format("{} has no room for {} round{} of it{}; give a larger --time-budget",
                        clock_.named_budget(), rounds_needed(), rounds_needed() == 1 ? "" : "s",
                        least_text(series, point)));
      return;
    }
    admit(point, series, plan);
  } catch (const OutOfMemory& error) {
    close(series, point, "oom", error.what());
  } catch (const Unsupported& error) {  // of this batch; a larger one may do
    ledger_.set_unmeasured(point, "unsupported", error.what());
  } catch (const UsageError&) {
    throw;
  } catch (const DeviceLost& error) {
    admitted_.failed.insert(point.name);
    ledger_.lose(point, error.what());
    throw;
  } catch (const std::exception& error) {
    if (!interrupted()) {  // a verification that was broken off proves nothing
      ledger_.set_unmeasured(point, "error", error.what());
    }
  }
}

// What a library allocates once in a process, tables and its threads' stacks, and never gives back would
// count as the first point's: 5 MiB with oneDNN. Made and run once, unseen, the points after it can be
// compared.
void Prober::settle_libraries(const SweepPoint& point) {
  const auto key =
      fmt::format("{}/{}/{}", point.type(request_).name, point.spec.mode, name_of(point.spec.dtype));
  if (settled_.insert(key).second) {
    const auto workload = point.type(request_).make(point.spec, device_);
    workload->timed_step(device_);
  }
}

void Prober::admit(const SweepPoint& point, Series& series, const MemoryPlan& plan) {
  if (plan.library > 0) {
    settle_libraries(point);
  }
  Verification verification;
  Prepared prepared = prepare_point(point, point.type(request_), device_, Verify::yes, &verification);
  prepared.memory.peak_predicted = plan.peak;
  const Work work = prepared.workload->work();

  MeasuredPoint* known = ledger_.measured(point.name);
  MeasuredPoint fresh;
  MeasuredPoint& entry = known != nullptr ? *known : fresh;
  entry.name = point.name;
  entry.params = point.params;
  entry.items_per_step = work.samples;
  entry.work = {{"flops", work.flops},
                {"fixed_bytes", work.fixed_bytes},
                {"sample_bytes", work.sample_bytes},
                {"launches", work.launches}};
  entry.plan = described(plan);
  entry.memory = prepared.memory;
  entry.verification = {
      {"error", verification.error}, {"tolerance", verification.tolerance}, {"detail", verification.detail}};
  if (known == nullptr) {
    admitted_.pending[point.name] = fresh;
  }
  series.last_batch = point.spec.batch;
  series.last_cost = {prepared.setup_ns, prepared.warm_step_ns};
  admitted_.points.push_back({&point, series.last_cost});
}

}  // namespace bench
