// The JPEG files of a folder tree.
#pragma once

#include <filesystem>
#include <memory>

#include "sweeps/workers/loader/data.h"
#include "sweeps/workers/loader/dataset.h"

namespace bench::loader {

// .jpg and .jpeg, in upper or lower case.
bool named_as_jpeg(const std::filesystem::path& path);

// In the order of their paths. Symbolic links are followed, into each folder once on the way down; subfolders
// that may not be listed are left out. Throws UsageError naming --data where there is none.
std::unique_ptr<Dataset> open_folder(const std::filesystem::path& folder,
                                     const ProgressCallback& progress = {});

}  // namespace bench::loader
