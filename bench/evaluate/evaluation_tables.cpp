// An evaluation as a page.
#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/evaluate/answers.h"
#include "bench/evaluate/evaluation_formats.h"
#include "bench/evaluate/evaluation_words.h"
#include "bench/result/result.h"
#include "bench/stats/memory_line.h"
#include "bench/text/units.h"

namespace bench {
namespace {

std::string level_of(const Evaluation& evaluation) {
  const auto is_predicted = [](const EvaluatedDevice& device) { return device.predicted; };
  const auto fleets = std::ranges::count_if(evaluation.devices, &EvaluatedDevice::machines);
  return fleets > 0 ? (fleets == std::ssize(evaluation.devices) ? "slowest–fastest" : "interval")
         : std::ranges::all_of(evaluation.devices, is_predicted)
             ? std::string(level_in_words(Origin::predicted))
         : std::ranges::none_of(evaluation.devices, is_predicted)
             ? std::string(level_in_words(Origin::measured))
             : "interval";
}

Cell largest_batch_cell(const Curve& curve) {
  return curve.largest ? Cell(curve.quoted_largest()).after(curve.extrapolated ? "~" : "") : Cell();
}

// "178 MiB (92 %, tight)"; predicted the span, "3.5–4.3 GiB (24 %)".
Cell memory_cell(const EvaluatedRow& row) {
  constexpr double kGibibyte = 1 << 30;
  constexpr double kTen = 10;
  const Interval& bytes80 = row.point.memory.peak80;
  const bool is_span = bytes80.high > bytes80.low;
  const int decimals = bytes80.high < kTen * kGibibyte ? 1 : 0;
  std::string text = is_span ? fmt::format("{:.{}f}–{:.{}f} GiB", bytes80.low / kGibibyte, decimals,
                                           bytes80.high / kGibibyte, decimals)
                             : format_bytes(row.point.bytes);
  if (row.point.bytes == 0 || !row.memory_share) {
    return row.point.bytes == 0 ? Cell() : Cell::figure(std::move(text));
  }
  const double high = is_span ? bytes80.high / static_cast<double>(row.point.bytes) : 1;
  const std::string_view state = headroom(*row.memory_share * high);
  return Cell::figure(fmt::format("{} ({}{})", text, format_percent(*row.memory_share),
                                  state == "safe" ? "" : fmt::format(", {}", state)));
}

Cell samples_cell(const CurvePoint& point) {
  return Cell::number(point.per_s, point.interval).after(point.is_bound ? "≤ " : "");
}

// What the job takes on each device.
TextTable job_table(const Evaluation& evaluation) {
  const std::string& currency = evaluation.prices.currency;
  TextTable table{.title = fmt::format("This job: {}", evaluation.job->words),
                  .rows = {{"device", "dtype", "price", fmt::format("hours ({})", level_of(evaluation)),
                            Cell::staying(currency.empty() ? "total cost (currency of --price)"
                                                           : fmt::format("total cost ({})", currency)),
                            "energy (kWh)"}}};
  for (const DeviceJob& job : evaluation.on_devices) {
    const EvaluatedRow& row = evaluation.rows[job.row];
    const std::string least = row.point.is_bound ? "≥ " : "";
    table.rows.push_back({evaluation.device_of(row).label, row.dtype,
                          row.price ? Cell::figure(price_in_words(*row.price, currency)) : Cell(),
                          Cell::number(job.hours.value, job.hours.ci95).after(least),
                          job.cost ? Cell::number(job.cost->value, job.cost->ci95)
                                         .after(row.price && row.price->is_hire ? least : "")
                                   : Cell(),
                          job.kwh ? Cell::number(*job.kwh).after(row.power_measured ? "" : "≤ ") : Cell()});
  }
  return table;
}

// Throughput of each device, and of two devices their ratio.
TextTable batch_table(const Evaluation& evaluation, const std::string& dtype) {
  std::vector<const Curve*> curves;
  TextTable table{.title = fmt::format("Samples/s in {} by batch{}", dtype,
                                       evaluation.has_several_cards() ? " of a card" : ""),
                  .rows = {{"batch"}}};
  Cells& header = table.rows.front();
  std::set<std::int64_t> batches;
  for (const EvaluatedDevice& device : evaluation.devices) {
    if (const Curve* const curve = device.in(dtype)) {
      curves.push_back(curve);
      header.emplace_back(device.label);
      for (const CurvePoint& point : curve->points) {
        batches.insert(point.batch);
      }
    }
  }
  const bool is_pair = curves.size() == 2;
  if (is_pair) {
    header.emplace_back("ratio");
  }
  for (const std::int64_t batch : batches) {
    Cells row{batch};
    for (const Curve* const curve : curves) {
      const CurvePoint* const point = curve->at(batch);
      row.push_back(point == nullptr ? Cell::none() : samples_cell(*point));
    }
    if (is_pair) {
      const CurvePoint* const first = curves[0]->at(batch);
      const CurvePoint* const second = curves[1]->at(batch);
      row.push_back(first == nullptr || second == nullptr
                        ? Cell::none()
                        : Cell::figure(ratio_in_words(throughput_ratio_of(*second, *first))));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> dtypes_shown(const Evaluation& evaluation, bool verbose) {
  return verbose ? dtypes_of(evaluation.devices) : std::vector<std::string>{evaluation.dtype};
}

// A wider table is in the data only.
constexpr std::size_t kMostColumns = 8;

// "resnet50 inference: t4 and rtx3060-12gb, predicted for eager PyTorch".
std::string evaluation_heading(const Evaluation& evaluation) {
  constexpr std::size_t kMostNamed = 6;
  std::vector<std::string> labels;
  std::set<std::string> frameworks;
  for (const EvaluatedDevice& device : evaluation.devices) {
    labels.push_back(device.label);
    frameworks.insert(device.predicted ? device.framework : "");
  }
  const std::string devices =
      labels.size() > kMostNamed ? fmt::format("{} devices", labels.size()) : list_in_words(labels);
  const std::string how = frameworks.size() > 1 ? "measured and predicted"
                          : frameworks.begin()->empty()
                              ? "measured"
                              : "predicted for " + framework_in_words(*frameworks.begin());
  return fmt::format("{}: {}, {}", task_in_words(evaluation.task), devices, how);
}

// One line of them; a sentence each with `verbose`. `said`: elsewhere on the page.
void warn(const Evaluation& evaluation, const std::vector<std::string>& said, bool verbose, Page& page) {
  std::vector<std::string> labels;
  for (const EvaluatedDevice& device : evaluation.devices) {
    labels.push_back(device.label);
  }
  const std::string of_all = list_in_words(labels) + ": ";
  std::vector<Warning> warnings;
  for (std::string note : evaluation.notes) {
    if (std::ranges::count(said, note) > 0) {
      continue;
    }
    if (verbose) {
      page.say(std::move(note));
      continue;
    }
    if (note.ends_with('.')) {
      note.pop_back();
    }
    warnings.push_back({.text = note.starts_with(of_all) ? note.substr(of_all.size()) : note});
  }
  page.warn(std::move(warnings), verbose);
}

}  // namespace

std::vector<std::string> claims_of(const Evaluation& evaluation, bool verbose) {
  std::vector<std::string> claims;
  for (const Answer& answer : evaluation.answers) {
    if (verbose || answer.headline > 0) {
      claims.push_back(answer.claim);
    }
  }
  return claims;
}

// The columns that a buyer looks for first stand first: a narrow terminal leaves out the last.
TextTable saturation_table(const Evaluation& evaluation) {
  const std::string& currency = evaluation.prices.currency;
  const bool several = evaluation.has_several_cards();
  TextTable table{
      .title = several ? "At the saturation batch; batch and memory are a card's" : "At the saturation batch",
      .rows = {{"device", "dtype", "batch", fmt::format("samples/s ({})", level_of(evaluation)),
                "ratio to " + evaluation.devices.front().label, "memory", "largest batch",
                Cell::staying(fmt::format("{}/million", currency.empty() ? "cost" : currency)),
                "fed samples/s", "cores", "of peak", "J/sample"}}};
  for (const EvaluatedRow& row : evaluation.rows) {
    const bool bound = row.point.is_bound;
    const std::string most = bound ? "≤ " : "";
    table.rows.push_back(
        {evaluation.device_of(row).label, row.dtype, row.point.batch, samples_cell(row.point),
         row.to_first ? Cell::figure(ratio_in_words(*row.to_first)) : Cell(), memory_cell(row),
         largest_batch_cell(evaluation.curve_of(row)),
         row.cost_per_million && !evaluation.job
             ? Cell::number(*row.cost_per_million).after(bound ? "≥ " : "")
             : Cell(),
         row.feed ? Cell::figure(fmt::format("{}{} ({})", most, format_number(row.feed->per_s),
                                             name_of(row.feed->limit)))
                  : Cell(),
         row.cores_to_feed ? Cell::figure(fmt::format("{}{:.0f}", most, *row.cores_to_feed)) : Cell(),
         row.peak_share ? Cell::share(*row.peak_share).after(most) : Cell(),
         row.joules_per_sample ? Cell::number(*row.joules_per_sample).after(row.power_measured ? "" : "≤ ")
                               : Cell()});
  }
  std::vector<std::string> joined;
  for (const EvaluatedDevice& device : evaluation.devices) {
    if (device.cards > 1) {
      joined.push_back(fmt::format("{} over {}", device.label, device.link));
    }
  }
  table.below =
      joined.empty() ? "" : fmt::format("Joined: {} (--link gives another).", fmt::join(joined, ", "));
  return table;
}

std::vector<TextTable> tables_at_saturation(const Evaluation& evaluation) {
  std::vector<TextTable> tables;
  if (evaluation.job) {
    tables.push_back(job_table(evaluation));
  }
  tables.push_back(saturation_table(evaluation));
  tables.back().name = "at the saturation batch";
  return tables;
}

Page evaluation_page(const Evaluation& evaluation, bool verbose) {
  Page page{.title = evaluation_heading(evaluation)};
  const std::vector<std::string> claims = claims_of(evaluation, verbose);
  page.answer(claims, {.is_shown = verbose, .left_out = evaluation.answers.size() - claims.size()});
  for (const std::string& sentence : evaluation.left_out) {
    page.say(sentence, Tone::warning);
  }
  std::vector<TextTable> tables = tables_at_saturation(evaluation);
  const std::vector<std::string> costs = cost_notes(evaluation);
  std::string& below = tables.front().below;
  below += fmt::format("{}{}", below.empty() || costs.empty() ? "" : " ", fmt::join(costs, " "));
  for (const std::string& dtype : dtypes_shown(evaluation, verbose)) {
    if (TextTable table = batch_table(evaluation, dtype); table.rows.front().size() <= kMostColumns) {
      table.name = fmt::format("{} by batch", dtype);
      tables.push_back(std::move(table));
    }
  }
  page.tables(std::move(tables), verbose);
  std::vector<std::string> said = evaluation.left_out;
  said.insert(said.end(), costs.begin(), costs.end());
  warn(evaluation, said, verbose, page);
  return page;
}

}  // namespace bench
