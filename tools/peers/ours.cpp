// Our contestant: the workload that a sweep would run, without the harness around it.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "tools/peers/contestant.h"

namespace {

// `optimizer`: empty for inference.
void run(const std::string& name, const std::string& dtype, std::int64_t batch, int warm_up,
         const std::string& optimizer) {
  const bench::WorkloadType* const type = bench::registry<bench::WorkloadType>().find(name);
  const bench::DeviceKind* const kind = bench::registry<bench::DeviceKind>().find("cpu");
  const auto parsed = bench::parse_dtype(dtype);
  if (type == nullptr || kind == nullptr || !parsed) {
    throw bench::UsageError("unknown workload '" + name + "', dtype '" + dtype + "' or no CPU device");
  }
  const auto device = kind->open("cpu");
  bench::WorkloadSpec spec;
  spec.mode = optimizer.empty() ? "infer" : "train";
  spec.dtype = *parsed;
  spec.batch = batch;
  for (const auto& option : type->options) {
    if (option.mode.empty() || option.mode == spec.mode) {
      spec.options[option.name] = option.default_value;
    }
  }
  if (!optimizer.empty()) {
    spec.options["optimizer"] = optimizer;
  }
  const bench::peers::Memory memory;
  const auto workload = type->make(spec, *device);
  const auto step = [&] { return device->time([&] { workload->step(); }); };
  const nlohmann::json about{{"tracked_peak_bytes", device->memory().peak()},
                             {"planned_peak_bytes", type->plan(spec, *device).peak}};
  bench::peers::serve(memory, about, warm_up, step);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5 && argc != 6) {
    std::fputs("usage: peers_ours NETWORK DTYPE BATCH WARM_UP_STEPS [OPTIMIZER]\n", stderr);
    return 2;
  }
  try {
    run(argv[1], argv[2], std::stoll(argv[3]), std::stoi(argv[4]), argc == 6 ? argv[5] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "peers_ours: %s\n", error.what());
    return 1;
  }
  return 0;
}
