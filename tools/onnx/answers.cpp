// Runs an ONNX network on the CPU and writes what it computed, so that another program can repeat it:
//
//   onnx_answers FILE FOLDER [INNER] [BATCH] [input=1x3x320x320 …]
//
// FOLDER gets raw little-endian fp32: the parameters (in our plain form), BATCH samples of the input, what
// the other inputs are made up as, and for the output and INNER tensors inside the network their values for
// every sample, and manifest.json, which names them. A tensor inside is computed by the network cut off after
// it, fused and planned as the whole is.
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/commands/setup.h"
#include "bench/error.h"
#include "bench/json.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/onnx/constants/constant.h"
#include "kernels/networks/onnx/import.h"
#include "kernels/networks/passes/dead_code.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/program/input.h"
#include "kernels/networks/program/runner.h"

namespace {

namespace k = bench::kernels;
using bench::Json;

constexpr std::uint64_t kSeed = 1;

std::string write(const std::filesystem::path& folder, const std::string& name,
                  std::span<const float> values) {
  std::ofstream file(folder / name, std::ios::binary);
  file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
  if (!file.flush()) {
    throw bench::UsageError("cannot write " + (folder / name).string());
  }
  return name;
}

std::vector<float> floats_of(const k::onnx::Constant& constant) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < constant.elements(); ++i) {
    values.push_back(static_cast<float>(constant.value(i)));
  }
  return values;
}

std::vector<float> run(const k::Graph& graph, std::span<const k::Sample> samples, bench::Device& device) {
  const k::Target target{.batch = static_cast<std::int64_t>(samples.size()),
                         .dtype = bench::Dtype::fp32,
                         .layouts = k::layouts_for(device, bench::Dtype::fp32),
                         .implementation = {}};
  k::ProgramRunner runner(k::plan_inference(k::fuse_for_inference(graph), target, device), device, kSeed);
  runner.set_input(samples);
  runner.poison_output();
  runner.run();
  return runner.output();
}

// Values that the batch is in, evenly spaced over the network.
std::vector<std::string> inner_tensors(const k::onnx::ImportedNetwork& network, std::size_t count) {
  std::vector<std::pair<k::Graph::Value, std::string>> all;
  std::set<k::Graph::Value> seen;
  for (const auto& [name, value] : network.values) {
    const k::Shape& shape = network.graph[value].shape;
    if (value != network.graph.output() && shape.rank() > 0 && shape[0] == k::kBatch &&
        seen.insert(value).second) {
      all.emplace_back(value, name);
    }
  }
  std::ranges::sort(all);
  std::vector<std::string> chosen;
  for (std::size_t i = 1; i <= count && !all.empty(); ++i) {
    const std::string& name = all[i * all.size() / (count + 1)].second;
    if (chosen.empty() || chosen.back() != name) {
      chosen.push_back(name);
    }
  }
  return chosen;
}

void answer(const std::string& file, const std::filesystem::path& folder, std::size_t inner,
            std::uint64_t batch, const k::onnx::ImportOptions& options) {
  std::filesystem::create_directories(folder);
  const k::onnx::ImportedNetwork network = k::onnx::import_network(file, options);
  const auto device = bench::open_device("cpu");
  Json manifest{{"network", network.name}, {"batch", batch}};
  for (const k::onnx::ImportedInput& input : network.inputs) {
    Json described{{"name", input.name}, {"shape", input.shape}, {"content", input.content}};
    if (input.values) {
      const std::string name = fmt::format("input-{}.bin", manifest["inputs"].size());
      described["file"] = write(folder, name, floats_of(*input.values));
    }
    manifest["inputs"].push_back(std::move(described));
  }
  std::set<std::string> written;
  for (const k::onnx::ParameterSource& source : network.parameters) {
    if (written.insert(source.initializer).second) {
      const std::string name = fmt::format("parameter-{}.bin", written.size());
      write(folder, name, k::plain_parameter(network.graph, source.layer, source.slot, kSeed));
      manifest["parameters"].push_back(
          {{"name", source.initializer}, {"file", name}, {"transposed", source.transposed}});
    }
  }
  std::vector<k::Sample> samples;
  for (std::uint64_t i = 0; i < batch; ++i) {
    samples.push_back(k::seeded_sample(network.graph, kSeed, i));
    manifest["samples"].push_back(write(folder, fmt::format("sample-{}.bin", i), samples.back()));
  }
  manifest["answers"].push_back(
      {{"name", ""},
       {"shape", network.graph[network.graph.output()].shape.text()},
       {"file", write(folder, "output.bin", run(network.graph, samples, *device))}});
  for (const std::string& name : inner_tensors(network, inner)) {
    const k::LiveLayers cut = k::without_dead_code(network.graph, network.values.at(name));
    const std::string path = fmt::format("inner-{}.bin", manifest["answers"].size());
    manifest["answers"].push_back({{"name", name},
                                   {"shape", network.graph[network.values.at(name)].shape.text()},
                                   {"file", write(folder, path, run(cut.graph, samples, *device))}});
  }
  std::ofstream(folder / "manifest.json") << manifest.dump(1) << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> given(argv + 1, argv + argc);
  if (given.size() < 2) {
    std::fputs("usage: onnx_answers FILE FOLDER [INNER] [BATCH] [input=1x3x320x320 …]\n", stderr);
    return 2;
  }
  try {
    k::onnx::ImportOptions options;
    for (std::size_t i = 4; i < given.size(); ++i) {
      const std::size_t equals = given[i].rfind('=');
      std::istringstream sizes(given[i].substr(equals + 1));
      for (std::string size; std::getline(sizes, size, 'x');) {
        options.inputs[given[i].substr(0, equals)].push_back(std::stoll(size));
      }
    }
    answer(given[0], given[1], given.size() > 2 ? std::stoul(given[2]) : 5,
           given.size() > 3 ? std::stoul(given[3]) : 2, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "onnx_answers: %s\n", error.what());
    return 1;
  }
  return 0;
}
