#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/series/claims.h"
#include "sweeps/transfer/claims.h"
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

// "414 ns (385 ns to 443 ns)". No copy takes less than no time.
std::string in_words(const Estimate& latency) {
  const auto time = [](double ns) { return format_duration(std::max(0.0, ns)); };
  return time(latency.value) +
         (latency.ci95 ? fmt::format(" ({} to {})", time(latency.ci95->low), time(latency.ci95->high)) : "");
}

// "21.6 GB/s (19.5 GB/s to 24.3 GB/s)".
std::string rate_in_words(const Estimate& rate) {
  return byte_rate(rate.value) +
         (rate.ci95 ? fmt::format(" ({} to {})", byte_rate(rate.ci95->low), byte_rate(rate.ci95->high)) : "");
}

void note(Json& details, const char* name, const Estimate& estimate, const char* interval) {
  details[name] = estimate.value;
  if (estimate.ci95) {
    details[interval] = ends_of(*estimate.ci95);
  }
}

// What a line, straight or bent, says of a copy of nothing and of one without end.
void note_model(Json& details, const Estimate& latency, const std::optional<Estimate>& rate,
                const std::optional<Estimate>& half_bytes) {
  note(details, "latency_ns", latency, "latency_ci95_ns");
  if (rate) {
    note(details, "bytes_per_s", *rate, "bytes_per_s_ci95");
  }
  if (half_bytes) {
    note(details, "half_bytes", *half_bytes, "half_bytes_ci95");
  }
}

// Each piece of a curve with the sizes it holds for. The slope stands there though it may not be told from
// none, so that the line can be drawn; bytes_per_s only where it is.
Json described(const TransferCurve& curve) {
  Json pieces = Json::array();
  for (const TransferPiece& piece : curve.pieces) {
    Json row = {{"ns_per_byte", piece.ns_per_byte.value}, {"sizes", piece.points}};
    note_model(row, piece.latency_ns, piece.bytes_per_s(), std::nullopt);
    if (std::isfinite(piece.to_bytes)) {  // the last has no end
      row["to_bytes"] = piece.to_bytes;
    }
    pieces.push_back(std::move(row));
  }
  return pieces;
}

// "; in pieces it hardly changes up to 16.0 KiB, grows by bytes / 8.10 GB/s up to 46.3 KiB, by 5.20 µs up to
// 128 KiB, by bytes / 26.0 GB/s beyond". A step from one size to the next has no rate. Only the first line's
// start is a latency; where the others would meet a copy of nothing means nothing.
std::string bends(const TransferCurve& curve) {
  if (!curve.bends()) {
    return {};
  }
  std::string text;
  bool grew = false;
  for (const TransferPiece& piece : curve.pieces) {
    const bool first = text.empty();
    const bool last = !std::isfinite(piece.to_bytes);
    std::string growth = "hardly changes";
    if (const auto rate = piece.bytes_per_s()) {
      growth = fmt::format("{}by {}", grew ? "" : "grows ",
                           !first && !last && piece.points <= 2
                               ? format_duration(piece.at_ns(piece.to_bytes) - piece.at_ns(piece.from_bytes))
                               : "bytes / " + byte_rate(rate->value));
    }
    grew = piece.grows;
    text += fmt::format("{}{} {}", first ? "; in pieces it " : ", ", growth,
                        last ? std::string("beyond") : "up to " + size_text(piece.to_bytes));
  }
  return text;
}

// "takes 8.00 µs + bytes / 12.0 GB/s" of a straight line. Of one that bends: "has a latency of 1.00 µs, and
// at the largest sizes a bandwidth of 24.0 GB/s".
std::string formula(const TransferCurve& curve) {
  const std::string latency = in_words(curve.latency_ns());
  const auto rate = curve.bytes_per_s();
  if (!rate) {
    return fmt::format("has a latency of {}, and hardly changes from {} on", latency,
                       size_text(curve.pieces.back().from_bytes));
  }
  return curve.bends() ? fmt::format("has a latency of {}, and at the largest sizes a bandwidth of {}",
                                     latency, rate_in_words(*rate))
                       : fmt::format("takes {} + bytes / {}", latency, rate_in_words(*rate));
}

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
    const TransferPoint* const best = fastest(all);
    if (best != nullptr && best->bytes_per_s() > *finding.value) {
      finding.value.reset();
      finding.evidence = {best->name};
      finding.claim += fmt::format(
          ", but the fastest copy is faster than that ({} at {}), which no copy can be: the link was "
          "misread, or the "
          "copies' times are wrong.",
          byte_rate(best->bytes_per_s()), best->name);
    } else if (best != nullptr) {
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

TransferCurves fit_curves(const std::vector<TransferSeries>& all) {
  TransferCurves curves;
  for (const TransferSeries& series : all) {
    if (!series.plain()) {
      continue;
    }
    if (auto curve = fit_curve(series.times())) {
      curves.emplace(series.label(), std::move(*curve));
    }
  }
  return curves;
}

std::vector<Finding> claim_models(const ResultDocument& document, const std::vector<TransferSeries>& all,
                                  const TransferCurves& curves) {
  std::vector<Finding> findings;
  const auto link = crosses_bus(document) ? link_of(document) : std::nullopt;
  for (const TransferSeries& series : all) {
    const auto at = curves.find(series.label());
    if (at == curves.end() || !series.plain() || series.points.size() < 3) {
      continue;
    }
    const TransferCurve& curve = at->second;
    const auto rate = curve.bytes_per_s();
    const auto half_bytes = curve.half_bytes();
    // Both ways at once a step moves a copy's bytes twice.
    const double each_way = series.points.front().moved / series.points.front().bytes;
    Finding finding = finding_of("model/" + series.label(), "B/s", names_of(series));
    finding.details = {{"moved_per_byte", each_way}, {"pieces", described(curve)}};
    note_model(finding.details, curve.latency_ns(), rate, half_bytes);
    if (const auto straight = fit_transfer(series.times())) {
      if (curve.bends()) {
        Json& beside = finding.details["straight"] = {{"r_squared", straight->r_squared}};
        note_model(beside, {.value = straight->latency_ns.value, .ci95 = std::nullopt},
                   Estimate{.value = straight->bytes_per_s.value, .ci95 = std::nullopt}, std::nullopt);
      } else {
        finding.details["r_squared"] = straight->r_squared;
      }
    }
    finding.claim =
        fmt::format("A copy {} of {} memory {}", copy_way(series.direction), series.kind, formula(curve));
    if (rate) {
      finding.value = each_way * rate->value;
      if (rate->ci95) {
        finding.ci95 = Interval{each_way * rate->ci95->low, each_way * rate->ci95->high};
      }
      if (each_way > 1) {
        finding.claim += fmt::format(" with its bytes going each way, {} in all", byte_rate(*finding.value));
      }
      if (link && link->bytes_per_s() > 0) {
        finding.claim += fmt::format(" ({} of what the bus can carry each way)",
                                     format_percent(rate->value / link->bytes_per_s()));
      }
    }
    if (half_bytes) {
      finding.claim += fmt::format("; {} reach half of that rate", size_text(half_bytes->value));
    }
    finding.claim += fmt::format(" (fitted to {} sizes){}.", series.points.size(), bends(curve));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace bench::sweeps
