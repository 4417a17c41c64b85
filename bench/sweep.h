// A sweep: one question, its points and the findings that answer it. Implemented in sweeps/.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/clock.h"
#include "bench/device.h"
#include "bench/page/page.h"
#include "bench/ranks.h"
#include "bench/result/result.h"
#include "bench/stats/budget.h"
#include "bench/workload.h"

namespace bench {

// A sweep's part of the command line, checked for form, defaults filled in; empty dtypes or batches mean
// "the sweep's default".
struct SweepRequest {
  explicit SweepRequest(const Clock& time) : clock(time) {}

  const Clock& clock;
  const WorkloadType* workload = nullptr;
  // All to be covered: the one asked for, or every one of a sweep over several workloads.
  std::vector<const WorkloadType*> workloads;
  std::vector<std::string> modes;  // of the workload; one where the sweep takes no lists
  bool modes_given = false;        // on the command line
  std::vector<Dtype> dtypes;
  std::vector<std::int64_t> batches;
  // Every option of the workload with its values; one each where the sweep takes no lists.
  std::map<std::string, std::vector<std::string>> workload_options;
  std::set<std::string> given_options;               // of the workload, by name: on the command line
  std::map<std::string, std::string> sweep_options;  // every option of the sweep
  std::set<std::string> given_sweep_options;         // by name: on the command line
  std::vector<std::int64_t> memory_caps;  // bytes, growing; at least one; of a sweep over ranks this rank's
  std::uint64_t seed = 1;
  std::string label;  // of the result file: the workload's name, "all", or what the sweep calls it
  // Of a sweep over ranks that is measured; nullptr where it is only planned.
  RankGroup* ranks = nullptr;
  std::vector<RankPlace> places;            // of each rank; of a dry run without a launcher two on one host
  std::vector<std::int64_t> joining_bytes;  // by which each grew as it joined; empty: not known

  std::int64_t largest_cap() const { return memory_caps.back(); }
};

struct SweepPoint {
  std::string name;
  Json params;  // what identifies it in the file, and what findings read
  WorkloadSpec spec;
  // Points of one series differ only in size, and grow. When growth stops (memory or time), the rest of an
  // open series is left out; a closed one lists them as unmeasured.
  std::string series;
  std::shared_ptr<const ConfiguredWorkload> workload;
  bool cold = false;  // the device's caches are emptied before every timed step
  // Reference point: prepared and timed first, so that even a short run has it. It is the first
  // of its series: the points of a series run by growing size.
  bool is_reference = false;
  // Measured once even where the time budget ends before: without it the run has no answer. Prepared right
  // after the reference points.
  bool is_needed = false;
  // It runs more threads than cores: on an idle machine too, some of them wait for a core.
  bool oversubscribes_cores = false;
};

// How often a sweep's points are measured.
struct RoundPolicy {
  // Rounds that an open series leaves time for when it grows. One round is enough where memory is the
  // question.
  std::int64_t when_growing = 6;
  std::int64_t at_most = 40;  // even where points are not precise yet
  // At most, of a repetition. Each is kept in the file, so that with many points fewer are better.
  std::int64_t samples = 256;
};

struct SweepPlan {
  Json axes;
  std::vector<SweepPoint> points;  // empty where nothing is measured: predict() gives the answer
  bool open_ended = false;         // sizes were not asked for by name: stop growing quietly at cap or budget
  RoundPolicy rounds;
  double share_of_budget = 1;  // of the time budget for the points; the rest is for study()
};

// Asked before each plan: why no more are made; nullopt where they are.
using PlanningEnd = std::function<std::optional<std::string>()>;

// For a sweep's own measurements before and after its points, on the same device.
struct SweepStudy {
  const SweepRequest& request;
  const SweepPlan& plan;  // with the points that this run asked for
  Device& device;
  ResultDocument& document;
  std::function<void(const std::string&)> report;  // what it does now
  std::function<void()> save;                      // findings computed, and the file written
  std::function<double()> left_ns;                 // of the time budget
  // So much of what has passed is not of the time budget: data was made, once for all runs.
  std::function<void(std::chrono::nanoseconds)> leave_out;
  std::function<bool()> interrupted;
  // Attempts of this run, also by earlier processes, that lost the device, with the reason. Before an attempt
  // a sweep enters it here and saves; it lets DeviceLost pass. A fresh process then calls study() again and
  // must not repeat the attempt.
  std::map<std::string, std::string>& lost;
  std::map<std::string, SeriesCost> costs{};  // of preparing points in this run, by series
};

// One run of a sweep: its points, what it knows beyond them, and its findings. A new one is made for each
// run; the request and the device outlive it.
class Sweep {
 public:
  Sweep() = default;
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;
  virtual ~Sweep() = default;

  virtual const SweepPlan& plan() const = 0;

  // Computes what plans alone tell; allocates nothing on the device. Called once, before anything is
  // measured.
  virtual void predict(const PlanningEnd& /*end*/) {}
  // The point on a device that is not here. By default the device's model answers. Throws Unsupported and
  // OutOfMemory.
  virtual Point predicted(const SweepPoint& point, Device& device) const;
  // Before the first point, within the time budget; not for a dry run. By default measures the device's peaks
  // in the points' dtypes, as far as a fifth of the time budget reaches.
  virtual void prepare(SweepStudy& study);
  // More measurements after the points.
  virtual void study(SweepStudy& /*study*/) {}

  // The claims that the measured points and the sweep's state support. Called once a round and before every
  // exit, so it must cope with few points.
  virtual std::vector<Finding> findings(const ResultDocument& document) const = 0;
  virtual std::vector<TextTable> tables(const ResultDocument& /*document*/) const { return {}; }

  // The file's edge: the members of the file's "sweep" that this sweep adds (see SweepDescription).
  virtual Json to_json() const { return Json::object(); }
  // Reads what a file holds for this sweep, once: in place the notes of its points, and where the device was
  // lost, the members that the process before this one wrote. Throws UsageError and Json::exception.
  virtual void restore(ResultDocument& /*document*/) {}
};

struct SweepType {
  std::string name;      // "batch"
  std::string question;  // "Where does a larger batch stop paying, and what does it cost in memory?"
  std::string default_workload;
  std::string default_mode{};  // of the workload; empty: its first
  // Workloads covered together where none is asked for, the default among them; without it the default alone.
  std::function<bool(const WorkloadType&)> covers{};
  std::vector<CommandOption> options{};  // of its own: "soak"
  // Takes several modes, values of a workload's option and memory caps, separated by commas; without --mode
  // every mode instead of the workload's first.
  bool takes_lists = false;

  // Of a sweep over ranks: what every rank but the first does until the first one's Sweep ends. It has the
  // option rank-timeout.
  std::function<void(const SweepRequest&, Device&)> serve{};
  bool takes_workload = true;  // false: it measures no workload, and is refused one

  // Changes a request that has the workload's defaults and a label already: to defaults of the sweep's own,
  // or to a label that tells runs apart where the workload's name does not. Optional.
  std::function<void(SweepRequest&)> complete{};
  // Throws UsageError.
  std::function<std::unique_ptr<Sweep>(const SweepRequest&, Device&)> make;
};

// The workloads covered together, by name.
std::vector<const WorkloadType*> covered_workloads(const SweepType& sweep);

}  // namespace bench
