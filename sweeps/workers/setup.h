// The settings a workers sweep ran with: the file's "loader".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/json.h"
#include "sweeps/workers/loader/storage.h"

namespace bench::sweeps {

// Images a second that a consumer elsewhere, such as a GPU that is not here, computes when it never waits
// (--demand).
struct RequiredThroughput {
  std::string name{};
  double samples_per_s = 0;
  std::string source{};  // "given", or the result file
};

// The data as a run found them.
struct DataFound {
  std::int64_t images = 0;
  double mean_encoded_bytes = 0;
  std::optional<double> from_storage{};  // part of the images' bytes that the windows read from storage
  // With --cold: reads for which the system kept the image in memory, of all reads, and the first reason.
  std::int64_t still_cached = 0;
  std::int64_t evicted = 0;
  std::string still_cached_reason{};
  std::vector<std::pair<std::string, std::string>> bad_files{};  // name and reason; the first hundred
};

struct LoaderSetup {
  int cores = 1;  // of the host
  std::string data{};
  bool cold = false;
  std::optional<loader::Storage> storage{};
  double bus_bytes_per_s = 0;  // limit of the copies to the device (--bus); 0: none
  std::string consumer{};
  std::string consumer_device = "none";  // of a network; a step's time needs none
  bool consumer_on_cores = false;        // it computes on the workers' cores
  bool lookahead = true;                 // the next batch is copied while the previous one computes
  std::int64_t batch = 0;
  std::string dtype{};
  std::int64_t slot_bytes = 0;  // host memory of a batch
  bool pinned = false;
  std::vector<RequiredThroughput> required{};
  int gpus = 1;
  std::optional<DataFound> found{};

  // "cold", "warm" where the windows read next to nothing from storage, "as found" otherwise.
  const char* page_cache() const;
};
Json to_json(const LoaderSetup& setup);

}  // namespace bench::sweeps
