#include "bench/predict/prediction_report.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/measure/finding.h"
#include "bench/measure/result_json.h"
#include "bench/measure/units.h"
#include "bench/predict/prediction_words.h"

namespace bench {
namespace {

using Row = std::vector<std::string>;

std::string batch_cell(std::int64_t batch) {
  return batch > 0 ? fmt::format("{}", batch) : "-";
}

// Of a card's saturation batch; of every batch with `verbose`.
std::vector<Row> rows_of(const Prediction& prediction, const CardPrediction& card, bool verbose) {
  const std::string& id = prediction.gpus[card.gpu].id;
  const PredictedCurve& curve = card.curve;
  std::vector<Row> rows;
  if (curve.batches.empty()) {
    return {{id, card.dtype, batch_cell(curve.largest_batch), "", curve.problem}};
  }
  for (std::size_t i = 0; i < curve.batches.size(); ++i) {
    if (!verbose && i != curve.saturation) {
      continue;
    }
    const PredictedBatch& batch = curve.batches[i];
    const std::int64_t peak = batch.memory.peak;
    rows.push_back({id, card.dtype, batch_cell(curve.largest_batch), batch_cell(batch.batch),
                    with_interval80(batch.per_s(), batch.interval80_per_s()),
                    format_duration(batch.step.step_ns), peak > 0 ? format_bytes(peak) : "-",
                    limit_of(batch.step), fmt::format("{}", card.family_rows)});
  }
  for (const std::int64_t batch : curve.beyond) {
    rows.push_back({id, card.dtype, batch_cell(curve.largest_batch), batch_cell(batch), "out of memory"});
  }
  return rows;
}

// The order of the rows: in each dtype the fastest first where the whole catalogue is ranked.
std::vector<const CardPrediction*> in_order(const Prediction& prediction) {
  constexpr std::size_t kRankedFrom = 6;
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
      if (card.dtype == dtype && card.curve.batches.empty()) {
        order.push_back(&card);
      }
    }
  }
  return order;
}

TextTable table_of(const Prediction& prediction, bool verbose) {
  TextTable table{.title = "",
                  .rows = {{"card", "dtype", "largest", "batch", "samples/s (80 %)", "step", "memory",
                            "most time", "rows"}},
                  .right = {false, false, true, true, false, true, true, false, true}};
  std::vector<Row>& rows = table.rows;
  for (const CardPrediction* card : in_order(prediction)) {
    for (Row& row : rows_of(prediction, *card, verbose)) {
      row.resize(rows.front().size());
      rows.push_back(std::move(row));
    }
  }
  return table;
}

Json interval_array(const Interval& interval) {
  return Json::array({interval.low, interval.high});
}

Json batch_json(const PredictedBatch& batch) {
  Json memory = Json::object();
  for (const MemoryCategory category : kMemoryCategories) {
    memory[std::string(name_of(category))] = batch.memory.at_peak[category];
  }
  return {{"batch", batch.batch},
          {"samples_per_s", batch.per_s()},
          {"samples_per_s_interval80", interval_array(batch.interval80_per_s())},
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
          {"memory", std::move(memory)}};
}

Json card_json(const Prediction& prediction, const CardPrediction& card) {
  const PredictedCurve& curve = card.curve;
  Json batches = Json::array();
  for (const PredictedBatch& batch : curve.batches) {
    batches.push_back(batch_json(batch));
  }
  const bool has_batches = !curve.batches.empty();
  return {{"gpu", prediction.gpus[card.gpu].id},
          {"dtype", card.dtype},
          {"problem", has_batches ? Json() : Json(curve.problem)},
          {"largest_batch", curve.largest_batch > 0 ? Json(curve.largest_batch) : Json()},
          {"out_of_memory", curve.beyond},
          {"saturation_batch", has_batches ? Json(curve.at_saturation().batch) : Json()},
          {"family_rows", card.family_rows},
          {"caveats", has_batches ? Json(curve.at_saturation().step.caveats) : Json::array()},
          {"batches", std::move(batches)}};
}

}  // namespace

Page prediction_page(const Prediction& prediction, const ModelCoefficients& coefficients, bool verbose) {
  Page page{.title = subject_in_words(prediction)};
  page.sentences("", prediction_findings(prediction, coefficients));
  page.table(table_of(prediction, verbose));
  for (const std::string& note : prediction_notes(prediction)) {
    page.say(note);
  }
  return page;
}

std::string prediction_csv(const Prediction& prediction) {
  std::string text =
      "card,dtype,batch,samples_per_s,samples_per_s_low,samples_per_s_high,step_ms,step_ms_low,step_ms_high,"
      "peak_bytes,largest_batch,is_saturation,problem\n";
  constexpr double kMilli = 1e-6;
  for (const CardPrediction& card : prediction.cards) {
    const PredictedCurve& curve = card.curve;
    const std::string start = fmt::format("{},{}", prediction.gpus[card.gpu].id, card.dtype);
    if (curve.batches.empty()) {
      text += fmt::format("{},,,,,,,,,{},,\"{}\"\n", start, curve.largest_batch, curve.problem);
    }
    for (std::size_t i = 0; i < curve.batches.size(); ++i) {
      const PredictedBatch& batch = curve.batches[i];
      const Interval rate = batch.interval80_per_s();
      const Interval step = batch.step.interval80_ns;
      text += fmt::format("{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},{},{},\n", start, batch.batch,
                          batch.per_s(), rate.low, rate.high, batch.step.step_ns * kMilli, step.low * kMilli,
                          step.high * kMilli, batch.memory.peak, curve.largest_batch,
                          i == curve.saturation ? "yes" : "no");
    }
    for (const std::int64_t batch : curve.beyond) {
      text += curve.batches.empty()
                  ? ""
                  : fmt::format("{},{},,,,,,,,{},,out of memory\n", start, batch, curve.largest_batch);
    }
  }
  return text;
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
