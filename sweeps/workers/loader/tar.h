// The JPEG members of tar files, read where they lie.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "sweeps/workers/loader/data.h"
#include "sweeps/workers/loader/dataset.h"

namespace bench::loader {

// In the order of the shards, and in each as they lie. The index is made once; a member is then read from its
// place, by any thread and in any order. Throws UsageError naming --data for what is no tar, or holds no
// JPEG.
std::unique_ptr<Dataset> open_tars(const std::vector<std::filesystem::path>& shards,
                                   const ProgressCallback& progress = {});

}  // namespace bench::loader
