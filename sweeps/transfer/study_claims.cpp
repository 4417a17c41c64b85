#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/series/claims.h"
#include "sweeps/transfer/claims.h"

namespace bench::sweeps {
namespace {

// Of a copy's time, the part that its call takes; both times at their ends. nullopt where an older program
// wrote none.
std::optional<Interval> held_interval(const Json& row) {
  if (!row.contains("returns_ci95_ns") || !row.contains("done_ci95_ns")) {
    return std::nullopt;
  }
  const Json& returns = row["returns_ci95_ns"];
  const Json& done = row["done_ci95_ns"];
  return Interval{.low = returns[0].get<double>() / done[1].get<double>(),
                  .high = std::min(1.0, returns[1].get<double>() / done[0].get<double>())};
}

}  // namespace

Json transfer_noted(const ResultDocument& document, const char* name) {
  const Json transfer = document.sweep.is_object() ? document.sweep.value("transfer", Json()) : Json();
  return transfer.is_object() ? transfer.value(name, Json()) : Json();
}

std::vector<std::pair<double, double>> pinning_costs(const ResultDocument& document) {
  std::vector<std::pair<double, double>> costs;
  for (const Json& row : transfer_noted(document, "pinning")) {
    if (row.contains("pin_ns")) {
      costs.emplace_back(row["bytes"].get<double>(),
                         row["pin_ns"].get<double>() - row["pageable_ns"].get<double>());
    }
  }
  return costs;
}

std::optional<Finding> claim_pinning(const ResultDocument& document) {
  const Json rows = transfer_noted(document, "pinning");
  const Json* largest = nullptr;
  std::string refused;
  for (const Json& row : rows) {
    if (row.contains("pin_ns")) {
      largest = &row;
    } else if (refused.empty()) {
      refused = row.value("unsupported", "");
    }
  }
  if (largest == nullptr && refused.empty()) {
    return std::nullopt;
  }
  Finding finding = finding_of("pinning_cost", "ns/MiB");
  if (largest == nullptr) {
    finding.claim = fmt::format("What pinning costs cannot be told: {}.", refused);
    return finding;
  }
  const Json& row = *largest;
  const double bytes = row["bytes"].get<double>();
  const double pin_ns = row["pin_ns"].get<double>();
  finding.value = pin_ns / (bytes / 0x1p20);
  if (row.contains("pin_ci95_ns")) {
    finding.ci95 = Interval{.low = row["pin_ci95_ns"][0].get<double>() / (bytes / 0x1p20),
                            .high = row["pin_ci95_ns"][1].get<double>() / (bytes / 0x1p20)};
  }
  const double taken = row["taken_bytes"].get<double>();
  finding.details = {{"taken_share", taken / bytes}};
  finding.claim = fmt::format(
      "Taking {} of pinned memory takes {} and giving it back {}, against {} and {} for ordinary memory with "
      "its pages touched; the host had {} less ({:.2f} times what was asked for).{}",
      size_text(bytes), format_duration(pin_ns), format_duration(row["unpin_ns"].get<double>()),
      format_duration(row["pageable_ns"].get<double>()), format_duration(row["free_ns"].get<double>()),
      size_text(taken), taken / bytes, refused.empty() ? "" : fmt::format(" Beyond that: {}.", refused));
  return finding;
}

std::optional<Finding> claim_calls(const ResultDocument& document, const std::vector<TransferSeries>& all) {
  const Json* pinned = nullptr;
  const Json* pageable = nullptr;
  const Json rows = transfer_noted(document, "calls");
  for (const Json& row : rows) {
    for (const Json& other : rows) {  // the largest that both have stands last
      if (row["direction"] == "h2d" && other["direction"] == "h2d" && row["bytes"] == other["bytes"] &&
          row["host_memory"] == "pinned" && other["host_memory"] == "pageable") {
        pinned = &row;
        pageable = &other;
      }
    }
  }
  if (pinned == nullptr || pageable == nullptr) {
    return std::nullopt;
  }
  Finding finding = finding_of("host_held", "1");
  const auto share = [](const Json& row) {
    return row["returns_ns"].get<double>() / row["done_ns"].get<double>();
  };
  finding.value = share(*pinned);
  finding.ci95 = held_interval(*pinned);
  finding.evidence = series_names_near(all, "h2d/pinned", (*pinned)["bytes"].get<double>());
  const auto pageable_points = series_names_near(all, "h2d/pageable", (*pinned)["bytes"].get<double>());
  finding.evidence.insert(finding.evidence.end(), pageable_points.begin(), pageable_points.end());
  const auto described = [&](const Json& row) {
    return fmt::format("{} of {} ({} of processor time)", format_duration(row["returns_ns"].get<double>()),
                       format_duration(row["done_ns"].get<double>()),
                       format_duration(row["cpu_ns"].get<double>()));
  };
  finding.claim = fmt::format(
      "A copy of {} to the device holds the thread that asks for it {} with pinned "
      "memory, {} with pageable memory.",
      size_text((*pinned)["bytes"].get<double>()), described(*pinned), described(*pageable));
  return finding;
}

}  // namespace bench::sweeps
