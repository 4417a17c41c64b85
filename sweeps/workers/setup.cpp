#include "sweeps/workers/setup.h"

#include <algorithm>
#include <cmath>

#include "bench/result/result.h"

namespace bench::sweeps {

const char* LoaderSetup::page_cache() const {
  constexpr double kNextToNothing = 0.01;
  if (cold) {
    return "cold";
  }
  return found && found->from_storage.value_or(1) < kNextToNothing ? "warm" : "as found";
}

Json to_json(const LoaderSetup& setup) {
  Json json = {{"cores", setup.cores},
               {"cores_why", "affinity mask and cgroup quota"},
               {"data", setup.data},
               {"page_cache", setup.page_cache()},
               {"storage", nullptr},
               {"consumer", setup.consumer},
               {"consumer_device", setup.consumer_device},
               {"consumer_on_cores", setup.consumer_on_cores},
               {"batch", setup.batch},
               {"dtype", setup.dtype},
               {"slot_bytes", setup.slot_bytes},
               {"pinned", setup.pinned},
               {"demands", Json::array()},
               {"gpus", setup.gpus}};
  if (setup.storage) {
    json["storage"] = {{"bytes_per_s", setup.storage->bytes_per_s},
                       {"latency_ns", std::llround(setup.storage->latency_ns)}};
  }
  for (const RequiredThroughput& required : setup.required) {
    json["demands"].push_back(
        {{"name", required.name}, {"images_per_s", required.samples_per_s}, {"source", required.source}});
  }
  if (setup.bus_bytes_per_s > 0) {
    json["bus"] = {{"bytes_per_s", setup.bus_bytes_per_s}};
  }
  if (!setup.found) {
    return json;
  }
  const DataFound& found = *setup.found;
  json["images"] = found.images;
  json["mean_encoded_bytes"] = found.mean_encoded_bytes;
  if (found.from_storage && setup.page_cache() == std::string("as found")) {
    json["read_from_storage"] = std::min(1.0, *found.from_storage);
  }
  if (found.still_cached > 0) {
    json["still_cached"] = {
        {"reads", found.still_cached}, {"of", found.evicted}, {"reason", found.still_cached_reason}};
  }
  json["bad_files"] = Json::array();
  for (const auto& [file, reason] : found.bad_files) {
    json["bad_files"].push_back({{"file", file}, {"reason", reason}});
  }
  return json;
}

}  // namespace bench::sweeps
