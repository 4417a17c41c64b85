// The ONNX files that a test goes through, and their networks as the program reads them.
//
// BENCH_ONNX_FOLDER: all files of a folder instead of those in data/, for a longer run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/registry.h"
#include "bench/workload_reader.h"

namespace bench::kernels::onnx {

inline std::vector<std::string> network_files(const std::vector<std::string>& carried) {
  std::vector<std::string> paths;
  if (const char* const folder = std::getenv("BENCH_ONNX_FOLDER")) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".onnx") {
        paths.push_back(entry.path().string());
      }
    }
    std::ranges::sort(paths);
    return paths;
  }
  for (const std::string& name : carried) {
    paths.push_back(BENCH_TEST_SOURCE_DIR "/tests/kernels/networks/onnx/data/" + name + ".onnx");
  }
  return paths;
}

// A file's name as a part of a test's.
inline std::string file_label(const ::testing::TestParamInfo<std::string>& tested) {
  std::string name = std::filesystem::path(tested.param).stem().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

inline WorkloadType workload_of(const std::string& path) {
  return registry<WorkloadReader>().find("onnx")->read(path, {});
}

}  // namespace bench::kernels::onnx
