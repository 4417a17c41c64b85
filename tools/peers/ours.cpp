// Our contestant: the workload that a sweep would run, registered or of a file, without the harness around
// it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <span>
#include <string>

#include "bench/commands/setup.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/run/warm_up.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"
#include "kernels/devices/cuda/device.h"
#include "tools/peers/contestant.h"

namespace {

// Of a name, or of a file such as net.onnx.
bench::WorkloadType workload_type(const std::string& name) {
  if (const auto* const known = bench::registry<bench::WorkloadType>().find(name)) {
    return *known;
  }
  const std::size_t dot = name.rfind('.');
  const auto* const reader = dot == std::string::npos
                                 ? nullptr
                                 : bench::registry<bench::WorkloadReader>().find(name.substr(dot + 1));
  if (reader == nullptr) {
    throw bench::UsageError("unknown workload '" + name + "'");
  }
  return reader->read(name, {});
}

// Threads, libraries and the allocator are there before memory counts, as in every process: see
// torch_contestant.py.
void multiply_once(bench::Device& device) {
  const bench::WorkloadType& product = *bench::registry<bench::WorkloadType>().find("gemm");
  const bench::WorkloadSpec spec{.mode = "forward",
                                 .dtype = bench::Dtype::fp32,
                                 .batch = 8,
                                 .options = {{"inner", "8"}, {"columns", "8"}}};
  const auto workload = product.configure(spec)->make(device);
  device.time([&] { workload->step(); });
}

// `warm_up`: so many steps, or "auto" for as many as the runner makes. `optimizer`: empty for inference. The
// rest, NAME=VALUE, are options of the workload; device=ID is the device, mode=NAME what a step is where that
// is neither inference nor training. launch-latency=no: an operation is timed as the runner times it, without
// the latency of its launch.
void run(const std::string& name, const std::string& dtype, std::int64_t batch, const std::string& warm_up,
         const std::string& optimizer, std::map<std::string, std::string> rest) {
  const std::string id = rest.contains("device") ? rest.extract("device").mapped() : "cpu";
  const bool as_runner = rest.contains("launch-latency") && rest.extract("launch-latency").mapped() == "no";
  const auto parsed = bench::parse_dtype(dtype);
  if (!parsed) {
    throw bench::UsageError("unknown dtype '" + dtype + "'");
  }
  const auto device = bench::open_device(id, bench::choices_file());
  if (device->host_accessible()) {
    multiply_once(*device);
  }
  const bench::peers::Memory memory;
  const auto type = workload_type(name);
  bench::WorkloadSpec spec;
  spec.mode = rest.contains("mode") ? rest.extract("mode").mapped() : optimizer.empty() ? "infer" : "train";
  spec.dtype = *parsed;
  spec.batch = batch;
  for (const auto& option : type.options) {
    if (option.mode.empty() || option.mode == spec.mode) {
      spec.options[option.name] = option.default_value;
    }
  }
  if (!optimizer.empty()) {
    spec.options["optimizer"] = optimizer;
  }
  for (const auto& [option, value] : rest) {
    spec.options[option] = value;
  }
  const auto point = type.configure(spec);
  auto* const card = dynamic_cast<bench::kernels::cuda::CudaDevice*>(device.get());
  if (card != nullptr) {
    card->allocator().restart_peak();  // what opening it took
  }
  const auto workload = point->make(*device);
  const auto step = [&] {
    workload->before_step();
    return as_runner ? workload->timed_step(*device) : device->time([&] { workload->step(); });
  };
  nlohmann::json about{{"tracked_peak_bytes", device->memory().peak()},
                       {"planned_peak_bytes", point->plan(*device).peak}};
  // PyTorch's max_memory_reserved: all that came from cudaMalloc. Steps allocate nothing more.
  if (card != nullptr) {
    about["reserved_peak_bytes"] = card->allocator().peak_reserved();
    about["compute_capability"] = device->info().details.at("compute_capability");
  }
  if (warm_up == "auto") {
    const bench::WarmUp rule(*device);
    double ns = 0;
    for (std::int64_t steps = 0; !rule.is_over(steps, ns); ++steps) {
      ns += static_cast<double>(step());
    }
  }
  bench::peers::serve(memory, about, warm_up == "auto" ? 0 : std::stoi(warm_up), step);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    std::fputs(
        "usage: peers_ours WORKLOAD|net.onnx DTYPE BATCH WARM_UP_STEPS|auto [OPTIMIZER] [device=cuda:0] "
        "[mode=NAME] [launch-latency=no] [OPTION=VALUE…]\n",
        stderr);
    return 2;
  }
  std::string optimizer;
  std::map<std::string, std::string> rest;
  for (const std::string argument : std::span(argv, static_cast<std::size_t>(argc)).subspan(5)) {
    const std::size_t equals = argument.find('=');
    if (equals == std::string::npos) {
      optimizer = argument;
    } else {
      rest[argument.substr(0, equals)] = argument.substr(equals + 1);
    }
  }
  try {
    run(argv[1], argv[2], std::stoll(argv[3]), argv[4], optimizer, rest);
  } catch (const bench::OutOfMemory& error) {
    std::fprintf(stderr, "peers_ours: out of memory: %s\n", error.what());
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peers_ours: %s\n", error.what());
    return 1;
  }
  return 0;
}
