#include "sweeps/memory/state.h"

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::sweeps {
namespace {

void add_if_known(Json& json, const char* key, const std::optional<std::int64_t>& value) {
  if (value) {
    json[key] = *value;
  }
}

std::optional<std::int64_t> integer_if_there(const Json& json, const char* key) {
  return json.contains(key) ? std::optional(json[key].get<std::int64_t>()) : std::nullopt;
}

Json to_json(const LimitTrial& proof) {
  if (!proof.not_tried.empty()) {
    return {{"not_tried", proof.not_tried}};
  }
  Json json = {{"largest_batch", proof.largest_batch},
               {"probes", proof.probes},
               {"tracked_bytes", proof.tracked_bytes},
               {"ran_a_step", proof.ran_a_step}};
  add_if_known(json, "refused_batch", proof.refused_batch);
  return json;
}

LimitTrial read_trial(const Json& json) {
  if (json.contains("not_tried")) {
    return {.not_tried = json["not_tried"].get<std::string>()};
  }
  return {.not_tried = "",
          .largest_batch = json.at("largest_batch").get<std::int64_t>(),
          .refused_batch = integer_if_there(json, "refused_batch"),
          .probes = json.at("probes").get<int>(),
          .tracked_bytes = json.at("tracked_bytes").get<std::int64_t>(),
          .ran_a_step = json.at("ran_a_step").get<bool>()};
}

Json to_json(const Limit& limit) {
  Json json = {{"label", limit.label},
               {"params", limit.params},
               {"cap_bytes", limit.cap_bytes},
               {"fixed_bytes", limit.fixed_bytes},
               {"setup_bytes", limit.setup_bytes},
               {"smallest_batch", limit.smallest_batch},
               {"smallest_bytes", limit.smallest_bytes},
               {"largest_batch", limit.largest_batch}};
  add_if_known(json, "largest_bytes", limit.largest_bytes);
  add_if_known(json, "next_bytes", limit.next_bytes);
  if (!limit.next_unsupported.empty()) {
    json["next_unsupported"] = limit.next_unsupported;
  }
  json["safe_batch"] = limit.safe_batch;
  if (limit.proof) {
    json["proof"] = to_json(*limit.proof);
  }
  return json;
}

Limit read_limit(const Json& json) {
  Limit limit{.label = json.at("label").get<std::string>(),
              .params = json.at("params"),
              .cap_bytes = json.at("cap_bytes").get<std::int64_t>(),
              .fixed_bytes = json.at("fixed_bytes").get<std::int64_t>(),
              .setup_bytes = json.at("setup_bytes").get<std::int64_t>(),
              .smallest_batch = json.at("smallest_batch").get<std::int64_t>(),
              .smallest_bytes = json.at("smallest_bytes").get<std::int64_t>(),
              .largest_batch = json.at("largest_batch").get<std::int64_t>(),
              .largest_bytes = integer_if_there(json, "largest_bytes"),
              .next_bytes = integer_if_there(json, "next_bytes"),
              .next_unsupported = json.value("next_unsupported", std::string()),
              .safe_batch = json.at("safe_batch").get<std::int64_t>(),
              .proof = std::nullopt};
  if (json.contains("proof")) {
    limit.proof = read_trial(json["proof"]);
  }
  return limit;
}

Json to_json(const StepMemory& memory) {
  Json json = {{"label", memory.label},  {"point", memory.point},
               {"batch", memory.batch},  {"reserved_bytes", memory.reserved_bytes},
               {"names", Json::array()}, {"bytes", Json::object()}};
  for (const MemoryMoment& moment : memory.moments) {
    json["names"].push_back(moment.name);
    for (const MemoryCategory category : kMemoryCategories) {
      json["bytes"][std::string(name_of(category))].push_back(moment.bytes[category]);
    }
  }
  return json;
}

Json to_json(const Soak& soak) {
  Json json = {{"label", soak.label},           {"point", soak.point},
               {"batch", soak.batch},           {"wanted_steps", soak.wanted_steps},
               {"done_steps", soak.done_steps}, {"samples", Json::array()}};
  for (std::size_t i = 0; i < soak.seen.size(); ++i) {
    json["samples"].push_back({soak.seen[i].step, soak.seen[i].bytes, soak.tracked[i].bytes});
  }
  if (!soak.ended_by.empty()) {
    json["ended_by"] = soak.ended_by;
  }
  return json;
}

Soak read_soak(const Json& json) {
  Soak soak{.label = json.at("label").get<std::string>(),
            .point = json.at("point").get<std::string>(),
            .batch = json.at("batch").get<std::int64_t>(),
            .wanted_steps = json.at("wanted_steps").get<std::int64_t>(),
            .done_steps = json.at("done_steps").get<std::int64_t>(),
            .seen = {},
            .tracked = {},
            .ended_by = json.value("ended_by", std::string())};
  for (const Json& sample : json.at("samples")) {
    soak.seen.push_back({sample.at(0).get<std::int64_t>(), sample.at(1).get<std::int64_t>()});
    soak.tracked.push_back({sample.at(0).get<std::int64_t>(), sample.at(2).get<std::int64_t>()});
  }
  return soak;
}

}  // namespace

Json MemoryState::to_json() const {
  Json json = {{"limits", Json::array()}};
  for (const Limit& limit : limits) {
    json["limits"].push_back(sweeps::to_json(limit));
  }
  if (limits_left_out) {
    json["limits_left_out"] = {{"count", limits_left_out->count}, {"reason", limits_left_out->reason}};
  }
  if (step_memory) {
    json["step_memory"] = sweeps::to_json(*step_memory);
  }
  for (const Soak& soak : soaks) {
    json["soak"].push_back(sweeps::to_json(soak));
  }
  return json;
}

MemoryState MemoryState::from_json(const Json& sweep) {
  MemoryState state;
  try {
    for (const Json& limit : sweep.value("limits", Json::array())) {
      state.limits.push_back(read_limit(limit));
    }
    for (const Json& soak : sweep.value("soak", Json::array())) {
      state.soaks.push_back(read_soak(soak));
    }
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("the file's sweep holds a field that cannot be used ({})", error.what()));
  }
  return state;
}

}  // namespace bench::sweeps
