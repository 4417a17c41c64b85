// The workers sweep's measured points, read from a result document.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/measure/result.h"

namespace bench::sweeps {

struct Measured {
  double value = 0;
  Interval ci95;
};

// Times are of the windows' steps and batches; what is "per image" is summed over the windows.
struct LoaderPoint {
  std::string name;
  std::string
      loader;  // "pool", "ready" (the loader that does nothing), "capacity" (a consumer that takes no time)
  std::int64_t workers = 0;
  std::int64_t prefetch = 0;
  std::string order;
  std::string staging;  // "pinned", "pageable"
  std::int64_t batch = 0;
  bool flagged = false;
  bool few_rounds = false;  // too few to tell how far another run may differ

  Measured images_per_s;
  // Of the windows without the slowest and the fastest: one that was disturbed does not show in it, and where
  // the host has fast and slow seconds, it lies between them as the mean does.
  double usual_images_per_s = 0;
  Measured raw_au;                     // computing over total time
  Measured usual_au;                   // the same of the windows' median
  std::optional<Measured> au;          // divided by the usual one of "ready"; none without it
  double step_ns = 0;                  // mean
  double compute_ns = 0;               // mean of a step
  double copy_ns = 0;                  // of a batch
  std::optional<double> stall_p50_ns;  // step time less the median one with ready data
  std::optional<double> stall_p99_ns;
  double cpu_ns = 0;                // of an image, all threads
  double voluntary_switches = 0;    // of an image
  double involuntary_switches = 0;  // of an image
  double host_bytes = 0;
  double sample_bytes = 0;  // of a batch as it is delivered
  std::int64_t images = 0;
  std::int64_t bad_files = 0;
  std::map<std::string, double> stages_ns;  // of an image

  std::vector<double> step_times_ns;
  std::vector<double> compute_times_ns;
  std::vector<double> batch_times_ns;      // by one worker, from its start to done
  std::vector<double> batch_cpu_times_ns;  // of the same
  std::vector<double> sample_times_ns;
  std::vector<double> take_times_ns;  // of batches that were there; of loaders where that takes long
  std::vector<double> late_times_ns;  // the consumer's thread, or one beside the loader alone, woke so late
  std::vector<double> late_unyielding_ns;  // the latter, beside workers that do not give way
  Json timeline;                           // of the first window that has one
};

struct LoaderPoints {
  std::vector<LoaderPoint> pool;         // by workers; of the order that was measured first
  std::vector<LoaderPoint> other_order;  // by workers
  std::vector<LoaderPoint> capacity;     // by workers
  std::optional<LoaderPoint> ready;
  std::optional<LoaderPoint> other_staging;  // as ready, from the other kind of host memory

  const LoaderPoint* at(std::int64_t workers) const;  // of the pool
};

// Points without usable notes are left out.
LoaderPoints loader_points(const ResultDocument& document);

// Where document.sweep["loader"] or a member of it is missing: null.
Json loader_note(const ResultDocument& document, const std::string& member);

// The stages in the order an image goes through them.
const std::vector<std::string>& stage_names();

}  // namespace bench::sweeps
