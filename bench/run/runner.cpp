#include "bench/run/runner.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/budget.h"
#include "bench/measure/schedule.h"
#include "bench/measure/statistics.h"
#include "bench/measure/stop_rule.h"
#include "bench/measure/units.h"
#include "bench/run/interrupt.h"
#include "bench/run/ledger.h"
#include "bench/run/prepared.h"
#include "bench/run/validity.h"
#include "bench/run/visit.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

constexpr double kShortStepNs = 100e6;

class Runner {
 public:
  Runner(const Sweep& sweep, const SweepPlan& plan, const SweepRequest& request, Device& device,
         const RunSettings& settings, ResultDocument& document, RunObserver& observer)
      : sweep_(sweep),
        plan_(plan),
        request_(request),
        device_(device),
        settings_(settings),
        document_(document),
        observer_(observer),
        budget_(static_cast<std::int64_t>(plan.share_of_budget *
                                          static_cast<double>(settings.time_budget.count()))),
        rule_({.min_rounds = settings.min_rounds, .budget = budget_}) {}

  // Making points ready can take all of a short budget: those that the others are judged by are timed before
  // any other is made ready.
  void run() {
    for (const bool first : {true, false}) {
      probe_all(first);
      to_come_ = first ? std::ranges::count(plan_.points, false, &SweepPoint::first) : 0;
      run_round(0, [first](const SweepPoint& point) { return point.first == first; });
    }
    const auto every = [](const SweepPoint&) { return true; };
    for (std::int64_t round = 1; round < settings_.max_rounds && !interrupted(); ++round) {
      if (!run_round(round, every)) {
        break;
      }
    }
    finish();
  }

 private:
  struct Active {
    const SweepPoint* point;
    PointCost cost;
  };
  // What is known of a series while it grows.
  struct Series {
    bool closed = false;
    std::string reason;  // why it closed
    std::string status;
    std::int64_t last_batch = 0;
    PointCost last_cost;
  };

  double elapsed_ns() const {
    return static_cast<double>(
        std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now() - start_).count());
  }
  double left_ns() const { return static_cast<double>(budget_.count()) - elapsed_ns(); }

  // As it was given: nobody asked for a part of it.
  std::string named_budget() const {
    const std::string given = format_duration(static_cast<double>(settings_.time_budget.count()));
    return plan_.share_of_budget < 1 ? fmt::format("the {} that points have of the time budget of {}",
                                                   format_percent(plan_.share_of_budget), given)
                                     : fmt::format("the time budget of {}", given);
  }

  void report(const std::string& what, double fraction) {
    RunProgress progress;
    const auto budget = static_cast<double>(budget_.count());
    progress.fraction = std::clamp(std::max(fraction, elapsed_ns() / budget), 0.0, 1.0);
    progress.what = what;
    progress.elapsed = nanoseconds(static_cast<std::int64_t>(elapsed_ns()));
    progress.left = nanoseconds(static_cast<std::int64_t>(std::max(0.0, left_ns())));
    observer_.progress(progress);
  }

  bool finished_earlier(const SweepPoint& point) {
    const MeasuredPoint* const known = ledger_.measured(point.name);
    return known != nullptr && known->stats.rounds >= settings_.min_rounds;
  }

  // Smaller points first, whatever their series, so that a short budget still compares the dtypes.
  void probe_all(bool first) {
    std::vector<const SweepPoint*> order;
    for (const SweepPoint& point : plan_.points) {
      if (point.first == first) {
        order.push_back(&point);
      }
    }
    std::ranges::stable_sort(order, {}, [](const SweepPoint* point) { return point->spec.batch; });
    for (const SweepPoint* point : order) {
      if (interrupted()) {
        return;
      }
      Series& series = series_[point->series];
      if (series.closed) {
        if (!plan_.open_ended) {
          ledger_.set_unmeasured(*point, series.status, series.reason);
        }
        continue;
      }
      if (finished_earlier(*point) || ledger_.in_error(*point)) {
        continue;
      }
      probe(*point, series);
    }
  }

  void close(Series& series, const SweepPoint& point, const std::string& status, const std::string& reason) {
    series.closed = true;
    series.status = status;
    series.reason = reason;
    ledger_.set_unmeasured(point, status, reason);
  }

  // True where the budget has room for the point, judged by the series' previous one.
  bool affordable(const Series& series, const SweepPoint& point) const {
    if (series.last_batch == 0) {
      return left_ns() > 0;
    }
    const double growth = static_cast<double>(point.spec.batch) / static_cast<double>(series.last_batch);
    const PointCost expected{series.last_cost.setup_ns * std::max(1.0, growth / 2),
                             series.last_cost.step_ns * growth};
    std::vector<PointCost> admitted;
    for (const Active& active : active_) {
      admitted.push_back(active.cost);
    }
    // Three rounds bound the spread between rounds only loosely: an open series stops growing early enough
    // for more.
    return admits(admitted, expected, left_ns(), rounds_needed());
  }

  std::int64_t rounds_needed() const {
    return plan_.open_ended ? settings_.growing_rounds
                            : std::min(settings_.min_rounds, settings_.growing_rounds);
  }

  void probe(const SweepPoint& point, Series& series) {
    report("preparing " + point.name, 0);
    if (const auto reason = point.type(request_).unsupported(point.spec, device_)) {
      close(series, point, "unsupported", *reason);
      return;
    }
    try {
      const MemoryPlan plan = point.type(request_).plan(point.spec, device_);
      const std::int64_t predicted = plan.peak;
      if (predicted > settings_.memory_cap) {
        close(series, point, "oom",
              fmt::format("needs {} (predicted), the memory cap is {}", format_bytes(predicted),
                          format_bytes(settings_.memory_cap)));
        return;
      }
      if (!affordable(series, point)) {
        close(series, point, "skipped",
              fmt::format("{} has no room for {} round{} of it; give a larger --time-budget", named_budget(),
                          rounds_needed(), rounds_needed() == 1 ? "" : "s"));
        return;
      }
      admit(point, series, plan);
    } catch (const OutOfMemory& error) {
      close(series, point, "oom", error.what());
    } catch (const Unsupported& error) {  // of this batch; a larger one may do
      ledger_.set_unmeasured(point, "unsupported", error.what());
    } catch (const UsageError&) {
      throw;
    } catch (const DeviceLost& error) {
      failed_.insert(point.name);
      ledger_.lose(point, error.what());
      throw;
    } catch (const std::exception& error) {
      if (!interrupted()) {  // a verification that was broken off proves nothing
        ledger_.set_unmeasured(point, "error", error.what());
      }
    }
  }

  static Json described(const MemoryPlan& plan) {
    Json json = Json::object();
    if (!plan.peak_at.empty()) {
      json = {{"peak_at", plan.peak_at},
              {"setup_peak_bytes", plan.setup_peak},
              {"step_peak_bytes", plan.in_step.total()},
              {"library_bytes", plan.library},
              {"feature_map_bytes", plan.feature_maps}};
    }
    return json;
  }

  // What a library allocates once in a process, tables and its threads' stacks, and never gives back would
  // count as the first point's: 5 MiB with oneDNN. Made and run once, unseen, the points after it can be
  // compared.
  void settle_libraries(const SweepPoint& point) {
    const auto key =
        fmt::format("{}/{}/{}", point.type(request_).name, point.spec.mode, name_of(point.spec.dtype));
    if (settled_.insert(key).second) {
      const auto workload = point.type(request_).make(point.spec, device_);
      workload->timed_step(device_);
    }
  }

  void admit(const SweepPoint& point, Series& series, const MemoryPlan& plan) {
    if (plan.library > 0) {
      settle_libraries(point);
    }
    Verification verification;
    Prepared prepared = prepare_point(point, point.type(request_), device_, Verify::yes, &verification);
    prepared.memory.peak_predicted = plan.peak;
    const Work work = prepared.workload->work();

    MeasuredPoint* known = ledger_.measured(point.name);
    MeasuredPoint fresh;
    MeasuredPoint& entry = known != nullptr ? *known : fresh;
    entry.name = point.name;
    entry.params = point.params;
    entry.items_per_step = work.samples;
    entry.work = {{"flops", work.flops},
                  {"fixed_bytes", work.fixed_bytes},
                  {"sample_bytes", work.sample_bytes},
                  {"launches", work.launches}};
    entry.plan = described(plan);
    entry.memory = prepared.memory;
    entry.verification = {{"error", verification.error},
                          {"tolerance", verification.tolerance},
                          {"detail", verification.detail}};
    if (known == nullptr) {
      pending_[point.name] = fresh;
    }
    series.last_batch = point.spec.batch;
    series.last_cost = {prepared.setup_ns, prepared.warm_step_ns};
    active_.push_back({&point, series.last_cost});
  }

  // One visit to each point that `belongs` and is not yet precise. False when there was nothing left to do,
  // or no time to do it in.
  template <typename Belongs>
  bool run_round(std::int64_t round, Belongs belongs) {
    std::vector<const Active*> wanted;
    for (const Active& active : active_) {
      const MeasuredPoint* const known = ledger_.measured(active.point->name);
      if (belongs(*active.point) && !failed_.contains(active.point->name) &&
          (known == nullptr || !precise(*known))) {
        wanted.push_back(&active);
      }
    }
    if (wanted.empty()) {
      return false;
    }
    const std::vector<std::size_t> order =
        shuffled_round(wanted.size(), settings_.seed, static_cast<std::uint64_t>(round));
    std::size_t done = 0;
    bool visited = false;
    for (const std::size_t index : order) {
      const Active& active = *wanted[index];
      if (interrupted()) {
        return false;
      }
      const bool fits = left_ns() > active.cost.setup_ns + active.cost.step_ns;
      if (round >= settings_.min_rounds ? fits : left_ns() > 0) {
        const auto rounds_left = std::max<std::int64_t>(1, settings_.wanted_rounds - round);
        visit(active, round, slice(wanted, order, done, rounds_left));
        visited = true;
      }
      ++done;
    }
    return visited && left_ns() > 0;
  }

  // Sampling time for the next visit, besides its first sample: what the mandatory visits to come leave over,
  // those to points of the plan that are not ready yet among them.
  double slice(const std::vector<const Active*>& wanted, const std::vector<std::size_t>& order,
               std::size_t done, std::int64_t rounds_left) const {
    double fixed = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto visits = static_cast<double>(i < done ? rounds_left - 1 : rounds_left);
      fixed += visits * minimum_cost_ns(wanted[order[i]]->cost, 1);
    }
    const auto visits_left =
        (static_cast<std::int64_t>(order.size()) + to_come_) * rounds_left - static_cast<std::int64_t>(done);
    return std::min(slice_ns(left_ns(), fixed, visits_left),
                    static_cast<double>(settings_.longest_visit.count()));
  }

  bool precise(const MeasuredPoint& point) const {
    return rule_.decide(point.stats, nanoseconds(static_cast<std::int64_t>(elapsed_ns()))) ==
           Verdict::precise;
  }

  void visit(const Active& active, std::int64_t round, double sampling_ns) {
    const SweepPoint& point = *active.point;
    report(fmt::format("round {}: {}", round + 1, point.name),
           static_cast<double>(round) / static_cast<double>(settings_.max_rounds));
    try {
      Prepared prepared = prepare_point(point, point.type(request_), device_, Verify::no, nullptr);
      // A single short sample could be the one that was interrupted.
      const std::int64_t least = prepared.warm_step_ns < kShortStepNs ? 3 : 1;
      const std::int64_t samples =
          samples_for_visit(prepared.warm_step_ns, nanoseconds(static_cast<std::int64_t>(sampling_ns)),
                            settings_.max_samples, least);
      device_.state();  // what held it back while the workload was made is not the samples' affair
      const Visit taken = run_visit(point.name, *prepared.workload, device_, samples, point.cold);
      if (!taken.samples_ns.empty()) {
        add_visit(point, taken, device_.state());
      }
    } catch (const OutOfMemory& error) {
      // It fitted when probed: what else runs on the machine has grown.
      fail(point, "oom", error.what());
    } catch (const DeviceLost& error) {
      failed_.insert(point.name);
      ledger_.lose(point, error.what());
      throw;
    } catch (const std::exception& error) {
      fail(point, "error", error.what());
    }
  }

  void fail(const SweepPoint& point, const std::string& status, const std::string& reason) {
    failed_.insert(point.name);
    if (ledger_.measured(point.name) == nullptr) {
      ledger_.set_unmeasured(point, status, reason);
    }
  }

  void add_visit(const SweepPoint& point, const Visit& taken, const DeviceState& state) {
    MeasuredPoint* entry = ledger_.measured(point.name);
    if (entry == nullptr) {
      entry = &ledger_.insert(point, pending_.at(point.name));
    }
    const auto old_count = static_cast<double>(entry->samples_ns.size());
    const auto new_count = static_cast<double>(taken.samples_ns.size());
    entry->cpu_time_ns =
        (entry->cpu_time_ns * old_count + taken.cpu_time_ns * new_count) / (old_count + new_count);
    entry->samples_ns.insert(entry->samples_ns.end(), taken.samples_ns.begin(), taken.samples_ns.end());
    if (!taken.notes.empty()) {
      if (entry->notes.is_null()) {
        entry->notes = Json::array();
      }
      for (const Json& note : taken.notes) {
        entry->notes.push_back(note);
      }
    }
    entry->round_sizes.push_back(static_cast<std::int64_t>(taken.samples_ns.size()));
    entry->stats = summarize(entry->samples_ns, entry->round_sizes, settings_.seed);
    judge_.set_validity(*entry, point.spec.dtype, state);
    ledger_.changed();
  }

  // Points that were probed and never timed. Interrupted before the first sample, a run leaves no trace.
  void finish() {
    if (interrupted() && document_.benchmarks.empty()) {
      return;
    }
    for (const Active& active : active_) {
      const SweepPoint& point = *active.point;
      const bool listed = std::ranges::any_of(document_.unmeasured,
                                              [&](const auto& other) { return other.name == point.name; });
      if (ledger_.measured(point.name) == nullptr && !listed) {
        ledger_.set_unmeasured(
            point, "skipped",
            interrupted()
                ? std::string("interrupted before it was timed")
                : fmt::format("{} ended before it was timed; give a larger --time-budget", named_budget()));
      }
    }
    ledger_.changed();
  }

  const Sweep& sweep_;
  const SweepPlan& plan_;
  const SweepRequest& request_;
  Device& device_;
  const RunSettings& settings_;
  ResultDocument& document_;
  RunObserver& observer_;
  nanoseconds budget_;  // the points' share of the one that was given
  StopRule rule_;
  PointLedger ledger_{sweep_, plan_, document_, observer_};
  ValidityJudge judge_{rule_, device_, document_};

  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now() - settings_.already_spent;
  std::vector<Active> active_;
  std::int64_t to_come_ = 0;  // points that are made ready after the next round
  std::map<std::string, Series> series_;
  std::map<std::string, MeasuredPoint> pending_;  // probed, not yet timed
  std::set<std::string> failed_;
  std::set<std::string> settled_;  // workload, mode and dtype
  int refreshes_left_ = 5;         // of the peaks, each up to a second
};

}  // namespace

void run_points(const Sweep& sweep, const SweepPlan& plan, const SweepRequest& request, Device& device,
                const RunSettings& settings, ResultDocument& document, RunObserver& observer) {
  Runner(sweep, plan, request, device, settings, document, observer).run();
}

}  // namespace bench
