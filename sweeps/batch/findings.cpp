#include "sweeps/batch/findings.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/model/gpu_model.h"
#include "bench/model/step_limit.h"
#include "bench/result/finding.h"
#include "bench/run/remedies.h"
#include "bench/stats/ratio.h"
#include "bench/stats/saturation.h"
#include "bench/stats/step_time.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

std::string misfit(const StepTimeModel& model) {
  return fmt::format("step time does not follow t0 + batch/T∞, a point lies {} off",
                     format_percent(model.max_relative_residual));
}

// "batches 16 to 64, which do the same work a sample": those of the fit.
std::string fitted_in_words(const BatchSeries& series) {
  const std::vector<std::int64_t>& batches = series.model->batches;
  const bool whole = batches.size() == series.timed.size();
  const auto first = std::ranges::find(series.timed, batches.front(), &CurvePoint::batch);
  const bool adjacent = std::ranges::equal(
      batches, std::ranges::subrange(first, series.timed.end()) | std::views::take(std::ssize(batches)), {},
      {}, &CurvePoint::batch);
  return fmt::format("{}{}",
                     adjacent ? fmt::format("batches {} to {}", batches.front(), batches.back())
                              : fmt::format("batches {}", fmt::join(batches, ", ")),
                     whole ? "" : ", which do the same work a sample");
}

std::vector<std::string> fitted_names(const BatchSeries& series) {
  std::vector<std::string> names;
  for (const CurvePoint& point : series.timed) {
    if (std::ranges::binary_search(series.model->batches, point.batch)) {
      names.push_back(point.name());
    }
  }
  return names;
}

// The claim of a finding that takes a fit, where there is none.
std::string unfitted(const BatchSeries& series, std::string_view needs) {
  const std::size_t measured = series.timed.size();
  return measured < kFewestBatches
             ? fmt::format("{} needs at least {} batch sizes in {}; {} {} measured so far{}.", needs,
                           kFewestBatches, series.label, measured, measured == 1 ? "was" : "were",
                           measured < series.points.size() ? " in at least 3 rounds" : "")
             : fmt::format(
                   "{} needs at least {} batch sizes that do the same work a sample; in {} the library's "
                   "algorithms change with the batch [{}].",
                   needs, kFewestBatches, series.label, measure_larger());
}

// The fastest measured batch.
const CurvePoint& fastest(const BatchSeries& series) {
  return *std::ranges::max_element(series.timed, {}, [](const CurvePoint& point) { return point.per_s; });
}

// T∞ is what ever larger batches approach from below: one that a measured batch exceeds is wrong.
bool t_inf_is_stated(const BatchSeries& series) {
  const std::optional<Estimate>& t_inf = series.model->t_inf_per_s;
  return t_inf && t_inf->value >= fastest(series).per_s;
}

// Below this share of the smallest batch's step time, a fixed cost makes no difference.
constexpr double kNegligible = 0.05;

// A fixed cost whose interval reaches zero: it is small only if the whole interval is.
std::string zero_in_words(const BatchSeries& series) {
  const StepTimeModel& model = *series.model;
  const CurvePoint& smallest = series.timed.front();
  if (!model.t0_ns.ci95 || model.t0_ns.high() <= 0) {
    return "not significant";
  }
  const bool small = model.holds && model.t0_ns.high() < kNegligible * smallest.step.step_ns;
  return fmt::format("not significant, below {}{}", format_duration(model.t0_ns.high()),
                     small ? fmt::format(" or {} of a step at batch {}: time is proportional to the batch",
                                         format_percent(kNegligible), smallest.batch)
                           : "");
}

// Where reading the weights explains it, to within half.
std::string weights_in_words(const BatchSeries& series) {
  const CurvePoint& smallest = series.timed.front();
  const double weights_ns =
      find_limit(smallest.point->work, series.peaks, step_in_run(*smallest.point)).fixed_bytes_ns.value_or(0);
  const double t0 = series.model->t0_ns.value;
  return weights_ns < 0.5 * t0 || weights_ns > 1.5 * t0
             ? ""
             : fmt::format("; reading the weights takes {} of it", format_duration(weights_ns));
}

// With its interval, and why it is only "about": where the asymptotic throughput does not say so already.
std::string t0_in_words(const BatchSeries& series) {
  const StepTimeModel& model = *series.model;
  const std::string caveat =
      model.holds || model.t_inf_per_s ? "" : fmt::format(" (about: {})", misfit(model));
  if (!model.t0_above_zero) {
    return zero_in_words(series) + caveat;
  }
  return fmt::format("{}{}{}", model.holds ? "" : "about ",
                     plus_minus_duration(model.t0_ns.value, model.t0_ns.ci95),
                     model.holds ? weights_in_words(series) : caveat);
}

// ---- a device that is not here ----

// What takes the most of a step, next to the rest.
std::string longest_in_words(const PredictedStep& step, StepLimit limit) {
  const std::string gpu = format_duration(step.gpu_ns);
  const std::string arithmetic = format_duration(step.products_ns);
  const std::string data = format_duration(step.memory_ns);
  switch (limit) {
    case StepLimit::launch:
      return fmt::format("the host limits a step: launching its operations takes {}, the GPU's work {}",
                         format_duration(step.host_ns), gpu);
    case StepLimit::compute:
      return fmt::format("arithmetic limits a step: {} of the GPU's {}, moving data {}", arithmetic, gpu,
                         data);
    case StepLimit::memory:
      return fmt::format("memory limits a step: {} of the GPU's {}, arithmetic {}", data, gpu, arithmetic);
    case StepLimit::implementation:
    case StepLimit::unknown:
      break;
  }
  return fmt::format("short kernels limit a step: {} of the GPU's {}, arithmetic {}, moving data {}",
                     format_duration(step.tiles_ns + step.launches_ns), gpu, arithmetic, data);
}

// By the two largest batches.
Finding predicted_t_inf(const BatchSeries& series) {
  Finding finding = finding_of("t_inf", "samples/s", series.names());
  if (series.points.size() < 2) {
    finding.claim = too_few(series, "The asymptotic throughput");
    return finding;
  }
  const CurvePoint& last = series.points.back();
  const CurvePoint& before = series.points[series.points.size() - 2];
  const double slope_ns =
      (last.step.step_ns - before.step.step_ns) / static_cast<double>(last.batch - before.batch);
  const Ratio per_s = within_factor(1e9 / slope_ns, std::exp(half_width80(last)), kPredictedLevel);
  finding.details = {{"t_inf_per_s", per_s.value}, {"batches", {before.batch, last.batch}}};
  finding.set(per_s);
  finding.claim = fmt::format("Asymptotic throughput of {}: {} samples/s.", series.label, in_words(per_s));
  return finding;
}

// What takes the most of a step.
Finding predicted_limit(const CurvePoint& point, const BatchSeries& series, std::string name) {
  Finding finding = finding_of(std::move(name), "share of step time", {point.name()});
  const LongestPart longest = longest_part(point.step);
  finding.value = std::min(1.0, longest.ns / point.step.step_ns);
  finding.details = {{"limit", name_of(longest.limit)}, {"batch", point.batch}};
  finding.claim = fmt::format("At batch {} in {} {}.", point.batch, series.label,
                              longest_in_words(point.step, longest.limit));
  return finding;
}

// ---- speedups ----

Ratio speedup_at(const CurvePoint& one, const CurvePoint& other) {
  if (one.is_predicted) {
    return predicted_gain(one, other);
  }
  const Estimate ns = step_in_run(*one.point);
  const Estimate other_ns = step_in_run(*other.point);
  const RoundTimes rounds = round_times(*one.point);
  const RoundTimes other_rounds = round_times(*other.point);
  return ratio_of(throughput_ratio({ns, rounds, one.per_s * ns.value},
                                   {other_ns, other_rounds, other.per_s * other_ns.value}));
}

bool share_a_batch(const BatchSeries& one, const BatchSeries& other) {
  return std::ranges::any_of(one.points, [&](const CurvePoint& p) { return other.at(p.batch) != nullptr; });
}

// An interval around 1 this narrow shows that there is no difference worth a choice; a wider one shows
// nothing.
std::string_view significance(const Ratio& ratio) {
  const bool narrow = ratio.interval && ratio.low() >= 0.9 && ratio.high() <= 1.1;
  return ratio.differs_from_one() ? "" : narrow ? ": no difference" : ": not significant";
}

// "Batch 3497 of fp32 would just fit in 18.4 GiB (calculated, not run)", or "Batch about 3400 …
// (extrapolated from batch 64)".
std::string largest_in_words(const BatchSeries& series, const std::string& cap) {
  return fmt::format("Batch {} of {} would just fit in {} ({})", series.largest_in_words(), series.label, cap,
                     series.planned  // perhaps before any batch was measured
                         ? "calculated, not run"
                         : fmt::format("extrapolated from batch {}", series.points.back().batch));
}

}  // namespace

Finding claim_t0(const BatchSeries& series) {
  Finding finding = finding_of("t0", "ns", series.timed_names());
  if (!series.model) {
    finding.claim = unfitted(series, "The fixed cost of a step");
    return finding;
  }
  const StepTimeModel& model = *series.model;
  finding.set(model.t0_ns, kOfFit);
  finding.details = {{"max_relative_residual", model.max_relative_residual},
                     {"distinguishable_from_zero", model.t0_above_zero},
                     {"model_holds", model.holds},
                     {"batches", model.batches}};
  finding.evidence = fitted_names(series);
  finding.claim = fmt::format("Fixed cost of a step in {}: {} (fit over {}).", series.label,
                              t0_in_words(series), fitted_in_words(series));
  return finding;
}

Finding claim_t_inf(const BatchSeries& series) {
  if (series.is_predicted()) {
    return predicted_t_inf(series);
  }
  Finding finding = finding_of("t_inf", "samples/s", series.timed_names());
  if (!series.model) {
    finding.claim = unfitted(series, "The asymptotic throughput");
    return finding;
  }
  const StepTimeModel& model = *series.model;
  finding.evidence = fitted_names(series);
  if (!model.t_inf_per_s) {
    finding.claim = fmt::format(
        "Step time in {} does not grow with the batch up to {}, so that no asymptotic throughput shows "
        "[{}].",
        series.label, model.batches.back(), measure_larger());
    return finding;
  }
  finding.details = {{"t0_ns", std::llround(model.t0_ns.value)},
                     {"max_relative_residual", model.max_relative_residual},
                     {"r_squared", model.r_squared},
                     {"model_holds", model.holds},
                     {"batches", model.batches}};
  if (!t_inf_is_stated(series)) {
    const CurvePoint& point = fastest(series);
    finding.claim = fmt::format(
        "{} has no asymptotic throughput: that of the fit over {} lies below the {} of batch {}{} [{}].",
        series.label, fitted_in_words(series), per_second(point), point.batch,
        model.holds ? "" : "; " + misfit(model), measure_larger());
    return finding;
  }
  finding.set(*model.t_inf_per_s, kOfFit);
  finding.details["t_inf_per_s"] = model.t_inf_per_s->value;
  const std::string note = !model.holds    ? "; about: " + misfit(model)
                           : !finding.ci95 ? "; its slope may be zero, so that there is no interval"
                                           : "";
  finding.claim = fmt::format("Asymptotic throughput of {}: {} samples/s (fit over {}{}).", series.label,
                              plus_minus(*finding.value, finding.ci95), fitted_in_words(series), note);
  return finding;
}

Finding claim_limit(const BatchSeries& series) {
  Finding finding = finding_of("limit_below_ceiling", "share of step time");
  if (series.points.empty()) {
    finding.claim = fmt::format("No point of {} was measured so far.", series.label);
    return finding;
  }
  if (series.is_predicted()) {
    return predicted_limit(series.points.front(), series, "limit_below_ceiling");
  }
  const CurvePoint& smallest = series.timed.front();
  finding.evidence = {smallest.name()};
  LimitReport report = find_limit(smallest.point->work, series.peaks, step_in_run(*smallest.point));
  // Neither roof explains the step: without a core of its own, that says nothing about its kernels.
  const bool hidden = report.limit == StepLimit::implementation && smallest.contended;
  report.limit = hidden ? StepLimit::unknown : report.limit;
  finding.details = {{"limit", name_of(report.limit)}, {"batch", smallest.batch}};
  if (report.compute_share) {
    finding.details["compute_share"] = *report.compute_share;
  }
  if (report.memory_share) {
    finding.details["memory_share"] = *report.memory_share;
  }
  const std::string where = fmt::format("At batch {} in {}", smallest.batch, series.label);
  const std::string step = format_duration(smallest.step.step_ns);
  const double compute = report.compute_share.value_or(0);
  const double memory = report.memory_share.value_or(0);
  switch (report.limit) {
    case StepLimit::compute:
    case StepLimit::memory: {
      const bool computes = report.limit == StepLimit::compute;
      finding.value = computes ? compute : memory;
      finding.claim =
          fmt::format("{} {} limits a step: {} takes {} of {}.", where, computes ? "arithmetic" : "memory",
                      computes ? "at the measured peak it" : "moving its data at the measured bandwidth",
                      format_percent(std::min(*finding.value, 1.0)), step);
      break;
    }
    case StepLimit::implementation:
      finding.value = 1 - std::max(compute, memory);
      finding.claim = fmt::format(
          "{} the implementation limits a step of {}: {} below both roofs; peak arithmetic takes {} of it, "
          "memory bandwidth {}.",
          where, step,
          smallest.point->work.launches <= 1
              ? "1 operation runs"
              : fmt::format("{} operations run", smallest.point->work.launches),
          format_percent(compute), format_percent(memory));
      break;
    case StepLimit::launch:
    case StepLimit::unknown:
      finding.claim = fmt::format(
          "{} a step takes {}; {}.", where, step,
          hidden ? "other processes used the CPU, so that its limit is unknown [run on an idle machine]"
                 : fmt::format("the device's peaks in {} are not known", name_of(series.params.dtype)));
      break;
  }
  return finding;
}

Finding claim_limit_at_saturation(const BatchSeries& series) {
  return predicted_limit(series.at_saturation(), series, "limit_at_ceiling");
}

Speedups speedups_of(const BatchSeries& series, const BatchSeries& baseline) {
  Speedups speedups;
  std::vector<Ratio> ratios;
  for (const CurvePoint& one : series.points) {
    const CurvePoint* const other = baseline.at(one.batch);
    if (other != nullptr && !one.few_rounds && !other->few_rounds) {
      ratios.push_back(speedups.by_batch[one.batch] = speedup_at(one, *other));
    }
  }
  if (ratios.empty()) {
    return speedups;
  }
  const auto at_saturation = series.fits.saturation && series.fits.saturation->batch
                                 ? speedups.by_batch.find(*series.fits.saturation->batch)
                                 : speedups.by_batch.end();
  if (at_saturation == speedups.by_batch.end() && !series.is_predicted() && ratios.size() > 1) {
    speedups.quoted = mean_ratio(ratios);
    return speedups;
  }
  const auto& [batch, quoted] =
      at_saturation == speedups.by_batch.end() ? *speedups.by_batch.rbegin() : *at_saturation;
  speedups.batch = batch;
  speedups.quoted = quoted;
  return speedups;
}

Finding claim_speedup(const BatchSeries& series, const BatchSeries& baseline) {
  Finding finding = finding_of("speedup_" + series.label, "ratio");
  const Speedups speedups = speedups_of(series, baseline);
  if (!speedups.quoted) {
    finding.claim = share_a_batch(series, baseline)
                        ? fmt::format("No batch has 3 rounds in both {} and {} [{}].", series.label,
                                      baseline.label, give_time())
                        : fmt::format("No batch was {} in both {} and {}.", series.how_made(), series.label,
                                      baseline.label);
    return finding;
  }
  std::vector<Ratio> ratios;
  std::ranges::copy(std::views::values(speedups.by_batch), std::back_inserter(ratios));
  finding.details = {{"mean_ratio", mean_ratio(ratios)->value}, {"by_batch", Json::array()}};
  for (const auto& [batch, ratio] : speedups.by_batch) {
    finding.details["by_batch"].push_back({{"batch", batch}, {"ratio", ratio.value}});
    finding.evidence.push_back(series.at(batch)->name());
    finding.evidence.push_back(baseline.at(batch)->name());
  }
  if (series.is_predicted()) {
    finding.details["batch"] = *speedups.batch;
  }
  finding.set(*speedups.quoted);
  finding.claim = fmt::format("{} runs {} times as fast as {} {}{}.", series.label,
                              in_words(*speedups.quoted), baseline.label,
                              speedups.batch ? fmt::format("at batch {}", *speedups.batch)
                                             : fmt::format("on the mean of {} batches", ratios.size()),
                              significance(*speedups.quoted));
  return finding;
}

Finding claim_memory_ratio(const BatchSeries& series, const BatchSeries& baseline) {
  Finding finding = finding_of("memory_ratio_" + series.label, "ratio");
  const CurvePoint* one = nullptr;
  const CurvePoint* other = nullptr;
  for (const CurvePoint& point : series.points) {  // by batch: the largest shared one stays
    const CurvePoint* match = baseline.at(point.batch);
    if (match != nullptr && match->bytes > 0 && point.bytes > 0) {
      one = &point;
      other = match;
    }
  }
  if (one == nullptr) {
    finding.claim =
        fmt::format("No batch's memory was measured in both {} and {}.", series.label, baseline.label);
    return finding;
  }
  finding.value = static_cast<double>(one->bytes) / static_cast<double>(other->bytes);
  finding.evidence = {one->name(), other->name()};
  finding.details = {{"batch", one->batch}, {"bytes", one->bytes}, {"baseline_bytes", other->bytes}};
  const std::string bytes = format_bytes(one->bytes);
  const std::string baseline_bytes = format_bytes(other->bytes);
  finding.claim =
      bytes == baseline_bytes
          ? fmt::format("{} takes as much memory as {} at batch {}: {}.", series.label, baseline.label,
                        one->batch, bytes)
          : fmt::format("{} takes {} of the memory of {} at batch {}: {} instead of {}.", series.label,
                        format_percent(*finding.value), baseline.label, one->batch, bytes, baseline_bytes);
  return finding;
}

Finding claim_largest_batch(const BatchSeries& series) {
  Finding finding = finding_of("largest_batch", "samples", series.names());
  if (!series.fits.memory && !series.planned) {
    finding.claim = too_few(series, "The largest batch that fits");
    return finding;
  }
  if (!series.cap_bytes) {
    finding.claim = "Without a memory cap there is no largest batch.";
    return finding;
  }
  const std::int64_t measured = series.points.empty() ? 0 : series.points.back().batch;
  finding.details = {{"cap_bytes", *series.cap_bytes},
                     {"largest_measured", measured},
                     {"source", series.planned ? "planned" : "extrapolated"}};
  const std::string cap = format_bytes(*series.cap_bytes);
  const std::optional<std::int64_t>& largest = series.largest;
  if (!largest) {
    finding.claim = fmt::format(
        "Memory of {} does not grow up to batch {}, so that these batches do not show the largest within {}.",
        series.label, measured, cap);
    return finding;
  }
  finding.value = static_cast<double>(*largest);
  finding.claim = largest_in_words(series, cap);
  if (series.planned && series.planned->next_unsupported) {
    finding.claim += fmt::format("; a larger one is unsupported: {}", *series.planned->next_unsupported);
  } else if (series.planned && measured > *largest) {
    finding.claim += fmt::format(", though batch {} was measured", measured);
  }
  if (series.smallest_oom) {
    finding.details["smallest_oom"] = *series.smallest_oom;
    finding.claim += fmt::format("; batch {} does not fit", *series.smallest_oom);
  }
  finding.claim += '.';
  return finding;
}

}  // namespace bench::sweeps
