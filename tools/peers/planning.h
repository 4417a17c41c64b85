// How long it takes to plan a network's memory, before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench::peers {

struct PlanningTime {
  std::string network;
  std::string mode;
  std::int64_t slowest_batch = 0;  // by median
  double median_ms = 0;            // at that batch; processor time, oneDNN's answers for convolutions known
  double max_ms = 0;               // of every plan at every batch, oneDNN's queries in it
};

// Every network in each of its modes at batches 1 to 4096, in fp32 on the CPU, with the options' defaults; by
// Google Benchmark. Each is planned several times, the first time as if nothing had been asked of oneDNN.
std::vector<PlanningTime> planning_times();

}  // namespace bench::peers
