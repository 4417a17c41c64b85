#include "bench/run/result_recorder.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include "bench/result/flags.h"
#include "bench/result/sessions.h"
#include "bench/stats/statistics.h"

namespace bench {

ResultRecorder::ResultRecorder(const SweepPlan& plan, Device& device, const StopRule& rule,
                               ResultDocument& document, RunObserver& observer)
    : device_(device), rule_(rule), document_(document), observer_(observer) {
  for (const SweepPoint& point : plan.points) {
    place_.emplace(point.name, place_.size());
  }
}

Point* ResultRecorder::measured(const std::string& name) {
  const auto at = std::ranges::find(measured_points(document_), name, &Point::name);
  return at == measured_points(document_).end() ? nullptr : &*at;
}

const UnmeasuredPoint* ResultRecorder::unmeasured(const std::string& name) const {
  const auto at = std::ranges::find(document_.unmeasured, name, &UnmeasuredPoint::name);
  return at == document_.unmeasured.end() ? nullptr : &*at;
}

// In the plan's order; points of an earlier run that this one does not ask for come first.
Point& ResultRecorder::insert(const Point& point) {
  const auto place = [this](const std::string& name) {
    const auto found = place_.find(name);
    return found == place_.end() ? 0 : found->second;
  };
  const auto at = std::ranges::find_if(document_.points, [&](const Point& other) {
    return !other.is_measured() || place(other.name) > place(point.name);
  });
  std::erase_if(document_.unmeasured, [&](const auto& other) { return other.name == point.name; });
  return *document_.points.insert(at, point);
}

void ResultRecorder::add_repetition(const SweepPoint& point, const Point& prepared, Repetition repetition,
                                    const DeviceState& state, MeasuredRound round) {
  Point* entry = measured(point.name);
  if (entry == nullptr) {
    entry = &insert(prepared);
  }
  const auto before = static_cast<double>(entry->samples_ns.size());
  const auto added = static_cast<double>(repetition.samples_ns.size());
  entry->cpu_time_ns = (entry->cpu_time_ns * before + repetition.cpu_time_ns * added) / (before + added);
  entry->samples_ns.insert(entry->samples_ns.end(), repetition.samples_ns.begin(),
                           repetition.samples_ns.end());
  std::ranges::move(repetition.notes, std::back_inserter(entry->notes));
  round.samples = static_cast<std::int64_t>(repetition.samples_ns.size());
  round.cpu_time_ns = repetition.cpu_time_ns;
  round.clock_mhz = state.clock_mhz;
  round.temperature_c = state.temperature_c;
  round.power_w = state.power_w;
  round.throttled = state.throttle_reasons;
  round.disturbed = disturbances(round);
  entry->rounds.push_back(std::move(round));
  entry->stats = summarize(entry->samples_ns, round_sizes(*entry));
  set_validity(*entry, point.spec.dtype, state);
  observer_.changed(document_);
}

void ResultRecorder::set_unmeasured(const SweepPoint& point, const std::string& status,
                                    const std::string& reason) {
  std::erase_if(document_.unmeasured, [&](const auto& other) { return other.name == point.name; });
  document_.unmeasured.push_back({point.name, point.params, status, reason});
  observer_.changed(document_);
}

void ResultRecorder::lose(const SweepPoint& point, const std::string& reason) {
  std::erase_if(document_.points, [&](const auto& other) { return other.name == point.name; });
  set_unmeasured(point, "error", reason);
}

// From the point's statistics and the device's state since the samples before. A reason for throttling, once
// given, stays; other programs come and go, and count by rounds.
void ResultRecorder::set_validity(Point& point, Dtype dtype, const DeviceState& state) {
  std::set<std::string> flags;
  std::ranges::copy_if(point.validity.flags, std::inserter(flags, flags.end()),
                       [](const std::string& flag) { return flag.starts_with("throttled:"); });
  for (const std::string& reason : state.throttle_reasons) {
    flags.insert("throttled:" + reason);
  }
  flags.erase(std::string(kContention));
  std::ranges::copy(rule_.flags(point.stats), std::inserter(flags, flags.end()));
  std::ranges::copy(flags_of_rounds(point, document_.sessions), std::inserter(flags, flags.end()));
  if (exceeds_peak(point, dtype)) {
    flags.emplace(kAbovePeak);
  }
  point.validity = {{flags.begin(), flags.end()}, state.clock_mhz, state.temperature_c, state.power_w};
}

// Whether the point is more than 10 % above the device's measured peak. The margin covers the error of that
// measurement, and the peak is measured again before a point is flagged; one that was measured while other
// programs used the cores is too low and flags none. Where the sweep had time for some dtypes' peaks only,
// points of the others are not judged.
bool ResultRecorder::exceeds_peak(const Point& point, Dtype dtype) {
  if (!(point.work.flops > 0)) {
    return false;  // and no need to measure what the device can do
  }
  if (const auto& known = document_.context.peaks; !known.empty() && !known.contains(dtype)) {
    return false;
  }
  const double rate = point.work.flops / (point.stats.median_ns * 1e-9);
  const auto exceeds = [rate](const Peaks& peaks) {
    return peaks.flops_per_s > 0 && rate > 1.1 * peaks.flops_per_s;
  };
  if (!exceeds(device_.peaks(dtype))) {
    return false;
  }
  if (refreshes_left_ > 0) {
    --refreshes_left_;
    device_.state();  // what happened before says nothing of the peak
    document_.context.peaks[dtype] = device_.refresh_peaks(dtype);
    const std::vector<std::string> reasons = device_.state().throttle_reasons;
    peak_is_quiet_[dtype] = std::ranges::find(reasons, kContentionReason) == reasons.end();
  }
  const auto quiet = peak_is_quiet_.find(dtype);
  return (quiet == peak_is_quiet_.end() || quiet->second) && exceeds(device_.peaks(dtype));
}

}  // namespace bench
