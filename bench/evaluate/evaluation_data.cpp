// An evaluation as JSON and CSV.
#include <cmath>

#include <fmt/format.h>

#include "bench/evaluate/evaluation_formats.h"
#include "bench/page/csv.h"
#include "bench/result/result_json.h"

namespace bench {
namespace {

Json number_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json();
}

Json ratio_json(const std::optional<Ratio>& ratio) {
  if (!ratio) {
    return {};
  }
  return {{"value", ratio->value},
          {"interval", interval_json(ratio->interval)},
          {"level", ratio->is_predicted() ? 0.8 : 0.95},
          {"is_bound", ratio->is_bound},
          {"significant", ratio->differs_from_one()}};
}

Json bytes80_json(const CurvePoint& point) {
  const Interval& bytes80 = point.memory.peak80;
  return bytes80.high > bytes80.low ? Json{std::llround(bytes80.low), std::llround(bytes80.high)} : Json();
}

Json curve_json(const Evaluation& evaluation, const EvaluatedRow& row) {
  const Curve& curve = evaluation.curve_of(row);
  Json points = Json::array();
  for (const CurvePoint& point : curve.points) {
    const Curve* const first = evaluation.devices.front().in(row.dtype);
    const CurvePoint* const other = row.device == 0 || first == nullptr ? nullptr : first->at(point.batch);
    points.push_back({{"batch", point.batch},
                      {"per_s", point.per_s},
                      {"interval", interval_json(point.interval)},
                      {"is_bound", point.is_bound},
                      {"bytes", point.bytes},
                      {"bytes_interval80", bytes80_json(point)},
                      {"ratio", other == nullptr ? Json() : ratio_json(throughput_ratio_of(point, *other))}});
  }
  return {{"dtype", row.dtype},
          {"points", std::move(points)},
          {"saturation",
           {{"batch", row.point.batch},
            {"per_s", row.point.per_s},
            {"interval", interval_json(row.point.interval)},
            {"is_bound", row.point.is_bound},
            {"bytes", row.point.bytes},
            {"ratio", ratio_json(row.to_first)},
            {"over_fp32", ratio_json(row.over_fp32)},
            {"peak_share", number_json(row.peak_share)},
            {"memory_share", number_json(row.memory_share)},
            {"power_w", number_json(row.power_w)},
            {"power_measured", row.power_measured},
            {"joules_per_sample", number_json(row.joules_per_sample)},
            {"cost_per_hour", number_json(row.cost_per_hour)},
            {"cost_per_million", number_json(row.cost_per_million)},
            {"bus_per_s", number_json(row.bus_per_s)},
            {"fed_per_s", row.feed ? Json(row.feed->per_s) : Json()},
            {"limit", row.feed ? Json(name_of(row.feed->limit)) : Json()},
            {"cores_to_feed", number_json(row.cores_to_feed)}}},
          {"largest_batch", curve.largest ? Json(*curve.largest) : Json()},
          {"largest_extrapolated", curve.extrapolated},
          {"peak_flops_per_s", number_json(curve.peak_flops_per_s)},
          {"peak_dtype", curve.peak_dtype},
          {"peak_measured", curve.peak_measured}};
}

Json device_json(const Evaluation& evaluation, std::size_t index) {
  const EvaluatedDevice& device = evaluation.devices[index];
  Json curves = Json::array();
  for (const EvaluatedRow& row : evaluation.rows) {
    if (row.device == index) {
      curves.push_back(curve_json(evaluation, row));
    }
  }
  return {{"label", device.label},
          {"name", device.name},
          {"predicted", device.predicted},
          {"framework", device.framework},
          {"usable_bytes", device.usable_bytes},
          {"files", device.files},
          {"caveats", device.caveats},
          {"curves", std::move(curves)}};
}

Json job_json(const Evaluation& evaluation) {
  if (!evaluation.job) {
    return {};
  }
  Json devices = Json::array();
  for (const DeviceJob& job : evaluation.on_devices) {
    const EvaluatedRow& row = evaluation.rows[job.row];
    devices.push_back({{"label", evaluation.device_of(row).label},
                       {"dtype", row.dtype},
                       {"batch", row.point.batch},
                       {"hours", job.hours.value},
                       {"hours_interval", interval_json(job.hours.ci95)},
                       {"is_bound", row.point.is_bound},
                       {"cost", job.cost ? Json(job.cost->value) : Json()},
                       {"cost_interval", job.cost ? interval_json(job.cost->ci95) : Json()},
                       {"energy_kwh", number_json(job.kwh)}});
  }
  return {{"samples", evaluation.job->samples},
          {"words", evaluation.job->words},
          {"devices", std::move(devices)}};
}

// Null in place of an infinite end.
Json end_json(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json break_evens_json(const Evaluation& evaluation) {
  Json all = Json::array();
  for (const BreakEven& of : break_evens_of(evaluation)) {
    const EvaluatedRow& bought = evaluation.rows[of.bought];
    const EvaluatedRow& hired = evaluation.rows[of.hired];
    all.push_back({{"bought", evaluation.device_of(bought).label},
                   {"bought_dtype", bought.dtype},
                   {"hired", evaluation.device_of(hired).label},
                   {"hired_dtype", hired.dtype},
                   {"hours", end_json(of.hours.value)},
                   {"hours_low", of.hours.ci95 ? end_json(of.hours.ci95->low) : Json()},
                   {"hours_high", of.hours.ci95 ? end_json(of.hours.ci95->high) : Json()}});
  }
  return all;
}

}  // namespace

Json evaluation_json(const Evaluation& evaluation) {
  Json json{{"schema", "bench-evaluation/1"},
            {"workload", evaluation.task.workload},
            {"mode", evaluation.task.mode},
            {"options", Json::object()},
            {"dtype", evaluation.dtype},
            {"currency", evaluation.prices.currency},
            {"host", Json()},
            {"job", job_json(evaluation)},
            {"break_even", break_evens_json(evaluation)},
            {"devices", Json::array()},
            {"answers", Json::array()},
            {"notes", evaluation.notes}};
  for (const auto& [name, value] : evaluation.task.options) {
    json["options"][name] = value;
  }
  if (evaluation.host) {
    json["host"] = {{"name", evaluation.host->host},
                    {"file", evaluation.host->file},
                    {"per_s", evaluation.host->per_s},
                    {"interval", interval_json(evaluation.host->interval)},
                    {"cores", evaluation.host->cores}};
  }
  for (std::size_t i = 0; i < evaluation.devices.size(); ++i) {
    json["devices"].push_back(device_json(evaluation, i));
  }
  for (const Answer& answer : evaluation.answers) {
    json["answers"].push_back({{"question", answer.question},
                               {"dtype", answer.dtype},
                               {"claim", answer.claim},
                               {"ratio", ratio_json(answer.ratio)},
                               {"headline", answer.headline}});
  }
  return json;
}

std::string evaluation_csv(const Evaluation& evaluation) {
  std::vector<Cells> rows{{"device", "predicted", "framework", "dtype", "batch", "samples_per_s", "low",
                           "high", "level", "bytes", "saturation_batch", "largest_batch", "is_bound"}};
  for (const EvaluatedRow& row : evaluation.rows) {
    const EvaluatedDevice& device = evaluation.device_of(row);
    const Curve& curve = evaluation.curve_of(row);
    for (const CurvePoint& point : curve.points) {
      rows.push_back({device.label, device.predicted ? "yes" : "no", device.framework, row.dtype, point.batch,
                      csv_number(point.per_s), csv_low(point.interval), csv_high(point.interval),
                      device.predicted ? "0.8" : "0.95", point.bytes, row.point.batch,
                      curve.largest ? Cell(*curve.largest) : Cell(), point.is_bound ? "yes" : "no"});
    }
  }
  return csv_table(rows);
}

}  // namespace bench
