// Opens what --data names.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sweeps/workers/loader/dataset.h"

namespace bench::loader {

// May throw to end the work.
using ProgressCallback = std::function<void(const std::string& what, double fraction)>;

// A folder tree with JPEG files, a tar shard or a folder of them, "synthetic" or "synthetic:heavy":
// natural-looking images that are made once into the user's cache folder, all alike or of very different
// sizes. Throws UsageError naming --data where there is nothing to read.
std::unique_ptr<Dataset> open_data(const std::string& data, const ProgressCallback& progress);

// How many images, of how many bytes, and a number made of their names and sizes: another one means that the
// folder's contents changed. The files themselves are not read.
std::string contents_of(const Dataset& data);

}  // namespace bench::loader
