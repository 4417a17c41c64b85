// The answer of the transfer sweep on the measured copies in words, and the sweep's headlines.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/run/remedies.h"
#include "bench/stats/ratio.h"
#include "bench/stats/statistics.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"
#include "sweeps/transfer/answer.h"

namespace bench::sweeps {
namespace {

// ---- predicted steps ----

std::string step80_in_words(const Estimate& step) {
  return fmt::format("{} ({} to {})", format_duration(step.value), format_duration(step.low()),
                     format_duration(step.high()));
}

// The copy of a batch next to the step that reads it.
Finding claim_input(const InputCopy& input, const std::string& workload) {
  Finding finding = finding_of(input.finding_name(), "share of step time");
  if (input.step == nullptr) {
    finding.claim =
        fmt::format("No step of {} at batch {}: {}.", workload, input.params.batch, input.refusal);
    return finding;
  }
  const Estimate step = input.step->step_ns();
  const std::string batch = fmt::format("a batch of {} ({})", input.params.batch, format_bytes(input.bytes));
  finding.details = {
      {"bytes", input.bytes}, {"step_ns", step.value}, {"step_interval80_ns", {step.low(), step.high()}}};
  if (!input.least_ns) {
    finding.claim = fmt::format("A step of {} in {} takes {}; what moving {} takes is not known.", workload,
                                name_of(input.params.dtype), step80_in_words(step), batch);
    return finding;
  }
  finding.details["least_copy_ns"] = *input.least_ns;
  finding.value = input.share;
  finding.claim = fmt::format(
      "Moving {} takes at least {}, {} of a step of {}; {}.", batch, format_duration(*input.least_ns),
      format_percent(*input.share), step80_in_words(step),
      *input.least_ns < step.low()    ? "overlapped it may cost nothing [pin_memory=True, second stream]"
      : *input.least_ns > step.high() ? "the bus limits"
                                      : "bus and GPU are about as fast");
  return finding;
}

// ---- the bus ----

Finding claim_bus(const Bus& bus) {
  Finding finding = finding_of("bus", "B/s");
  finding.value = bus.known_bytes_per_s();
  if (bus.is_of_data_sheet) {
    finding.claim =
        bus.bytes_per_s
            ? fmt::format(
                  "The bus (PCIe {}) carries at most {} each way, from the data sheet; which share copies "
                  "reach is not known [run this sweep on the machine].",
                  bus.pcie, byte_rate(*bus.bytes_per_s))
            : "The data sheet names no bus: the device's memory is the host's, and no batch crosses one.";
  } else if (!bus.is_crossed) {
    finding.claim =
        "No bus was crossed: these are copies within the host's memory and say nothing about a card.";
  } else if (!bus.bytes_per_s) {
    finding.claim = "The bus's generation and width are unknown.";
  } else {
    finding.claim =
        fmt::format("The bus (PCIe {}) carries {} each way", bus.pcie, byte_rate(*bus.bytes_per_s));
    if (bus.fastest == nullptr) {
      finding.claim += '.';
      return finding;
    }
    finding.evidence = {bus.fastest->name};
    finding.claim += bus.is_misread()
                         ? fmt::format(", but {} at {} is faster: the link or the time was misread.",
                                       byte_rate(bus.fastest->bytes_per_s()), bus.fastest->name)
                         : fmt::format("; the fastest copy reaches {} of it.",
                                       format_percent(bus.fastest->bytes_per_s() / *bus.bytes_per_s));
  }
  return finding;
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
  Finding finding = finding_of(series.model_name(), "B/s", series.names());
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
    finding.claim += fmt::format(", bandwidth inconclusive ({} to {}) [{}].", byte_rate(total.low()),
                                 byte_rate(total.high()), give_time());
    return finding;
  }
  finding.claim += fmt::format(", bandwidth {}", plus_minus_rate(total.value, total.ci95, "B/s"));
  if (bus) {
    finding.claim += fmt::format(" ({} of the bus)", format_percent(curve.bytes_per_s->value / *bus));
  }
  if (half) {
    finding.claim += fmt::format(", half of it from {} on", size_text(half->value));
  }
  finding.claim += '.';
  return finding;
}

std::vector<double> values_of(const std::vector<HeldOut>& sizes, double HeldOut::*error) {
  std::vector<double> values;
  std::ranges::transform(sizes, std::back_inserter(values), error);
  return values;
}

void claim_model_error(const std::vector<CopySeries>& all, std::vector<Finding>& findings) {
  std::vector<HeldOut> one_way;
  std::vector<HeldOut> both_ways;
  Json by_series = Json::object();
  Json straight_by_series = Json::object();
  for (const CopySeries& series : all) {
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

Finding claim_crossover(const Crossover& crossover) {
  const auto& [one, pageable] = crossover.largest;
  const auto& from = crossover.faster_from;
  const auto& back = crossover.slower_from;
  Finding finding = finding_of(crossover.finding_name(), "B", {one->name, pageable->name});
  finding.value = from;
  if (back) {
    finding.details["pageable_faster_from"] = *back;
  }
  const std::string rates = fmt::format("{} vs {} at {}", byte_rate(one->bytes_per_s()),
                                        byte_rate(pageable->bytes_per_s()), size_text(one->bytes));
  finding.claim =
      from || back ? fmt::format("{} copies {} are {} than pageable ones from {} on: {}.",
                                 capitalized(crossover.kind), copy_way(crossover.direction),
                                 from ? "faster" : "slower", size_text(from ? *from : *back), rates)
                   : fmt::format("Inconclusive whether {} copies {} are faster than pageable ones: {} [{}].",
                                 crossover.kind, copy_way(crossover.direction), rates, give_time());
  if (crossover.models_cross_at) {
    finding.details["models_cross_at_bytes"] = *crossover.models_cross_at;
  }
  return finding;
}

void claim_in_flight(const std::vector<CopySeries>& all, std::vector<Finding>& findings) {
  for (const CopySeries& series : all) {
    const bool both = series.direction == "both";
    if (both ? !series.plain() : series.in_flight == 1) {
      continue;
    }
    const auto largest =
        largest_of_both(&series, find_series(all, (both ? "h2d" : series.direction) + "/" + series.kind));
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

void claim_first_touch(const std::vector<CopySeries>& all, std::vector<Finding>& findings) {
  for (const CopySeries& series : all) {
    const auto largest =
        series.first_touch ? largest_of_both(&series, find_series(all, series.direction + "/" + series.kind))
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
  const TransferEvidence evidence(document, state);
  const TransferAnswer answer = answer_of(evidence);
  std::vector<Finding> findings;
  for (const InputCopy& input : answer.inputs) {
    findings.push_back(claim_input(input, document.sweep.workload));
  }
  claim_steps(evidence, answer, findings);
  findings.push_back(claim_bus(answer.bus));
  for (const CopySeries& series : evidence.series) {
    if (series.has_model()) {
      findings.push_back(claim_model(series, *series.curve, answer.bus.bytes_per_s));
    }
  }
  claim_model_error(evidence.series, findings);
  std::ranges::transform(answer.crossovers, std::back_inserter(findings), claim_crossover);
  claim_in_flight(evidence.series, findings);
  claim_first_touch(evidence.series, findings);
  claim_host_costs(evidence, answer, findings);
  choose_transfer_headlines(evidence, answer, findings);
  return findings;
}

void choose_transfer_headlines(const TransferEvidence& evidence, const TransferAnswer& answer,
                               std::vector<Finding>& findings) {
  std::vector<std::string> names;
  if (!answer.inputs.empty()) {
    names = {std::ranges::max_element(answer.inputs, {}, &InputCopy::share)->finding_name(), "bus"};
    return set_headlines(findings, names, true);
  }
  const auto add = [&](const std::string& name, bool says_enough) {
    if (says_enough) {
      names.push_back(name);
    }
  };
  const auto add_model = [&](const char* label) {
    const CopySeries* const series = find_series(evidence.series, label);
    add(fmt::format("model/{}", label), series != nullptr && series->has_model() &&
                                            series->curve->bytes_per_s &&
                                            conclusive(*series->curve->bytes_per_s));
  };
  for (const StepsAnswer& steps : answer.steps) {
    add(steps.finding_name(), names.empty() || steps.verdict);
  }
  if (const Crossover* const pinned = answer.crossover("h2d", "pinned")) {
    add(pinned->finding_name(), names.empty() || pinned->faster_from);
  }
  add_model("h2d/pinned");
  for (const StepsAnswer& steps : answer.steps) {
    for (const Overlap& overlap : steps.overlaps) {
      add(steps.overlap_name(overlap), overlap.kind->name == "pinned" && overlap.hidden);
    }
  }
  add("bus", answer.bus.known_bytes_per_s().has_value());
  add_model("h2d/pageable");
  add("pinning_cost", answer.pinning && answer.pinning->largest != nullptr);
  add_model("d2h/pinned");
  if (!answer.bus.is_crossed && !answer.bus.is_of_data_sheet) {
    // The caveat once, next to the recommendation that it qualifies.
    names.insert(names.begin() + (names.empty() ? 0 : 1), "bus");
  }
  set_headlines(findings, names, true);
}

}  // namespace bench::sweeps
