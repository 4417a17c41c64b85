// What a step costs, which throughput it approaches, and what limits it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/measure/units.h"
#include "sweeps/batch/claims.h"

namespace bench::sweeps {
namespace {

std::string between(const std::optional<Interval>& interval, auto format) {
  return interval ? fmt::format(" ({} to {})", format(interval->low), format(interval->high)) : "";
}

std::string misfit(const StepTimeModel& model) {
  return fmt::format("step time does not follow t0 + batch/T∞ (a point lies {} off the line)",
                     format_percent(model.max_relative_residual));
}

// Below this share of the smallest batch's step time, a fixed cost makes no difference.
constexpr double kNegligible = 0.05;

// Of a fixed cost whose interval reaches zero: it is small only where the whole interval is.
std::string zero_in_words(const BatchSeries& series, const std::string& figure) {
  const BatchPoint& smallest = series.timed.front();
  const auto& interval = series.model->t0_ns.ci95;
  if (interval && interval->high < kNegligible * smallest.step_ns) {
    return fmt::format(
        "In {} the fixed cost of a step, {}, is not distinguishable from zero, and below {} of a step at "
        "batch "
        "{}: time grows in proportion to the batch.",
        series.label, figure, format_percent(kNegligible), smallest.batch);
  }
  return fmt::format(
      "In {} the fixed cost of a step, {}, cannot be told from zero: its interval is too wide.", series.label,
      figure);
}

std::string fixed_part(const BatchSeries& series) {
  const double weights_ns = find_limit(series.timed.front().work, series.peaks, series.timed.front().step_ns)
                                .fixed_bytes_ns.value_or(0);
  const double t0 = series.model->t0_ns.value;
  if (weights_ns < 0.5 * t0 || weights_ns > 1.5 * t0) {
    return "";
  }
  return fmt::format("; reading the weights once accounts for {} of it", format_duration(weights_ns));
}

}  // namespace

Finding claim_t0(const BatchSeries& series) {
  Finding finding = finding_of("t0", "ns", series.timed_names());
  if (!series.model) {
    finding.claim = too_few(series, "The fixed cost of a step");
    return finding;
  }
  const StepTimeModel& model = *series.model;
  finding.value = model.t0_ns.value;
  finding.ci95 = model.t0_ns.ci95;
  finding.details = {{"max_relative_residual", model.max_relative_residual},
                     {"distinguishable_from_zero", model.t0_above_zero},
                     {"model_holds", model.holds && model.tested()}};
  const std::string figure = format_duration(model.t0_ns.value) + between(model.t0_ns.ci95, format_duration);
  if (!model.tested()) {
    finding.claim = fmt::format(
        "A line through 2 batch sizes in {} puts the fixed cost of a step at {}, but only a third would test "
        "it.",
        series.label, figure);
  } else if (!model.holds) {
    finding.claim =
        fmt::format("In {} {}, so the fixed cost of a step, {} by the fit, is only a rough figure.",
                    series.label, misfit(model), figure);
  } else if (!model.t0_above_zero) {
    finding.claim = zero_in_words(series, figure);
  } else {
    finding.claim = fmt::format("In {} a step costs {} before its first sample{}.", series.label, figure,
                                fixed_part(series));
  }
  finding.claim = with_caveat(std::move(finding.claim), series.timed);
  return finding;
}

Finding claim_t_inf(const BatchSeries& series) {
  Finding finding = finding_of("t_inf", "samples/s", series.timed_names());
  if (!series.model) {
    finding.claim = too_few(series, "The throughput that ever larger batches approach");
    return finding;
  }
  const StepTimeModel& model = *series.model;
  if (!model.t_inf_per_s) {
    finding.claim = fmt::format(
        "In {} step time did not grow with the batch, so the throughput that larger batches approach cannot "
        "be "
        "told; measure larger ones.",
        series.label);
    finding.claim = with_caveat(std::move(finding.claim), series.timed);
    return finding;
  }
  finding.value = model.t_inf_per_s->value;
  finding.ci95 = model.t_inf_per_s->ci95;
  finding.details = {{"t0_ns", std::llround(model.t0_ns.value)},
                     {"t_inf_per_s", model.t_inf_per_s->value},
                     {"max_relative_residual", model.max_relative_residual},
                     {"r_squared", model.r_squared},
                     {"model_holds", model.holds && model.tested()}};
  const std::string figure = per_second(*finding.value) + between(finding.ci95, format_number);
  if (!model.tested()) {
    finding.claim = fmt::format(
        "A line through 2 batch sizes in {} puts the throughput that larger batches approach at {}, but only "
        "a "
        "third would test it.",
        series.label, figure);
  } else if (!model.holds) {
    finding.claim =
        fmt::format("In {} {}, so {} as the throughput of ever larger batches is only a rough figure.",
                    series.label, misfit(model), figure);
  } else if (!finding.ci95) {
    finding.claim = fmt::format(
        "In {} ever larger batches approach {} by the fit; with so few batches its interval is unknown.",
        series.label, figure);
  } else {
    finding.claim = fmt::format("In {} ever larger batches approach {} and no more.", series.label, figure);
  }
  finding.claim = with_caveat(std::move(finding.claim), series.timed);
  return finding;
}

Finding claim_limit(const BatchSeries& series) {
  Finding finding = finding_of("limit_below_ceiling", "share of step time");
  if (series.points.empty()) {
    finding.claim = fmt::format("No point in {} was measured so far, so what limits small batches is open.",
                                series.label);
    return finding;
  }
  const BatchPoint& smallest = series.timed.front();
  finding.evidence = {smallest.name};
  const LimitReport report = find_limit(smallest.work, series.peaks, smallest.step_ns);
  finding.details = {{"limit", name_of(report.limit)}, {"batch", smallest.batch}};
  if (report.compute_share) {
    finding.details["compute_share"] = *report.compute_share;
  }
  if (report.memory_share) {
    finding.details["memory_share"] = *report.memory_share;
  }
  const std::string step = fmt::format("In {} at batch {} a step takes {}", series.label, smallest.batch,
                                       format_duration(smallest.step_ns));
  const double compute = report.compute_share.value_or(0);
  const double memory = report.memory_share.value_or(0);
  switch (report.limit) {
    case Limit::compute:
      finding.value = compute;
      finding.claim =
          fmt::format("{}, {} of it explained by arithmetic at the device's peak: compute limits it.", step,
                      format_percent(std::min(compute, 1.0)));
      break;
    case Limit::memory:
      finding.value = memory;
      finding.claim = fmt::format(
          "{}, {} of it explained by moving its data at the device's memory bandwidth: memory limits it.",
          step, format_percent(std::min(memory, 1.0)));
      break;
    case Limit::overhead:
      finding.value = 1 - std::max(compute, memory);
      finding.claim = fmt::format(
          "{}, of which arithmetic at the device's peak explains {} and memory bandwidth {}: starting {} "
          "and work too small to fill the device take the rest.",
          step, format_percent(compute), format_percent(memory),
          smallest.work.launches == 1 ? "1 operation" : fmt::format("{} operations", smallest.work.launches));
      break;
    case Limit::unknown:
      finding.claim = fmt::format("{}; what limits it cannot be told without the device's peak rates in {}.",
                                  step, series.dtype);
      break;
  }
  finding.claim = with_caveat(std::move(finding.claim), {smallest});
  return finding;
}

}  // namespace bench::sweeps
