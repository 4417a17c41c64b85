// A profile at the file's edge.
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/json_members.h"
#include "bench/measure/quote.h"
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

void members(auto& io, Of<simulator::LawFit> auto& fit) {
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

namespace sweeps {
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

std::vector<simulator::SchedulingLatency> read_latencies(const Field& field, const char* by) {
  std::vector<simulator::SchedulingLatency> latencies;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const Field point = field.at(i);
    const Field late = point.at("late_ns");
    simulator::SchedulingLatency latency{.workers = positive(point.at(by), kMostCount), .late_ns = {}};
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
    sharing.push_back(read_struct<MeasuredSharing>(field.at(i)));
    if (i > 0 && sharing[i].workers <= sharing[i - 1].workers) {
      refuse(field.at(i).at("workers"), "more than that of the point before it");
    }
  }
  return sharing;
}

}  // namespace

Json to_json(const Profile& profile) {
  const simulator::Pipeline& pipeline = profile.pipeline;
  Json law = write_struct(profile.law);
  law["from"] = profile.law_from;
  law["workers"] = profile.law_workers;
  Json json = {{"version", kVersion},
               {"batch", pipeline.batch},
               {"prefetch", pipeline.prefetch},
               {"order", name_of(pipeline.order)},
               {"lookahead", pipeline.lookahead},
               {"consumer", profile.consumer},
               {"consumer_device", profile.consumer_device},
               {"consumer_on_cores", profile.consumer_on_cores},
               {"law", std::move(law)},
               {"stages_ns", to_json(profile.stages_ns)},
               {"storage", nullptr},
               {"sample_sizes", Json::array()},
               {"wake", Json::array()},
               {"beside", Json::array()},
               {"pinned", profile.pinned},
               {"host", profile.host},
               {"software", profile.software}};
  for (const auto& [key, times] : kProfileTimes) {
    json[key] = whole(pipeline.*times);
  }
  for (const auto& [key, number] : kPipelineNumbers) {
    json[key] = pipeline.*number;
  }
  for (const auto& [key, number] : kProfileNumbers) {
    json[key] = profile.*number;
  }
  for (const double size : pipeline.sample_sizes) {
    json["sample_sizes"].push_back(std::round(size * 1e4) / 1e4);
  }
  if (pipeline.storage) {
    json["storage"] = write_struct(*pipeline.storage);
  }
  for (const simulator::SchedulingLatency& latency : pipeline.scheduling_latency) {
    json["wake"].push_back({{"workers", latency.workers}, {"late_ns", whole(latency.late_ns)}});
  }
  for (const MeasuredSharing& sharing : profile.sharing) {
    json["beside"].push_back(write_struct(sharing));
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
  simulator::Pipeline& pipeline = profile.pipeline;
  JsonReader io(field);
  io("batch", pipeline.batch, check_count);
  io("prefetch", pipeline.prefetch, check_count);
  if (const std::string order = field.at("order").string(); order == "any") {
    pipeline.order = loader::Order::any;
  } else if (order != "in-order") {
    refuse(field.at("order"), "in-order, any");
  }
  io("lookahead", pipeline.lookahead);
  io("consumer", profile.consumer);
  io("consumer_device", profile.consumer_device);
  io("consumer_on_cores", profile.consumer_on_cores);
  io("pinned", profile.pinned);
  io("law", profile.law);
  const Field law = field.at("law");
  JsonReader law_io(law);
  law_io("from", profile.law_from);
  law_io("workers", profile.law_workers, check::none_negative);
  const Field stages = field.at("stages_ns");
  static_cast<void>(stages.object());
  for (const StageName& stage : kStages) {
    if (stages.has(stage.key)) {
      profile.stages_ns.*stage.time = at_least(stages.at(stage.key), 0);
    }
  }
  io.optional("storage", pipeline.storage);
  const bool first_version = version.integer() == 1;
  for (const auto& [key, times] : kProfileTimes) {
    pipeline.*times = read_times(field.at(key));
  }
  for (const auto& [key, number] : kPipelineNumbers) {
    if (!(first_version && number == &simulator::Pipeline::take_ns)) {
      io(key, pipeline.*number, kFromZero);
    }
  }
  for (const auto& [key, number] : kProfileNumbers) {
    io(key, profile.*number, kMemory);
  }
  if (!(first_version && !field.has("sample_sizes")) && field.at("sample_sizes").size() > 0) {
    pipeline.sample_sizes = read_times(field.at("sample_sizes"));
  }
  if (!first_version) {
    pipeline.scheduling_latency =
        read_latencies(field.at("wake"), version.integer() == 2 ? "active" : "workers");
  }
  profile.sharing = read_sharing(field.at("beside"));
  profile.host = field.has("host") ? field.at("host").json() : Json();
  profile.software = field.has("software") ? field.at("software").json() : Json();
  return profile;
}

}  // namespace sweeps
}  // namespace bench
