// An evaluation as JSON, and read from it, and as CSV.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "bench/evaluate/evaluation_formats.h"
#include "bench/page/csv.h"
#include "bench/result/json_members.h"

namespace bench {

void members(auto& io, Of<Ratio> auto& ratio) {
  io("value", ratio.value);
  io.interval("interval", ratio.interval);
  io.percent("level", ratio.level);
  io.maybe("is_bound", ratio.is_bound);
  io.derived("significant", ratio.differs_from_one());
}

void read_value(const Field& field, FeedLimit& limit) {
  read_named(field, limit, std::array{FeedLimit::device, FeedLimit::loader, FeedLimit::bus});
}

void members(auto& io, Of<HostLimit> auto& host) {
  io("name", host.host);
  io("file", host.file);
  io("per_s", host.per_s);
  io.interval("interval", host.interval);
  io("cores", host.cores);
}

void members(auto& io, Of<Answer> auto& answer) {
  io("question", answer.question);
  io("dtype", answer.dtype);
  io("claim", answer.claim);
  io.nullable("ratio", answer.ratio);
  io("headline", answer.headline);
}

// What a point and the saturation batch have in common.
void throughput_members(auto& io, Of<CurvePoint> auto& point) {
  io("batch", point.batch);
  io("per_s", point.per_s);
  io.interval("interval", point.interval);
  io.maybe("is_bound", point.is_bound);
  io("bytes", point.bytes);
}

void members(auto& io, Of<EvaluatedRow> auto& row) {
  throughput_members(io, row.point);
  io.nullable("ratio", row.to_first);
  io.nullable("over_fp32", row.over_fp32);
  io.nullable("peak_share", row.peak_share);
  io.nullable("memory_share", row.memory_share);
  io.nullable("power_w", row.power_w);
  io.maybe("power_measured", row.power_measured);
  io.nullable("joules_per_sample", row.joules_per_sample);
  io.nullable("cost_per_hour", row.cost_per_hour);
  io.nullable("cost_per_million", row.cost_per_million);
  io.nullable("bus_per_s", row.bus_per_s);
  io.nullable("fed_per_s", row.feed, &Feed::per_s);
  io.nullable("limit", row.feed, &Feed::limit);
  io.nullable("cores_to_feed", row.cores_to_feed);
}

namespace {

struct WrittenPoint {
  CurvePoint point{};
  std::optional<Interval> bytes80{};
  std::optional<Ratio> to_first{};  // device, at the same batch
};

void members(auto& io, Of<WrittenPoint> auto& written) {
  throughput_members(io, written.point);
  io.whole("bytes_interval80", written.bytes80);
  io.nullable("ratio", written.to_first);
}

struct WrittenCurve {
  Curve curve{};
  std::vector<WrittenPoint> points{};
  EvaluatedRow row{};
};

void members(auto& io, Of<WrittenCurve> auto& written) {
  auto& curve = written.curve;
  io("dtype", curve.dtype);
  io("points", written.points);
  io("saturation", written.row);
  io.nullable("largest_batch", curve.largest);
  io.maybe("largest_extrapolated", curve.extrapolated);
  io.nullable("peak_flops_per_s", curve.peak_flops_per_s);
  io.maybe("peak_dtype", curve.peak_dtype);
  io.maybe("peak_measured", curve.peak_measured);
}

void read_value(const Field& field, WrittenCurve& written) {
  JsonReader reader(field);
  members(reader, written);
  Curve& curve = written.curve;
  for (const auto& [point, bytes80, ratio] : written.points) {
    curve.points.push_back(point);
    curve.points.back().memory.peak80 = bytes80.value_or(Interval{});
  }
  const auto point = std::ranges::find(curve.points, written.row.point.batch, &CurvePoint::batch);
  if (point == curve.points.end()) {
    const Field row = field.at("saturation");
    row.at("batch").refuse("the batch of one of the points");
  }
  curve.saturation_index = static_cast<std::size_t>(point - curve.points.begin());
  written.row.point = *point;
  written.row.dtype = curve.dtype;
}

struct WrittenDevice {
  EvaluatedDevice device{};
  std::vector<WrittenCurve> curves{};
};

void members(auto& io, Of<WrittenDevice> auto& written) {
  auto& device = written.device;
  io("label", device.label);
  io("name", device.name);
  io.maybe("predicted", device.predicted);
  io("framework", device.framework);
  io("usable_bytes", device.usable_bytes);
  io.unless_empty("machines", device.machines);
  io.maybe("files", device.files);
  io.maybe("caveats", device.caveats);
  io("curves", written.curves);
}

struct WrittenDeviceJob {
  std::string label{};
  std::string dtype{};
  CurvePoint point{};
  DeviceJob job{};
};

void members(auto& io, Of<WrittenDeviceJob> auto& written) {
  auto& job = written.job;
  io("label", written.label);
  io("dtype", written.dtype);
  io.derived("batch", written.point.batch);
  io("hours", job.hours.value);
  io.interval("hours_interval", job.hours.ci95);
  io.derived("is_bound", written.point.is_bound);
  io.nullable("cost", job.cost, &Estimate::value);
  io.nullable("cost_interval", job.cost, &Estimate::ci95);
  io.nullable("energy_kwh", job.kwh);
}

struct WrittenJob {
  Job job{};
  std::vector<WrittenDeviceJob> devices{};
};

void members(auto& io, Of<WrittenJob> auto& written) {
  io("samples", written.job.samples);
  io("words", written.job.words);
  io("devices", written.devices);
}

struct WrittenEvaluation {
  Evaluation evaluation;
  std::optional<WrittenJob> job{};
  std::vector<BreakEven> break_evens{};
  std::vector<WrittenDevice> devices{};
};

void members(auto& io, Of<WrittenEvaluation> auto& written) {
  auto& evaluation = written.evaluation;
  io.derived("schema", "bench-evaluation/1");
  io("workload", evaluation.task.workload);
  io("mode", evaluation.task.mode);
  io.derived("options", evaluation.task.options);
  io("dtype", evaluation.dtype);
  io("currency", evaluation.prices.currency);
  io.derived("host", evaluation.host);
  io.nullable("job", written.job);
  io.list("break_even", written.break_evens, [&](JsonWriter& one, const BreakEven& of) {
    const EvaluatedRow& bought = evaluation.rows[of.bought];
    const EvaluatedRow& hired = evaluation.rows[of.hired];
    one("bought", evaluation.device_of(bought).label);
    one("bought_dtype", bought.dtype);
    one("hired", evaluation.device_of(hired).label);
    one("hired_dtype", hired.dtype);
    one("hours", of.hours.value);  // null in place of an infinite end
    one.nullable("hours_low", of.hours.ci95, &Interval::low);
    one.nullable("hours_high", of.hours.ci95, &Interval::high);
  });
  io("devices", written.devices);
  io("answers", evaluation.answers);
  io("notes", evaluation.notes);
}

WrittenCurve written_curve(const Evaluation& evaluation, const EvaluatedRow& row) {
  WrittenCurve written{.curve = evaluation.curve_of(row), .row = row};
  const Curve* const first = row.device == 0 ? nullptr : evaluation.devices.front().in(row.dtype);
  for (const CurvePoint& point : written.curve.points) {
    WrittenPoint& one = written.points.emplace_back(WrittenPoint{.point = point});
    if (const Interval& bytes80 = point.memory.peak80; bytes80.high > bytes80.low) {
      one.bytes80 = bytes80;
    }
    if (const CurvePoint* const other = first == nullptr ? nullptr : first->at(point.batch)) {
      one.to_first = throughput_ratio_of(point, *other);
    }
  }
  return written;
}

WrittenEvaluation written_evaluation(const Evaluation& evaluation) {
  WrittenEvaluation written{.evaluation = evaluation, .break_evens = break_evens_of(evaluation)};
  for (const EvaluatedDevice& device : evaluation.devices) {
    written.devices.push_back({.device = device});
  }
  for (const EvaluatedRow& row : evaluation.rows) {
    written.devices[row.device].curves.push_back(written_curve(evaluation, row));
  }
  if (evaluation.job) {
    written.job = WrittenJob{.job = *evaluation.job};
  }
  for (const DeviceJob& job : evaluation.on_devices) {
    const EvaluatedRow& row = evaluation.rows[job.row];
    written.job->devices.push_back({evaluation.device_of(row).label, row.dtype, row.point, job});
  }
  return written;
}

}  // namespace

Json evaluation_json(const Evaluation& evaluation) {
  return write_struct(written_evaluation(evaluation));
}

Evaluation read_evaluation(const Field& root) {
  auto written = read_struct<WrittenEvaluation>(root);
  Evaluation& evaluation = written.evaluation;
  if (written.devices.empty()) {
    root.at("devices").refuse("one device or more");
  }
  for (WrittenDevice& device : written.devices) {
    for (WrittenCurve& curve : device.curves) {
      curve.row.device = evaluation.devices.size();
      evaluation.rows.push_back(std::move(curve.row));
      device.device.curves.push_back(std::move(curve.curve));
    }
    evaluation.devices.push_back(std::move(device.device));
  }
  const std::vector<std::string> dtypes = dtypes_of(evaluation.devices);
  std::ranges::stable_sort(evaluation.rows, {},
                           [&](const EvaluatedRow& row) { return std::ranges::find(dtypes, row.dtype); });
  if (!written.job) {
    return evaluation;
  }
  evaluation.job = written.job->job;
  for (const WrittenDeviceJob& on : written.job->devices) {
    const auto row = std::ranges::find_if(evaluation.rows, [&](const EvaluatedRow& each) {
      return evaluation.device_of(each).label == on.label && each.dtype == on.dtype;
    });
    if (row == evaluation.rows.end()) {
      const Field job = root.at("job");
      const Field devices = job.at("devices");
      const Field device = devices.at(evaluation.on_devices.size());
      device.at("label").refuse("one of the devices, in a dtype that it has");
    }
    evaluation.on_devices.push_back(on.job);
    evaluation.on_devices.back().row = static_cast<std::size_t>(row - evaluation.rows.begin());
  }
  return evaluation;
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
