#include "bench/run/runner.h"

#include <algorithm>
#include <exception>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/result/finding.h"
#include "bench/result/sessions.h"
#include "bench/run/google_benchmark.h"
#include "bench/run/machine_watch.h"
#include "bench/run/point_preparer.h"
#include "bench/run/result_recorder.h"
#include "bench/stats/budget.h"
#include "bench/stats/rounds.h"

namespace bench {
namespace {

// A single shorter sample could be the one that was interrupted.
constexpr double kShortStepNs = 100e6;
constexpr std::int64_t kLeastShortSamples = 3;
// Preparing a point and writing the file take longer than so much sampling.
constexpr double kFreeNs = 2e6;

class Runner {
 public:
  Runner(const SweepPlan& plan, Device& device, const Clock& clock, const RunSettings& settings,
         ResultDocument& document, RunObserver& observer)
      : plan_(plan),
        device_(device),
        clock_(clock),
        settings_(settings),
        document_(document),
        observer_(observer),
        budget_(clock, settings.started, settings.time_budget, plan.share_of_budget),
        rule_{.least_rounds = settings.least_rounds},
        recorder_(plan, device, rule_, document, observer),
        preparer_(plan, device, clock, settings, budget_, observer) {}

  // The first round: each point is timed as soon as it is ready.
  void prepare_all() {
    const std::vector<const SweepPoint*> order = preparation_order();
    order_ = 0;
    for (std::size_t i = 0; i < order.size() && !interrupted(); ++i) {
      to_come_ = order.size() - i - 1;
      prepare(*order[i], i + 1);
    }
    to_come_ = 0;
  }

  // Of how many rounds the point with the fewest has its repetition, at least that of its preparation: those
  // that an earlier run measured more often wait until the others have as many.
  std::int64_t rounds_done() {
    std::int64_t least = settings_.rounds.at_most;
    for (const ReadyPoint& ready : ready_points_) {
      if (!is_finished(*ready.point)) {
        least = std::min(least, rounds_of(*ready.point));
      }
    }
    return std::max<std::int64_t>(1, least);
  }

  // One repetition of each point that is not yet precise and has had none in this round. False when there was
  // nothing left to do, or no time to do it in.
  bool run_round(std::int64_t round) {
    std::vector<const ReadyPoint*> wanted;
    for (const ReadyPoint& ready : ready_points_) {
      if (!failed_.contains(ready.point->name) && !is_finished(*ready.point) &&
          rounds_of(*ready.point) <= round) {
        wanted.push_back(&ready);
      }
    }
    std::vector<const ReadyPoint*> order;
    std::vector<PointCost> costs;
    for (const std::size_t index :
         shuffled_round(wanted.size(), settings_.seed, static_cast<std::uint64_t>(round))) {
      order.push_back(wanted[index]);
      costs.push_back(wanted[index]->cost);
    }
    bool any = false;
    order_ = 0;
    for (std::size_t done = 0; done < order.size(); ++done) {
      if (interrupted()) {
        return false;
      }
      const bool fits = budget_.left_ns() > minimum_cost_ns(costs[done], 1);
      if (round >= settings_.least_rounds ? fits : budget_.left_ns() > 0) {
        repeat(*order[done], round, sampling_ns(costs, done, round));
        any = true;
      }
    }
    return any && budget_.left_ns() > 0;
  }

  // Points that were prepared and never timed. Interrupted before the first sample, a run leaves no trace.
  void list_untimed(const std::string& why) {
    if (interrupted() && measured_points(document_).empty()) {
      return;
    }
    for (const ReadyPoint& ready : ready_points_) {
      const std::string& name = ready.point->name;
      if (recorder_.measured(name) == nullptr && recorder_.unmeasured(name) == nullptr) {
        recorder_.set_unmeasured(*ready.point, "skipped", why);
      }
    }
  }

  std::string budget_name() const { return budget_.name(); }
  std::map<std::string, SeriesCost> costs() const { return preparer_.costs(); }

 private:
  struct ReadyPoint {
    const SweepPoint* point;
    PointCost cost;
    Point entry;  // what is known before the first sample
  };

  // Reference points first, then those that are needed; smaller points before larger ones, whatever their
  // series, so that a short budget still compares the dtypes. Before all of them those that no earlier run
  // measured: a new point is why a run goes on.
  std::vector<const SweepPoint*> preparation_order() {
    std::vector<const SweepPoint*> order;
    for (const SweepPoint& point : plan_.points) {
      order.push_back(&point);
    }
    std::ranges::stable_sort(order, {}, [this](const SweepPoint* point) {
      return std::tuple(rounds_of(*point) > 0, !point->is_reference, !point->is_needed, point->spec.batch);
    });
    return order;
  }

  void prepare(const SweepPoint& point, std::size_t number) {
    if (const auto refusal = preparer_.ended_before(point)) {
      if (!plan_.open_ended) {
        refuse(point, *refusal);
      }
      return;
    }
    const UnmeasuredPoint* const refused = recorder_.unmeasured(point.name);
    if (is_finished(point) || (refused != nullptr && refused->status == "error")) {
      return;
    }
    const auto report = [&](const char* action) {
      observer_.progress(
          budget_.progress(fmt::format("{} {} ({} of {})", action, point.name, number, plan_.points.size())));
    };
    guarded(point, [&] {
      auto outcome = preparer_.prepare(point, ready_costs(), report);
      if (const auto* const refusal = std::get_if<Refusal>(&outcome)) {
        return refuse(point, *refusal);
      }
      auto& prepared = std::get<PreparedPoint>(outcome);
      ready_points_.push_back({&point, prepared.made.cost, std::move(prepared.entry)});
      // A run without a figure answers nothing.
      const bool is_needed = point.is_needed || measured_points(document_).empty();
      if ((budget_.left_ns() > 0 || is_needed) && !interrupted()) {
        const std::vector<PointCost> costs = ready_costs();
        sample(ready_points_.back(), prepared.made, 0, sampling_ns(costs, costs.size() - 1, 0));
      }
    });
  }

  // A point that an earlier run measured keeps its rounds.
  void refuse(const SweepPoint& point, const Refusal& refusal) {
    if (recorder_.measured(point.name) == nullptr) {
      recorder_.set_unmeasured(point, refusal.status, refusal.reason);
    }
  }

  // Those of an earlier run count.
  std::int64_t rounds_of(const SweepPoint& point) {
    const Point* const known = recorder_.measured(point.name);
    return known == nullptr ? 0 : known->stats.rounds;
  }
  bool is_finished(const SweepPoint& point) {
    const Point* const known = recorder_.measured(point.name);
    return known != nullptr &&
           (StopRule::precise(known->stats) || known->stats.rounds >= settings_.rounds.at_most);
  }

  void repeat(const ReadyPoint& ready, std::int64_t round, double sampling_ns) {
    observer_.progress(
        budget_.progress(fmt::format("round {}: {}", round + 1, ready.point->name),
                         static_cast<double>(round) / static_cast<double>(settings_.rounds.at_most)));
    guarded(*ready.point, [&] {
      sample(ready, make_warm(*ready.point, device_, clock_, MeasureMemory::no), round, sampling_ns);
    });
  }

  void sample(const ReadyPoint& ready, const WarmWorkload& made, std::int64_t round, double sampling_ns) {
    const SweepPoint& point = *ready.point;
    const double step_ns = made.cost.step_ns;
    const std::int64_t samples = samples_for_repetition(step_ns, sampling_ns, settings_.rounds.samples,
                                                        step_ns < kShortStepNs ? kLeastShortSamples : 1);
    device_.state();  // what throttled the device before says nothing of these samples
    MeasuredRound place{.session = settings_.session.index, .round = round, .order = order_++};
    place.start_ns = std::chrono::nanoseconds(clock_.now() - settings_.session.started).count();
    Repetition taken = run_repetition(point.name, *made.workload, device_, samples, point.cold);
    if (taken.samples_ns.empty()) {
      return;
    }
    DeviceState state = device_.state();
    if (point.oversubscribes_cores) {
      std::erase(state.throttle_reasons, kContentionReason);
    }
    if (settings_.session.watch != nullptr) {
      settings_.session.watch->describe(place);
    }
    recorder_.add_repetition(point, ready.entry, std::move(taken), state, std::move(place));
  }

  // A failure of one point is its result, and the others go on; without the device, or without the data that
  // all points read, none does.
  template <class Action>
  void guarded(const SweepPoint& point, const Action& action) {
    try {
      action();
    } catch (const OutOfMemory& error) {  // it fitted when prepared: other programs use more than then
      fail(point, "oom", error.what());
    } catch (const Unsupported& error) {  // of this size; a larger one may do
      fail(point, "unsupported", error.what());
    } catch (const UsageError&) {
      throw;
    } catch (const DeviceLost& error) {
      failed_.insert(point.name);
      recorder_.lose(point, error.what());
      throw;
    } catch (const std::exception& error) {
      if (!interrupted()) {  // a verification that was broken off proves nothing
        fail(point, "error", error.what());
      }
    }
  }

  void fail(const SweepPoint& point, const std::string& status, const std::string& reason) {
    failed_.insert(point.name);
    if (recorder_.measured(point.name) == nullptr) {
      recorder_.set_unmeasured(point, status, reason);
    }
  }

  std::vector<PointCost> ready_costs() const {
    std::vector<PointCost> costs;
    for (const ReadyPoint& ready : ready_points_) {
      costs.push_back(ready.cost);
    }
    return costs;
  }

  // Sampling time for the next repetition, besides its first sample: its share of the time that the wanted
  // rounds leave after every point's setup and first sample. The first `done` points have had their
  // repetition in this round. At least a little: short samples up to the most of a repetition cost next to
  // nothing, and three tell little.
  double sampling_ns(const std::vector<PointCost>& costs, std::size_t done, std::int64_t round) const {
    const std::int64_t rounds = std::max<std::int64_t>(1, settings_.wanted_rounds - round);
    double fixed = 0;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      fixed += minimum_cost_ns(costs[i], i < done ? rounds - 1 : rounds);
    }
    const std::int64_t repetitions =
        static_cast<std::int64_t>(costs.size() + to_come_) * rounds - static_cast<std::int64_t>(done);
    return std::min(std::max(kFreeNs, slice_ns(budget_.left_ns(), fixed, repetitions)),
                    static_cast<double>(settings_.longest_repetition.count()));
  }

  const SweepPlan& plan_;
  Device& device_;
  const Clock& clock_;
  const RunSettings& settings_;
  ResultDocument& document_;
  RunObserver& observer_;
  RunBudget budget_;
  StopRule rule_;
  ResultRecorder recorder_;
  PointPreparer preparer_;
  std::vector<ReadyPoint> ready_points_;
  std::set<std::string> failed_;  // names of points that are not repeated any more
  std::size_t to_come_ = 0;       // points that may still become ready
  std::int64_t order_ = 0;        // repetitions of this round so far
};

}  // namespace

void conclude(const Sweep& sweep, ResultDocument& document) {
  document.findings = sweep.findings(document);
  document.sweep.state = sweep.to_json();
}

std::map<std::string, SeriesCost> run_points(const Sweep& sweep, const SweepPlan& plan, Device& device,
                                             const Clock& clock, const RunSettings& settings,
                                             ResultDocument& document, RunObserver& observer) {
  Runner runner(plan, device, clock, settings, document, observer);
  try {
    runner.prepare_all();
    conclude(sweep, document);
    for (std::int64_t round = runner.rounds_done(); round < settings.rounds.at_most && !interrupted();
         ++round) {
      const bool goes_on = runner.run_round(round);
      conclude(sweep, document);
      if (!goes_on) {
        break;
      }
    }
    runner.list_untimed(
        interrupted() ? std::string(kBrokenOff)
                      : fmt::format("{} ended after preparation, before timing; give a larger --time-budget",
                                    runner.budget_name()));
    conclude(sweep, document);
    observer.changed(document);
    return runner.costs();
  } catch (const DeviceLost&) {
    conclude(sweep, document);
    observer.changed(document);
    throw;
  } catch (...) {  // data that is gone, a file that cannot be written
    conclude(sweep, document);
    try {
      observer.changed(document);
    } catch (const std::exception&) {
      // The first failure says why the run ends.
    }
    throw;
  }
}

}  // namespace bench
