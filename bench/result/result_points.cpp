// The JSON of a result's points, measured and predicted.
#include "bench/result/result_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/json_members.h"
#include "bench/result/memory_members.h"
#include "bench/result/result_context.h"
#include "bench/result/result_json.h"
#include "bench/result/result_sessions.h"
#include "bench/stats/statistics.h"

namespace bench {

void members(auto& io, Of<SampleStats> auto& stats) {
  io("median_ns", stats.median_ns);
  io("p05_ns", stats.p05_ns);
  io("p95_ns", stats.p95_ns);
  io("cv", stats.cv);
  io.nullable("ci95_ns", stats.ci95_ns);
  io.nullable("ci95_between_ns", stats.ci95_between_ns);
  io.maybe("interval_kind", stats.interval_kind);
  io("rounds", stats.rounds);
  io.maybe("effective_rounds", stats.effective_rounds);
}

void members(auto& io, Of<PointMemory> auto& memory) {
  for (const MemoryCategory category : kMemoryCategories) {
    io(name_of(category), memory.by_category[category]);
  }
  io("peak_predicted", memory.peak_predicted);
  io("peak_measured", memory.peak_measured);
  io("driver_used", memory.driver_used);
  io.unless_empty("by_rank", memory.by_rank);
}

void members(auto& io, Of<Validity> auto& validity) {
  io("flags", validity.flags);
  io.optional("sm_clock_mhz", validity.sm_clock_mhz);
  io.optional("temperature_c", validity.temperature_c);
  io.optional("power_w", validity.power_w);
}

void members(auto& io, Of<Work> auto& work) {
  io("flops", work.flops);
  io("fixed_bytes", work.fixed_bytes);
  io("sample_bytes", work.sample_bytes);
  io("launches", work.launches);
}

void members(auto& io, Of<Verification> auto& verification) {
  io.maybe("error", verification.error);
  io.maybe("tolerance", verification.tolerance);
  io.maybe("detail", verification.detail);
  io.unless_empty("not_checked", verification.not_checked);
}

void members(auto& io, Of<PlannedMemory> auto& plan) {
  io("peak_at", plan.peak_at);
  io.maybe("setup_peak_bytes", plan.setup_peak);
  io.maybe("step_peak_bytes", plan.step_peak);
  io.maybe("library_bytes", plan.library);
  io.maybe("feature_map_bytes", plan.feature_maps);
}

void members(auto& io, Of<GradientTimeline::Part> auto& part) {
  io("ready_ns", part.ready_ns);
  io("bytes", part.bytes);
}

void members(auto& io, Of<GradientTimeline> auto& timeline) {
  io("gradients", timeline.parts);
  io("backward_ns", timeline.backward_ns);
  io("update_ns", timeline.update_ns);
}

void read_value(const Field& field, Origin& origin) {
  read_named(field, origin, std::array{Origin::predicted, Origin::planned});
}

// A point that was not measured.
void members(auto& io, Of<Point> auto& point) {
  auto& step = point.prediction.step_ns;
  io("name", point.name);
  io("params", point.params);
  io("real_time", step.value);
  io("items_per_step", point.items_per_step);
  io.nullable("interval80_ns", step.ci95);
  io("status", point.origin);
  io.maybe("model", point.prediction.model);
}

namespace {

// A note, not yet read by its sweep.
class UnreadNote : public SampleNote {
 public:
  explicit UnreadNote(Json json) : json_(std::move(json)) {}
  Json to_json() const override { return json_; }

 private:
  Json json_;
};

// One note a sample, where there are any.
void read_notes(const Field& field, Point& point) {
  if (field.size() != point.samples_ns.size()) {
    throw UsageError(fmt::format("{} has {} notes, but {} samples are listed", field.path(), field.size(),
                                 point.samples_ns.size()));
  }
  for (std::size_t i = 0; i < field.size(); ++i) {
    point.notes.push_back(std::make_shared<UnreadNote>(field.at(i).object()));
  }
}

// The counts that are written twice must agree: otherwise the file was edited or cut, and proves nothing.
void check_counts(const Field& field, const Point& point) {
  const auto samples = static_cast<std::int64_t>(point.samples_ns.size());
  if (const std::int64_t iterations = field.at("iterations").integer(); iterations != samples) {
    throw UsageError(
        fmt::format("{}.iterations is {}, but {} samples are listed", field.path(), iterations, samples));
  }
  // Sizes beyond the samples are not summed: they could overflow.
  std::int64_t in_rounds = 0;
  for (const MeasuredRound& round : point.rounds) {
    in_rounds = round.samples > samples - in_rounds ? samples + 1 : in_rounds + round.samples;
    if (in_rounds > samples) {
      throw UsageError(
          fmt::format("{} has rounds of more than the {} samples that are listed", field.path(), samples));
    }
  }
  if (in_rounds != samples) {
    throw UsageError(fmt::format("{} has rounds of {} samples, but {} samples are listed", field.path(),
                                 in_rounds, samples));
  }
}

void check_median(const Field& field, const Point& point) {
  const double median = point.stats.median_ns;
  if (median > 0 && !std::isfinite(point.items_per_step * 1e9 / median)) {
    throw UsageError(fmt::format("{}.items_per_step is {}, too large for a median of {} ns", field.path(),
                                 point.items_per_step, median));
  }
  const auto [least, most] = std::ranges::minmax(point.samples_ns);
  if (median < static_cast<double>(least) || median > static_cast<double>(most)) {
    throw UsageError(fmt::format("{}.stats.median_ns is {}, but the samples lie between {} and {}",
                                 field.path(), median, least, most));
  }
}

void check_timeline(const Field& field, const GradientTimeline& timeline) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 59;
  double last = 0;
  std::int64_t bytes = 0;
  for (const GradientTimeline::Part& part : timeline.parts) {
    bytes = std::min(kMostBytes, bytes) + part.bytes;
    if (part.ready_ns < last || part.ready_ns > timeline.backward_ns) {
      throw UsageError(
          fmt::format("{}.timeline has gradients that are ready at {} ns, not between {} ns and "
                      "the backward pass's end at {} ns",
                      field.path(), part.ready_ns, last, timeline.backward_ns));
    }
    last = part.ready_ns;
  }
  const bool is_step = timeline.step_ns() >= 1 && std::isfinite(timeline.step_ns());
  if (!is_step || bytes < 1 || bytes > kMostBytes) {
    throw UsageError(fmt::format("{}.timeline has no step of 1 ns or more with gradients", field.path()));
  }
}

void check_ends(const Field& field, const std::optional<Interval>& interval, const char* name) {
  if (interval && !(interval->low <= interval->high)) {
    throw UsageError(fmt::format("{}.stats.{} is {} to {}; accepted: the lower end first", field.path(), name,
                                 interval->low, interval->high));
  }
}

}  // namespace

Json point_to_json(const Point& point, std::pair<std::size_t, std::int64_t> place) {
  Json json{{"name", point.name},
            {"family_index", place.first},
            {"per_family_instance_index", place.second},
            {"run_name", point.name},
            {"run_type", "iteration"},
            {"repetitions", 1},
            {"repetition_index", 0},
            {"threads", 1},
            {"iterations", point.samples_ns.size()},
            {"real_time", point.stats.median_ns},
            {"cpu_time", point.cpu_time_ns},
            {"time_unit", "ns"}};
  // A median of 0 ns is below the clock's resolution: it gives no rate.
  if (point.stats.median_ns > 0) {
    json["items_per_second"] = point.items_per_s().value;
  }
  json["items_per_step"] = point.items_per_step;
  json["params"] = written_value(point.params);
  json["samples_ns"] = point.samples_ns;
  json["stats"] = write_struct(point.stats);
  json["rounds"] = to_json(point.rounds);
  json["memory"] = write_struct(point.memory);
  json["validity"] = write_struct(point.validity);
  if (point.plan) {
    json["plan"] = write_struct(*point.plan);
  }
  if (Work none{.samples = point.work.samples}; point.work != none) {
    json["work"] = write_struct(point.work);
  }
  if (point.timeline) {
    json["timeline"] = write_struct(*point.timeline);
  }
  if (!point.algorithms.empty()) {
    json["algorithms"] = written_value(point.algorithms);
  }
  if (point.verification) {
    Json& verification = json["verification"] = write_struct(*point.verification);
    if (!point.verification->passed) {  // nothing was compared
      for (const char* const compared : {"error", "tolerance", "detail"}) {
        verification.erase(compared);
      }
    }
  }
  for (const auto& note : point.notes) {
    json["notes"].push_back(note->to_json());
  }
  return json;
}

Point point_from_json(const Field& field, std::size_t sessions) {
  Point point;
  JsonReader io(field);
  io("name", point.name);
  io("params", point.params);
  io("samples_ns", point.samples_ns);
  io("cpu_time", point.cpu_time_ns);
  io("items_per_step", point.items_per_step);
  io("stats", point.stats);
  point.rounds = rounds_from_json(field.at("rounds"), sessions);
  io("memory", point.memory);
  io("validity", point.validity);
  io.optional("verification", point.verification);
  if (point.verification) {
    const Field verification = field.at("verification");  // a wrong answer would not have been timed
    point.verification->passed = !verification.has("not_checked") || verification.has("error");
  }
  io.maybe("work", point.work);
  io.unless_empty("algorithms", point.algorithms);
  point.work.samples = point.items_per_step;
  if (field.has("plan") && field.at("plan").has("peak_at")) {
    io.optional("plan", point.plan);
  }
  io.optional("timeline", point.timeline);
  check_counts(field, point);
  check_median(field, point);
  if (point.timeline) {
    check_timeline(field, *point.timeline);
  }
  check_ends(field, point.stats.ci95_ns, "ci95_ns");
  check_ends(field, point.stats.ci95_between_ns, "ci95_between_ns");
  if (field.has("notes")) {
    read_notes(field.at("notes"), point);
  }
  return point;
}

Json modelled_to_json(const Point& point) {
  Json json = write_struct(point);
  json["time_unit"] = "ns";
  if (point.is_timed()) {
    json["items_per_second"] = point.items_per_s().value;
  }
  json["memory"] = write_struct(point.memory.by_category);
  json["memory"]["peak_predicted"] = point.memory.peak_predicted;
  return json;
}

Point modelled_from_json(const Field& field) {
  auto point = read_struct<Point>(field);
  const Field memory = field.at("memory");
  read_value(memory, point.memory.by_category);
  JsonReader{memory}("peak_predicted", point.memory.peak_predicted);
  const auto work = [&](const char* key) { return positive_member(point.prediction.model, key).value_or(0); };
  point.work = {.samples = point.items_per_step, .flops = work("flops"), .fixed_bytes = work("bytes")};
  return point;
}

}  // namespace bench
