// What the simulator needs to know of a machine and its data, made from measured points and kept in the
// result file.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "sweeps/workers/simulator/law.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps {

// A consumer on the workers' own cores, measured beside so many workers. It computes with the cores that they
// leave, one at least; more threads than cores share them. What goes beyond that (fewer threads, caches,
// memory bandwidth) is in these.
struct BesideWorkers {
  std::int64_t workers = 0;
  double consumer_speed = 1;  // in parts of that with ready data
  double worker_speed = 1;    // in parts of what the loader's law says
};

struct Profile {
  std::int64_t batch = 1;
  std::int64_t prefetch = 2;
  std::string order = "in-order";
  bool lookahead = true;
  std::string consumer;
  std::string consumer_device;
  bool consumer_on_cores = false;

  std::vector<double> batch_work_ns;   // of one worker alone, waits for storage left out
  std::vector<double> sample_work_ns;  // of an image
  simulator::LawFit law;
  std::string law_from;                     // what was measured for it
  std::vector<std::int64_t> law_workers;    // at these counts
  std::map<std::string, double> stages_ns;  // of an image, at the fewest workers

  std::optional<simulator::Storage> storage;
  double bytes_read = 0;             // from it, of an image
  std::vector<double> sample_sizes;  // of images, in parts of the mean one; with storage only

  std::vector<double> compute_ns;  // of a step with ready data
  double copy_ns = 0;              // of a batch
  double gap_ns = 0;               // of a step
  double take_ns =
      0;  // of a batch that is there, by the thread that starts steps; of other loaders than ours
  // How late a thread gets a busy core, beside so many workers. Empty: nobody measured it.
  std::vector<simulator::WakeDelay> wake;
  std::vector<BesideWorkers> beside;  // by workers; empty: the consumer is elsewhere

  double sample_bytes = 0;              // of a batch as it is delivered
  double slot_bytes = 0;                // of host memory
  double scratch_bytes_per_worker = 0;  // beyond its slots
  bool pinned = false;
  Json host;      // as in the context
  Json software;  // as in the context
};

// nullopt where too little was measured yet: computing with ready data, and any rate of the loader. What was
// measured with `left_out` workers is not used, so that it can be predicted.
std::optional<Profile> measure_profile(const ResultDocument& document,
                                       std::optional<std::int64_t> left_out = {});

// For document.sweep["profile"]; null where there is none yet.
Json make_profile(const ResultDocument& document);
Json to_json(const Profile& profile);

// Of a whole result file. Throws UsageError where it is not one of a workers sweep, or its profile is
// incomplete.
Profile read_profile(const Json& document);

// At most `most` values of the same mean: the sorted values in groups, each as its mean.
std::vector<double> thinned(std::vector<double> values, std::size_t most = 512);

// As simulated on the cores it was measured on; with `cores` other ones the law is extrapolated.
simulator::Pipeline pipeline_of(const Profile& profile, std::int64_t workers,
                                std::optional<double> cores = {});

simulator::Order order_of(const std::string& text);

}  // namespace bench::sweeps
