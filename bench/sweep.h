// A sweep: one question, its points and the findings that answer it. Implemented in sweeps/.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "bench/measure/budget.h"
#include "bench/measure/result.h"
#include "bench/workload.h"

namespace bench {

// What the command line asks of a sweep, checked for form, defaults filled in; empty dtypes or batches mean
// "the sweep's default".
struct SweepRequest {
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
  std::vector<std::int64_t> memory_caps;             // bytes, growing; at least one
  std::uint64_t seed = 1;
  std::string label;  // of the result file: the workload's name, "all", or what the sweep calls it

  std::int64_t largest_cap() const { return memory_caps.back(); }
};

struct SweepPoint {
  std::string name;
  Json params;
  WorkloadSpec spec;
  // Points of one series differ only in size and stand in growing order. When growth stops (memory or time),
  // the rest of an open series is left out; a closed one lists them as unmeasured.
  std::string series;
  const WorkloadType* workload = nullptr;  // where it is not the request's
  bool cold = false;                       // the device's caches are emptied before every timed step
  // Others are judged by it: made ready before the rest, and visited before it in the first round, so that a
  // short budget ends with it measured. A series of its own, for sizes stand in growing order.
  bool first = false;
  // What it costs at least, where that is known before its series was measured: a budget without room for it
  // need not be overrun to find out. Asked once all points' common needs are there.
  std::function<PointCost()> least_cost{};
  // It keeps more threads busy than there are cores: that they wait for one says nothing of other work.
  bool crowds_cores = false;

  const WorkloadType& type(const SweepRequest& request) const {
    return workload == nullptr ? *request.workload : *workload;
  }
};

struct SweepPlan {
  Json axes;
  std::vector<SweepPoint> points;
  bool open_ended = false;  // sizes were not asked for by name: stop growing quietly at cap or budget
  // Rounds that an open series leaves time for when it grows. One round serves where memory is the question.
  std::int64_t rounds_when_growing = 6;
  std::int64_t most_rounds = 40;    // even where points are not precise yet
  std::int64_t trusted_rounds = 3;  // before so many no point is called precise, however narrow its interval
  // Of a visit. With many points fewer serve: each is kept, and written again after every visit.
  std::int64_t most_samples = 256;
  double share_of_budget = 1;  // of the time budget for the points; the rest is for prove()
  bool measures = true;        // false: no points, for predict() says all there is to say
  // What all points need, made once before the first and outside of the time budget; not for a dry run.
  std::function<void()> prepare{};
  std::shared_ptr<const void> keeps{};  // what points' own workload types live in
};

// Rows of text for people, printed behind the points.
struct TextTable {
  std::string title;
  std::vector<std::vector<std::string>> rows;  // the first is the header
  std::vector<bool> right;                     // columns that stand right-aligned
  bool lists_points = false;                   // stands in the place of the general table of points
};

// What a sweep finds out after its points were measured, on the same device.
struct SweepStudy {
  const SweepRequest& request;
  const SweepPlan& plan;
  Device& device;
  ResultDocument& document;                        // results go into document.sweep
  std::function<void(const std::string&)> report;  // what it does now
  std::function<void()> save;                      // findings anew, and the file written
  std::function<double()> left_ns;                 // of the time budget
  std::function<bool()> interrupted;
  // What a process before this one left in document.sweep where the device was lost in prove() or in a point,
  // and this one goes on; null otherwise.
  const Json& before;

  // A sweep that tries things notes here what it tried when the device was lost, saves and lets DeviceLost
  // pass; a fresh process then calls prove() again, and must not try the same once more.
  void note_lost(const std::string& tried, const std::string& why) const {
    document.sweep["lost"][tried] = why;
  }
};

struct Sweep {
  std::string name;      // "batch"
  std::string question;  // "Where does a larger batch stop paying, and what does it cost in memory?"
  std::string default_workload;
  std::vector<std::string>
      workloads{};  // covered together where none is asked for; the default is one of them
  std::vector<CommandOption> options{};  // of its own: "soak"
  // Takes several modes, values of a workload's option and memory caps, separated by commas.
  bool takes_lists = false;
  bool all_modes = false;  // by default; otherwise the workload's first
  // Of a workload's options, where they differ from the workload's own default.
  std::map<std::string, std::vector<std::string>> default_values{};

  // Of the result file, where the workload's name does not tell runs apart. Optional.
  std::function<std::string(const SweepRequest&)> label{};
  std::function<SweepPlan(const SweepRequest&, Device&)> plan;
  // What plans alone can say, before anything runs; into document.sweep. Allocates nothing. Optional.
  std::function<void(const SweepRequest&, const SweepPlan&, Device&, ResultDocument&)> predict{};
  std::function<void(SweepStudy&)> prove{};  // optional
  // Pure: from the measured points to claims. Called after every point; must cope with few of them.
  std::function<std::vector<Finding>(const ResultDocument&)> findings;
  std::function<std::vector<TextTable>(const ResultDocument&)> tables{};  // pure; optional
};

}  // namespace bench
