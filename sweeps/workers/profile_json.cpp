// A profile at the file's edge.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/json_members.h"
#include "bench/text/quote.h"
#include "sweeps/workers/profile.h"

namespace bench {
namespace {

[[noreturn]] void refuse(const Field& field, const std::string& accepted) {
  throw UsageError(fmt::format("{} is {}; accepted: {}", field.path(), quote(field.json().dump()), accepted));
}

// Bounds beyond any machine, so that a damaged file gets a sentence instead of an answer.
constexpr double kMost = 1e15;         // ns are eleven days, bytes a second a petabyte
constexpr double kMostBytes = 0x1p44;  // of memory: 16 TiB
constexpr double kMostRate = 1e9;      // images a second of one worker
constexpr double kMostCount = 1e6;     // cores or workers
constexpr double kMostFactor = 1e3;

double at_least(const Field& field, double least, double most = kMost) {
  const double value = field.number();
  if (!(value >= least && value <= most)) {
    refuse(field, fmt::format("a number from {:g} to {:g}", least, most));
  }
  return value;
}

double positive(const Field& field, double most) {
  const double value = field.number();
  if (!(value > 0 && value <= most)) {
    refuse(field, fmt::format("a number above 0, at most {:g}", most));
  }
  return value;
}

void check_count(const Field& field) {
  const std::int64_t value = field.integer();
  if (value < 1 || value > 1'000'000) {
    refuse(field, "a whole number from 1 to 1000000");
  }
}

constexpr Check kFromZero = [](const Field& field) { at_least(field, 0); };
constexpr Check kMemory = [](const Field& field) { at_least(field, 0, kMostBytes); };
constexpr Check kFactor = [](const Field& field) { at_least(field, 0, kMostFactor); };
constexpr Check kPositiveFactor = [](const Field& field) { positive(field, kMostFactor); };
constexpr Check kRate = [](const Field& field) { positive(field, kMostRate); };
constexpr Check kCores = [](const Field& field) { positive(field, kMostCount); };

}  // namespace

void members(auto& io, Of<sweeps::MeasuredLaw> auto& fit) {
  io("images_per_s_one", fit.law.one, kRate);
  io("images_per_s_one_ci95", fit.one_ci95);
  io("sigma", fit.law.sigma, kFactor);
  io("sigma_ci95", fit.sigma_ci95);
  io("kappa", fit.law.kappa, kFactor);
  io("kappa_ci95", fit.kappa_ci95);
  io("crowding", fit.law.oversubscription, kFactor);
  io("cores", fit.law.cores, kCores);
  io("worst_error", fit.worst_error, kFromZero);
  io("largest_active", fit.largest_active, kFromZero);
  io("beyond_cores", fit.beyond_cores);
  io("from", fit.from);
  io("workers", fit.workers, check::none_negative);
}

void members(auto& io, Of<sweeps::MeasuredSharing> auto& sharing) {
  io("workers", sharing.workers, check_count);
  io("consumer_speed", sharing.consumer_speed, kPositiveFactor);
  io("worker_speed", sharing.worker_speed, kPositiveFactor);
}

void members(auto& io, Of<loader::Storage> auto& storage) {
  io("bytes_per_s", storage.bytes_per_s, kFromZero);
  io("latency_ns", storage.latency_ns, kFromZero);
}

// Times, sizes and the scheduling latencies are apart: see to_json().
void members(auto& io, Of<sweeps::Profile> auto& profile) {
  auto& pipeline = profile.pipeline;
  io("batch", pipeline.batch, check_count);
  io("prefetch", pipeline.prefetch, check_count);
  io("lookahead", pipeline.lookahead);
  io("consumer", profile.consumer);
  io("consumer_device", profile.consumer_device);
  io("consumer_on_cores", profile.consumer_on_cores);
  io("law", profile.law);
  io("bytes_read", pipeline.sample_bytes_read, kFromZero);
  io("copy_ns", pipeline.copy_ns, kFromZero);
  io("gap_ns", pipeline.gap_ns, kFromZero);
  io("take_ns", pipeline.take_ns, kFromZero);
  io("sample_bytes", profile.sample_bytes, kMemory);
  io("slot_bytes", profile.slot_bytes, kMemory);
  io("scratch_bytes_per_worker", profile.scratch_bytes_per_worker, kMemory);
  io("pinned", profile.pinned);
  io.nullable("storage", pipeline.storage);
  io("beside", profile.sharing);
  io.unless_empty("loader", profile.loader);
}

namespace sweeps {
namespace {

constexpr std::int64_t kVersion = 3;
constexpr std::size_t kMostValues = 4096;

constexpr std::array<std::pair<const char*, std::vector<double> simulator::Pipeline::*>, 3> kProfileTimes{
    {{"batch_work_ns", &simulator::Pipeline::batch_work_ns},
     {"sample_work_ns", &simulator::Pipeline::sample_work_ns},
     {"compute_ns", &simulator::Pipeline::compute_ns}}};

std::vector<double> read_times(const Field& field) {
  if (field.size() == 0 || field.size() > kMostValues) {
    throw UsageError(
        fmt::format("{} has {} elements; accepted: 1 to {}", field.path(), field.size(), kMostValues));
  }
  std::vector<double> values;
  for (std::size_t i = 0; i < field.size(); ++i) {
    values.push_back(at_least(field.at(i), 0));
  }
  return values;
}

std::vector<double> read_some_time(const Field& field) {
  std::vector<double> values = read_times(field);
  if (!(std::ranges::max(values) > 0)) {
    throw UsageError(fmt::format("{} holds no time above 0", field.path()));
  }
  return values;
}

// Late times grow, and are as many for each count of workers.
std::vector<simulator::SchedulingLatency> read_latencies(const Field& field) {
  std::vector<simulator::SchedulingLatency> latencies;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const Field point = field.at(i);
    const Field late = point.at("late_ns");
    latencies.push_back({.workers = positive(point.at("workers"), kMostCount), .late_ns = read_times(late)});
    const std::vector<double>& times = latencies.back().late_ns;
    if (times.size() != latencies.front().late_ns.size()) {
      throw UsageError(fmt::format("{} has {} elements; accepted: as many for each count of workers",
                                   late.path(), late.size()));
    }
    for (std::size_t k = 1; k < times.size(); ++k) {
      at_least(late.at(k), times[k - 1]);
    }
  }
  return latencies;
}

void check_workers_grow(const Field& field, const auto& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].workers <= points[i - 1].workers) {
      const Field point = field.at(i);
      refuse(point.at("workers"), "more than that of the point before it");
    }
  }
}

}  // namespace

Json to_json(const Profile& profile) {
  const simulator::Pipeline& pipeline = profile.pipeline;
  Json json = write_struct(profile, {{"version", kVersion}, {"order", name_of(pipeline.order)}});
  json["stages_ns"] = to_json(profile.stages_ns);
  for (const auto& [key, times] : kProfileTimes) {
    json[key] = rounded(pipeline.*times);
  }
  json["sample_sizes"] = Json::array();
  for (const double size : pipeline.sample_sizes) {
    json["sample_sizes"].push_back(std::round(size * 1e4) / 1e4);
  }
  json["wake"] = Json::array();
  for (const simulator::SchedulingLatency& latency : pipeline.scheduling_latency) {
    json["wake"].push_back({{"workers", latency.workers}, {"late_ns", rounded(latency.late_ns)}});
  }
  json["host"] = profile.host;
  json["software"] = profile.software;
  return json;
}

Profile read_profile(const Json& document) {
  const Field file(document);
  const Json schema = document.is_object() ? document.value("schema", Json()) : Json();
  if (schema != kResultSchema) {
    throw UsageError(fmt::format("not a result file of this program, which reads {}", kResultSchema));
  }
  const Field sweep = file.at("sweep");
  if (const std::string name = sweep.at("name").string(); name != "workers") {
    throw UsageError(
        fmt::format("a result of --sweep {}; accepted: one of --sweep workers", printable(name)));
  }
  if (!sweep.has("profile")) {
    throw UsageError(
        "no profile in it: the sweep ended before the loader and the consumer with ready data were measured");
  }
  const Field field = sweep.at("profile");
  const Field version = field.at("version");
  if (version.integer() != kVersion) {
    refuse(version, std::to_string(kVersion));
  }
  auto profile = read_struct<Profile>(field);
  simulator::Pipeline& pipeline = profile.pipeline;
  if (const std::string order = field.at("order").string(); order == "any") {
    pipeline.order = loader::Order::any;
  } else if (order != "in-order") {
    refuse(field.at("order"), "in-order, any");
  }
  const Field stages = field.at("stages_ns");
  for (const StageName& stage : kStages) {
    if (stages.has(stage.key)) {
      profile.stages_ns.*stage.time = at_least(stages.at(stage.key), 0);
    }
  }
  for (const auto& [key, times] : kProfileTimes) {
    pipeline.*times = read_some_time(field.at(key));
  }
  if (const Field sizes = field.at("sample_sizes"); sizes.size() > 0) {
    pipeline.sample_sizes = read_some_time(sizes);
  }
  pipeline.scheduling_latency = read_latencies(field.at("wake"));
  check_workers_grow(field.at("wake"), pipeline.scheduling_latency);
  check_workers_grow(field.at("beside"), profile.sharing);
  profile.host = field.has("host") ? field.at("host").json() : Json();
  profile.software = field.has("software") ? field.at("software").json() : Json();
  return profile;
}

}  // namespace sweeps
}  // namespace bench
