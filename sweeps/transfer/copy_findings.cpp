// Findings from the measured copies.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/measure/finding.h"
#include "bench/measure/statistics.h"
#include "bench/measure/units.h"
#include "sweeps/transfer/findings.h"
#include "sweeps/transfer/pcie.h"

namespace bench::sweeps {
namespace {

// The bus's rate each way; nullopt if none is crossed or its generation is unknown.
std::optional<double> bus_bytes_per_s(const TransferFacts& facts) {
  const auto link = facts.state.crosses_bus ? pcie_link(facts.context.detail("pcie")) : std::nullopt;
  return link && link->bytes_per_s() > 0 ? std::optional(link->bytes_per_s()) : std::nullopt;
}

const CopyPoint* fastest_one_way(const std::vector<CopySeries>& all) {
  const CopyPoint* best = nullptr;
  for (const CopySeries& series : all) {
    for (const CopyPoint& point : series.points) {
      if (series.direction != "both" && (best == nullptr || point.bytes_per_s() > best->bytes_per_s())) {
        best = &point;
      }
    }
  }
  return best;
}

Estimate scaled_by(const Estimate& estimate, double factor) {
  Estimate scaled{.value = estimate.value * factor};
  if (estimate.ci95) {
    scaled.ci95 = Interval{.low = estimate.low() * factor, .high = estimate.high() * factor};
  }
  return scaled;
}

void note(Json& details, const std::string& name, const Estimate& estimate, const std::string& interval) {
  details[name] = estimate.value;
  if (estimate.ci95) {
    details[interval] = {estimate.ci95->low, estimate.ci95->high};
  }
}

Json pieces_of(const CopyCurve& curve) {
  Json pieces = Json::array();
  for (const CopyCurve::Piece& piece : curve.pieces) {
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

// A fitted latency may come out negative, or with an interval that reaches zero.
std::string latency_in_words(const Estimate& latency) {
  return latency.ci95 && latency.low() <= 0
             ? fmt::format("below {}", format_duration(std::max(0.0, latency.high())))
             : plus_minus_duration(std::max(0.0, latency.value), latency.ci95);
}

Finding claim_model(const CopySeries& series, const CopyCurve& curve, std::optional<double> bus) {
  Finding finding = finding_of("model/" + series.label(), "B/s", series.names());
  // Both ways at once a step moves a copy's bytes twice.
  const double each_way = series.points.front().moved / series.points.front().bytes;
  finding.details = {{"moved_per_byte", each_way}, {"pieces", pieces_of(curve)}};
  note(finding.details, "latency_ns", curve.latency_ns, "latency_ci95_ns");
  if (const auto line = fit_copy_line(curve.points)) {
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
    finding.claim += fmt::format(", hardly longer up to {}.", size_text(curve.points.back().bytes));
    return finding;
  }
  const Estimate total = scaled_by(*curve.bytes_per_s, each_way);
  finding.set(total);
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

// Relative errors of the predictions for held-out sizes.
struct HeldOutErrors {
  std::vector<double> curve{};
  std::vector<double> straight{};
  std::vector<std::string> names{};

  void add(const HeldOutErrors& more) {
    curve.insert(curve.end(), more.curve.begin(), more.curve.end());
    straight.insert(straight.end(), more.straight.begin(), more.straight.end());
    names.insert(names.end(), more.names.begin(), more.names.end());
  }
};

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
  const auto from = faster_from(other->times(), pageable->times());
  const auto back = faster_from(pageable->times(), other->times());
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
  const auto one_curve = facts.curves.find(other->label());
  const auto other_curve = facts.curves.find(pageable->label());
  if (one_curve != facts.curves.end() && other_curve != facts.curves.end()) {
    if (const auto crossed = crossing(one_curve->second, other_curve->second)) {
      finding.details["models_cross_at_bytes"] = *crossed;
    }
  }
  findings.push_back(std::move(finding));
}

}  // namespace

void claim_bus(const TransferFacts& facts, std::vector<Finding>& findings) {
  Finding finding = finding_of("bus", "B/s");
  if (!facts.state.crosses_bus) {
    finding.claim =
        "No bus was crossed: these are copies within the host's memory and say nothing about a card.";
  } else if (const auto bus = bus_bytes_per_s(facts); !bus) {
    finding.claim = "The bus's generation and width are unknown.";
  } else {
    finding.claim =
        fmt::format("The bus (PCIe {}) carries {} each way", facts.context.detail("pcie"), byte_rate(*bus));
    const CopyPoint* const best = fastest_one_way(facts.series);
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

void claim_models(const TransferFacts& facts, std::vector<Finding>& findings) {
  for (const CopySeries& series : facts.series) {
    const auto curve = facts.curves.find(series.label());
    if (curve != facts.curves.end() && series.points.size() >= 3) {
      findings.push_back(claim_model(series, curve->second, bus_bytes_per_s(facts)));
    }
  }
}

void claim_model_error(const TransferFacts& facts, std::vector<Finding>& findings) {
  HeldOutErrors one_way;
  HeldOutErrors both_ways;
  Json by_series = Json::object();
  Json straight_by_series = Json::object();
  for (const CopySeries& series : facts.series) {
    HeldOutErrors own;
    for (const HeldOut& held_out :
         series.plain() ? held_out_errors(series.times()) : std::vector<HeldOut>()) {
      own.curve.push_back(held_out.error);
      own.straight.push_back(held_out.straight_error);
      own.names.push_back(series.at(held_out.bytes)->name);
    }
    if (!own.curve.empty()) {
      by_series[series.label()] = median(own.curve);
      straight_by_series[series.label()] = median(own.straight);
      (series.direction == "both" ? both_ways : one_way).add(own);
    }
  }
  const HeldOutErrors& told = one_way.curve.empty() ? both_ways : one_way;
  if (told.curve.empty()) {
    return;
  }
  Finding finding = finding_of("model_error", "1", told.names);
  finding.set({.value = median(told.curve), .ci95 = median_interval(told.curve)});
  finding.details = {{"median_by_series", by_series},
                     {"straight_by_series", straight_by_series},
                     {"straight", median(told.straight)},
                     {"held_out", told.curve.size()}};
  if (!one_way.curve.empty() && !both_ways.curve.empty()) {
    finding.details["both_ways"] = median(both_ways.curve);
    finding.details["both_ways_straight"] = median(both_ways.straight);
  }
  finding.claim = fmt::format(
      "Copies {} of the {} sizes left out are predicted within {} (median; by one straight line each {}).",
      one_way.curve.empty() ? "both ways at once" : "one way", told.curve.size(),
      format_percent(*finding.value), format_percent(median(told.straight)));
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
    finding.set(scaled_by(ratio(single->ns, several->ns), several->moved / single->moved));
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
    finding.set(ratio(largest->one->ns, largest->other->ns));
    finding.claim = fmt::format(
        "Into first-touch pages a copy {} of {} takes {} times as long ({} vs {}).",
        copy_way(series.direction), size_text(largest->one->bytes), plus_minus(*finding.value, finding.ci95),
        format_duration(largest->one->ns.value), format_duration(largest->other->ns.value));
    findings.push_back(std::move(finding));
  }
}

}  // namespace bench::sweeps
