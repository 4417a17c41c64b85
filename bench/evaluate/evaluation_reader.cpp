// An evaluation as evaluation_json() wrote it.
#include <algorithm>
#include <array>
#include <string_view>

#include "bench/evaluate/evaluation_formats.h"
#include "bench/result/field_lists.h"
#include "bench/result/json_members.h"
#include "bench/result/result_json.h"

namespace bench {
namespace {

bool is_set(const Field& object, std::string_view key) {
  return object.has(key) && object.at(key).json() == true;
}

std::optional<double> find_number(const Field& object, std::string_view key) {
  const auto value = object.find(key);
  return value ? std::optional(value->number()) : std::nullopt;
}

std::optional<Ratio> find_ratio(const Field& object, std::string_view key) {
  const auto ratio = object.find(key);
  if (!ratio) {
    return std::nullopt;
  }
  return Ratio{.value = ratio->at("value").number(),
               .interval = find_interval(*ratio, "interval"),
               .level = ratio->at("level").number(),
               .is_bound = is_set(*ratio, "is_bound")};
}

CurvePoint read_curve_point(const Field& point) {
  CurvePoint read{.batch = point.at("batch").integer(),
                  .per_s = point.at("per_s").number(),
                  .interval = find_interval(point, "interval"),
                  .is_bound = is_set(point, "is_bound"),
                  .bytes = point.at("bytes").integer()};
  if (const auto bytes80 = find_interval(point, "bytes_interval80")) {
    read.memory.peak80 = *bytes80;
  }
  return read;
}

std::optional<Feed> find_feed(const Field& row) {
  const auto per_s = find_number(row, "fed_per_s");
  if (!per_s) {
    return std::nullopt;
  }
  const Field limit = row.at("limit");
  for (const FeedLimit known : {FeedLimit::device, FeedLimit::loader, FeedLimit::bus}) {
    if (limit.string() == name_of(known)) {
      return Feed{.per_s = *per_s, .limit = known};
    }
  }
  check::refuse(limit, "device, loader, bus");
}

void read_curve(const Field& field, std::size_t device, Evaluation& evaluation) {
  Curve& curve = evaluation.devices[device].curves.emplace_back(
      Curve{.dtype = field.at("dtype").string(), .points = read_list(field, "points", read_curve_point)});
  if (const auto largest = field.find("largest_batch")) {
    curve.largest = largest->integer();
  }
  curve.extrapolated = is_set(field, "largest_extrapolated");
  const Field row = field.at("saturation");
  const std::int64_t batch = row.at("batch").integer();
  const auto point = std::ranges::find(curve.points, batch, &CurvePoint::batch);
  if (point == curve.points.end()) {
    check::refuse(row.at("batch"), "the batch of one of the points");
  }
  curve.saturation = static_cast<std::size_t>(point - curve.points.begin());
  evaluation.rows.push_back({.device = device,
                             .dtype = curve.dtype,
                             .point = *point,
                             .to_first = find_ratio(row, "ratio"),
                             .over_fp32 = find_ratio(row, "over_fp32"),
                             .peak_share = find_number(row, "peak_share"),
                             .memory_share = find_number(row, "memory_share"),
                             .power_w = find_number(row, "power_w"),
                             .power_measured = is_set(row, "power_measured"),
                             .joules_per_sample = find_number(row, "joules_per_sample"),
                             .cost_per_hour = find_number(row, "cost_per_hour"),
                             .cost_per_million = find_number(row, "cost_per_million"),
                             .bus_per_s = find_number(row, "bus_per_s"),
                             .feed = find_feed(row),
                             .cores_to_feed = find_number(row, "cores_to_feed")});
}

std::optional<Estimate> find_estimate(const Field& object, std::string_view key, std::string_view interval) {
  const auto value = find_number(object, key);
  return value ? std::optional(Estimate{.value = *value, .ci95 = find_interval(object, interval)})
               : std::nullopt;
}

void read_job(const Field& job, Evaluation& evaluation) {
  evaluation.job = Job{.samples = job.at("samples").number(), .words = job.at("words").string()};
  const Field devices = job.at("devices");
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Field on = devices.at(i);
    const auto row = std::ranges::find_if(evaluation.rows, [&](const EvaluatedRow& each) {
      return evaluation.device_of(each).label == on.at("label").string() &&
             each.dtype == on.at("dtype").string();
    });
    if (row == evaluation.rows.end()) {
      check::refuse(on.at("label"), "one of the devices, in a dtype that it has");
    }
    evaluation.on_devices.push_back({.row = static_cast<std::size_t>(row - evaluation.rows.begin()),
                                     .hours = *find_estimate(on, "hours", "hours_interval"),
                                     .cost = find_estimate(on, "cost", "cost_interval"),
                                     .kwh = find_number(on, "energy_kwh")});
  }
}

Answer read_answer(const Field& answer) {
  return {.question = answer.at("question").string(),
          .dtype = answer.at("dtype").string(),
          .claim = answer.at("claim").string(),
          .ratio = find_ratio(answer, "ratio"),
          .headline = static_cast<int>(answer.at("headline").integer())};
}

}  // namespace

Evaluation read_evaluation(const Field& root) {
  Evaluation evaluation{
      .task = {.workload = root.at("workload").string(), .mode = root.at("mode").string(), .options = {}},
      .devices = {},
      .prices = {}};
  evaluation.prices.currency = root.at("currency").string();
  evaluation.dtype = root.at("dtype").string();
  const Field devices = root.at("devices");
  if (devices.size() == 0) {
    check::refuse(devices, "one device or more");
  }
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const Field device = devices.at(i);
    EvaluatedDevice& read = evaluation.devices.emplace_back();
    read.label = device.at("label").string();
    read.name = device.at("name").string();
    read.predicted = is_set(device, "predicted");
    read.framework = device.at("framework").string();
    read.usable_bytes = device.at("usable_bytes").integer();
    const Field curves = device.at("curves");
    for (std::size_t k = 0; k < curves.size(); ++k) {
      read_curve(curves.at(k), i, evaluation);
    }
  }
  const std::vector<std::string> dtypes = dtypes_of(evaluation.devices);
  std::ranges::stable_sort(evaluation.rows, {},
                           [&](const EvaluatedRow& row) { return std::ranges::find(dtypes, row.dtype); });
  if (const auto job = root.find("job")) {
    read_job(*job, evaluation);
  }
  evaluation.answers = read_list(root, "answers", read_answer);
  evaluation.notes = strings_of(root.at("notes"));
  return evaluation;
}

}  // namespace bench
