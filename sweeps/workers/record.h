// What a run of the workers sweep measured: its settings (the file's "loader"), windows of steps, and points.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/result/json_members.h"
#include "bench/result/result.h"
#include "bench/stats/estimate.h"
#include "bench/stats/saturation.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/loader/storage.h"
#include "sweeps/workers/simulator/pipeline.h"

// The file's edge of what is no struct of this folder: see bench/result/json_members.h.
namespace bench::loader {
Json written_value(Order order);
void read_value(const Field& field, Order& order);
Json written_value(const StageTimes& stages);  // empty where no time was noted
void read_value(const Field& field, StageTimes& stages);
}  // namespace bench::loader

namespace bench {
void members(auto& io, Of<simulator::TimelineEntry> auto& entry) {
  io("who", entry.who);
  io("what", entry.what);
  io.whole("from_ns", entry.from_ns);
  io.whole("to_ns", entry.to_ns);
  io("batch", entry.batch);
}
}  // namespace bench

namespace bench::sweeps {

// ---------- settings

// Images a second that a consumer elsewhere, such as a GPU that is not here, computes when it never waits
// (--demand).
struct RequiredThroughput {
  std::string name{};  // "t4"; as given, "800/s", where there is none
  double samples_per_s = 0;
  std::string source{};  // "given", or the result file
};
// "t4 (500 samples/s)", or "800 samples/s".
std::string required_text(const RequiredThroughput& required);

// The data as a run found them.
struct DataFound {
  std::int64_t images = 0;
  double mean_encoded_bytes = 0;
  std::optional<double> from_storage{};  // part of the images' bytes that the windows read from storage
  // With --cold: reads for which the system kept the image in memory, of all reads, and the first reason.
  std::int64_t still_cached = 0;
  std::int64_t evicted = 0;
  std::string still_cached_reason{};
  std::vector<std::pair<std::string, std::string>> bad_files{};  // name and reason; the first hundred
};

struct LoaderSetup {
  int cores = 1;  // of the host
  std::string data{};
  bool cold = false;
  std::optional<loader::Storage> storage{};
  double bus_bytes_per_s = 0;  // limit of the copies to the device (--bus); 0: none
  std::string consumer{};
  std::string consumer_device = "none";  // of a network; a step's time needs none
  bool consumer_on_cores = false;        // it computes on the workers' cores
  bool lookahead = true;                 // the next batch is copied while the previous one computes
  std::int64_t batch = 0;
  std::string dtype{};
  std::int64_t slot_bytes = 0;  // host memory of a batch
  bool pinned = false;
  std::vector<RequiredThroughput> required{};
  int gpus = 1;
  std::optional<DataFound> found{};

  // "cold", "warm" where the windows read next to nothing from storage, "as found" otherwise.
  const char* page_cache() const;
};
Json to_json(const LoaderSetup& setup);

// ---------- a window, one sample of a point

struct StageName {
  const char* key;   // in the file
  const char* text;  // for people
  double loader::StageTimes::*time;
};
inline constexpr std::array<StageName, 5> kStages{{{"read", "read", &loader::StageTimes::read},
                                                   {"decode", "decode", &loader::StageTimes::decode},
                                                   {"augment", "augment", &loader::StageTimes::augment},
                                                   {"collate", "collate", &loader::StageTimes::collate},
                                                   {"hand_off", "hand-off", &loader::StageTimes::hand_off}}};
const StageName& largest_stage(const loader::StageTimes& stages);

// Times in nanoseconds.
class Window final : public SampleNote {
 public:
  std::vector<double> step_ns;          // from one start of the consumer to the next
  std::vector<double> compute_ns;       // of the steps that ended in it
  std::vector<double> batch_ns;         // of each batch, by one worker, from its start to done
  std::vector<double> batch_cpu_ns;     // of each batch
  std::vector<double> sample_ns;        // of some samples, evenly from all batches
  std::vector<double> late_ns;          // from the end of a step until the sleeping consumer thread ran
  std::vector<double> take_ns;          // of batches that were there; of loaders where that takes long
  std::int64_t wait_ns = 0;             // for batches
  std::int64_t copy_ns = 0;             // to the device
  std::int64_t images = 0;              // made
  std::int64_t cpu_ns = 0;              // of the process
  std::int64_t voluntary_switches = 0;  // of the workers
  std::int64_t involuntary_switches = 0;
  std::int64_t host_bytes = 0;                     // staging and the workers' scratch
  std::int64_t bad_files = 0;                      // so far
  std::int64_t storage_bytes = -1;                 // read from storage by the process; below 0: not known
  loader::StageTimes stages_ns;                    // of all images
  std::vector<simulator::TimelineEntry> timeline;  // of its first steps, for the picture; empty: not kept

  void add_batches(const std::vector<loader::Batch>& batches);
  // Appends the other window's times and stages, adds what it copied, made and used, and keeps the larger
  // memory and number of bad files.
  void append(const Window& other);
  Json to_json() const override;
};

// A note of a result file. Members that are missing or make no sense are left out; null where it is no
// object.
std::shared_ptr<const Window> read_window(const Json& note);

// The smallest worker count that nearly keeps the consumer busy: the saturation batch's rule, with workers
// for the batch and AU for the throughput.
using Knee = Saturation;

inline constexpr double kFed = 0.95;      // AU of a consumer that is fed
inline constexpr double kStarved = 0.90;  // AU below which it waits for batches all along
inline constexpr double kBusy = 0.90;     // of the time, for a worker, storage, copies or the host's cores
inline constexpr double kNearly = 0.95;   // of a rate or of simulated cores: all of it

// ---------- points: rates, AU, stalls and times, each over all windows

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
  double other_cores = 0;              // that other processes and virtual machines used meanwhile
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

// The file's "measured": figures of the pool's points, for the picture and for `bench advise`.
Json to_json(const LoaderPoint& point);
std::vector<LoaderPoint> read_measured(const Json& sweep);

// Reads the params and the windows of a file's points, in place. Throws Json::exception.
void restore_points(ResultDocument& document);

// Points without LoaderParams or usable windows are left out, and those that --resume kept of a run with
// another setup.
LoaderPoints loader_points(std::span<const Point> measured, const LoaderSetup& setup);

// The part of the images' bytes that the windows read from storage instead of the page cache; nullopt where a
// window did not note it.
std::optional<double> part_from_storage(std::span<const Point> measured, double mean_encoded_bytes);

// A worker's time for an image: from its batches, or from its stages where workers share batches. With
// storage simulated, without waits for reads. 0 where neither was measured.
double working_ns(const LoaderPoint& point, bool storage);

// On average, by Little's law: rate times working time. A worker that waits for storage or a free slot does
// not count.
double active_workers(const LoaderPoint& point, bool storage);

// The sorted values in that many groups, each as its mean; of fewer values, some make more than one group.
std::vector<double> group_means(std::vector<double> values, std::size_t groups);

}  // namespace bench::sweeps
