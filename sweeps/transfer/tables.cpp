#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/text/units.h"
#include "sweeps/transfer/answer.h"

namespace bench::sweeps {
namespace {

// "12.3 GB/s ±2 %".
Cell rate_cell(const SizePoint& point) {
  return Cell::figure(
      fmt::format("{} {}{}", byte_rate(point.bytes_per_s()), half_width_in_words(point.ns), point.mark));
}

Cell copy_cell(const SizePoint& point) {
  return rate_cell(point).after(format_duration(point.ns.value) + " ");
}

// The smallest and the largest of growing sizes, those nearest to 64 KiB and 1 MiB, and the one at which the
// findings compare pinned copies with pageable ones.
std::set<double> telling_sizes(const std::vector<CopySeries>& all, const std::string& direction,
                               const std::set<double>& sizes) {
  std::set<double> some;
  if (const auto compared = largest_of_both(find_series(all, direction + "/pinned"),
                                            find_series(all, direction + "/pageable"))) {
    some.insert(compared->one->bytes);
  }
  for (const double wanted : {0.0, 0x1p16, 0x1p20, 0x1p63}) {
    some.insert(*std::ranges::min_element(
        sizes, {}, [&](double bytes) { return std::abs(std::log(bytes / std::max(1.0, wanted))); }));
  }
  return some;
}

// The plain copies of some directions: a row a size, a column a kind of host memory. With several directions
// the first column names them.
TextTable plain_copies(const std::vector<CopySeries>& all, const std::vector<std::string>& directions,
                       bool every_size, Cell (*cell)(const SizePoint&)) {
  const bool named = directions.size() > 1;
  TextTable table;
  table.lists_points = true;
  Cells& header = table.rows.emplace_back(named ? Cells{"copies", "bytes"} : Cells{"bytes"});
  std::vector<std::string> kinds;
  std::map<std::string, std::set<double>> sizes;  // by direction
  for (const CopySeries& series : all) {
    if (!series.plain() || std::ranges::find(directions, series.direction) == directions.end()) {
      continue;
    }
    if (std::ranges::find(kinds, series.kind) == kinds.end()) {
      kinds.push_back(series.kind);
      header.emplace_back(series.kind);
    }
    for (const SizePoint& point : series.points) {
      sizes[series.direction].insert(point.bytes);
    }
  }
  for (const std::string& direction : directions) {
    const std::set<double>& measured = sizes[direction];
    for (const double bytes :
         every_size || measured.empty() ? measured : telling_sizes(all, direction, measured)) {
      auto& row = table.rows.emplace_back();
      if (named) {
        row.emplace_back(copy_way(direction));
      }
      row.push_back(Cell::figure(size_text(bytes)));
      for (const std::string& kind : kinds) {
        const CopySeries* const series = find_series(all, fmt::format("{}/{}", direction, kind));
        const SizePoint* const point = series == nullptr ? nullptr : series->at(bytes);
        row.push_back(point == nullptr ? Cell::none() : cell(*point));
      }
    }
  }
  return table;
}

TextTable copies_table(const std::vector<CopySeries>& all) {
  TextTable table = plain_copies(all, {"h2d", "d2h", "both"}, false, rate_cell);
  table.title = "Copies: rate ± half of the 95 % interval (–: not measured)";
  return table;
}

TextTable bandwidth_table(const std::string& direction, const std::vector<CopySeries>& all) {
  TextTable table = plain_copies(all, {direction}, true, copy_cell);
  table.title = direction == "h2d"   ? "Host to device"
                : direction == "d2h" ? "Device to host"
                                     : "Both ways at once, bytes of both counted";
  table.name = direction == "h2d" ? "to the device" : direction == "d2h" ? "to the host" : "both ways";
  table.title += ": median time, rate, half of the 95 % interval";
  return table;
}

TextTable other_table(const std::vector<CopySeries>& all) {
  TextTable table;
  table.title = "Several at once, and into first-touch pages (pages:cold)";
  table.name = "several at once";
  table.lists_points = true;
  table.rows.push_back({"copies", "bytes each", "time, rate of all, interval", "one, touched pages"});
  for (const CopySeries& series : all) {
    const CopySeries* const plain = find_series(all, fmt::format("{}/{}", series.direction, series.kind));
    for (const SizePoint& point : series.plain() ? std::vector<SizePoint>() : series.points) {
      const SizePoint* const one = plain == nullptr ? nullptr : plain->at(point.bytes);
      table.rows.push_back({series.label(), Cell::figure(size_text(point.bytes)), copy_cell(point),
                            one == nullptr ? Cell::none() : Cell::figure(byte_rate(one->bytes_per_s()))});
    }
  }
  return table;
}

TextTable pinning_table(const std::vector<PinningCost>& costs) {
  TextTable table;
  table.title = "Cost of pinned memory, compared with ordinary memory with its pages touched";
  table.name = "cost of pinning";
  table.rows.push_back({"bytes", "pin", "unpin", "ordinary", "free", "host bytes taken"});
  for (const PinningCost& cost : costs) {
    const Cell bytes = Cell::bytes(cost.bytes);
    table.rows.push_back(cost.unsupported.empty()
                             ? Cells{bytes, Cell::time(cost.pin_ns.value), Cell::time(cost.unpin_ns),
                                     Cell::time(cost.pageable_ns), Cell::time(cost.free_ns),
                                     Cell::bytes(cost.taken_bytes)}
                             : Cells{bytes, "unsupported"});
  }
  return table;
}

TextTable steps_table(const StepStudy& study) {
  TextTable table;
  table.title =
      fmt::format("Steps of {} {} with batch {}: {} to copy, {} of computing", study.workload, study.mode,
                  study.batch, format_bytes(study.bytes), format_duration(study.compute_ns.value));
  table.name = "steps";
  table.rows.push_back({"host memory", "copy alone", "copy, then compute", "overlapped", "copy hidden",
                        "computing slowed by"});
  for (const KindSteps& kind : study.kinds) {
    if (!kind.unsupported.empty()) {
      table.rows.push_back({kind.name, "unsupported"});
      continue;
    }
    const auto hidden = hidden_share(study, kind);
    const auto slower = slowdown(study, kind);
    table.rows.push_back({kind.name, Cell::time(kind.copy_ns.value), Cell::time(kind.serial_ns.value),
                          Cell::time(kind.overlapped_ns.value),
                          hidden ? Cell::share(std::clamp(hidden->value, 0.0, 1.0)) : "within noise",
                          slower ? Cell::share(*slower) : "within noise"});
  }
  return table;
}

TextTable predicted_table(const std::vector<InputCopy>& inputs) {
  TextTable table{.title = "Predicted steps, and the least that the copy of their batch takes",
                  .rows = {{"batch", "bytes", "copy at least",
                            fmt::format("step ({})", level_in_words(Origin::predicted)), "share"}},
                  .lists_points = true,
                  .name = "steps"};
  for (const InputCopy& input : inputs) {
    if (input.step != nullptr) {
      const Estimate step = input.step->step_ns();
      table.rows.push_back({input.params.batch, Cell::bytes(input.bytes),
                            input.least_ns ? Cell::time(*input.least_ns) : Cell::none(),
                            Cell::time80(step.value, {step.low(), step.high()}),
                            input.share ? Cell::share(*input.share) : Cell::none()});
    }
  }
  return table;
}

}  // namespace

std::vector<TextTable> transfer_tables(const ResultDocument& document, const TransferState& state) {
  std::vector<TextTable> tables;
  const TransferEvidence evidence(document, state);
  const std::vector<CopySeries>& all = evidence.series;
  tables.push_back(copies_table(all));
  for (const char* direction : {"h2d", "d2h", "both"}) {
    tables.push_back(bandwidth_table(direction, all));
  }
  tables.push_back(other_table(all));
  tables.push_back(pinning_table(state.pinning));
  tables.push_back(predicted_table(answer_of(evidence).inputs));
  for (const StepStudy& study : state.steps) {
    if (study.unsupported.empty()) {
      tables.push_back(steps_table(study));
    }
  }
  std::erase_if(tables, [](const TextTable& table) { return table.rows.size() < 2; });
  return tables;
}

}  // namespace bench::sweeps
