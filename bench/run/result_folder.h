// The folder of results: where they go, and what a folder that is given for results means.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct ResultFolder {
  std::filesystem::path path;  // empty: no file is written
  std::string note;            // a line for the user, where it is not the usual one
};

// Where results go without --out: to results/local in the current folder or, where the current folder is the
// root or cannot be written, to the user's data folder; nowhere, where that cannot be written either.
ResultFolder default_result_folder();

// Replaces each folder among the paths by the results in it and in the folders below, sorted by path. Left
// out are hidden files, other JSON, and earlier results that a later run renamed (`name.<date>.json` where
// there is a `name.json`). Throws UsageError where a folder has no result, or cannot be read.
std::vector<std::string> result_paths(const std::vector<std::string>& given);

struct ChosenFiles {
  std::vector<std::string> paths;
  std::vector<std::string> left_out;  // sentences, of each folder
};

// Of a result and the earlier ones whose place it took, the path of the one to read.
using RunChooser =
    std::function<std::string(const std::string& path, const std::vector<std::string>& earlier)>;

// The same for files of these schemas ("bench-result"); `left_out` names other JSON that is not given
// itself, and why. Without `chosen_run` the latest run of several is taken.
ChosenFiles files_of(const std::vector<std::string>& given, const std::vector<std::string>& schemas,
                     const RunChooser& chosen_run = {});

// The same as result_paths(), but of a folder only results of these sweeps are taken; `left_out` has a
// sentence for each folder that holds others. Throws UsageError where a folder has none of them.
ChosenFiles results_of_sweeps(const std::vector<std::string>& given, const std::vector<std::string>& sweeps);

}  // namespace bench
