#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/series/claims.h"
#include "sweeps/transfer/claims.h"
#include "sweeps/transfer/curve.h"
#include "sweeps/transfer/pcie.h"

namespace bench::sweeps {
namespace {

bool crosses_bus(const ResultDocument& document) {
  const Json transfer = document.sweep.is_object() ? document.sweep.value("transfer", Json()) : Json();
  return transfer.is_object() && transfer.value("crosses_bus", false);
}

std::optional<PcieLink> link_of(const ResultDocument& document) {
  const Json device = document.context.is_object() ? document.context.value("device", Json()) : Json();
  return device.is_object() ? pcie_link(device.value("pcie", "")) : std::nullopt;
}

std::vector<std::string> names_of(const TransferSeries& series) {
  std::vector<std::string> names;
  for (const TransferPoint& point : series.points) {
    names.push_back(point.name);
  }
  return names;
}

const TransferPoint* fastest(const std::vector<TransferSeries>& all) {
  const TransferPoint* best = nullptr;
  for (const TransferSeries& series : all) {
    for (const TransferPoint& point : series.points) {
      if (series.direction != "both" && (best == nullptr || point.bytes_per_s() > best->bytes_per_s())) {
        best = &point;
      }
    }
  }
  return best;
}

Json ends_of(const Interval& interval) {
  return {interval.low, interval.high};
}

// "414 ns (385 ns to 443 ns) + bytes / 21.6 GB/s (19.5 GB/s to 24.3 GB/s)". No copy takes less than no time.
std::string formula(const TransferModel& model) {
  const Estimate& latency = model.latency_ns;
  const Estimate& rate = model.bytes_per_s;
  const auto time = [](double ns) { return format_duration(std::max(0.0, ns)); };
  return fmt::format(
      "{}{} + bytes / {}{}", time(latency.value),
      latency.ci95 ? fmt::format(" ({} to {})", time(latency.ci95->low), time(latency.ci95->high)) : "",
      byte_rate(rate.value),
      rate.ci95 ? fmt::format(" ({} to {})", byte_rate(rate.ci95->low), byte_rate(rate.ci95->high)) : "");
}

// What each piece of a curve that bends says of its sizes.
Json described(const TransferCurve& curve) {
  Json pieces = Json::array();
  for (const TransferPiece& piece : curve.pieces) {
    Json row = {{"latency_ns", piece.line.latency_ns.value},
                {"bytes_per_s", piece.line.bytes_per_s.value},
                {"sizes", piece.line.points}};
    if (std::isfinite(piece.to_bytes)) {  // the last has no end
      row["to_bytes"] = piece.to_bytes;
    }
    if (piece.line.latency_ns.ci95) {
      row["latency_ci95_ns"] = ends_of(*piece.line.latency_ns.ci95);
    }
    if (piece.line.bytes_per_s.ci95) {
      row["bytes_per_s_ci95"] = ends_of(*piece.line.bytes_per_s.ci95);
    }
    pieces.push_back(std::move(row));
  }
  return pieces;
}

// "; in pieces it grows by bytes / 8.10 GB/s up to 46.3 KiB, by 5.20 µs up to 128 KiB, by bytes / 26.0 GB/s
// beyond". A step from one size to the next has no rate. Only the first line's start is a latency; where the
// others would meet a copy of nothing means nothing.
std::string bends(const TransferCurve& curve) {
  if (curve.pieces.size() < 2) {
    return {};
  }
  std::string text = "; in pieces it grows by ";
  for (std::size_t i = 0; i < curve.pieces.size(); ++i) {
    const TransferPiece& piece = curve.pieces[i];
    const bool last = i + 1 == curve.pieces.size();
    std::string growth = "bytes / " + byte_rate(piece.line.bytes_per_s.value);
    if (i > 0 && !last && piece.line.points <= 2) {
      const double from = curve.pieces[i - 1].to_bytes;
      growth = format_duration(piece.line.at_ns(piece.to_bytes) - piece.line.at_ns(from));
    }
    text += fmt::format("{}{} {}", i > 0 ? ", by " : "", growth,
                        last ? std::string("beyond") : "up to " + size_text(piece.to_bytes));
  }
  return text;
}

// Of held-out sizes, as predicted.
struct Errors {
  std::vector<double> curve;
  std::vector<double> straight;
  std::vector<std::string> names;

  // "predict the 44 others within 5.5 % (median; 4.2 % to 7.8 %; one straight line each: 10 %)"
  std::string in_words() const {
    const auto interval = median_interval(curve);
    return fmt::format("predict the {} others within {} (median{}; one straight line each: {})", curve.size(),
                       format_percent(*median_of(curve)),
                       interval ? fmt::format("; {}", percent_range(*interval)) : std::string(),
                       format_percent(*median_of(straight)));
  }
};

}  // namespace

Finding claim_bus(const ResultDocument& document, const std::vector<TransferSeries>& all) {
  Finding finding = finding_of("bus", "B/s");
  const auto link = link_of(document);
  if (!crosses_bus(document)) {
    finding.claim =
        "No bus was crossed: the device's memory is the host's, so these are copies within memory by the "
        "processor, and say nothing about a card.";
  } else if (!link || link->bytes_per_s() <= 0) {
    finding.claim = "What the bus could carry is not known: nothing tells its generation and width.";
  } else {
    finding.value = link->bytes_per_s();
    finding.claim = fmt::format("The bus, PCIe generation {} with {} lanes, can carry {} each way",
                                link->generation, link->width, byte_rate(*finding.value));
    if (const TransferPoint* const best = fastest(all)) {
      finding.evidence = {best->name};
      finding.claim +=
          fmt::format(", headers of its packets counted; the fastest copy reaches {} of that ({}).",
                      format_percent(best->bytes_per_s() / *finding.value), best->name);
    } else {
      finding.claim += ", headers of its packets counted.";
    }
  }
  return finding;
}

std::vector<Finding> claim_models(const ResultDocument& document, const std::vector<TransferSeries>& all) {
  std::vector<Finding> findings;
  const auto link = crosses_bus(document) ? link_of(document) : std::nullopt;
  for (const TransferSeries& series : all) {
    if (!series.plain() || series.points.size() < 3) {
      continue;
    }
    const auto times = series.times();
    const auto model = fit_transfer(times);
    const auto curve = fit_curve(times);
    if (!model || !curve) {
      continue;
    }
    // Both ways at once a step moves a copy's bytes twice.
    const double each_way = series.points.front().moved / series.points.front().bytes;
    Finding finding = finding_of("model/" + series.label(), "B/s", names_of(series));
    finding.value = each_way * model->bytes_per_s.value;
    if (model->bytes_per_s.ci95) {
      finding.ci95 =
          Interval{each_way * model->bytes_per_s.ci95->low, each_way * model->bytes_per_s.ci95->high};
    }
    finding.details = {{"latency_ns", model->latency_ns.value},
                       {"bytes_per_s", model->bytes_per_s.value},
                       {"moved_per_byte", each_way},
                       {"r_squared", model->r_squared},
                       {"pieces", described(*curve)}};
    if (model->latency_ns.ci95) {
      finding.details["latency_ci95_ns"] = ends_of(*model->latency_ns.ci95);
    }
    finding.claim = fmt::format("A copy {} of {} memory takes {}", copy_way(series.direction), series.kind,
                                formula(*model));
    if (each_way > 1) {
      finding.claim += fmt::format(" with its bytes going each way, {} in all", byte_rate(*finding.value));
    }
    if (link && link->bytes_per_s() > 0) {
      finding.claim += fmt::format(" ({} of what the bus can carry each way)",
                                   format_percent(model->bytes_per_s.value / link->bytes_per_s()));
    }
    if (model->half_bytes) {
      finding.details["half_bytes"] = model->half_bytes->value;
      if (model->half_bytes->ci95) {
        finding.details["half_bytes_ci95"] = ends_of(*model->half_bytes->ci95);
      }
      finding.claim += fmt::format("; {} reach half of that rate", size_text(model->half_bytes->value));
    }
    finding.claim += fmt::format(" (fitted to {} sizes){}.", model->points, bends(*curve));
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::optional<Finding> claim_model_error(const std::vector<TransferSeries>& all) {
  Errors one_way;
  Errors both_ways;
  Json each = Json::object();
  Json straight = Json::object();
  for (const TransferSeries& series : all) {
    const auto errors = series.plain() ? held_out_errors(series.times()) : std::vector<HeldOut>();
    if (errors.empty()) {
      continue;
    }
    Errors own;
    for (const HeldOut& held_out : errors) {
      own.curve.push_back(held_out.error);
      own.straight.push_back(held_out.straight_error);
      own.names.push_back(series.at(held_out.bytes)->name);
    }
    each[series.label()] = *median_of(own.curve);
    straight[series.label()] = *median_of(own.straight);
    Errors& all_of_them = series.direction == "both" ? both_ways : one_way;
    all_of_them.curve.insert(all_of_them.curve.end(), own.curve.begin(), own.curve.end());
    all_of_them.straight.insert(all_of_them.straight.end(), own.straight.begin(), own.straight.end());
    all_of_them.names.insert(all_of_them.names.end(), own.names.begin(), own.names.end());
  }
  const Errors& first = one_way.curve.empty() ? both_ways : one_way;
  if (first.curve.empty()) {
    return std::nullopt;
  }
  Finding finding = finding_of("model_error", "1", first.names);
  finding.value = median_of(first.curve);
  finding.ci95 = median_interval(first.curve);
  finding.details = {{"median_by_series", each},
                     {"straight_by_series", straight},
                     {"straight", *median_of(first.straight)},
                     {"held_out", first.curve.size()}};
  finding.claim = fmt::format("Fitted on every second size, the models of copies {} {}",
                              one_way.curve.empty() ? "both ways at once" : "one way", first.in_words());
  if (!one_way.curve.empty() && !both_ways.curve.empty()) {
    finding.details["both_ways"] = *median_of(both_ways.curve);
    finding.details["both_ways_straight"] = *median_of(both_ways.straight);
    finding.claim += fmt::format("; those of copies both ways at once {}", both_ways.in_words());
  }
  finding.claim += '.';
  return finding;
}

}  // namespace bench::sweeps
