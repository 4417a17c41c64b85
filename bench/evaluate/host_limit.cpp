#include "bench/evaluate/host_limit.h"

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

std::optional<LoaderRate> loader_rate(const EvaluatedFile& file) {
  const LoaderRateReader* const reader = registry<LoaderRateReader>().find(file.document.sweep.name);
  try {
    return reader == nullptr ? std::nullopt : reader->read(file.document);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", file.path, error.what()));
  }
}

}  // namespace

HostLimit host_limit(const EvaluatedFile& file, const EvaluatedTask& task) {
  const ResultDocument& document = file.document;
  const auto rate = loader_rate(file);
  if (!rate || !(rate->samples_per_s.value > 0)) {
    throw UsageError(
        fmt::format("{}: the result does not say what the loader alone reaches (its finding 'scaling'); run "
                    "the workers sweep "
                    "with a larger --time-budget",
                    file.path));
  }
  const auto size = task.options.find("image-size");
  if (size == task.options.end()) {
    throw UsageError(fmt::format("{}: the loader makes images, but {} reads none; leave the file out",
                                 file.path, quote(task.workload)));
  }
  const auto& options = document.sweep.workload_options;
  if (const auto made = options.find("image-size"); made != options.end() && made->second != size->second) {
    throw UsageError(fmt::format(
        "{}: the loader's images have {} pixels a side, but {} reads {}; run the workers sweep with "
        "--image-size {}",
        file.path, printable(made->second), quote(task.workload), printable(size->second),
        printable(size->second)));
  }
  return {.file = file.path,
          .host = printable(document.context.host.cpu),
          .per_s = rate->samples_per_s.value,
          .interval = rate->samples_per_s.ci95,
          .cores = rate->cores};
}

std::string_view name_of(FeedLimit limit) {
  switch (limit) {
    case FeedLimit::device:
      return "device";
    case FeedLimit::loader:
      return "loader";
    case FeedLimit::bus:
      return "bus";
  }
  return "?";
}

Feed feed_of(double device_per_s, double loader_per_s, std::optional<double> bus_per_s) {
  Feed feed{.per_s = device_per_s, .limit = FeedLimit::device};
  if (loader_per_s < feed.per_s) {
    feed = {.per_s = loader_per_s, .limit = FeedLimit::loader};
  }
  if (bus_per_s && *bus_per_s < feed.per_s) {
    feed = {.per_s = *bus_per_s, .limit = FeedLimit::bus};
  }
  return feed;
}

}  // namespace bench
