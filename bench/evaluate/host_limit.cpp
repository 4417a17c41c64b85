#include "bench/evaluate/host_limit.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"

namespace bench {

HostLimit host_limit(const EvaluatedFile& file, const EvaluatedTask& task) {
  const ResultDocument& document = file.document;
  const auto scaling = std::ranges::find(document.findings, "scaling", &Finding::name);
  if (scaling == document.findings.end() || !scaling->value || !(*scaling->value > 0)) {
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
  HostLimit limit{.file = file.path,
                  .host = printable(document.context.host.cpu),
                  .per_s = *scaling->value,
                  .interval = scaling->ci95};
  const Json& details = scaling->details;
  const auto cores = details.is_object() ? details.find("cores") : details.end();
  const bool counted = cores != details.end() && cores->is_number() && cores->get<double>() > 0;
  limit.cores = counted ? cores->get<double>() : std::max(1, document.context.host.usable_cores);
  return limit;
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
