// A loader of the user's own: the load times that the lines of docs/readings.md print, and the profile that
// they give.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sweeps/workers/profile.h"

namespace bench::sweeps {

// Of a loop that takes batches and computes nothing, with one count of workers; times in nanoseconds.
struct LoadTimes {
  std::int64_t workers = 1;
  std::vector<double> load_ns{};  // from each batch to the next; at least one
  // How long after a pause of kPause · mean(load_ns) the loop had the next batch, which was ready: its late
  // waking, and receiving the batch while workers compute. May be empty.
  std::vector<double> ready_ns{};
};
inline constexpr double kPause = 1.25;

struct TimedLoader {
  std::string name;              // "PyTorch 1.13.0 DataLoader"
  std::int64_t cores = 1;        // of its host
  std::int64_t batch = 1;        // samples
  double batch_bytes = 0;        // of a batch as it is delivered
  double worker_bytes = 0;       // of a worker, without its batches
  std::int64_t prefetch = 2;     // batches outstanding a worker
  std::vector<LoadTimes> times;  // by growing workers, from 1
};

inline constexpr const char* kSamplesSchema = "bench-samples/1";

// Throws UsageError, one sentence that names the file: it cannot be read, is not JSON or above 100 MB.
Json read_samples_file(const std::filesystem::path& path);
// Throws UsageError, one sentence that names the field: missing, unknown, without its unit, out of its range,
// or in contradiction to another.
TimedLoader read_load_times(const Json& json);

// In-order batches, taken and computed in turn, as by a loop that waits for the device in each step. The
// consumer's time is not known: changed_for() sets it. With one count the law scales perfectly, and its
// plausible laws reach to kSlowSigma.
Profile profile_of(const TimedLoader& loader);

// Eight workers give half of eight times one worker's rate, as decoding often does: 1 / (1 + 7σ) = 1/2.
inline constexpr double kSlowSigma = 1.0 / 7;

}  // namespace bench::sweeps
