#include "bench/run/runner.h"

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/budget.h"
#include "bench/measure/schedule.h"
#include "bench/measure/statistics.h"
#include "bench/measure/stop_rule.h"
#include "bench/run/interrupt.h"
#include "bench/run/ledger.h"
#include "bench/run/prepared.h"
#include "bench/run/probe.h"
#include "bench/run/run_clock.h"
#include "bench/run/validity.h"
#include "bench/run/visit.h"

namespace bench {
namespace {

using std::chrono::nanoseconds;

constexpr double kShortStepNs = 100e6;
// Making a point ready and writing the file take longer: samples of so much in all are as good as free.
constexpr double kFreeNs = 2e6;

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
        clock_(plan, settings),
        rule_({.min_rounds = settings.min_rounds,
               .trusted_rounds = settings.trusted_rounds,
               .budget = clock_.budget()}) {}

  // Making points ready can take all of a short budget: those that the others are judged by are timed before
  // any other is made ready, and each of them before the next.
  void run() {
    std::size_t timed = 0;
    prober_.probe_all(true, [&] {
      if (admitted_.points.size() == timed) {
        return;  // it could not be made ready
      }
      timed = admitted_.points.size();
      to_come_ = std::ssize(plan_.points) - std::ssize(admitted_.points);
      run_round(
          0, [newest = admitted_.points.back().point](const SweepPoint& point) { return &point == newest; });
    });
    prober_.probe_all(false, [] {});
    to_come_ = 0;
    run_round(0, [](const SweepPoint& point) { return !point.first; });
    const auto every = [](const SweepPoint&) { return true; };
    for (std::int64_t round = 1; round < settings_.max_rounds && !interrupted(); ++round) {
      if (!run_round(round, every)) {
        break;
      }
    }
    finish(interrupted() ? std::string("interrupted before it was timed")
                         : fmt::format("{} ended before it was timed; give a larger --time-budget",
                                       clock_.named_budget()));
  }

 private:
  // One visit to each point that `belongs` and is not yet precise. False when there was nothing left to do,
  // or no time to do it in.
  template <typename Belongs>
  bool run_round(std::int64_t round, Belongs belongs) {
    std::vector<const Admitted::Point*> wanted;
    for (const Admitted::Point& active : admitted_.points) {
      const MeasuredPoint* const known = ledger_.measured(active.point->name);
      if (belongs(*active.point) && !admitted_.failed.contains(active.point->name) &&
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
      const Admitted::Point& active = *wanted[index];
      if (interrupted()) {
        return false;
      }
      const bool fits = clock_.left_ns() > active.cost.setup_ns + active.cost.step_ns;
      if (round >= settings_.min_rounds ? fits : clock_.left_ns() > 0) {
        const auto rounds_left = std::max<std::int64_t>(1, settings_.wanted_rounds - round);
        visit(active, round, slice(wanted, order, done, rounds_left));
        visited = true;
      }
      ++done;
    }
    return visited && clock_.left_ns() > 0;
  }

  // Sampling time for the next visit, besides its first sample: what the mandatory visits to come leave over,
  // those to points of the plan that are not ready yet among them. Never nothing: short samples up to the
  // most of a visit add little to it, and three tell little.
  double slice(const std::vector<const Admitted::Point*>& wanted, const std::vector<std::size_t>& order,
               std::size_t done, std::int64_t rounds_left) const {
    double fixed = 0;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const auto visits = static_cast<double>(i < done ? rounds_left - 1 : rounds_left);
      fixed += visits * minimum_cost_ns(wanted[order[i]]->cost, 1);
    }
    const auto visits_left =
        (static_cast<std::int64_t>(order.size()) + to_come_) * rounds_left - static_cast<std::int64_t>(done);
    return std::min(std::max(kFreeNs, slice_ns(clock_.left_ns(), fixed, visits_left)),
                    static_cast<double>(settings_.longest_visit.count()));
  }

  bool precise(const MeasuredPoint& point) const {
    return rule_.decide(point.stats, nanoseconds(static_cast<std::int64_t>(clock_.elapsed_ns()))) ==
           Verdict::precise;
  }

  void visit(const Admitted::Point& active, std::int64_t round, double sampling_ns) {
    const SweepPoint& point = *active.point;
    observer_.progress(
        clock_.progress(fmt::format("round {}: {}", round + 1, point.name),
                        static_cast<double>(round) / static_cast<double>(settings_.max_rounds)));
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
        DeviceState state = device_.state();
        if (point.crowds_cores) {
          std::erase(state.throttle_reasons, "cpu_contention");
        }
        add_visit(point, taken, state);
      }
    } catch (const OutOfMemory& error) {
      // It fitted when probed: what else runs on the machine has grown.
      fail(point, "oom", error.what());
    } catch (const DeviceLost& error) {
      admitted_.failed.insert(point.name);
      ledger_.lose(point, error.what());
      throw;
    } catch (const UsageError&) {  // what all points read is gone: no other one would fare better
      finish("the run broke off before it was timed");
      throw;
    } catch (const std::exception& error) {
      fail(point, "error", error.what());
    }
  }

  void fail(const SweepPoint& point, const std::string& status, const std::string& reason) {
    admitted_.failed.insert(point.name);
    if (ledger_.measured(point.name) == nullptr) {
      ledger_.set_unmeasured(point, status, reason);
    }
  }

  void add_visit(const SweepPoint& point, const Visit& taken, const DeviceState& state) {
    MeasuredPoint* entry = ledger_.measured(point.name);
    if (entry == nullptr) {
      entry = &ledger_.insert(point, admitted_.pending.at(point.name));
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
  void finish(const std::string& why) {
    if (interrupted() && document_.benchmarks.empty()) {
      return;
    }
    for (const Admitted::Point& active : admitted_.points) {
      const SweepPoint& point = *active.point;
      const bool listed = std::ranges::any_of(document_.unmeasured,
                                              [&](const auto& other) { return other.name == point.name; });
      if (ledger_.measured(point.name) == nullptr && !listed) {
        ledger_.set_unmeasured(point, "skipped", why);
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
  RunClock clock_;
  StopRule rule_;
  PointLedger ledger_{sweep_, plan_, document_, observer_};
  ValidityJudge judge_{rule_, device_, document_};

  Admitted admitted_;
  Prober prober_{plan_, request_, device_, settings_, clock_, ledger_, admitted_, observer_};
  std::int64_t to_come_ = 0;  // points that are made ready after the next round
};

}  // namespace

void run_points(const Sweep& sweep, const SweepPlan& plan, const SweepRequest& request, Device& device,
                const RunSettings& settings, ResultDocument& document, RunObserver& observer) {
  Runner(sweep, plan, request, device, settings, document, observer).run();
}

}  // namespace bench
