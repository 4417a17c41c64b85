#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/statistics.h"
#include "bench/registry.h"
#include "sweeps/transfer/concurrent_runner.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {
namespace {

constexpr std::size_t kFewestRounds = 3;
constexpr std::size_t kMostRounds = 25;

// Input of one batch. The peak may lie in the setup, before any input is held; an operation's plan has its
// peak only.
std::int64_t input_bytes(const MemoryPlan& plan) {
  return std::max(plan.in_step[MemoryCategory::input], plan.at_peak[MemoryCategory::input]);
}

std::unique_ptr<Workload> make_copy(const TransferStudy& study, std::int64_t bytes, const std::string& kind,
                                    const char* queue) {
  const WorkloadType& type = *registry<WorkloadType>().find("copy");
  WorkloadSpec spec;
  spec.mode = "h2d";
  spec.seed = study.sweep.request.seed;
  for (const CommandOption& option : type.options) {
    spec.options[option.name] = option.default_value;
  }
  spec.options["bytes"] = fmt::format("{}B", bytes);
  spec.options["host-memory"] = kind;
  spec.options["queue"] = queue;
  spec.options["node"] = study.options.node;
  const auto configured = type.configure(spec);
  configured->plan(study.sweep.device);  // says why where the host may not lock so much
  return configured->make(study.sweep.device);
}

// The copies from one kind of host memory, and the times of their steps.
struct TimedKind {
  std::string name;
  std::string unsupported{};
  std::unique_ptr<Workload> in_turn{};  // the copy as part of the device's work
  std::unique_ptr<Workload> apart{};    // on a queue of its own
  std::unique_ptr<ConcurrentRunner> runner{};
  std::vector<double> copy{}, serial{}, overlapped{}, compute_overlapped{};  // ns

  void clear() {
    for (auto* times : {&copy, &serial, &overlapped, &compute_overlapped}) {
      times->clear();
    }
  }
};

std::vector<TimedKind> make_kinds(const TransferStudy& study, std::int64_t bytes) {
  std::vector<TimedKind> kinds;
  for (const char* name : {"pageable", "staged", "pinned"}) {
    TimedKind& kind = kinds.emplace_back(TimedKind{.name = name});
    try {
      kind.in_turn = make_copy(study, bytes, name, "device");
      kind.apart = make_copy(study, bytes, name, "own");
      kind.runner =
          std::make_unique<ConcurrentRunner>(study.sweep.clock, [copy = kind.apart.get()] { copy->step(); });
    } catch (const Unsupported& error) {
      kind.unsupported = error.what();
    } catch (const OutOfMemory& error) {
      kind.unsupported = error.what();
    }
  }
  return kinds;
}

// Everything in turn, so that a slow moment meets all of it.
void run_round(Device& device, Workload& compute, std::vector<double>& alone, std::vector<TimedKind>& kinds) {
  const auto timed = [&](const std::function<void()>& work) {
    return static_cast<double>(device.time(work));
  };
  alone.push_back(timed([&] { compute.step(); }));
  for (TimedKind& kind : kinds) {
    if (!kind.unsupported.empty()) {
      continue;
    }
    kind.in_turn->before_step();
    kind.copy.push_back(timed([&] { kind.in_turn->step(); }));
    kind.in_turn->before_step();
    kind.serial.push_back(timed([&] {
      kind.in_turn->step();
      compute.step();
    }));
    kind.apart->before_step();
    double compute_ns = 0;
    kind.overlapped.push_back(kind.runner->run([&] { compute_ns = timed([&] { compute.step(); }); }));
    kind.compute_overlapped.push_back(compute_ns);
  }
}

// Throws Unsupported and OutOfMemory.
void time_steps(const TransferStudy& study, const WorkloadSpec& spec, double budget_ns, StepStudy& steps) {
  SweepStudy& sweep = study.sweep;
  const auto configured = sweep.request.workload->configure(spec);
  if (const auto reason = configured->unsupported(sweep.device)) {
    throw Unsupported(*reason);
  }
  steps.bytes = input_bytes(configured->plan(sweep.device));
  if (steps.bytes <= 0) {
    throw Unsupported(fmt::format("{} takes no input that could be copied", steps.workload));
  }
  const auto compute = configured->make(sweep.device);
  std::vector<TimedKind> kinds = make_kinds(study, steps.bytes);
  std::vector<double> alone;
  run_round(sweep.device, *compute, alone, kinds);  // a warm-up
  alone.clear();
  std::ranges::for_each(kinds, &TimedKind::clear);
  const auto start = sweep.clock.now();
  while (alone.size() < kMostRounds && !sweep.interrupted() &&
         (alone.size() < kFewestRounds || sweep.clock.since_ns(start) < budget_ns)) {
    sweep.report(
        fmt::format("steps of {} with batch {}, round {}", steps.workload, steps.batch, alone.size() + 1));
    run_round(sweep.device, *compute, alone, kinds);
  }
  if (alone.size() < kFewestRounds) {
    throw Unsupported("interrupted before there were three rounds");
  }
  steps.rounds = static_cast<std::int64_t>(alone.size());
  steps.compute_ns = median_estimate(alone, study.sweep.request.seed);
  for (const TimedKind& kind : kinds) {
    KindSteps& times =
        steps.kinds.emplace_back(KindSteps{.name = kind.name, .unsupported = kind.unsupported});
    if (kind.unsupported.empty()) {
      times.copy_ns = median_estimate(kind.copy, study.sweep.request.seed);
      times.serial_ns = median_estimate(kind.serial, study.sweep.request.seed);
      times.overlapped_ns = median_estimate(kind.overlapped, study.sweep.request.seed);
      times.compute_overlapped_ns = median_estimate(kind.compute_overlapped, study.sweep.request.seed);
    }
  }
}

}  // namespace

StepStudy study_steps(const TransferStudy& study, const WorkloadSpec& spec, double budget_ns) {
  StepStudy steps{.workload = study.sweep.request.workload->name,
                  .mode = spec.mode,
                  .dtype = std::string(name_of(spec.dtype)),
                  .batch = spec.batch};
  study.sweep.report(fmt::format("preparing steps of {} with batch {}", steps.workload, steps.batch));
  try {
    time_steps(study, spec, budget_ns, steps);
  } catch (const Unsupported& error) {
    steps.unsupported = error.what();
  } catch (const OutOfMemory& error) {
    steps.unsupported = error.what();
  }
  return steps;
}

}  // namespace bench::sweeps
