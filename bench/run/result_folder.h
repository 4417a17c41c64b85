// A folder in place of the results in it.
#pragma once

#include <string>
#include <vector>

namespace bench {

// Replaces each folder among the paths by the results in it and in the folders below, sorted by path. Left
// out are hidden files, other JSON, and earlier results that a later run renamed (`name.<date>.json` beside
// `name.json`). Throws UsageError where a folder has no result, or cannot be read.
std::vector<std::string> result_paths(const std::vector<std::string>& given);

}  // namespace bench
