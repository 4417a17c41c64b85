// A profile at the file's edge.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "sweeps/workers/profile.h"

namespace bench {
namespace {

constexpr double kMostRate = 1e9;   // images a second of one worker
constexpr double kMostCount = 1e6;  // cores or workers

constexpr Check kFromZero = [](const Field& field) { check::within(field, 0, check::kMostTime); };
constexpr Check kMemory = [](const Field& field) { check::within(field, 0, check::kMostMemory); };
constexpr Check kFactor = [](const Field& field) { check::within(field, 0, 1e3); };
constexpr Check kPositiveFactor = [](const Field& field) { check::above_zero(field, 1e3); };
constexpr Check kRate = [](const Field& field) { check::above_zero(field, kMostRate); };
constexpr Check kCores = [](const Field& field) { check::above_zero(field, kMostCount); };
constexpr Check kCount = [](const Field& field) { check::count(field, 1'000'000); };

void check_times(const Field& field) {
  constexpr std::size_t kMostValues = 4096;
  if (field.size() == 0 || field.size() > kMostValues) {
    throw UsageError(
        fmt::format("{} has {} elements; accepted: 1 to {}", field.path(), field.size(), kMostValues));
  }
  for (std::size_t i = 0; i < field.size(); ++i) {
    check::within(field.at(i), 0, check::kMostTime);
  }
}

void check_some_time(const Field& field) {
  check_times(field);
  if (std::ranges::none_of(field.json(), [](const Json& time) { return time > 0; })) {
    throw UsageError(fmt::format("{} holds no time above 0", field.path()));
  }
}

void check_late_times(const Field& field) {
  check_times(field);
  for (std::size_t i = 1; i < field.size(); ++i) {
    check::within(field.at(i), field.at(i - 1).number(), check::kMostTime);
  }
}

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
  io("workers", sharing.workers, kCount);
  io("consumer_speed", sharing.consumer_speed, kPositiveFactor);
  io("worker_speed", sharing.worker_speed, kPositiveFactor);
}

void members(auto& io, Of<simulator::SchedulingLatency> auto& latency) {
  io("workers", latency.workers, kCores);
  io.whole("late_ns", latency.late_ns, check_late_times);
}

void members(auto& io, Of<loader::Storage> auto& storage) {
  io("bytes_per_s", storage.bytes_per_s, kFromZero);
  io("latency_ns", storage.latency_ns, kFromZero);
}

void members(auto& io, Of<sweeps::Profile> auto& profile) {
  auto& pipeline = profile.pipeline;
  io("order", pipeline.order);
  io("batch", pipeline.batch, kCount);
  io("prefetch", pipeline.prefetch, kCount);
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
  io("stages_ns", profile.stages_ns);
  io.whole("batch_work_ns", pipeline.batch_work_ns, check_some_time);
  io.whole("sample_work_ns", pipeline.sample_work_ns, check_some_time);
  io.whole("compute_ns", pipeline.compute_ns, check_some_time);
  io("sample_sizes", pipeline.sample_sizes);
  io("wake", pipeline.scheduling_latency);
}

namespace sweeps {
namespace {

constexpr std::int64_t kVersion = 3;

void check_workers_grow(const Field& field, const auto& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].workers <= points[i - 1].workers) {
      const Field point = field.at(i);
      check::refuse(point.at("workers"), "more than that of the point before it");
    }
  }
}

// As many for each count of workers.
void check_late_times_are_as_many(const Field& wake) {
  for (std::size_t i = 1; i < wake.size(); ++i) {
    const Field first = wake.at(std::size_t{0});
    const Field point = wake.at(i);
    const Field late = point.at("late_ns");
    if (late.size() != first.at("late_ns").size()) {
      throw UsageError(fmt::format("{} has {} elements; accepted: as many for each count of workers",
                                   late.path(), late.size()));
    }
  }
}

}  // namespace

Json to_json(const Profile& profile) {
  Json json = write_struct(profile, {{"version", kVersion}});
  for (Json& size : json["sample_sizes"]) {
    size = std::round(size.get<double>() * 1e4) / 1e4;
  }
  json["host"] = profile.host;
  json["software"] = profile.software;
  return json;
}

Profile profile_in(const Json& json) {
  const Field sweep(json, "sweep");
  if (!sweep.has("profile")) {
    throw UsageError(
        "no profile in it: the sweep ended before the loader and the consumer with ready data were measured");
  }
  const Field field = sweep.at("profile");
  const Field version = field.at("version");
  if (version.integer() != kVersion) {
    check::refuse(version, std::to_string(kVersion));
  }
  auto profile = read_struct<Profile>(field);
  const simulator::Pipeline& pipeline = profile.pipeline;
  if (!pipeline.sample_sizes.empty()) {
    check_some_time(field.at("sample_sizes"));
  }
  check_late_times_are_as_many(field.at("wake"));
  check_workers_grow(field.at("wake"), pipeline.scheduling_latency);
  check_workers_grow(field.at("beside"), profile.sharing);
  profile.host = field.has("host") ? field.at("host").json() : Json();
  profile.software = field.has("software") ? field.at("software").json() : Json();
  return profile;
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
  return profile_in(sweep.json());
}

}  // namespace sweeps
}  // namespace bench
