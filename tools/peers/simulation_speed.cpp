#include "simulation_speed.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "sweeps/workers/simulator/pipeline.h"

namespace bench::peers {

double ns_per_simulated_batch() {
  constexpr int kTimes = 512;
  constexpr std::int64_t kBatches = 1'000'000;
  simulator::Pipeline pipeline;
  pipeline.workers = 8;
  pipeline.law.cores = 8;
  pipeline.copy_ns = 1e6;
  pipeline.steps = kBatches;
  for (int i = 0; i < kTimes; ++i) {
    pipeline.batch_work_ns.push_back(-80e6 * std::log(1 - (i + 0.5) / kTimes));
  }
  double worst = 0;
  for (const double compute_ns : {5e6, 20e6}) {  // 80 ms of 8 workers: 10 ms a batch
    pipeline.compute_ns = {compute_ns};
    const auto start = std::chrono::steady_clock::now();
    simulate(pipeline);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    worst = std::max(worst, took.count() / static_cast<double>(kBatches));
  }
  return worst;
}

}  // namespace bench::peers
