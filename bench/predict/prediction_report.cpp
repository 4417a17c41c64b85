#include "bench/predict/prediction_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/page/csv.h"
#include "bench/predict/prediction_words.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"

namespace bench {
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

// Of a card's saturation batch; of every batch with `verbose`.
std::vector<Cells> rows_of(const Prediction& prediction, const CardPrediction& card, bool verbose) {
  const std::string& id = prediction.gpus[card.gpu].id;
  const Curve& curve = card.curve;
  std::vector<Cells> rows;
  if (curve.points.empty()) {
    return {{id, card.dtype, batch_cell(curve.limits.safe), "", curve.problem}};
  }
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    if (!verbose && i != curve.saturation) {
      continue;
    }
    const CurvePoint& batch = curve.points[i];
    rows.push_back({id, card.dtype, batch_cell(curve.limits.safe), batch_cell(batch.batch),
                    Cell::number80(batch.per_s, rate80_of(batch)), Cell::time(batch.step.step_ns),
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

TextTable table_of(const Prediction& prediction, bool verbose) {
  TextTable table{
      .rows = {{"card", "dtype", "largest batch", "batch",
                fmt::format("samples/s ({})", level_in_words(Origin::predicted)), "step",
                prediction.gpus.size() < kRankedFrom ? "memory, GiB" : "memory", "most time", "rows"}}};
  for (const CardPrediction* card : in_order(prediction)) {
    std::ranges::move(rows_of(prediction, *card, verbose), std::back_inserter(table.rows));
  }
  return table;
}

Json interval_array(const Interval& interval) {
  return Json::array({interval.low, interval.high});
}

Json batch_json(std::int64_t batch) {
  return batch > 0 ? Json(batch) : Json();
}

Json batch_json(const CurvePoint& batch) {
  Json memory = Json::object();
  for (const MemoryCategory category : kMemoryCategories) {
    memory[std::string(name_of(category))] = batch.memory.at_peak[category];
  }
  return {{"batch", batch.batch},
          {"samples_per_s", static_cast<double>(batch.batch) / batch.step.step_ns * 1e9},
          {"samples_per_s_interval80", interval_array(rate80_of(batch))},
          {"step_ns", batch.step.step_ns},
          {"interval80_ns", interval_array(batch.step.interval80_ns)},
          {"gpu_ns", batch.step.gpu_ns},
          {"host_ns", batch.step.host_ns},
          {"products_ns", batch.step.products_ns},
          {"memory_ns", batch.step.memory_ns},
          {"tiles_ns", batch.step.tiles_ns},
          {"launches_ns", batch.step.launches_ns},
          {"most_time", limit_of(batch.step)},
          {"peak_bytes", batch.memory.peak > 0 ? Json(batch.memory.peak) : Json()},
          {"peak_bytes_low", batch.memory.peak > 0 ? Json(std::llround(batch.memory.peak80.low)) : Json()},
          {"peak_bytes_high", batch.memory.peak > 0 ? Json(std::llround(batch.memory.peak80.high)) : Json()},
          {"memory", std::move(memory)}};
}

Json card_json(const Prediction& prediction, const CardPrediction& card) {
  const Curve& curve = card.curve;
  Json batches = Json::array();
  for (const CurvePoint& batch : curve.points) {
    batches.push_back(batch_json(batch));
  }
  const bool has_batches = !curve.points.empty();
  return {{"gpu", prediction.gpus[card.gpu].id},
          {"dtype", card.dtype},
          {"problem", has_batches ? Json() : Json(curve.problem)},
          {"largest_batch", batch_json(curve.limits.safe)},
          {"largest_batch_low", batch_json(curve.limits.safe)},
          {"largest_batch_high", batch_json(curve.limits.bound)},
          {"out_of_memory", curve.beyond},
          {"saturation_batch", has_batches ? Json(curve.at_saturation().batch) : Json()},
          {"family_rows", card.family_rows},
          {"caveats", has_batches ? Json(curve.at_saturation().step.caveats) : Json::array()},
          {"batches", std::move(batches)}};
}

}  // namespace

Page prediction_page(const Prediction& prediction, bool verbose) {
  Page page{.title = subject_in_words(prediction)};
  page.answer(prediction_findings(prediction), {.shown_by = "--format json"});
  page.table(table_of(prediction, verbose));
  for (const std::string& note : prediction_notes(prediction)) {
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
    const auto add_without_figures = [&](const Cell& batch, const std::string& problem) {
      rows.push_back({id, card.dtype, batch, "", "", "", "", "", "", "", "", "", largest.safe, largest.safe,
                      largest.bound, "", problem});
    };
    if (curve.points.empty()) {
      add_without_figures("", curve.problem);
      continue;
    }
    for (std::size_t i = 0; i < curve.points.size(); ++i) {
      const CurvePoint& batch = curve.points[i];
      const Interval rate = rate80_of(batch);
      const Interval step = batch.step.interval80_ns;
      const Interval memory = batch.memory.peak80;
      const bool has_memory = batch.memory.peak > 0;
      rows.push_back({id, card.dtype, batch.batch, csv_number(batch.per_s), csv_low(rate), csv_high(rate),
                      ms(batch.step.step_ns), ms(step.low), ms(step.high), batch.memory.peak,
                      has_memory ? Cell(std::llround(memory.low)) : Cell(),
                      has_memory ? Cell(std::llround(memory.high)) : Cell(), largest.safe, largest.safe,
                      largest.bound, i == curve.saturation ? "yes" : "no", ""});
    }
    for (const std::int64_t batch : curve.beyond) {
      add_without_figures(batch, "out of memory");
    }
  }
  return csv_table(rows);
}

std::string prediction_json(const Prediction& prediction) {
  Json gpus = Json::array();
  for (const Gpu& gpu : prediction.gpus) {
    gpus.push_back(to_json(gpu));
  }
  Json cards = Json::array();
  for (const CardPrediction& card : prediction.cards) {
    cards.push_back(card_json(prediction, card));
  }
  Json calibration = Json::array();
  for (const CalibrationRows& rows : prediction.calibration) {
    calibration.push_back({{"set", rows.set}, {"rows", rows.rows}, {"machines", rows.machines}});
  }
  const Json json = {{"schema", "bench-predict/1"},
                     {"workload", prediction.workload},
                     {"mode", prediction.mode},
                     {"framework", name_of(prediction.framework)},
                     {"host_launch_s", prediction.host_launch_s ? Json(*prediction.host_launch_s) : Json()},
                     {"assumed_launch_s", prediction.assumed_launch_s},
                     {"calibration", std::move(calibration)},
                     {"references", prediction.references},
                     {"gpus", std::move(gpus)},
                     {"predictions", std::move(cards)}};
  return to_indented_text(json);
}

}  // namespace bench
