// Opens what --data names, and changes how it is read.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "sweeps/workers/loader/dataset.h"

namespace bench::loader {

// May throw to give up.
using Progress = std::function<void(const std::string& what, double fraction)>;

// A folder tree with JPEG files, a tar shard or a folder of them, "synthetic" or "synthetic:heavy":
// natural-looking images that are made once into the user's cache folder, all alike or of very different
// sizes. Throws UsageError naming --data where there is nothing to read.
std::unique_ptr<Dataset> open_data(const std::string& data, const Progress& progress);

// How many images, of how many bytes, and a number made of their names and sizes: another one means that the
// folder's contents changed. What stands in the files is not read.
std::string contents_of(const Dataset& data);

// A what-if: bytes come at most this fast, all readers together, each read later by the latency.
struct StorageLimit {
  double bytes_per_s = 0;
  std::int64_t latency_ns = 0;
};
// "200MB/s,5ms"; throws UsageError naming --storage.
StorageLimit parse_storage(const std::string& text);
// Once a stop is requested, reads no longer wait.
std::unique_ptr<Dataset> limited(std::unique_ptr<Dataset> data, const StorageLimit& limit,
                                 std::stop_token stop = {});

}  // namespace bench::loader
