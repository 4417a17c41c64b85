// How many samples a second a host can hand to a device, from a result of the workers sweep.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bench/evaluate/evaluated_device.h"

namespace bench {

// What a loader makes on all cores of its host, nothing else running.
struct LoaderRate {
  Estimate samples_per_s;
  double cores = 0;
};
// A sweep that measures loaders registers how it reads the rate from its results.
struct LoaderRateReader {
  std::string name;  // of the sweep
  // None where too little was measured. Throws UsageError where the result is not as the sweep writes it.
  std::function<std::optional<LoaderRate>(const ResultDocument& document)> read;
};

struct HostLimit {
  std::string file;
  std::string host;                    // its processor, as its maker calls it
  double per_s = 0;                    // of the loader on all cores, nothing else running
  std::optional<Interval> interval{};  // 95 %
  double cores = 0;                    // that it was measured on
  double per_core() const { return per_s / cores; }
};

// Throws UsageError where the result does not say what the loader reaches, or its images are not of the size
// that the task reads.
HostLimit host_limit(const EvaluatedFile& file, const EvaluatedTask& task);

enum class FeedLimit { device, loader, bus };
std::string_view name_of(FeedLimit limit);

struct Feed {
  double per_s = 0;  // the least of the three
  FeedLimit limit = FeedLimit::device;
};
// `bus_per_s`: none where it is not known.
Feed feed_of(double device_per_s, double loader_per_s, std::optional<double> bus_per_s);

}  // namespace bench
