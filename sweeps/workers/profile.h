// A machine and its data as the simulator needs them: measured once, kept in the result file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/json.h"
#include "sweeps/workers/record.h"
#include "sweeps/workers/simulator/law.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps {

struct MeasuredLaw : simulator::LawFit {
  std::string from;                   // what was measured for it
  std::vector<std::int64_t> workers;  // at these counts
};

// The slowdown of a consumer on the workers' own cores and of this many workers, beyond that of sharing cores
// by time. The consumer computes with the cores that the workers leave, at least one; if threads outnumber
// cores, they share them by time. The rest is due to the consumer's fewer threads, to caches and to memory
// bandwidth.
struct MeasuredSharing {
  std::int64_t workers = 0;
  double consumer_speed = 1;  // in parts of that with ready data
  double worker_speed = 1;    // in parts of the law's
};

struct Profile {
  // As measured: batch, order and times. pipeline_of() adds the workers, the law and what both share.
  simulator::Pipeline pipeline;
  MeasuredLaw law;
  std::vector<MeasuredSharing> sharing;  // by workers; empty: the consumer is elsewhere
  std::string loader;                    // the user's own, whose load times were read; empty: this program's
  // Laws that the load times allow: each simulated AU gets its interval from them. Empty: it gets none.
  std::vector<simulator::ScalabilityLaw> plausible_laws;

  std::string consumer;
  std::string consumer_device;
  bool consumer_on_cores = false;
  loader::StageTimes stages_ns;         // of an image, at the fewest workers
  double sample_bytes = 0;              // of a delivered batch
  double slot_bytes = 0;                // host memory of a batch
  double scratch_bytes_per_worker = 0;  // beyond its slots
  bool pinned = false;
  Json host;      // as in the context
  Json software;  // as in the context

  // Host memory of so many workers of one consumer; without workers its thread holds one batch.
  double host_bytes(std::int64_t workers, std::int64_t prefetch) const {
    const auto count = static_cast<double>(workers);
    return workers == 0 ? slot_bytes
                        : count * (static_cast<double>(prefetch) * slot_bytes + scratch_bytes_per_worker);
  }
};

// nullopt where too little was measured: computing with ready data, and any rate of the loader. Points with
// `left_out` workers are not used, so that they can be predicted.
std::optional<Profile> measure_profile(const LoaderPoints& points, const LoaderSetup& setup,
                                       std::optional<std::int64_t> left_out = {});

// The simulation of so many workers, on the measured cores or on others, for which the law is extrapolated.
simulator::Pipeline pipeline_of(const Profile& profile, std::int64_t workers,
                                std::optional<double> cores = {});

// How late threads were scheduled next to so many workers, in ns beyond an idle machine's latency, and the
// part of the time in which a core was busy with the workers.
struct Lateness {
  std::int64_t workers = 0;
  double busy = 1;
  std::vector<double> late_ns{};
};
// Of the threads that met a busy core, by groups of counts.
std::vector<simulator::SchedulingLatency> latencies_of(const std::vector<Lateness>& measured, double cores);

// A rate that the law gives, with the law's interval.
Estimate with_law_interval(double rate, const Profile& profile);
// The loader's rate on all its cores, by the law; none where one count does not show how others relate to it.
std::optional<Estimate> rate_on_all_cores(const Profile& profile);

// At most 512 values of the same mean.
std::vector<double> thinned(std::vector<double> values);
// Values in proportion, with that mean; the mean alone where there are none.
std::vector<double> scaled_to(double mean, std::vector<double> values);

// The file's edge.
Json to_json(const Profile& profile);
// Of a result file's "sweep", and of the whole file. Throw UsageError where it is not one of a workers sweep,
// or its profile is incomplete.
Profile profile_in(const Json& json);
Profile read_profile(const Json& document);

}  // namespace bench::sweeps
