// The measured points: rates, AU, stalls and times, each over all windows of a point.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/result/result.h"
#include "bench/stats/estimate.h"
#include "sweeps/workers/setup.h"
#include "sweeps/workers/window.h"

namespace bench::sweeps {

// The fields that identify a point.
struct LoaderParams {
  // "pool", "ready" (the loader that does nothing), "other-staging" (as ready, from the other kind of host
  // memory), "capacity" (a consumer that takes no time)
  std::string loader;
  std::int64_t workers = 0;
  std::int64_t prefetch = 0;
  std::string order;
  std::int64_t batch = 0;
  std::string dtype;
  std::string consumer;
  std::string staging;  // "pinned", "pageable"
};
// nullopt without a batch. Throws Json::exception where a param is of another type.
std::optional<LoaderParams> read_loader_params(const Json& params);

struct LoaderPoint : LoaderParams {
  std::string name;
  bool flagged = false;
  std::string mark;         // "○" for a flag that separates it from others
  bool few_rounds = false;  // too few to tell how far another run may differ

  // Intervals only where there are at least two windows.
  Estimate samples_per_s;
  // Without the slowest and the fastest window: a disturbed window does not count, and a host with fast and
  // slow seconds is still averaged.
  double usual_samples_per_s = 0;
  Estimate raw_au;                     // computing over total time
  Estimate usual_au;                   // the windows' median
  std::optional<Estimate> au;          // divided by usual_au of "ready"; none without it
  double step_ns = 0;                  // mean
  double compute_ns = 0;               // mean of a step
  double copy_ns = 0;                  // of a batch
  std::optional<double> stall_p99_ns;  // step time minus the median step with ready data
  double cpu_ns = 0;                   // of an image, all threads
  double sample_bytes = 0;             // of a delivered batch
  loader::StageTimes stages_ns;        // of an image
  std::shared_ptr<const Window> windows = std::make_shared<Window>();  // all as one
};

struct LoaderPoints {
  std::vector<LoaderPoint> pool;         // by workers; of the order that was measured first
  std::vector<LoaderPoint> other_order;  // by workers
  std::vector<LoaderPoint> capacity;     // by workers
  std::optional<LoaderPoint> ready;
  std::optional<LoaderPoint> other_staging;

  const LoaderPoint* at(std::int64_t workers) const;  // of the pool
  std::vector<const LoaderPoint*> capacity_and_pool() const;
};

// Reads the params and the windows of a file's points, in place. Throws Json::exception.
void restore_points(ResultDocument& document);

// Points without LoaderParams or usable windows are left out, and those that --resume kept of a run with
// another setup.
LoaderPoints loader_points(const std::vector<MeasuredPoint>& measured, const LoaderSetup& setup);

// The part of the images' bytes that the windows read from storage instead of the page cache; nullopt where a
// window did not note it.
std::optional<double> part_from_storage(const std::vector<MeasuredPoint>& measured,
                                        double mean_encoded_bytes);

// A worker's time for an image: from its batches, or from its stages where workers share batches. With
// storage simulated, without waits for reads. 0 where neither was measured.
double working_ns(const LoaderPoint& point, bool storage);

// On average, by Little's law: rate times working time. A worker that waits for storage or a free slot does
// not count.
double active_workers(const LoaderPoint& point, bool storage);

// The sorted values in that many groups, each as its mean; of fewer values, some make more than one group.
std::vector<double> group_means(std::vector<double> values, std::size_t groups);

}  // namespace bench::sweeps
