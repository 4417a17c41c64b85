// The ONNX files that a test goes through, and their networks.
//
// BENCH_ONNX_FOLDER: all files of a folder instead of those in data/, whole, for a longer run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/registry.h"
#include "bench/workload_reader.h"
#include "kernels/networks/onnx/import.h"
#include "kernels/networks/passes/dead_code.h"

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

// The network for images of that many pixels a side; nullopt where a layer's options hold its size, or it
// needs larger ones.
inline std::optional<bench::kernels::Graph> for_images_of(std::int64_t pixels,
                                                          const bench::kernels::Graph& graph) {
  const Shape& input = graph[graph.image()].shape;
  if (!input.is_maps()) {
    return std::nullopt;
  }
  bench::kernels::Graph small(Image{input.channels(), pixels, pixels});
  try {
    for (std::size_t value = 1; value <= graph.output(); ++value) {
      bench::kernels::Node node = graph[value];
      node.shape = {};
      small.append(std::move(node));
    }
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return small;
}

// Its first layers, with an eighth of the multiply-adds.
inline bench::kernels::Graph first_layers(const bench::kernels::Graph& graph) {
  const std::int64_t most = graph.macs() / 8;
  std::int64_t macs = 0;
  std::size_t last = 1;
  for (std::size_t value = 1; value <= graph.output() && macs <= most; ++value) {
    macs += graph[value].layer->macs(graph.place(value));
    last = graph[value].shape.batch_dimension() ? value : last;
  }
  return without_dead_code(graph, last).graph;
}

struct TestedNetwork {
  bench::kernels::Graph graph;
  bool is_small = false;  // for small images
};
// Small enough for a test of every build.
inline TestedNetwork tested_network(const std::string& path) {
  bench::kernels::Graph graph = import_network(path, {}).graph;
  for (const std::int64_t pixels : {32, 64}) {
    if (auto small = for_images_of(pixels, graph)) {
      return {*std::move(small), true};
    }
  }
  return {std::getenv("BENCH_ONNX_FOLDER") != nullptr ? std::move(graph) : first_layers(graph)};
}

inline WorkloadType workload_of(const std::string& path) {
  return registry<WorkloadReader>().find("onnx")->read(path, {});
}

}  // namespace bench::kernels::onnx
