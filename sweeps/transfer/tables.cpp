#include "sweeps/transfer/tables.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/transfer/claims.h"
#include "sweeps/transfer/points.h"
#include "sweeps/transfer/verdict.h"

namespace bench::sweeps {
namespace {

// "12.3 GB/s ±2 %": half of the interval's width; an asterisk where the point carries a flag.
std::string cell(const TransferPoint& point) {
  const double half = (point.ci95_ns.high - point.ci95_ns.low) / 2 / point.ns;
  return fmt::format("{} {} ±{}{}", format_duration(point.ns), format_rate(point.bytes_per_s(), "B/s"),
                     format_percent(half), point.flagged ? " *" : "");
}

TextTable bandwidth_table(const std::string& direction, const std::vector<TransferSeries>& all) {
  std::vector<const TransferSeries*> columns;
  std::set<double> sizes;
  bool flagged = false;
  for (const TransferSeries& series : all) {
    if (series.direction == direction && series.plain()) {
      columns.push_back(&series);
      for (const TransferPoint& point : series.points) {
        sizes.insert(point.bytes);
        flagged = flagged || point.flagged;
      }
    }
  }
  TextTable table;
  table.title = direction == "h2d"   ? "Host to device"
                : direction == "d2h" ? "Device to host"
                                     : "Both ways at once, bytes of both counted";
  table.title += flagged ? ": median time, rate, half of the 95 % interval (*: carries a flag)"
                         : ": median time, rate, half of the 95 % interval";
  table.lists_points = true;
  table.rows.push_back({"bytes"});
  table.right = {true};
  for (const TransferSeries* series : columns) {
    table.rows[0].push_back(series->kind);
    table.right.push_back(true);
  }
  for (const double bytes : sizes) {
    auto& row = table.rows.emplace_back(std::vector<std::string>{size_text(bytes)});
    for (const TransferSeries* series : columns) {
      const TransferPoint* const point = series->at(bytes);
      row.push_back(point == nullptr ? "" : cell(*point));
    }
  }
  return table;
}

// What the tables of single copies leave out: several at once, and pages fresh from the system.
std::optional<TextTable> other_table(const std::vector<TransferSeries>& all) {
  TextTable table;
  table.title = "Several at once, and into cold pages (fresh from the system)";
  table.lists_points = true;
  table.rows.push_back({"copies", "bytes each", "time, rate of all, interval", "one, touched pages"});
  table.right = {false, true, true, true};
  for (const TransferSeries& series : all) {
    if (series.plain()) {
      continue;
    }
    const TransferSeries* const plain = find_series(all, fmt::format("{}/{}", series.direction, series.kind));
    for (const TransferPoint& point : series.points) {
      const TransferPoint* const one = plain == nullptr ? nullptr : plain->at(point.bytes);
      table.rows.push_back({series.label(), size_text(point.bytes), cell(point),
                            one == nullptr ? "" : format_rate(one->bytes_per_s(), "B/s")});
    }
  }
  return table.rows.size() > 1 ? std::optional(table) : std::nullopt;
}

TextTable steps_table(const StepStudy& study) {
  TextTable table;
  table.title = fmt::format("Steps of {} with batch {}, {} to copy, {} of computing", study.workload,
                            study.batch, size_text(study.bytes), format_duration(study.compute_ns.value));
  table.rows.push_back({"host memory", "copy alone", "copy, then compute", "beside each other", "copy hidden",
                        "computing slowed by"});
  table.right = {false, true, true, true, true, true};
  for (const KindSteps& kind : study.kinds) {
    if (!kind.unsupported.empty()) {
      table.rows.push_back({kind.name, "unsupported", "", "", "", ""});
      continue;
    }
    const auto hidden = hidden_share(study, kind);
    const auto slower = slowdown(study, kind);
    table.rows.push_back({kind.name, format_duration(kind.copy_ns.value),
                          format_duration(kind.serial_ns.value), format_duration(kind.beside_ns.value),
                          !hidden             ? "?"
                          : hidden->value < 0 ? "none"
                                              : format_percent(std::min(1.0, hidden->value)),
                          slower ? fmt::format("{:.1f} %", 100 * *slower) : std::string("not measurably")});
  }
  return table;
}

std::optional<TextTable> pinning_table(const ResultDocument& document) {
  const Json transfer = document.sweep.is_object() ? document.sweep.value("transfer", Json()) : Json();
  if (!transfer.is_object() || !transfer.contains("pinning")) {
    return std::nullopt;
  }
  TextTable table;
  table.title = "What pinned memory costs, against ordinary memory with its pages touched";
  table.rows.push_back({"bytes", "pin", "unpin", "ordinary", "free", "host bytes taken"});
  table.right = {true, true, true, true, true, true};
  for (const Json& row : transfer["pinning"]) {
    const std::string bytes = size_text(row["bytes"].get<double>());
    if (!row.contains("pin_ns")) {
      table.rows.push_back({bytes, "unsupported", "", "", "", ""});
      continue;
    }
    table.rows.push_back(
        {bytes, format_duration(row["pin_ns"].get<double>()), format_duration(row["unpin_ns"].get<double>()),
         format_duration(row["pageable_ns"].get<double>()), format_duration(row["free_ns"].get<double>()),
         size_text(row["taken_bytes"].get<double>())});
  }
  return table;
}

}  // namespace

std::vector<TextTable> transfer_tables(const ResultDocument& document) {
  std::vector<TextTable> tables;
  const std::vector<TransferSeries> all = transfer_series(document);
  for (const char* direction : {"h2d", "d2h", "both"}) {
    if (std::ranges::any_of(all, [&](const TransferSeries& series) {
          return series.direction == direction && series.plain();
        })) {
      tables.push_back(bandwidth_table(direction, all));
    }
  }
  if (auto others = other_table(all)) {
    tables.push_back(std::move(*others));
  }
  if (auto pinning = pinning_table(document)) {
    tables.push_back(std::move(*pinning));
  }
  for (const StepStudy& study : step_studies(document)) {
    if (study.unsupported.empty()) {
      tables.push_back(steps_table(study));
    }
  }
  return tables;
}

}  // namespace bench::sweeps
