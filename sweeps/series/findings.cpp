#include "sweeps/series/findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/result/finding.h"
#include "bench/run/remedies.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

constexpr std::size_t kStepsNamed = 2;

// Above the fitted line, from a batch on; and weights that another algorithm lays out otherwise.
std::string steps_in_words(const MemoryLine& line) {
  std::string text;
  if (line.steps.size() > kStepsNamed) {
    text = fmt::format("; {} steps", line.steps.size());
  } else {
    for (const MemoryStep& step : line.steps) {
      text += fmt::format("; {} {} from batch {}", format_bytes(std::abs(step.bytes)),
                          step.bytes < 0 ? "less" : "more", step.batch);
    }
  }
  if (line.weight_steps.empty()) {
    return text;
  }
  if (line.weight_steps.size() > kStepsNamed) {
    return text + fmt::format("; weights change {} times, from {} to {} (other algorithms)",
                              line.weight_steps.size(), format_bytes(line.weight_steps.front().from),
                              format_bytes(line.weight_steps.back().to));
  }
  for (const WeightStep& step : line.weight_steps) {
    text += fmt::format("; weights change from {} to {} at batch {}", format_bytes(step.from),
                        format_bytes(step.to), step.batch);
  }
  return text + " (another algorithm)";
}

Json details_of(const MemoryLine& line) {
  Json details = {{"fixed_bytes", std::llround(line.fixed_bytes.value)},
                  {"slope_bytes", std::llround(line.slope_bytes.value)},
                  {"first_batch", line.first_batch},
                  {"last_batch", line.last_batch},
                  {"max_residual_bytes", std::llround(line.max_residual_bytes)},
                  {"max_relative_residual", line.max_relative_residual},
                  {"steps", Json::array()},
                  {"weight_steps", Json::array()},
                  {"segments", Json::array()}};
  for (const MemoryStep& step : line.steps) {
    details["steps"].push_back({{"batch", step.batch}, {"bytes", step.bytes}});
  }
  for (const WeightStep& step : line.weight_steps) {
    details["weight_steps"].push_back(
        {{"batch", step.batch}, {"from_bytes", step.from}, {"to_bytes", step.to}});
  }
  for (const MemoryLine::Segment& segment : line.segments) {
    details["segments"].push_back({{"first_batch", segment.first_batch},
                                   {"fixed_bytes", std::llround(segment.fixed)},
                                   {"slope_bytes", std::llround(segment.slope)}});
  }
  return details;
}

}  // namespace

std::string too_few(const BatchSeries& series, std::string_view needs) {
  return fmt::format("{} needs at least 2 batch sizes in {}; {} was {}{}.", needs, series.label,
                     series.points.empty() ? "none" : "1", series.how_made(),
                     series.is_predicted() ? "" : " so far");
}

std::string per_second(const CurvePoint& point) {
  const double per_s = point.per_s;
  const std::optional<Interval> interval = point.shown_interval();
  return (point.is_predicted && interval ? with_interval80(per_s, *interval)
                                         : plus_minus_of_rounds(per_s, interval, point.point->stats.rounds)) +
         " samples/s";
}

std::string per_second_alone(const CurvePoint& point) {
  const std::optional<Interval> interval = point.shown_interval();
  return point.is_predicted && interval ? digits80(point.per_s, *interval) : format_number(point.per_s);
}

Finding claim_saturation(const BatchSeries& series) {
  Finding finding = finding_of("ceiling_batch", "samples", series.timed_names());
  if (!series.fits.saturation) {
    finding.claim = too_few(series, "The saturation batch");
    return finding;
  }
  const Saturation& saturation = *series.fits.saturation;
  finding.details = {{"best_batch", saturation.best_batch}, {"best_per_s", saturation.best_per_s}};
  if (!series.is_predicted()) {
    finding.details["low"] = saturation.low;
    finding.details["high"] = saturation.high;
  }
  finding.details["state"] = name_of(saturation.state);
  if (saturation.state == SaturationState::flat) {
    const CurvePoint& smallest = series.at_saturation();
    finding.details["may_lie_beyond"] = false;
    finding.details["alike_to"] = saturation.alike_to;
    finding.value = static_cast<double>(smallest.batch);
    if (!series.is_predicted()) {
      finding.set_interval(saturation.range(), kOfSizes);
    }
    finding.claim = fmt::format("{} is as fast at every batch from {} to {}: {}.", series.label,
                                smallest.batch, saturation.alike_to, per_second(smallest));
    return finding;
  }
  finding.details["may_lie_beyond"] = saturation.at_largest;
  if (!saturation.batch) {
    finding.claim = fmt::format(
        "{} saturates at batch {}{}; {}.", series.label, saturation.low,
        saturation.low == saturation.high ? "" : fmt::format(" to {}", saturation.high),
        saturation.intervals_known
            ? "the noise allows no closer answer"
            : fmt::format("not every point has an interval, which takes 2 rounds [{}]", give_time()));
    return finding;
  }
  finding.value = static_cast<double>(*saturation.batch);
  if (!series.is_predicted()) {
    finding.set_interval(saturation.range(), kOfSizes);
  }
  const CurvePoint& point = *series.at(*saturation.batch);
  finding.evidence = {point.name()};
  if (saturation.best_batch != *saturation.batch) {
    finding.evidence.push_back(series.at(saturation.best_batch)->name());
  }
  const std::string speed = per_second(point);
  const std::string_view of_trusted =
      series.timed.back().batch == series.points.back().batch ? "" : " in at least 3 rounds";
  if (saturation.at_largest) {
    finding.claim = fmt::format("{} saturates at batch {}, the largest {}{}, or beyond it: {}{}.",
                                series.label, *saturation.batch, series.how_made(), of_trusted, speed,
                                series.is_predicted() ? "" : fmt::format(" [{}]", measure_larger()));
  } else {
    const std::string compared =
        saturation.best_batch == *saturation.batch
            ? fmt::format("the best {}", series.how_made())
            : fmt::format("at least {} of the best ({} at batch {})", format_percent(kSaturatedShare),
                          per_second_alone(*series.at(saturation.best_batch)), saturation.best_batch);
    finding.claim = fmt::format(
        "{} saturates at batch {}{}: {}, {}.", series.label, *saturation.batch,
        saturation.at_smallest ? fmt::format(", the smallest {}", series.how_made()) : "", speed, compared);
  }
  return finding;
}

Finding claim_memory_line(const BatchSeries& series) {
  Finding finding = finding_of("memory_line", "bytes/sample", series.names());
  if (!series.fits.memory) {
    finding.claim = too_few(series, "The memory of a sample");
    return finding;
  }
  const MemoryLine& line = *series.fits.memory;
  finding.details = details_of(line);
  if (!(line.slope_bytes.value >= 1)) {
    finding.claim = fmt::format("Memory of {} does not grow from batch {} to {}{}.", series.label,
                                line.first_batch, line.last_batch, steps_in_words(line));
    return finding;
  }
  finding.set(line.slope_bytes, kOfFit);
  const std::string tested =
      line.points > 2
          ? fmt::format("all points within {}", format_percent(std::max(line.max_relative_residual, 0.001)))
          : "2 points, no third tests the line";
  finding.claim = fmt::format("Memory of {}: {} + {} a sample from batch {} to {} ({}){}.", series.label,
                              format_bytes(std::llround(line.fixed_bytes.value)),
                              format_bytes(std::llround(line.slope_bytes.value)), line.first_batch,
                              line.last_batch, tested, steps_in_words(line));
  return finding;
}

Finding claim_left_out(const BatchSeries& series) {
  Finding finding = finding_of("left_out", "points", series.left_out);
  finding.value = static_cast<double>(series.left_out.size());
  finding.claim = fmt::format(
      "{} of {} ran above the device's peak, and no other finding uses {}.",
      series.left_out.size() == 1 ? std::string("1 point") : fmt::format("{} points", series.left_out.size()),
      series.label, series.left_out.size() == 1 ? "it" : "them");
  return finding;
}

}  // namespace bench::sweeps
