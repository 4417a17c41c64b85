// The result document in memory: one sweep's context, points and findings. See results/schema.json.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "bench/device.h"
#include "bench/json.h"
#include "bench/memory.h"
#include "bench/result/calibration.h"
#include "bench/result/workload_file.h"
#include "bench/stats/paired_ratio.h"
#include "bench/stats/ratio.h"
#include "bench/stats/statistics.h"
#include "bench/workload.h"

// Made once, in json_template.cpp: each group of sources would compile these 90 KB again.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace bench {

inline constexpr const char* kResultSchema = "bench-result/2";

// Finding::interval_kind, what an interval counts: the spread between rounds, of one point or of several
// compared; the distance of several points from what was fitted to them; or it is the sizes that the points'
// intervals allow. Without an interval kNoInterval.
inline constexpr const char* kOfRounds = "rounds";
inline constexpr const char* kOfFit = "fit";
inline constexpr const char* kOfSizes = "range";
inline constexpr const char* kNoInterval = "none";

struct PointMemory {
  MemoryByCategory by_category;  // bytes at the tracked peak; `other` is what the driver saw beyond it
  std::int64_t peak_predicted = 0;
  std::int64_t peak_measured = 0;           // tracked
  std::int64_t driver_used = 0;             // growth the operating system or driver saw
  std::vector<MemoryByCategory> by_rank{};  // tracked; the fields above are the first rank's
};

// Figures of a point's memory plan in addition to its peak, in bytes; see MemoryPlan.
struct PlannedMemory {
  std::string peak_at;  // the operation that needs the most
  std::int64_t setup_peak = 0;
  std::int64_t step_peak = 0;
  std::int64_t library = 0;
  std::int64_t feature_maps = 0;
};

struct Validity {
  std::vector<std::string>
      flags;  // "noisy", "few_rounds", "throttled:…", "above_peak"; empty: nothing to say
  std::optional<double> sm_clock_mhz;
  std::optional<double> temperature_c;
  std::optional<double> power_w;
};

// One repetition of a point, and the machine meanwhile. Facts that the system does not tell are left out.
struct MeasuredRound {
  std::int64_t samples = 0;             // the next ones of samples_ns
  std::int64_t session = 0;             // index in ResultDocument::sessions
  std::int64_t round = 0;               // of that session, from 0
  std::int64_t order = 0;               // place among the repetitions of that round, from 0
  std::int64_t start_ns = 0;            // since that session started
  std::optional<double> cpu_time_ns{};  // processor time of a step, all threads, mean
  std::optional<double> clock_mhz{};    // of the device, as the next two
  std::optional<double> temperature_c{};
  std::optional<double> power_w{};
  std::vector<std::string> throttled{};  // reasons: "sw_power_cap", "cpu_contention"
  std::optional<double> steal{};         // share of the cores' time that other virtual machines took
  std::optional<double> other_cores{};   // that other programs kept busy
  std::optional<double> load{};          // the system's load average over a minute, this program's in it
  Calibrations calibration{};            // the reading that was taken last
  std::vector<std::string> disturbed{};  // why it tells less than other rounds: see disturbances()

  bool operator==(const MeasuredRound&) const = default;
};

// How a point's figures came about.
enum class Origin : std::uint8_t {
  measured,
  predicted,  // by the model of a device that is not here
  planned,    // only its memory is told
};

// In files and tables: "measured".
std::string_view name_of(Origin origin);
// Of the intervals of such points: "95 %".
std::string_view level_in_words(Origin origin);

// What a model tells of a point: with the step's interval of 80 %.
struct PointPrediction {
  Estimate step_ns{};  // 0 where no time is predicted
  Json model{};        // what the time is made of, and caveats; may be null
};

// A step of one setting, measured or of a model: step_ns(), items_per_s() and peak() are of either.
struct Point {
  std::string name;  // "batch/resnet50/infer/fp32/batch:32"
  Json params;       // {"batch": 32, "dtype": "fp32", …}
  Origin origin = Origin::measured;
  double items_per_step = 0;  // samples (images) a step
  Work work{};                // of a step
  PointMemory memory{};
  PointPrediction prediction{};  // where it was not measured

  // The rest only a measured point has.
  std::vector<std::int64_t> samples_ns{};  // in the order taken, round after round
  std::vector<MeasuredRound> rounds{};     // their samples sum to samples_ns.size()
  double cpu_time_ns = 0;                  // processor time of a step, all threads, mean
  Algorithms algorithms{};                 // empty: not known
  std::optional<PlannedMemory> plan{};     // where the workload's plan says more than the peak
  std::optional<GradientTimeline> timeline{};
  SampleStats stats{};
  Validity validity{};
  std::optional<Verification> verification{};
  std::vector<std::shared_ptr<const SampleNote>> notes{};  // empty, or one a sample

  bool is_measured() const { return origin == Origin::measured; }
  // Whether it tells a time: a median may be below the clock's resolution, a plan has none.
  bool is_timed() const { return step_ns().value > 0; }
  // With an interval of 95 % for this run, where it is not measured of 80 %.
  Estimate step_ns() const {
    return is_measured() ? Estimate{.value = stats.median_ns, .ci95 = stats.ci95_ns} : prediction.step_ns;
  }
  // Infinite where it is not timed.
  Estimate items_per_s() const { return inverse(step_ns(), items_per_step * 1e9); }
  std::int64_t peak() const { return is_measured() ? memory.peak_measured : memory.peak_predicted; }
};

// A step's time over another's: by rounds where they share enough of them, else from the intervals' ends.
Ratio step_ratio(const Point& above, const Point& below);
// Samples of each round.
std::vector<std::int64_t> round_sizes(const Point& point);
// The median of each round's samples, in nanoseconds; rounds without samples are left out.
std::vector<double> round_medians(const Point& point);
// In the order taken. Rounds without samples, and those whose median is below the clock's resolution, are
// left out.
RoundTimes round_times(const Point& point);
// Rounds of so many samples, one after the other, of which nothing else is known.
std::vector<MeasuredRound> rounds_of(const std::vector<std::int64_t>& sizes);

// The reason of a point that was skipped for another cause than the time budget's end.
inline constexpr std::string_view kBrokenOff = "interrupted before it was timed";

struct UnmeasuredPoint {
  std::string name;
  Json params;
  std::string status;  // "oom", "unsupported", "skipped", "error"
  std::string reason;

  bool lacked_time() const { return status == "skipped" && reason != kBrokenOff; }
};

struct Finding {
  std::string name;             // "ceiling_batch"
  std::optional<double> value;  // none where it is not known
  std::string unit;
  std::optional<Interval> ci95;  // none where it is not known
  std::string interval_kind = kNoInterval;
  std::string claim;                  // one sentence
  std::vector<std::string> evidence;  // names of measured points
  Json details;                       // further numbers, for the picture; may be null
  // Place among the findings that are printed: 1 is first, at most five of a sweep have one. 0: in the JSON
  // and with --verbose only. Not in the JSON.
  int headline = 0;
  // Its claim itself says what it is of, so that none of a device that is not here is marked as predicted: of
  // a profile, or simulated. Not in the JSON.
  bool says_origin = false;

  Finding& set(const Estimate& estimate, const char* kind = kOfRounds) {
    value = estimate.value;
    return set_interval(estimate.ci95, kind);
  }
  // A predicted one's interval of 80 % is `details.interval80`.
  Finding& set(const Ratio& ratio);
  Finding& set_interval(const std::optional<Interval>& interval, const char* kind) {
    ci95 = interval;
    interval_kind = interval ? kind : kNoInterval;
    return *this;
  }
};

// A finding without value, interval and claim yet.
inline Finding finding_of(std::string name, std::string unit, std::vector<std::string> evidence = {}) {
  Finding finding;
  finding.name = std::move(name);
  finding.unit = std::move(unit);
  finding.evidence = std::move(evidence);
  return finding;
}

// Where, when and with what a result was measured.
struct RunContext {
  struct Host {
    std::string cpu;  // as its maker calls it
    int usable_cores = 0;
    std::optional<double> cpu_quota;  // cores the cgroup allows; none: no limit
    std::int64_t memory_bytes = 0;
  };
  struct Cache {  // of the host's processor
    std::string type;
    int level = 0;
    std::int64_t size = 0;  // bytes
    int num_sharing = 0;    // hardware threads
  };

  Json google_benchmark = Json::object();  // its own fields: date, host_name, executable, …
  std::vector<Cache> caches;
  DeviceInfo device;             // its details without versions of software; "clocks.sm_mhz" names a group
  std::map<Dtype, Peaks> peaks;  // of the device, where they were measured
  Json datasheet;                // the device's entry in results/gpus.json; null: none
  Host host;
  std::map<std::string, std::string> software;  // versions: "bench", "compiler", "onednn", …
  std::vector<std::string> argv;
  std::string run_id;   // of the run that began the file; --resume keeps it
  std::string machine;  // names this machine in its history; empty: not known
  std::uint64_t seed = 0;
  std::optional<WorkloadFile> workload_file;  // where the workload was read from one

  // A detail of the device, "l2_bytes", as text; empty where it is not known.
  std::string detail(const std::string& name) const {
    const auto found = device.details.find(name);
    return found == device.details.end() ? std::string() : found->second;
  }
};

// The question, and what the sweep knows beyond its points.
struct SweepDescription {
  std::string name;
  std::string question;
  std::string workload;  // the result's label
  std::string mode;
  std::map<std::string, std::string> workload_options;
  std::optional<std::int64_t> memory_cap_bytes;  // the largest
  std::optional<std::int64_t> time_budget_ns;
  Json axes = Json::object();                                       // swept parameters and their values
  std::optional<std::map<std::string, std::string>> sweep_options;  // where the sweep has any
  std::vector<std::int64_t> memory_caps_bytes;                      // where there are several
  // A study's attempts that ended with the device lost, and why; see SweepStudy.
  std::map<std::string, std::string> lost;
  Json state = Json::object();  // the other members: what Sweep::to_json() wrote
};

// How much the medians of a point differ between runs on this machine: standard deviations of their
// logarithms. See between_runs.h.
struct BetweenRuns {
  std::int64_t runs = 0;  // that are known, this one among them
  std::string since;      // when the first of them started
  double common_sd = 0;   // of the part that all points of a run share
  double own_sd = 0;      // of a typical point's own part
  bool operator==(const BetweenRuns&) const = default;
};

// The medians of a session's calibrations, and what is usual on this machine.
struct SessionCalibration {
  Calibration median;
  std::int64_t readings = 0;
  std::optional<Calibration> usual{};  // median over earlier runs; none below three
  std::int64_t usual_runs = 0;
  bool operator==(const SessionCalibration&) const = default;
};

// One process's part of a result; --resume adds another session. Texts are empty where the system does
// not tell.
struct Session {
  std::string id;
  std::string started;                                      // ISO 8601, with the offset from UTC
  std::string boot_id{};                                    // another one after each start of the kernel
  std::string kernel{};                                     // "6.1.0-18-amd64"
  std::string governor{};                                   // of the processor's clock: "performance"
  std::string build{};                                      // the program's build id
  std::string commit{};                                     // that it was built from
  std::map<std::string, std::string> threads{};             // settings: "OMP_NUM_THREADS", …
  std::map<std::string, SessionCalibration> calibration{};  // "host", "device"
  std::optional<BetweenRuns> history{};                     // none below three known runs
  bool operator==(const Session&) const = default;
};

struct ResultDocument {
  RunContext context;
  std::vector<Session> sessions{};  // in their order; at least one where there are points
  SweepDescription sweep;
  std::vector<Point> points{};  // the measured ones first
  std::vector<UnmeasuredPoint> unmeasured;
  std::vector<Finding> findings;
};

// The points that were measured, for what only a measurement tells; and all others.
std::span<Point> measured_points(ResultDocument& document);
std::span<const Point> measured_points(const ResultDocument& document);
std::span<const Point> modelled_points(const ResultDocument& document);
// Instead of those that are there.
void set_modelled_points(ResultDocument& document, std::vector<Point> points);

// Whether it is of a device that is not here.
bool is_predicted(const ResultDocument& document);
// Of all modelled points, each once.
std::vector<std::string> caveats_of(const ResultDocument& document);

// Strict JSON: throws std::domain_error on NaN or Infinity. Bytes and nanosecond samples are integers.
Json to_json(const ResultDocument& document);
// Params and notes are kept as JSON; Sweep::restore() reads them. Throws UsageError naming what is
// wrong ("schema is bench-result/7; this program reads bench-result/2"), also for numbers out of their range
// and a point's name given twice.
ResultDocument document_from_json(const Json& json);

}  // namespace bench
