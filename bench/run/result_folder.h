// A folder in place of the results in it.
#pragma once

#include <string>
#include <vector>

namespace bench {

// Each folder among the paths becomes the results in it and in the folders below, in the order of their
// names; other paths stay. Results that a later run put aside (`name.<date>.json` beside `name.json`), hidden
// files and other JSON are left out. Throws UsageError where a folder has no result, or cannot be read.
std::vector<std::string> result_paths(const std::vector<std::string>& given);

}  // namespace bench
