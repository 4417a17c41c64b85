#include "sweeps/transfer/studies.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <iterator>
#include <memory>
#include <span>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/result/finding.h"
#include "bench/run/remedies.h"
#include "bench/stats/rounds.h"
#include "bench/stats/statistics.h"
#include "bench/text/units.h"
#include "sweeps/transfer/concurrent_runner.h"

namespace bench::sweeps {
namespace {

Estimate estimate_of(std::span<const double> times_ns) {
  return median_estimate(times_ns);
}

// Why the device, the library or the system refused; empty where none did.
std::string refusal_of(const std::function<void()>& measure) {
  try {
    measure();
    return {};
  } catch (const Unsupported& error) {
    return error.what();
  } catch (const OutOfMemory& error) {
    return error.what();
  }
}

// Whether to measure no more: interrupted, or beyond this share of the time budget that is left now, where
// `any` was measured.
auto end_after(const SweepStudy& sweep, double share) {
  return [&sweep, end_ns = std::max(0.0, sweep.left_ns() * (1 - share))](bool any) {
    return sweep.interrupted() || (any && sweep.left_ns() <= end_ns);
  };
}

// Throws Unsupported where no time is left for the rounds that a verdict takes.
void check_time(const SweepStudy& sweep) {
  if (sweep.interrupted()) {
    throw Unsupported("interrupted before there were three rounds");
  }
  if (sweep.left_ns() <= 0) {
    throw Unsupported(fmt::format("the time budget ended before there were three rounds [{}]", give_time()));
  }
}

std::unique_ptr<HostMemory> host_memory(const TransferStudy& study, HostKind kind, std::int64_t bytes) {
  return study.transfers.host_memory(
      {.kind = kind, .bytes = bytes, .node = node_named(study.node, study.transfers)});
}

// ---- pinning ----

struct Made {
  double made_ns = 0;
  double freed_ns = 0;
  double taken_bytes = 0;
};

Made make_and_free(const TransferStudy& study, HostKind kind, std::int64_t bytes) {
  const Clock& clock = study.sweep.request.clock;
  Made made;
  const std::int64_t before = study.transfers.host_bytes_used();
  auto start = clock.now();
  auto memory = host_memory(study, kind, bytes);
  made.made_ns = clock.since_ns(start);
  made.taken_bytes = static_cast<double>(study.transfers.host_bytes_used() - before);
  start = clock.now();
  memory.reset();
  made.freed_ns = clock.since_ns(start);
  return made;
}

std::vector<double> values_of(const std::vector<Made>& all, double Made::*member) {
  std::vector<double> values;
  std::ranges::transform(all, std::back_inserter(values), member);
  return values;
}

PinningCost pinning_cost(const TransferStudy& study, std::int64_t bytes) {
  constexpr int kTimes = 5;
  std::vector<Made> pinned;
  std::vector<Made> pageable;
  PinningCost cost{.bytes = bytes};
  cost.unsupported = refusal_of([&] {
    // In turns, so that a slow moment meets both.
    for (int i = 0; i < kTimes && (i == 0 || study.sweep.left_ns() > 0); ++i) {
      pinned.push_back(make_and_free(study, HostKind::pinned, bytes));
      pageable.push_back(make_and_free(study, HostKind::pageable, bytes));
    }
  });
  if (cost.unsupported.empty()) {
    cost.pin_ns = estimate_of(values_of(pinned, &Made::made_ns));
    cost.unpin_ns = median(values_of(pinned, &Made::freed_ns));
    cost.pageable_ns = median(values_of(pageable, &Made::made_ns));
    cost.free_ns = median(values_of(pageable, &Made::freed_ns));
    cost.taken_bytes =
        std::max<std::int64_t>(0, static_cast<std::int64_t>(median(values_of(pinned, &Made::taken_bytes))));
  }
  return cost;
}

// ---- calls ----

double thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

CallTime call_time(const TransferStudy& study, HostKind kind, CopyDirection direction, std::int64_t bytes) {
  constexpr std::size_t kCalls = 9;
  const Clock& clock = study.sweep.request.clock;
  const Buffer buffer = study.sweep.device.allocate(bytes, MemoryCategory::input);
  const auto host = host_memory(study, kind, bytes);
  const auto queue = study.transfers.copy_queue();
  const bool up = direction == CopyDirection::to_device;
  const Copy copy{.direction = direction,
                  .host = kind,
                  .to = up ? buffer.data() : host->data(),
                  .from = up ? host->data() : buffer.data(),
                  .bytes = bytes};
  std::vector<double> returns;
  std::vector<double> done;
  std::vector<double> cpu;
  for (std::size_t i = 0; i <= kCalls && (i < 2 || study.sweep.left_ns() > 0); ++i) {
    study.transfers.evict(copy.from, bytes);
    study.transfers.evict(copy.to, bytes);
    const double cpu_start = thread_cpu_ns();
    const auto start = clock.now();
    queue->start(copy);
    const double returned = clock.since_ns(start);
    queue->wait();
    const double ended = clock.since_ns(start);
    if (i > 0) {  // the first touches pages and brings the device out of idle
      returns.push_back(returned);
      done.push_back(ended);
      cpu.push_back(thread_cpu_ns() - cpu_start);
    }
  }
  return {.direction = up ? "h2d" : "d2h",
          .kind = kind == HostKind::pinned ? "pinned" : "pageable",
          .bytes = bytes,
          .returns_ns = estimate_of(returns),
          .done_ns = estimate_of(done),
          .cpu_ns = median(cpu)};
}

// ---- steps ----

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
  spec.options["node"] = study.node;
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
  StepSamples samples{};
};

// Throws Unsupported.
std::vector<TimedKind> make_kinds(const TransferStudy& study, std::int64_t bytes) {
  std::vector<TimedKind> kinds;
  for (const char* name : {"pageable", "staged", "pinned"}) {
    check_time(study.sweep);
    TimedKind& kind = kinds.emplace_back(TimedKind{.name = name});
    kind.unsupported = refusal_of([&] {
      kind.in_turn = make_copy(study, bytes, name, "device");
      kind.apart = make_copy(study, bytes, name, "own");
      kind.runner = std::make_unique<ConcurrentRunner>(study.sweep.request.clock,
                                                       [copy = kind.apart.get()] { copy->step(); });
    });
  }
  return kinds;
}

// Everything once, in an order shuffled for each round: a slow moment meets all of it, and no measurement
// always follows the same other one.
void run_round(Device& device, Workload& compute, std::uint64_t seed, std::vector<double>& alone,
               std::vector<TimedKind>& kinds) {
  const auto timed = [&](const std::function<void()>& work) {
    return static_cast<double>(device.time(work));
  };
  std::vector<std::function<void()>> measurements;
  measurements.emplace_back([&] { alone.push_back(timed([&] { compute.step(); })); });
  for (TimedKind& kind : kinds) {
    if (!kind.unsupported.empty()) {
      continue;
    }
    measurements.emplace_back([&] {
      kind.in_turn->before_step();
      kind.samples.copy.push_back(timed([&] { kind.in_turn->step(); }));
    });
    measurements.emplace_back([&] {
      kind.in_turn->before_step();
      kind.samples.serial.push_back(timed([&] {
        kind.in_turn->step();
        compute.step();
      }));
    });
    measurements.emplace_back([&] {
      kind.apart->before_step();
      double compute_ns = 0;
      kind.samples.overlapped.push_back(
          kind.runner->run([&] { compute_ns = timed([&] { compute.step(); }); }));
      kind.samples.compute_overlapped.push_back(compute_ns);
    });
  }
  for (const std::size_t index : shuffled_round(measurements.size(), seed, alone.size())) {
    measurements[index]();
  }
}

// Throws Unsupported and OutOfMemory.
void time_steps(const TransferStudy& study, const WorkloadSpec& spec, double budget_ns, StepStudy& steps) {
  constexpr std::size_t kFewestRounds = 3;
  constexpr std::size_t kMostRounds = 25;
  SweepStudy& sweep = study.sweep;
  check_time(sweep);
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
  check_time(sweep);
  run_round(sweep.device, *compute, sweep.request.seed, alone, kinds);  // a warm-up
  alone.clear();
  std::ranges::for_each(kinds, [](TimedKind& kind) { kind.samples = {}; });
  const auto start = sweep.request.clock.now();
  const auto goes_on = [&] {
    if (alone.size() < kFewestRounds) {
      check_time(sweep);
      return true;
    }
    return alone.size() < kMostRounds && !sweep.interrupted() && sweep.left_ns() > 0 &&
           sweep.request.clock.since_ns(start) < budget_ns;
  };
  while (goes_on()) {
    sweep.report(
        fmt::format("steps of {} with batch {}, round {}", steps.workload, steps.batch, alone.size() + 1));
    run_round(sweep.device, *compute, sweep.request.seed, alone, kinds);
  }
  steps.rounds = static_cast<std::int64_t>(alone.size());
  steps.compute_ns = estimate_of(alone);
  steps.compute_samples = alone;
  for (const TimedKind& kind : kinds) {
    KindSteps& times =
        steps.kinds.emplace_back(KindSteps{.name = kind.name, .unsupported = kind.unsupported});
    if (kind.unsupported.empty()) {
      times.samples = kind.samples;
      times.copy_ns = estimate_of(kind.samples.copy);
      times.serial_ns = estimate_of(kind.samples.serial);
      times.overlapped_ns = estimate_of(kind.samples.overlapped);
      times.compute_overlapped_ns = estimate_of(kind.samples.compute_overlapped);
    }
  }
}

}  // namespace

std::vector<PinningCost> study_pinning(const TransferStudy& study) {
  constexpr double kShareOfBudget = 0.08;
  constexpr std::int64_t kSmallest = 64 << 10;
  constexpr std::int64_t kLargest = std::int64_t{256} << 20;
  const std::int64_t largest = std::min(kLargest, study.sweep.request.largest_cap());
  const auto ends = end_after(study.sweep, kShareOfBudget);
  std::vector<PinningCost> costs;
  for (std::int64_t bytes = kSmallest; bytes <= largest && !ends(!costs.empty()); bytes *= 4) {
    study.sweep.report(fmt::format("pinning {}", format_bytes(bytes)));
    costs.push_back(pinning_cost(study, bytes));
  }
  return costs;
}

std::vector<CallTime> study_calls(const TransferStudy& study) {
  constexpr double kShareOfBudget = 0.04;
  const auto ends = end_after(study.sweep, kShareOfBudget);
  std::vector<CallTime> calls;
  for (const HostKind kind : {HostKind::pinned, HostKind::pageable}) {
    for (const CopyDirection direction : {CopyDirection::to_device, CopyDirection::to_host}) {
      for (const std::int64_t bytes :
           {std::int64_t{4} << 10, std::int64_t{256} << 10, std::int64_t{16} << 20}) {
        if (ends(true)) {
          return calls;
        }
        study.sweep.report(fmt::format("how long a copy of {} holds its thread", format_bytes(bytes)));
        // The points say why where it is refused.
        refusal_of([&] { calls.push_back(call_time(study, kind, direction, bytes)); });
      }
    }
  }
  return calls;
}

StepStudy study_steps(const TransferStudy& study, const WorkloadSpec& spec, double budget_ns) {
  StepStudy steps{.workload = study.sweep.request.workload->name,
                  .mode = spec.mode,
                  .dtype = std::string(name_of(spec.dtype)),
                  .batch = spec.batch};
  study.sweep.report(fmt::format("preparing steps of {} with batch {}", steps.workload, steps.batch));
  steps.unsupported = refusal_of([&] { time_steps(study, spec, budget_ns, steps); });
  return steps;
}

}  // namespace bench::sweeps
