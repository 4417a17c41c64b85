// A profile at the file's edge.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/result/schema_check.h"
#include "bench/text/quote.h"
#include "sweeps/workers/profile.h"

namespace bench {

void members(auto& io, Of<sweeps::MeasuredLaw> auto& fit) {
  io("images_per_s_one", fit.law.one);
  io("images_per_s_one_ci95", fit.one_ci95);
  io("sigma", fit.law.sigma);
  io("sigma_ci95", fit.sigma_ci95);
  io("kappa", fit.law.kappa);
  io("kappa_ci95", fit.kappa_ci95);
  io("crowding", fit.law.oversubscription);
  io("cores", fit.law.cores);
  io("worst_error", fit.worst_error);
  io("largest_active", fit.largest_active);
  io("beyond_cores", fit.beyond_cores);
  io("from", fit.from);
  io("workers", fit.workers);
}

void members(auto& io, Of<sweeps::MeasuredSharing> auto& sharing) {
  io("workers", sharing.workers);
  io("consumer_speed", sharing.consumer_speed);
  io("worker_speed", sharing.worker_speed);
}

void members(auto& io, Of<simulator::SchedulingLatency> auto& latency) {
  io("workers", latency.workers);
  io.whole("late_ns", latency.late_ns);
}

void members(auto& io, Of<loader::Storage> auto& storage) {
  io("bytes_per_s", storage.bytes_per_s);
  io("latency_ns", storage.latency_ns);
}

void members(auto& io, Of<sweeps::Profile> auto& profile) {
  auto& pipeline = profile.pipeline;
  io("order", pipeline.order);
  io("batch", pipeline.batch);
  io("prefetch", pipeline.prefetch);
  io("lookahead", pipeline.lookahead);
  io("consumer", profile.consumer);
  io("consumer_device", profile.consumer_device);
  io("consumer_on_cores", profile.consumer_on_cores);
  io("law", profile.law);
  io("bytes_read", pipeline.sample_bytes_read);
  io("copy_ns", pipeline.copy_ns);
  io("gap_ns", pipeline.gap_ns);
  io("take_ns", pipeline.take_ns);
  io("sample_bytes", profile.sample_bytes);
  io("slot_bytes", profile.slot_bytes);
  io("scratch_bytes_per_worker", profile.scratch_bytes_per_worker);
  io("pinned", profile.pinned);
  io.nullable("storage", pipeline.storage);
  io("beside", profile.sharing);
  io.unless_empty("loader", profile.loader);
  io("stages_ns", profile.stages_ns);
  io.whole("batch_work_ns", pipeline.batch_work_ns);
  io.whole("sample_work_ns", pipeline.sample_work_ns);
  io.whole("compute_ns", pipeline.compute_ns);
  io("sample_sizes", pipeline.sample_sizes);
  io("wake", pipeline.scheduling_latency);
}

namespace sweeps {
namespace {

constexpr std::int64_t kVersion = 3;

// What no schema says.
void check_some_time(const Field& times) {
  if (std::ranges::none_of(times.json(), [](const Json& time) { return time > 0; })) {
    throw UsageError(fmt::format("{} holds no time above 0", times.path()));
  }
}

void check_workers_grow(const Field& field, const auto& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].workers <= points[i - 1].workers) {
      const Field point = field.at(i);
      point.at("workers").refuse("more than that of the point before it");
    }
  }
}

// Growing times, as many for each count of workers.
void check_late_times(const Field& wake) {
  for (std::size_t i = 0; i < wake.size(); ++i) {
    const Field point = wake.at(i);
    const Field late = point.at("late_ns");
    for (std::size_t time = 1; time < late.size(); ++time) {
      if (const double before = late.at(time - 1).number(); late.at(time).number() < before) {
        late.at(time).refuse(fmt::format("{:g} or more, as the time before it", before));
      }
    }
    const Field first = wake.at(std::size_t{0});
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
  if (const Field version = field.at("version"); version.json() != kVersion) {
    version.refuse(std::to_string(kVersion));
  }
  check_by_schema(field, "result", "/definitions/profile");
  auto profile = read_struct<Profile>(field);
  for (const char* const times : {"batch_work_ns", "sample_work_ns", "compute_ns"}) {
    check_some_time(field.at(times));
  }
  if (!profile.pipeline.sample_sizes.empty()) {
    check_some_time(field.at("sample_sizes"));
  }
  check_late_times(field.at("wake"));
  check_workers_grow(field.at("wake"), profile.pipeline.scheduling_latency);
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
