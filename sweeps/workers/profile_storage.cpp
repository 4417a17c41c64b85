// What the storage behind the loader gives, from its limit or from how long reads took.
#include <algorithm>

#include "sweeps/workers/profile_parts.h"
#include "sweeps/workers/simulator/draws.h"

namespace bench::sweeps {

using simulator::mean_of;

namespace {

// Reads from cold pages wait for a storage whose limits nobody gave: what one worker waits for is taken as
// the latency of each read. What its bandwidth is shows only where enough workers read.
simulator::Storage cold_storage(const LoaderPoint& point) {
  const double waits = mean_of(point.batch_times_ns) - mean_of(point.batch_cpu_times_ns);
  const auto read = point.stages_ns.find("read");
  const double most = read == point.stages_ns.end() ? 0 : read->second;
  return {.bytes_per_s = 0,
          .latency_ns = std::clamp(waits / static_cast<double>(point.batch), 0.0, std::max(0.0, most))};
}

}  // namespace

std::optional<simulator::Storage> storage_of(const ResultDocument& document, const LoaderPoint& fewest) {
  const Json storage = loader_note(document, "storage");
  if (!storage.is_object()) {
    return text_or(loader_note(document, "page_cache"), "") == "cold" ? std::optional(cold_storage(fewest))
                                                                      : std::nullopt;
  }
  return simulator::Storage{.bytes_per_s = number_or(storage.value("bytes_per_s", Json()), 0),
                            .latency_ns = number_or(storage.value("latency_ns", Json()), 0)};
}

double bytes_by_time(const LoaderPoints& points, const simulator::Storage& storage) {
  double bytes = 0;
  const auto at_most = [&](double most) { bytes = bytes > 0 ? std::min(bytes, most) : most; };
  for (const LoaderPoint& point : points.capacity) {
    at_most(storage.bytes_per_s / point.images_per_s.value);
    const auto read = point.stages_ns.find("read");
    if (point.workers == 1 && read != point.stages_ns.end() && read->second > storage.latency_ns) {
      at_most((read->second - storage.latency_ns) / 1e9 * storage.bytes_per_s);
    }
  }
  return bytes;
}

double late_read_ns(const std::vector<const LoaderPoint*>& points, const Profile& profile) {
  for (const LoaderPoint* const point : points) {
    const auto read = point->stages_ns.find("read");
    if (point->workers == 1 && read != point->stages_ns.end()) {
      const double transfer =
          profile.storage->bytes_per_s > 0 ? profile.bytes_read / profile.storage->bytes_per_s * 1e9 : 0;
      return std::max(0.0, read->second - transfer - profile.storage->latency_ns);
    }
  }
  return 0;
}

std::vector<double> sizes_by_time(const std::vector<const LoaderPoint*>& points, double latency_ns) {
  for (const LoaderPoint* const point : points) {
    const double mean = mean_of(point->sample_times_ns) - latency_ns;
    if (point->sample_times_ns.size() < kEnoughTimes || mean <= 0) {
      continue;
    }
    std::vector<double> sizes;
    for (const double time : point->sample_times_ns) {
      sizes.push_back(std::max(0.05, (time - latency_ns) / mean));
    }
    sizes = thinned(std::move(sizes));
    const double off = mean_of(sizes);
    for (double& size : sizes) {
      size /= off;
    }
    return sizes;
  }
  return {};
}

}  // namespace bench::sweeps
