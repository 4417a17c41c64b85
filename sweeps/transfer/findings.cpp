// Findings from the measured copies, and the sweep's headlines.
#include "sweeps/transfer/findings.h"
#include "bench/result/result.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "bench/model/links.h"
#include "bench/result/finding.h"
#include "bench/stats/ratio.h"
#include "bench/stats/statistics.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {
namespace {

// ---- predicted steps ----

std::string step80_in_words(const PredictedPoint& step) {
  const Interval interval = step.interval80_ns.value_or(Interval{step.step_ns, step.step_ns});
  return fmt::format("{} ({} to {})", format_duration(step.step_ns), format_duration(interval.low),
                     format_duration(interval.high));
}

// The copy of a batch next to the step that reads it.
Finding claim_input(const PredictedPoint& step, const BatchParams& params, const std::string& workload,
                    const std::optional<double>& bytes_per_s) {
  Finding finding = finding_of(fmt::format("input/batch:{}", params.batch), "share of step time");
  const std::int64_t bytes = step.memory[MemoryCategory::input];
  const std::string batch = fmt::format("a batch of {} ({})", params.batch, format_bytes(bytes));
  const Interval step80 = step.interval80_ns.value_or(Interval{step.step_ns, step.step_ns});
  finding.details = {
      {"bytes", bytes}, {"step_ns", step.step_ns}, {"step_interval80_ns", {step80.low, step80.high}}};
  if (!bytes_per_s) {
    finding.claim = fmt::format("A step of {} in {} takes {}; what moving {} takes is not known.", workload,
                                name_of(params.dtype), step80_in_words(step), batch);
    return finding;
  }
  const double least_ns = static_cast<double>(bytes) / *bytes_per_s * 1e9;
  finding.details["least_copy_ns"] = least_ns;
  finding.value = least_ns / step.step_ns;
  finding.claim = fmt::format(
      "Moving {} takes at least {}, {} of a step of {}; {}.", batch, format_duration(least_ns),
      format_percent(*finding.value), step80_in_words(step),
      least_ns < step80.low    ? "overlapped with the step it may cost nothing [pin_memory=True, and a "
                                 "second stream]"
      : least_ns > step80.high ? "the bus limits"
                               : "bus and GPU are about as fast");
  return finding;
}

void claim_inputs(const TransferFacts& facts, std::vector<Finding>& findings) {
  const std::string& workload = facts.document.sweep.workload;
  for (const PredictedPoint& step : facts.document.predicted) {
    if (const auto params = read_params(step.params); params && step.step_ns > 0) {
      findings.push_back(claim_input(step, *params, workload, facts.bus_bytes_per_s()));
    }
  }
  for (const UnmeasuredPoint& step : facts.document.unmeasured) {
    if (const auto params = facts.is_modelled ? read_params(step.params) : std::nullopt) {
      findings.push_back(finding_of(fmt::format("input/batch:{}", params->batch), "share of step time"));
      findings.back().claim =
          fmt::format("No step of {} at batch {} is predicted: {}.", workload, params->batch, step.reason);
    }
  }
}

// ---- the bus ----

const SizePoint* fastest_one_way(const std::vector<CopySeries>& all) {
  const SizePoint* best = nullptr;
  for (const CopySeries& series : all) {
    for (const SizePoint& point : series.points) {
      if (series.direction != "both" && (best == nullptr || point.bytes_per_s() > best->bytes_per_s())) {
        best = &point;
      }
    }
  }
  return best;
}

void claim_bus(const TransferFacts& facts, std::vector<Finding>& findings) {
  Finding finding = finding_of("bus", "B/s");
  const auto bus = facts.bus_bytes_per_s();
  if (facts.is_modelled) {
    finding.value = bus;
    finding.claim =
        bus ? fmt::format(
                  "The bus (PCIe {}) carries at most {} each way, from the data sheet; which share copies "
                  "reach is not known [run this sweep on the machine].",
                  facts.pcie, byte_rate(*bus))
            : "The data sheet names no bus: the device's memory is the host's, and no batch crosses one.";
  } else if (!facts.state.crosses_bus) {
    finding.claim = fmt::format("{}: these are copies within the host's memory and say nothing about a card.",
                                kNoBusCrossed);
  } else if (!bus) {
    finding.claim = "The bus's generation and width are unknown.";
  } else {
    finding.claim = fmt::format("The bus (PCIe {}) carries {} each way", facts.pcie, byte_rate(*bus));
    const SizePoint* const best = fastest_one_way(facts.series);
    if (best != nullptr) {
      finding.evidence = {best->name};
    }
    if (best == nullptr || best->bytes_per_s() <= *bus) {
      finding.value = bus;
      finding.claim += best == nullptr ? "."
                                       : fmt::format("; the fastest copy reaches {} of it.",
                                                     format_percent(best->bytes_per_s() / *bus));
    } else {
      finding.claim += fmt::format(", but {} at {} is faster: the link or the time was misread.",
                                   byte_rate(best->bytes_per_s()), best->name);
    }
  }
  findings.push_back(std::move(finding));
}

// ---- time by size ----

void note(Json& details, const std::string& name, const Estimate& estimate, const std::string& interval) {
  details[name] = estimate.value;
  if (estimate.ci95) {
    details[interval] = {estimate.ci95->low, estimate.ci95->high};
  }
}

Json pieces_of(const SizeCurve& curve) {
  Json pieces = Json::array();
  for (const SizeCurve::Piece& piece : curve.pieces) {
    const bool last = !std::isfinite(piece.to_bytes);
    Json& row = pieces.emplace_back(Json{{"ns_per_byte", piece.ns_per_byte},
                                         {"sizes", pieces.empty() || last ? 1 : 2},
                                         {"latency_ns", piece.latency_ns}});
    if (!last) {
      row["to_bytes"] = piece.to_bytes;
    }
  }
  return pieces;
}

Finding claim_model(const CopySeries& series, const SizeCurve& curve, std::optional<double> bus) {
  Finding finding = finding_of("model/" + series.label(), "B/s", series.names());
  // Both ways at once a step moves a copy's bytes twice.
  const double each_way = series.points.front().moved / series.points.front().bytes;
  finding.details = {{"moved_per_byte", each_way}, {"pieces", pieces_of(curve)}};
  note(finding.details, "latency_ns", curve.latency_ns, "latency_ci95_ns");
  if (const auto line = fit_size_line(series.points)) {
    finding.details["r_squared"] = line->r_squared;
    Json& straight = finding.details["straight"] = {{"r_squared", line->r_squared},
                                                    {"latency_ns", line->latency_ns.value}};
    if (line->bytes_per_s) {
      straight["bytes_per_s"] = line->bytes_per_s->value;
    }
  }
  finding.claim = fmt::format("Copies {} of {} memory: latency {}", copy_way(series.direction), series.kind,
                              latency_in_words(curve.latency_ns));
  if (!curve.bytes_per_s) {
    finding.claim += fmt::format(", hardly longer up to {}.", size_text(series.points.back().bytes));
    return finding;
  }
  const Estimate total = scaled(*curve.bytes_per_s, each_way);
  finding.set(total, kOfFit);
  note(finding.details, "bytes_per_s", *curve.bytes_per_s, "bytes_per_s_ci95");
  const auto half = curve.half_bytes();
  if (half) {
    note(finding.details, "half_bytes", *half, "half_bytes_ci95");
  }
  if (!conclusive(total)) {
    finding.claim += fmt::format(", bandwidth inconclusive ({} to {}) [give a larger --time-budget].",
                                 byte_rate(total.low()), byte_rate(total.high()));
    return finding;
  }
  finding.claim += fmt::format(", bandwidth {}", plus_minus_rate(total.value, total.ci95, "B/s"));
  if (bus) {
    finding.claim += fmt::format(" ({} of the bus)", format_percent(curve.bytes_per_s->value / *bus));
  }
  if (half) {
    finding.claim += fmt::format(", half reached at {}", size_text(half->value));
  }
  finding.claim += '.';
  return finding;
}

void claim_models(const TransferFacts& facts, std::vector<Finding>& findings) {
  for (const CopySeries& series : facts.series) {
    if (series.curve && series.points.size() >= 3) {
      findings.push_back(claim_model(series, *series.curve, facts.bus_bytes_per_s()));
    }
  }
}

std::vector<double> values_of(const std::vector<HeldOut>& sizes, double HeldOut::*error) {
  std::vector<double> values;
  std::ranges::transform(sizes, std::back_inserter(values), error);
  return values;
}

void claim_model_error(const TransferFacts& facts, std::vector<Finding>& findings) {
  std::vector<HeldOut> one_way;
  std::vector<HeldOut> both_ways;
  Json by_series = Json::object();
  Json straight_by_series = Json::object();
  for (const CopySeries& series : facts.series) {
    const auto own = series.plain() ? held_out_errors(series.points) : std::vector<HeldOut>();
    if (!own.empty()) {
      by_series[series.label()] = median(values_of(own, &HeldOut::error));
      straight_by_series[series.label()] = median(values_of(own, &HeldOut::straight_error));
      std::ranges::copy(own, std::back_inserter(series.direction == "both" ? both_ways : one_way));
    }
  }
  const std::vector<HeldOut>& told = one_way.empty() ? both_ways : one_way;
  if (told.empty()) {
    return;
  }
  const std::vector<double> errors = values_of(told, &HeldOut::error);
  const double straight = median(values_of(told, &HeldOut::straight_error));
  Finding finding = finding_of("model_error", "1");
  std::ranges::transform(told, std::back_inserter(finding.evidence), &HeldOut::name);
  finding.set({.value = median(errors), .ci95 = median_interval(errors)}, kOfFit);
  finding.details = {{"median_by_series", by_series},
                     {"straight_by_series", straight_by_series},
                     {"straight", straight},
                     {"held_out", told.size()}};
  if (!one_way.empty() && !both_ways.empty()) {
    finding.details["both_ways"] = median(values_of(both_ways, &HeldOut::error));
    finding.details["both_ways_straight"] = median(values_of(both_ways, &HeldOut::straight_error));
  }
  finding.claim = fmt::format(
      "Copies {} of the {} sizes left out are predicted within {} (median; by one straight line each {}).",
      one_way.empty() ? "both ways at once" : "one way", told.size(), format_percent(*finding.value),
      format_percent(straight));
  findings.push_back(std::move(finding));
}

// ---- two series at one size ----

// "Pinned", "Staged".
std::string capitalized(std::string kind) {
  kind.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(kind.front())));
  return kind;
}

void claim_crossover(const TransferFacts& facts, const std::string& direction, const std::string& kind,
                     std::vector<Finding>& findings) {
  const CopySeries* const pageable = find_series(facts.series, direction + "/pageable");
  const CopySeries* const other = find_series(facts.series, direction + "/" + kind);
  const auto largest = largest_of_both(other, pageable);
  if (!largest) {
    return;  // never compared
  }
  const auto from = faster_from(other->points, pageable->points);
  const auto back = faster_from(pageable->points, other->points);
  Finding finding = finding_of(fmt::format("crossover/{}/{}", direction, kind), "B",
                               {largest->one->name, largest->other->name});
  finding.value = from;
  if (back) {
    finding.details["pageable_faster_from"] = *back;
  }
  finding.claim =
      fmt::format("{} copies {}{} pageable ones{}: {} vs {} at {}{}.", capitalized(kind), copy_way(direction),
                  from   ? " are faster than"
                  : back ? " are slower than"
                         : " vs",
                  from || back ? fmt::format(" from {} on", size_text(from ? *from : *back)) : "",
                  byte_rate(largest->one->bytes_per_s()), byte_rate(largest->other->bytes_per_s()),
                  size_text(largest->one->bytes), from || back ? "" : ", not significant");
  if (other->curve && pageable->curve) {
    if (const auto crossed = crossing(*other->curve, *pageable->curve)) {
      finding.details["models_cross_at_bytes"] = *crossed;
    }
  }
  findings.push_back(std::move(finding));
}

void claim_crossovers(const TransferFacts& facts, std::vector<Finding>& findings) {
  for (const char* direction : {"h2d", "d2h"}) {
    for (const char* kind : {"pinned", "staged"}) {
      claim_crossover(facts, direction, kind, findings);
    }
  }
}

void claim_in_flight(const TransferFacts& facts, std::vector<Finding>& findings) {
  for (const CopySeries& series : facts.series) {
    const bool both = series.direction == "both";
    if (both ? !series.plain() : series.in_flight == 1) {
      continue;
    }
    const auto largest = largest_of_both(
        &series, find_series(facts.series, (both ? "h2d" : series.direction) + "/" + series.kind));
    if (!largest) {
      continue;
    }
    const auto& [several, single] = *largest;
    Finding finding = finding_of("at_once/" + series.label(), "1", {several->name, single->name});
    finding.set(throughput_ratio({several->ns, several->rounds, several->moved},
                                 {single->ns, single->rounds, single->moved}));
    finding.claim = fmt::format("{} of {} {} ({}): {} in all, {} times one copy{}.",
                                both ? "Copies" : fmt::format("{} copies at once", series.in_flight),
                                size_text(several->bytes), copy_way(series.direction), series.kind,
                                byte_rate(several->bytes_per_s()), plus_minus(*finding.value, finding.ci95),
                                both ? " to the device" : "");
    findings.push_back(std::move(finding));
  }
}

void claim_first_touch(const TransferFacts& facts, std::vector<Finding>& findings) {
  for (const CopySeries& series : facts.series) {
    const auto largest =
        series.first_touch
            ? largest_of_both(&series, find_series(facts.series, series.direction + "/" + series.kind))
            : std::nullopt;
    if (!largest) {
      continue;
    }
    Finding finding =
        finding_of("cold_pages/" + series.label(), "1", {largest->one->name, largest->other->name});
    finding.set(
        ratio_by_rounds(largest->one->ns, largest->one->rounds, largest->other->ns, largest->other->rounds));
    finding.claim = fmt::format(
        "Into first-touch pages a copy {} of {} takes {} times as long ({} vs {}).",
        copy_way(series.direction), size_text(largest->one->bytes), plus_minus(*finding.value, finding.ci95),
        format_duration(largest->one->ns.value), format_duration(largest->other->ns.value));
    findings.push_back(std::move(finding));
  }
}

}  // namespace

std::optional<double> TransferFacts::bus_bytes_per_s() const {
  return is_modelled || state.crosses_bus ? pcie_bytes_per_s(pcie) : std::nullopt;
}

std::string copy_way(const std::string& direction) {
  return direction == "h2d" ? "to the device" : direction == "d2h" ? "to the host" : "both ways at once";
}

std::string byte_rate(double bytes_per_s) {
  return format_rate(bytes_per_s, "B/s");
}

std::string size_text(double bytes) {
  return format_bytes(std::llround(bytes));
}

std::vector<Finding> transfer_findings(const ResultDocument& document, const TransferState& state) {
  const TransferFacts facts{.document = document, .state = state, .series = copy_series(document)};
  std::vector<Finding> findings;
  for (const auto claim : {claim_inputs, claim_steps, claim_bus, claim_models, claim_model_error,
                           claim_crossovers, claim_in_flight, claim_first_touch, claim_host_costs}) {
    claim(facts, findings);
  }
  choose_transfer_headlines(findings);
  return findings;
}

}  // namespace bench::sweeps
