#include "sweeps/collectives/answer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/result/finding.h"
#include "bench/result/flags.h"
#include "bench/run/remedies.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

std::string in_words(const CollectiveParams& params) {
  const std::string where = params.hosts == 1 ? "on one host" : fmt::format("on {} hosts", params.hosts);
  return params.operation == Operation::send_receive
             ? fmt::format("Send-receive of ranks 0 and {} {}", params.peer, where)
             : fmt::format("{} of {} ranks {}",
                           params.operation == Operation::all_reduce       ? "All-reduce"
                           : params.operation == Operation::reduce_scatter ? "Reduce-scatter"
                                                                           : "All-gather",
                           params.ranks, where);
}

void note(Json& details, const std::string& name, const Estimate& estimate) {
  details[name] = estimate.value;
  if (estimate.ci95) {
    details[name + "_ci95"] = {estimate.ci95->low, estimate.ci95->high};
  }
}

// The value is the bus bandwidth of large sizes.
Finding claim_model(const CollectiveSeries& series) {
  Finding finding = finding_of(series.finding_name(), "B/s");
  for (const SizePoint& point : series.points) {
    finding.evidence.push_back(point.name);
  }
  const SizeCurve& curve = *series.curve;
  const double factor = bus_factor(series.operation, series.ranks);
  finding.details = {{"ranks", series.ranks}, {"hosts", series.hosts}, {"bus_factor", factor}};
  note(finding.details, "latency_ns", curve.latency_ns);
  finding.claim = fmt::format("{}: latency {}", in_words(series), latency_in_words(curve.latency_ns));
  if (!curve.bytes_per_s) {
    finding.claim += fmt::format(", hardly longer up to {} [measure larger --sizes].",
                                 format_bytes(static_cast<std::int64_t>(series.points.back().bytes)));
    return finding;
  }
  note(finding.details, "algorithm_bytes_per_s", *curve.bytes_per_s);
  const Estimate bus = *series.bus_bytes_per_s();
  finding.set(bus, kOfFit);
  if (!conclusive(bus)) {
    finding.claim += fmt::format(", bandwidth inconclusive ({} to {}) [{}].", format_rate(bus.low(), "B/s"),
                                 format_rate(bus.high(), "B/s"), give_time());
    return finding;
  }
  finding.claim += fmt::format(", bus bandwidth {}", plus_minus_rate(bus.value, bus.ci95, "B/s"));
  if (const auto half = curve.half_bytes()) {
    note(finding.details, "half_bytes", *half);
    finding.claim += fmt::format(", half of it from {} on", format_bytes(std::llround(half->value)));
  }
  finding.claim += '.';
  return finding;
}

// Of a series with too few sizes for a model: what its largest gives.
Finding claim_largest(const CollectiveSeries& series, bool is_first) {
  const SizePoint& point = series.points.back();
  Finding finding = finding_of(series.finding_name(), "B/s", {point.name});
  finding.set(point.rate());
  finding.details = {{"bytes", point.bytes}, {"ns", point.ns.value}};
  finding.claim =
      fmt::format("{}: {} takes {}, bus bandwidth {}{}.", in_words(series),
                  format_bytes(std::llround(point.bytes)), plus_minus_duration(point.ns.value, point.ns.ci95),
                  plus_minus_rate(*finding.value, finding.ci95, "B/s"),
                  is_first ? " [3 sizes or more tell the latency]" : "");
  return finding;
}

// "5.10 GB/s ±2 %".
Cell rate_cell(const SizePoint& point) {
  return Cell::figure(
      fmt::format("{} {}", format_rate(point.bytes_per_s(), "B/s"), half_width_in_words(point.ns)));
}

// The smallest and the largest, and those nearest to 4 KiB, 64 KiB and 1 MiB.
bool is_telling(const SizePoint& point, const CollectiveSeries& series) {
  return std::ranges::any_of(std::vector{1.0, 0x1p12, 0x1p16, 0x1p20, 0x1p63}, [&](double wanted) {
    return &*std::ranges::min_element(series.points, {}, [&](const SizePoint& other) {
      return std::abs(std::log(other.bytes / wanted));
    }) == &point;
  });
}

TextTable table_of(const std::vector<CollectiveSeries>& all, bool every_size) {
  TextTable table{.title = "Median time of the slowest rank; bandwidth (bytes over time) and bus bandwidth",
                  .rows = {{"operation", "ranks", "bytes", "time", "bandwidth", "bus bandwidth", ""}},
                  .lists_points = true};
  for (const CollectiveSeries& series : all) {
    for (const SizePoint& point : series.points) {
      if (every_size || is_telling(point, series)) {
        table.rows.push_back({series.label(), series.ranks,
                              Cell::bytes(static_cast<std::int64_t>(point.bytes)), Cell::time(point.ns.value),
                              Cell::rate(point.bytes / point.ns.value * 1e9, "B/s"), rate_cell(point),
                              point.mark});
      }
    }
  }
  return table;
}

}  // namespace

std::vector<Finding> collectives_findings(const ResultDocument& document, const RankSetup& setup) {
  const CollectivesAnswer answer = collectives_answer(document);
  std::vector<Finding> findings;
  bool is_first = true;
  for (const CollectiveSeries& series : answer.series) {
    findings.push_back(series.has_model() ? claim_model(series) : claim_largest(series, is_first));
    is_first = is_first && series.has_model();
  }
  findings.push_back(claim_ranks(setup, 1));
  if (auto conditions = claim_conditions(document)) {
    findings.push_back(*std::move(conditions));
  }
  choose_collectives_headlines(answer, findings);
  return findings;
}

void choose_collectives_headlines(const CollectivesAnswer& answer, std::vector<Finding>& findings) {
  constexpr std::size_t kMostSeries = kHeadlines - 1;
  std::vector<std::string> names;
  for (const CollectiveSeries& series : answer.series) {
    if (names.size() < kMostSeries) {
      names.push_back(series.finding_name());
    }
  }
  names.emplace_back("ranks");
  set_headlines(findings, names, true);
}

std::vector<TextTable> collectives_tables(const ResultDocument& document) {
  const CollectivesAnswer answer = collectives_answer(document);
  if (answer.series.empty()) {
    return {};
  }
  TextTable telling = table_of(answer.series, false);
  TextTable every = table_of(answer.series, true);
  if (telling.rows.size() == every.rows.size()) {
    return {std::move(telling)};
  }
  every.name = "all sizes";
  every.title += ", all sizes";
  return {std::move(telling), std::move(every)};
}

}  // namespace bench::sweeps
