#include "bench/predict/prediction_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/page/csv.h"
#include "bench/predict/prediction_words.h"
#include "bench/result/json_members.h"
#include "bench/result/memory_members.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"

namespace bench {

void members(JsonWriter& io, const CalibrationRows& rows) {
  io("set", rows.set);
  io("rows", rows.rows);
  io("machines", rows.machines);
}

void members(JsonWriter& io, const CurvePoint& batch) {
  const PredictedMemory& memory = batch.memory;
  const auto if_known = [&](double bytes) {
    return memory.peak > 0 ? std::optional(std::llround(bytes)) : std::nullopt;
  };
  io("batch", batch.batch);
  io("samples_per_s", static_cast<double>(batch.batch) / batch.step.step_ns * 1e9);
  io("samples_per_s_interval80", batch.interval.value());
  io("step_ns", batch.step.step_ns);
  io("interval80_ns", batch.step.interval80_ns);
  io("gpu_ns", batch.step.gpu_ns);
  io("host_ns", batch.step.host_ns);
  io("products_ns", batch.step.products_ns);
  io("memory_ns", batch.step.memory_ns);
  io("tiles_ns", batch.step.tiles_ns);
  io("launches_ns", batch.step.launches_ns);
  io("most_time", most_time_of(batch.step));
  io("peak_bytes", if_known(static_cast<double>(memory.peak)));
  io("peak_bytes_low", if_known(memory.peak80.low));
  io("peak_bytes_high", if_known(memory.peak80.high));
  io("memory", memory.at_peak);
}

namespace {

Cell batch_cell(std::int64_t batch) {
  return batch > 0 ? Cell(batch) : Cell::none();
}

constexpr std::size_t kRankedFrom = 6;  // cards

// "4.0 (3.6–4.4)", in GiB; of a whole catalogue "4.00 GiB", as its lines are long.
Cell memory_cell(const Prediction& prediction, const PredictedMemory& memory) {
  constexpr double kGibi = 1 << 30;
  return memory.peak == 0 || prediction.gpus.size() >= kRankedFrom
             ? Cell::bytes(memory.peak)
             : Cell::number80(static_cast<double>(memory.peak) / kGibi,
                              {memory.peak80.low / kGibi, memory.peak80.high / kGibi});
}

// Of a card's saturation batch, or of every batch.
std::vector<Cells> rows_of(const Prediction& prediction, const CardPrediction& card, bool all_batches) {
  const std::string& id = prediction.gpus[card.gpu].id;
  const Curve& curve = card.curve;
  std::vector<Cells> rows;
  if (curve.points.empty()) {
    return {{id, card.dtype, batch_cell(curve.limits.safe), "", curve.problem}};
  }
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    if (!all_batches && i != curve.saturation_index) {
      continue;
    }
    const CurvePoint& batch = curve.points[i];
    rows.push_back({id, card.dtype, batch_cell(curve.limits.safe), batch_cell(batch.batch),
                    Cell::number80(batch.per_s, batch.interval.value()), Cell::time(batch.step.step_ns),
                    memory_cell(prediction, batch.memory), most_time_in_words(batch.step), card.family_rows});
  }
  for (const std::int64_t batch : curve.beyond) {
    rows.push_back({id, card.dtype, batch_cell(curve.limits.safe), batch_cell(batch), "out of memory"});
  }
  return rows;
}

// The order of the rows: in each dtype the fastest first where the whole catalogue is ranked.
std::vector<const CardPrediction*> in_order(const Prediction& prediction) {
  std::vector<const CardPrediction*> order;
  if (prediction.gpus.size() < kRankedFrom) {
    for (const CardPrediction& card : prediction.cards) {
      order.push_back(&card);
    }
    return order;
  }
  for (const std::string& dtype : prediction.dtypes) {
    std::ranges::copy(prediction.ranked(dtype), std::back_inserter(order));
    for (const CardPrediction& card : prediction.cards) {
      if (card.dtype == dtype && card.curve.points.empty()) {
        order.push_back(&card);
      }
    }
  }
  return order;
}

TextTable table_of(const Prediction& prediction, bool all_batches) {
  TextTable table{
      .rows = {{"card", "dtype", "largest batch", "batch",
                fmt::format("samples/s ({})", level_in_words(Origin::predicted)), "step",
                prediction.gpus.size() < kRankedFrom ? "memory, GiB" : "memory", "most time", "rows"}}};
  for (const CardPrediction* card : in_order(prediction)) {
    std::ranges::move(rows_of(prediction, *card, all_batches), std::back_inserter(table.rows));
  }
  table.below =
      fmt::format("rows: published measurements of the card's own chip{}.",
                  prediction.framework == Framework::bench ? "" : "; memory: as nvidia-smi shows it");
  return table;
}

void write_card(JsonWriter& io, const Prediction& prediction, const CardPrediction& card) {
  const Curve& curve = card.curve;
  const bool has_batches = !curve.points.empty();
  const CurvePoint saturation = has_batches ? curve.at_saturation() : CurvePoint{};
  io("gpu", prediction.gpus[card.gpu].id);
  io("dtype", card.dtype);
  io.null_if_empty("problem", has_batches ? "" : curve.problem);
  io.null_if_empty("largest_batch", curve.limits.safe);
  io.null_if_empty("largest_batch_low", curve.limits.safe);
  io.null_if_empty("largest_batch_high", curve.limits.bound);
  io("out_of_memory", curve.beyond);
  io.null_if_empty("saturation_batch", saturation.batch);
  io("family_rows", card.family_rows);
  io("caveats", saturation.step.caveats);
  io("batches", curve.points);
}

}  // namespace

Page prediction_page(const Prediction& prediction, bool all_batches, bool verbose) {
  Page page{.title = subject_in_words(prediction)};
  page.answer(prediction_findings(prediction), {.shown_by = "--format json"});
  page.table(table_of(prediction, all_batches || verbose));
  page.warn(prediction_warnings(prediction), verbose);
  for (const std::string& note : verbose ? prediction_notes(prediction) : std::vector<std::string>{}) {
    page.say(note);
  }
  return page;
}

std::string prediction_csv(const Prediction& prediction) {
  std::vector<Cells> rows{{"card", "dtype", "batch", "samples_per_s", "samples_per_s_low",
                           "samples_per_s_high", "step_ms", "step_ms_low", "step_ms_high", "peak_bytes",
                           "peak_bytes_low", "peak_bytes_high", "largest_batch", "largest_batch_low",
                           "largest_batch_high", "is_saturation", "problem"}};
  const auto ms = [](double ns) { return csv_number(1e-6 * ns); };
  for (const CardPrediction& card : prediction.cards) {
    const Curve& curve = card.curve;
    const LargestBatch& largest = curve.limits;
    const std::string& id = prediction.gpus[card.gpu].id;
    // Its own engine's memory is not known.
    const bool knows_memory = curve.points.empty() || curve.points.front().memory.peak > 0;
    const auto at_most = [&](std::int64_t batch) { return knows_memory ? Cell(batch) : Cell(""); };
    const auto add_without_figures = [&](const Cell& batch, const std::string& problem) {
      rows.push_back({id, card.dtype, batch, "", "", "", "", "", "", "", "", "", at_most(largest.safe),
                      at_most(largest.safe), at_most(largest.bound), "", problem});
    };
    if (curve.points.empty()) {
      add_without_figures("", curve.problem);
      continue;
    }
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const CurvePoint& batch = curve.points[i];
      const Interval rate = batch.interval.value();
      const Interval step = batch.step.interval80_ns;
      const Interval memory = batch.memory.peak80;
      const bool has_memory = batch.memory.peak > 0;
      rows.push_back({id, card.dtype, batch.batch, csv_number(batch.per_s), csv_low(rate), csv_high(rate),
                      ms(batch.step.step_ns), ms(step.low), ms(step.high),
                      has_memory ? Cell(batch.memory.peak) : Cell(""),
                      has_memory ? Cell(std::llround(memory.low)) : Cell(),
                      has_memory ? Cell(std::llround(memory.high)) : Cell(), at_most(largest.safe),
                      at_most(largest.safe), at_most(largest.bound),
                      i == curve.saturation_index ? "yes" : "no", ""});
    }
    for (const std::int64_t batch : curve.beyond) {
      add_without_figures(batch, "out of memory");
    }
  }
  return csv_table(rows);
}

std::string prediction_json(const Prediction& prediction) {
  JsonWriter io;
  io("schema", "bench-predict/1");
  io("workload", prediction.workload);
  io("mode", prediction.mode);
  io("framework", prediction.framework);
  io("host_launch_s", prediction.host_launch_s);
  io("assumed_launch_s", prediction.assumed_launch_s);
  io("calibration", prediction.calibration);
  io("references", prediction.references);
  io("gpus", prediction.gpus);
  io.list("predictions", prediction.cards,
          [&](JsonWriter& one, const CardPrediction& card) { write_card(one, prediction, card); });
  return to_indented_text(io.take());
}

}  // namespace bench
