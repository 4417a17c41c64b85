// Load times at the file's edge.
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/result/result_json.h"
#include "bench/run/result_file.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"
#include "bench/text/suggest.h"
#include "bench/text/units.h"
#include "sweeps/workers/load_times.h"
#include "sweeps/workers/options.h"

namespace bench::sweeps {
namespace {

// Bounds beyond any loader, so that a wrong unit gets a sentence instead of an answer.
constexpr double kMostMs = 3'600'000;  // an hour a batch
constexpr double kMostLoaderBytes = 0x1p44;
constexpr double kLargestBatch = 1 << 24;  // a batch
constexpr double kMostCores = 4096;
constexpr double kMostPrefetch = 64;
constexpr std::uintmax_t kMostFileBytes = 100'000'000;

const std::vector<std::string> kFileKeys{"schema",      "loader",       "cores",    "batch",
                                         "batch_bytes", "worker_bytes", "prefetch", "times"};
const std::vector<std::string> kTimesKeys{"workers", "load_ms", "ready_ms"};

[[noreturn]] void refuse_field(const Field& field, const std::string& accepted) {
  throw UsageError(fmt::format("{} is {}; accepted: {}", field.path(), quote(field.json().dump()), accepted));
}

// "load_ms" for "load", "load_s" and "load_us".
std::optional<std::string> with_unit(std::string_view given, const std::vector<std::string>& accepted) {
  for (const std::string& key : accepted) {
    for (const std::string_view unit : {"_ms", "_bytes"}) {
      const std::string_view stem = std::string_view(key).substr(0, key.size() - unit.size());
      if (key.ends_with(unit) && (given == stem || given.substr(0, given.rfind('_')) == stem)) {
        return key;
      }
    }
  }
  return std::nullopt;
}

void check_keys(const Field& field, const std::vector<std::string>& accepted) {
  field.for_each([&](const std::string& key, const Field& member) {
    if (std::ranges::find(accepted, key) != accepted.end()) {
      return;
    }
    if (const auto meant = with_unit(key, accepted)) {
      throw UsageError(
          fmt::format("{} does not have its unit; accepted: {}", printable(member.path()), *meant));
    }
    const std::string path = field.path();
    throw UsageError(unknown_value(path.empty() ? "its keys" : path, key, accepted));
  });
}

std::int64_t count_at(const Field& file, std::string_view key, double most) {
  const Field field = file.at(key);
  const std::int64_t count = field.integer();
  if (count < 1 || static_cast<double>(count) > most) {
    refuse_field(field, fmt::format("a whole number from 1 to {:.0f}", most));
  }
  return count;
}

double bytes_at(const Field& file, std::string_view key, double least) {
  const Field field = file.at(key);
  const double bytes = field.number();
  if (!(bytes >= least && bytes <= kMostLoaderBytes)) {
    refuse_field(field, fmt::format("bytes, from {:.0f} to 16 TiB", least));
  }
  return bytes;
}

std::vector<double> times_at(const Field& point, std::string_view key) {
  const Field field = point.at(key);
  if (field.size() == 0) {
    refuse_field(field, "at least one time");
  }
  std::vector<double> times;
  times.reserve(field.size());
  for (const Json& value : field.json()) {
    const double ms = value.is_number() ? value.get<double>() : 0;
    if (!(ms > 0 && ms <= kMostMs)) {
      const Field wrong = field.at(times.size());
      static_cast<void>(wrong.number());
      refuse_field(wrong, fmt::format("milliseconds above 0, at most {:.0f}", kMostMs));
    }
    times.push_back(ms * 1e6);
  }
  return times;
}

LoadTimes read_point(const Field& point) {
  check_keys(point, kTimesKeys);
  LoadTimes times{.workers = point.at("workers").integer()};
  if (times.workers < 1 || times.workers > kMostWorkers) {
    refuse_field(
        point.at("workers"),
        fmt::format("a whole number from 1 to {}; 0 is simulated from the times at 1", kMostWorkers));
  }
  times.load_ns = times_at(point, "load_ms");
  if (point.has("ready_ms")) {
    times.ready_ns = times_at(point, "ready_ms");
  }
  return times;
}

// Each count once, one worker among them, and none faster than so many workers can be.
void check_counts(const Field& field, const std::vector<LoadTimes>& times) {
  constexpr double kMostScaling = 2;
  if (times.empty() || times.front().workers != 1) {
    throw UsageError(
        fmt::format("{} has none with 1 worker, from which the other counts are simulated", field.path()));
  }
  constexpr double kTaking = 1e6;  // ns, which a short load may take less than
  const LoadTimes& one = times.front();
  if (!one.ready_ns.empty() && median(one.ready_ns) > median(one.load_ns) + kTaking) {
    throw UsageError(fmt::format(
        "{} contradicts itself: with 1 worker the loop has a batch that is ready after {}, and loading one "
        "takes {}; accepted: ready_ms below load_ms",
        field.path(), format_duration(median(one.ready_ns)), format_duration(median(one.load_ns))));
  }
  for (std::size_t i = 1; i < times.size(); ++i) {
    if (times[i].workers == times[i - 1].workers) {
      throw UsageError(
          fmt::format("{} has {} workers twice; accepted: each count once", field.path(), times[i].workers));
    }
    if (times[i].ready_ns.empty() != times.front().ready_ns.empty()) {
      throw UsageError(fmt::format("{} has ready_ms with some counts only; accepted: with all or with none",
                                   field.path()));
    }
    // A worker's median leaves out stalls; the batches of several workers come in bursts.
    const double faster = median(times.front().load_ns) / mean(times[i].load_ns);
    if (faster > kMostScaling * static_cast<double>(times[i].workers)) {
      throw UsageError(
          fmt::format("{} contradicts itself: {} workers load {:.1f} times as fast as 1; measure all counts "
                      "with the files "
                      "in the page cache, or all without",
                      field.path(), times[i].workers, faster));
    }
  }
}

}  // namespace

Json read_samples_file(const std::filesystem::path& path) {
  std::error_code error;
  if (const auto bytes = std::filesystem::file_size(path, error); !error && bytes > kMostFileBytes) {
    throw UsageError(fmt::format("{} has {} MB; accepted: at most {} MB", quote(path.string()),
                                 bytes / 1'000'000, kMostFileBytes / 1'000'000));
  }
  return read_json(path);
}

TimedLoader read_load_times(const Json& json) {
  if (!json.is_object()) {
    throw UsageError("it is not an object of load times; the lines of docs/readings.md print one");
  }
  const Field file(json);
  const Field schema = file.at("schema");
  if (schema.json() != kSamplesSchema) {
    throw UsageError(fmt::format("its schema is {}; accepted: {}, which the lines of docs/readings.md print",
                                 quote(schema.json().dump()), kSamplesSchema));
  }
  check_keys(file, kFileKeys);
  TimedLoader loader{.name = file.has("loader") ? file.at("loader").string() : "a loader of the user's",
                     .cores = count_at(file, "cores", kMostCores),
                     .batch = count_at(file, "batch", kLargestBatch),
                     .batch_bytes = bytes_at(file, "batch_bytes", 1),
                     .worker_bytes = bytes_at(file, "worker_bytes", 0),
                     .prefetch = file.has("prefetch") ? count_at(file, "prefetch", kMostPrefetch) : 2,
                     .times = {}};
  if (loader.name.empty() || loader.name.size() > 100) {
    refuse_field(file.at("loader"), "a name of 1 to 100 characters");
  }
  const Field times = file.at("times");
  for (std::size_t i = 0; i < times.size(); ++i) {
    loader.times.push_back(read_point(times.at(i)));
  }
  std::ranges::sort(loader.times, {}, &LoadTimes::workers);
  check_counts(times, loader.times);
  return loader;
}

}  // namespace bench::sweeps
