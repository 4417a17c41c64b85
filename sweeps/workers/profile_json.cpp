// A profile at the file's edge.
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/result_json.h"
#include "sweeps/workers/profile.h"

namespace bench::sweeps {
namespace {

// 1: without scheduling latencies, and at first without the images' sizes. 2: with latencies by workers at
// work.
constexpr std::int64_t kVersion = 3;
constexpr std::size_t kMostValues = 4096;

// Members of nearly the same name in the file.
constexpr std::array<std::pair<const char*, std::vector<double> simulator::Pipeline::*>, 3> kProfileTimes{
    {{"batch_work_ns", &simulator::Pipeline::batch_work_ns},
     {"sample_work_ns", &simulator::Pipeline::sample_work_ns},
     {"compute_ns", &simulator::Pipeline::compute_ns}}};
constexpr std::array<std::pair<const char*, double simulator::Pipeline::*>, 4> kPipelineNumbers{
    {{"bytes_read", &simulator::Pipeline::sample_bytes_read},
     {"copy_ns", &simulator::Pipeline::copy_ns},
     {"gap_ns", &simulator::Pipeline::gap_ns},
     {"take_ns", &simulator::Pipeline::take_ns}}};
constexpr std::array<std::pair<const char*, double Profile::*>, 3> kProfileNumbers{
    {{"sample_bytes", &Profile::sample_bytes},
     {"slot_bytes", &Profile::slot_bytes},
     {"scratch_bytes_per_worker", &Profile::scratch_bytes_per_worker}}};

Json whole(const std::vector<double>& values) {
  Json json = Json::array();
  for (const double value : values) {
    json.push_back(std::llround(value));
  }
  return json;
}

[[noreturn]] void refuse(const Field& field, const std::string& accepted) {
  throw UsageError(fmt::format("{} is {}; accepted: {}", field.path(), quote(field.json().dump()), accepted));
}

double at_least(const Field& field, double least) {
  const double value = field.number();
  if (!std::isfinite(value) || value < least) {
    refuse(field, fmt::format("a number from {:g}", least));
  }
  return value;
}

double positive(const Field& field) {
  const double value = field.number();
  if (!std::isfinite(value) || value <= 0) {
    refuse(field, "a number above 0");
  }
  return value;
}

std::int64_t count(const Field& field, std::int64_t least) {
  const std::int64_t value = field.integer();
  if (value < least || value > 1'000'000) {
    refuse(field, fmt::format("a whole number from {} to 1000000", least));
  }
  return value;
}

std::vector<double> read_times(const Field& field) {
  if (field.size() == 0 || field.size() > kMostValues) {
    throw UsageError(
        fmt::format("{} has {} elements; accepted: 1 to {}", field.path(), field.size(), kMostValues));
  }
  std::vector<double> values;
  double sum = 0;
  for (std::size_t i = 0; i < field.size(); ++i) {
    values.push_back(at_least(field.at(i), 0));
    sum += values.back();
  }
  if (!(sum > 0)) {
    throw UsageError(fmt::format("{} holds no time above 0", field.path()));
  }
  return values;
}

bool flag(const Field& field) {
  if (!field.json().is_boolean()) {
    refuse(field, "true or false");
  }
  return field.json().get<bool>();
}

Interval interval(const Field& field) {
  return {field.at(std::size_t{0}).number(), field.at(std::size_t{1}).number()};
}

Json to_json(Interval interval) {
  return {interval.low, interval.high};
}

simulator::LawFit read_law(const Field& field) {
  simulator::LawFit fit;
  fit.law.one = positive(field.at("images_per_s_one"));
  fit.law.sigma = at_least(field.at("sigma"), 0);
  fit.law.kappa = at_least(field.at("kappa"), 0);
  fit.law.oversubscription = at_least(field.at("crowding"), 0);
  fit.law.cores = positive(field.at("cores"));
  fit.one_ci95 = interval(field.at("images_per_s_one_ci95"));
  fit.sigma_ci95 = interval(field.at("sigma_ci95"));
  fit.kappa_ci95 = interval(field.at("kappa_ci95"));
  fit.worst_error = at_least(field.at("worst_error"), 0);
  fit.largest_active = at_least(field.at("largest_active"), 0);
  fit.beyond_cores = flag(field.at("beyond_cores"));
  return fit;
}

std::vector<simulator::SchedulingLatency> read_latencies(const Field& field, const char* by) {
  std::vector<simulator::SchedulingLatency> latencies;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const Field point = field.at(i);
    const Field late = point.at("late_ns");
    simulator::SchedulingLatency latency{.workers = positive(point.at(by)), .late_ns = {}};
    if (late.size() == 0 || late.size() > kMostValues ||
        (i > 0 && late.size() != latencies[0].late_ns.size())) {
      throw UsageError(fmt::format("{} has {} elements; accepted: 1 to {}, as many for each count of workers",
                                   late.path(), late.size(), kMostValues));
    }
    for (std::size_t k = 0; k < late.size(); ++k) {
      latency.late_ns.push_back(at_least(late.at(k), k == 0 ? 0 : latency.late_ns.back()));
    }
    if (i > 0 && latency.workers <= latencies.back().workers) {
      refuse(point.at(by), "more than that of the point before it");
    }
    latencies.push_back(std::move(latency));
  }
  return latencies;
}

std::vector<MeasuredSharing> read_sharing(const Field& field) {
  std::vector<MeasuredSharing> sharing;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const Field point = field.at(i);
    sharing.push_back({.workers = count(point.at("workers"), 1),
                       .consumer_speed = positive(point.at("consumer_speed")),
                       .worker_speed = positive(point.at("worker_speed"))});
    if (i > 0 && sharing[i].workers <= sharing[i - 1].workers) {
      refuse(point.at("workers"), "more than that of the point before it");
    }
  }
  return sharing;
}

}  // namespace

Json to_json(const Profile& profile) {
  const simulator::LawFit& fit = profile.law;
  Json json = {{"version", kVersion},
               {"batch", profile.pipeline.batch},
               {"prefetch", profile.pipeline.prefetch},
               {"order", name_of(profile.pipeline.order)},
               {"lookahead", profile.pipeline.lookahead},
               {"consumer", profile.consumer},
               {"consumer_device", profile.consumer_device},
               {"consumer_on_cores", profile.consumer_on_cores},
               {"law",
                {{"images_per_s_one", fit.law.one},
                 {"images_per_s_one_ci95", to_json(fit.one_ci95)},
                 {"sigma", fit.law.sigma},
                 {"sigma_ci95", to_json(fit.sigma_ci95)},
                 {"kappa", fit.law.kappa},
                 {"kappa_ci95", to_json(fit.kappa_ci95)},
                 {"crowding", fit.law.oversubscription},
                 {"cores", fit.law.cores},
                 {"worst_error", fit.worst_error},
                 {"largest_active", fit.largest_active},
                 {"beyond_cores", fit.beyond_cores},
                 {"from", profile.law_from},
                 {"workers", profile.law_workers}}},
               {"stages_ns", to_json(profile.stages_ns)},
               {"storage", nullptr},
               {"sample_sizes", Json::array()},
               {"wake", Json::array()},
               {"beside", Json::array()},
               {"pinned", profile.pinned},
               {"host", profile.host},
               {"software", profile.software}};
  for (const auto& [key, times] : kProfileTimes) {
    json[key] = whole(profile.pipeline.*times);
  }
  for (const auto& [key, number] : kPipelineNumbers) {
    json[key] = profile.pipeline.*number;
  }
  for (const auto& [key, number] : kProfileNumbers) {
    json[key] = profile.*number;
  }
  for (const double size : profile.pipeline.sample_sizes) {
    json["sample_sizes"].push_back(std::round(size * 1e4) / 1e4);
  }
  if (profile.pipeline.storage) {
    json["storage"] = {{"bytes_per_s", profile.pipeline.storage->bytes_per_s},
                       {"latency_ns", profile.pipeline.storage->latency_ns}};
  }
  for (const simulator::SchedulingLatency& latency : profile.pipeline.scheduling_latency) {
    json["wake"].push_back({{"workers", latency.workers}, {"late_ns", whole(latency.late_ns)}});
  }
  for (const MeasuredSharing& sharing : profile.sharing) {
    json["beside"].push_back({{"workers", sharing.workers},
                              {"consumer_speed", sharing.consumer_speed},
                              {"worker_speed", sharing.worker_speed}});
  }
  return json;
}

Profile read_profile(const Json& document) {
  const Field file(document, "");
  if (!document.is_object() || !document.contains("schema") || !document["schema"].is_string() ||
      document["schema"] != kResultSchema) {
    throw UsageError(fmt::format("not a result file of this program: its schema is not {}", kResultSchema));
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
  if (version.integer() < 1 || version.integer() > kVersion) {
    refuse(version, fmt::format("1 to {}", kVersion));
  }
  Profile profile;
  profile.pipeline.batch = count(field.at("batch"), 1);
  profile.pipeline.prefetch = count(field.at("prefetch"), 1);
  if (const std::string order = field.at("order").string(); order == "any") {
    profile.pipeline.order = loader::Order::any;
  } else if (order != "in-order") {
    refuse(field.at("order"), "in-order, any");
  }
  profile.pipeline.lookahead = flag(field.at("lookahead"));
  profile.consumer = field.at("consumer").string();
  profile.consumer_device = field.at("consumer_device").string();
  profile.consumer_on_cores = flag(field.at("consumer_on_cores"));
  profile.law = read_law(field.at("law"));
  profile.law_from = field.at("law").at("from").string();
  const Field law_workers = field.at("law").at("workers");
  for (std::size_t i = 0; i < law_workers.size(); ++i) {
    profile.law_workers.push_back(count(law_workers.at(i), 0));
  }
  const Field stages = field.at("stages_ns");
  static_cast<void>(stages.object());
  for (const StageName& stage : kStages) {
    if (stages.has(stage.key)) {
      profile.stages_ns.*stage.time = at_least(stages.at(stage.key), 0);
    }
  }
  if (field.has("storage")) {
    const Field storage = field.at("storage");
    profile.pipeline.storage = loader::Storage{.bytes_per_s = at_least(storage.at("bytes_per_s"), 0),
                                               .latency_ns = at_least(storage.at("latency_ns"), 0)};
  }
  const bool first_version = version.integer() == 1;
  for (const auto& [key, times] : kProfileTimes) {
    profile.pipeline.*times = read_times(field.at(key));
  }
  for (const auto& [key, number] : kPipelineNumbers) {
    if (!(first_version && number == &simulator::Pipeline::take_ns)) {
      profile.pipeline.*number = at_least(field.at(key), 0);
    }
  }
  for (const auto& [key, number] : kProfileNumbers) {
    profile.*number = at_least(field.at(key), 0);
  }
  if (!(first_version && !field.has("sample_sizes")) && field.at("sample_sizes").size() > 0) {
    profile.pipeline.sample_sizes = read_times(field.at("sample_sizes"));
  }
  if (!first_version) {
    profile.pipeline.scheduling_latency =
        read_latencies(field.at("wake"), version.integer() == 2 ? "active" : "workers");
  }
  profile.sharing = read_sharing(field.at("beside"));
  profile.pinned = flag(field.at("pinned"));
  profile.host = field.has("host") ? field.at("host").json() : Json();
  profile.software = field.has("software") ? field.at("software").json() : Json();
  return profile;
}

}  // namespace bench::sweeps
