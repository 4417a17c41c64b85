#include "sweeps/transfer/prove.h"

#include <ctime>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/statistics.h"
#include "bench/registry.h"
#include "bench/transfers.h"
#include "sweeps/series/points.h"
#include "sweeps/transfer/beside.h"
#include "sweeps/transfer/model.h"
#include "sweeps/transfer/sizes.h"
#include "sweeps/transfer/studied.h"

namespace bench::sweeps {
namespace {

using Clock = std::chrono::steady_clock;

double since_ns(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double thread_cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

// One sample a round: what changes between them is in the interval.
Json time_of(const std::vector<double>& rounds, std::uint64_t seed) {
  std::vector<std::int64_t> samples;
  samples.reserve(rounds.size());
  for (const double ns : rounds) {
    samples.push_back(std::max<std::int64_t>(1, static_cast<std::int64_t>(ns)));
  }
  const SampleStats stats = summarize(samples, std::vector<std::int64_t>(samples.size(), 1), seed);
  return {{"median_ns", stats.median_ns},
          {"ci95_ns", {std::llround(stats.ci95_ns.low), std::llround(stats.ci95_ns.high)}}};
}

// Of a batch. Getting ready may take the most memory, with no input held yet; an operation's plan knows its
// peak only.
std::int64_t input_bytes(const MemoryPlan& plan) {
  return std::max(plan.in_step[MemoryCategory::input], plan.at_peak[MemoryCategory::input]);
}

// The part of the time budget that each study may take of what is left.
constexpr double kShareOfPinning = 0.08;
constexpr double kShareOfCalls = 0.04;
constexpr double kShareOfSteps = 0.2;

class Prover {
 public:
  Prover(SweepStudy& study, Transfers& transfers)
      : study_(study),
        transfers_(transfers),
        options_(transfer_options(study.request)),
        noted_(study.document.sweep["transfer"]) {}

  void pinning() {
    Json rows = Json::array();
    const double end_ns = study_.left_ns() * (1 - kShareOfPinning);
    const std::int64_t largest = std::min(kLargest, study_.request.largest_cap());
    for (std::int64_t bytes = kSmallest; bytes <= largest; bytes *= 4) {
      if (study_.interrupted() || (study_.left_ns() < end_ns && !rows.empty())) {
        break;
      }
      study_.report(fmt::format("what pinning {} B costs", bytes));
      rows.push_back(pinning_of(bytes));
    }
    noted_["pinning"] = std::move(rows);
    study_.save();
  }

  void calls() {
    Json rows = Json::array();
    const double end_ns = study_.left_ns() * (1 - kShareOfCalls);
    for (const HostKind kind : {HostKind::pinned, HostKind::pageable}) {
      for (const CopyDirection direction : {CopyDirection::to_device, CopyDirection::to_host}) {
        for (const std::int64_t bytes :
             {std::int64_t{4} << 10, std::int64_t{256} << 10, std::int64_t{16} << 20}) {
          if (study_.interrupted() || (study_.left_ns() < end_ns && !rows.empty())) {
            break;
          }
          study_.report(fmt::format("how long a copy of {} B holds the host", bytes));
          try {
            rows.push_back(call_of(kind, direction, bytes));
          } catch (const Unsupported&) {  // the points say why
          } catch (const OutOfMemory&) {
          }
        }
      }
    }
    noted_["calls"] = std::move(rows);
    study_.save();
  }

  void steps() {
    Json rows = Json::array();
    const std::vector<std::int64_t> batches = studied_batches(study_.request, study_.device);
    std::size_t left = batches.size();
    for (const std::int64_t batch : batches) {
      const double budget_ns = kShareOfSteps * study_.left_ns() / static_cast<double>(left--);
      if (study_.interrupted()) {
        break;
      }
      rows.push_back(steps_of(batch, budget_ns));
      noted_["steps"] = rows;
      study_.save();
    }
  }

 private:
  static constexpr std::int64_t kSmallest = 64 << 10;
  static constexpr std::int64_t kLargest = std::int64_t{256} << 20;

  std::optional<int> node() const { return node_named(options_.node, transfers_); }

  struct Made {
    double made_ns = 0;
    double freed_ns = 0;
    std::int64_t taken_bytes = 0;
  };
  Made make_once(HostKind kind, std::int64_t bytes) {
    Made made;
    const std::int64_t before = transfers_.host_bytes_used();
    auto start = Clock::now();
    auto memory = transfers_.host_memory({.kind = kind, .bytes = bytes, .node = node()});
    made.made_ns = since_ns(start);
    made.taken_bytes = transfers_.host_bytes_used() - before;
    start = Clock::now();
    memory.reset();
    made.freed_ns = since_ns(start);
    return made;
  }

  Json pinning_of(std::int64_t bytes) {
    constexpr int kTimes = 5;
    Json row = {{"bytes", bytes}};
    std::vector<double> pin;
    std::vector<double> unpin;
    std::vector<double> make;
    std::vector<double> free;
    std::vector<double> taken;
    try {
      for (int i = 0; i < kTimes; ++i) {  // in turns, so that a slow moment meets both
        const Made pinned = make_once(HostKind::pinned, bytes);
        const Made pageable = make_once(HostKind::pageable, bytes);
        pin.push_back(pinned.made_ns);
        unpin.push_back(pinned.freed_ns);
        taken.push_back(static_cast<double>(pinned.taken_bytes));
        make.push_back(pageable.made_ns);
        free.push_back(pageable.freed_ns);
      }
    } catch (const Unsupported& error) {
      row["unsupported"] = error.what();
      return row;
    } catch (const OutOfMemory& error) {
      row["unsupported"] = error.what();
      return row;
    }
    row["pin_ns"] = *median_of(pin);
    row["unpin_ns"] = *median_of(unpin);
    row["pageable_ns"] = *median_of(make);
    row["free_ns"] = *median_of(free);
    row["taken_bytes"] = std::max<std::int64_t>(0, static_cast<std::int64_t>(*median_of(taken)));
    return row;
  }

  Json call_of(HostKind kind, CopyDirection direction, std::int64_t bytes) {
    constexpr std::size_t kTimes = 9;
    const Buffer buffer = study_.device.allocate(bytes, MemoryCategory::input);
    const auto host = transfers_.host_memory({.kind = kind, .bytes = bytes, .node = node()});
    const auto queue = transfers_.copy_queue();
    const bool up = direction == CopyDirection::to_device;
    const Copy copy{.direction = direction,
                    .host = kind,
                    .to = up ? buffer.data() : host->data(),
                    .from = up ? host->data() : buffer.data(),
                    .bytes = bytes};
    std::vector<double> returns;
    std::vector<double> done;
    std::vector<double> cpu;
    for (std::size_t i = 0; i <= kTimes; ++i) {
      transfers_.evict(copy.from, bytes);
      transfers_.evict(copy.to, bytes);
      const double cpu_start = thread_cpu_ns();
      const auto start = Clock::now();
      queue->start(copy);
      const double returned = since_ns(start);
      queue->wait();
      const double ended = since_ns(start);
      if (i > 0) {  // the first touches pages and wakes the device up
        returns.push_back(returned);
        done.push_back(ended);
        cpu.push_back(thread_cpu_ns() - cpu_start);
      }
    }
    return {{"direction", up ? "h2d" : "d2h"},
            {"host_memory", kind == HostKind::pinned ? "pinned" : "pageable"},
            {"bytes", bytes},
            {"returns_ns", *median_of(returns)},
            {"done_ns", *median_of(done)},
            {"cpu_ns", *median_of(cpu)}};
  }

  std::unique_ptr<Workload> copy_of(std::int64_t bytes, const std::string& kind, const char* queue) {
    const WorkloadType& type = *registry<WorkloadType>().find("copy");
    WorkloadSpec spec;
    spec.mode = "h2d";
    spec.seed = study_.request.seed;
    for (const CommandOption& option : type.options) {
      spec.options[option.name] = option.default_value;
    }
    spec.options["bytes"] = fmt::format("{}B", bytes);
    spec.options["host-memory"] = kind;
    spec.options["queue"] = queue;
    spec.options["node"] = options_.node;
    type.plan(spec, study_.device);  // says why where the host may not lock so much
    return type.make(spec, study_.device);
  }

  struct Kind {
    std::string name;
    std::string unsupported;
    std::unique_ptr<Workload> in_turn;  // the copy as part of the device's work
    std::unique_ptr<Workload> apart;    // beside it
    std::unique_ptr<Beside> beside;
    std::vector<double> copy, serial, together, compute_beside;  // ns
  };

  // Rounds of everything in turn, as many as the time is enough for.
  Json steps_of(std::int64_t batch, double budget_ns) {
    constexpr std::size_t kFewest = 3;
    constexpr std::size_t kMost = 25;
    const WorkloadType& type = *study_.request.workload;
    const WorkloadSpec spec = studied_step(study_.request, batch);
    Json row = {
        {"workload", type.name}, {"mode", spec.mode}, {"dtype", name_of(spec.dtype)}, {"batch", batch}};
    study_.report(fmt::format("preparing steps of {} with batch {}", type.name, batch));
    try {
      if (const auto reason = type.unsupported(spec, study_.device)) {
        throw Unsupported(*reason);
      }
      const std::int64_t bytes = input_bytes(type.plan(spec, study_.device));
      if (bytes <= 0) {
        throw Unsupported(fmt::format("{} takes no input that could be copied", type.name));
      }
      row["bytes"] = bytes;
      const auto compute = type.make(spec, study_.device);
      std::vector<Kind> kinds = make_kinds(bytes);
      std::vector<double> alone;
      run_round(*compute, kinds, alone);  // a warm-up
      forget(kinds, alone);
      const auto start = Clock::now();
      while (alone.size() < kMost && !study_.interrupted() &&
             (alone.size() < kFewest || since_ns(start) < budget_ns)) {
        study_.report(fmt::format("steps of {} with batch {}, round {}", type.name, batch, alone.size() + 1));
        run_round(*compute, kinds, alone);
      }
      if (alone.size() < kFewest) {
        throw Unsupported("interrupted before there were three rounds");
      }
      row["rounds"] = alone.size();
      row["compute"] = time_of(alone, study_.request.seed);
      row["kinds"] = described(kinds);
    } catch (const Unsupported& error) {
      row["unsupported"] = error.what();
    } catch (const OutOfMemory& error) {
      row["unsupported"] = error.what();
    }
    return row;
  }

  std::vector<Kind> make_kinds(std::int64_t bytes) {
    std::vector<Kind> kinds;
    for (const char* name : {"pageable", "staged", "pinned"}) {
      Kind& kind = kinds.emplace_back();
      kind.name = name;
      try {
        kind.in_turn = copy_of(bytes, name, "device");
        kind.apart = copy_of(bytes, name, "own");
        kind.beside = std::make_unique<Beside>([copy = kind.apart.get()] { copy->step(); });
      } catch (const Unsupported& error) {
        kind.unsupported = error.what();
      } catch (const OutOfMemory& error) {
        kind.unsupported = error.what();
      }
    }
    return kinds;
  }

  void run_round(Workload& compute, std::vector<Kind>& kinds, std::vector<double>& alone) {
    Device& device = study_.device;
    alone.push_back(static_cast<double>(device.time([&] { compute.step(); })));
    for (Kind& kind : kinds) {
      if (!kind.unsupported.empty()) {
        continue;
      }
      kind.in_turn->before_step();
      kind.copy.push_back(static_cast<double>(device.time([&] { kind.in_turn->step(); })));
      kind.in_turn->before_step();
      kind.serial.push_back(static_cast<double>(device.time([&] {
        kind.in_turn->step();
        compute.step();
      })));
      kind.apart->before_step();
      double compute_ns = 0;
      kind.together.push_back(
          kind.beside->run([&] { compute_ns = static_cast<double>(device.time([&] { compute.step(); })); }));
      kind.compute_beside.push_back(compute_ns);
    }
  }

  static void forget(std::vector<Kind>& kinds, std::vector<double>& alone) {
    alone.clear();
    for (Kind& kind : kinds) {
      for (auto* samples : {&kind.copy, &kind.serial, &kind.together, &kind.compute_beside}) {
        samples->clear();
      }
    }
  }

  Json described(const std::vector<Kind>& kinds) const {
    Json rows = Json::array();
    for (const Kind& kind : kinds) {
      if (!kind.unsupported.empty()) {
        rows.push_back({{"host_memory", kind.name}, {"unsupported", kind.unsupported}});
        continue;
      }
      const std::uint64_t seed = study_.request.seed;
      rows.push_back({{"host_memory", kind.name},
                      {"copy", time_of(kind.copy, seed)},
                      {"serial", time_of(kind.serial, seed)},
                      {"beside", time_of(kind.together, seed)},
                      {"compute_beside", time_of(kind.compute_beside, seed)}});
    }
    return rows;
  }

  SweepStudy& study_;
  Transfers& transfers_;
  TransferOptions options_;
  Json& noted_;
};

}  // namespace

void note_transfer(const SweepRequest& request, Device& device, ResultDocument& document) {
  const TransferOptions options = transfer_options(request);
  const Transfers* const transfers = transfers_of(device);
  document.sweep["transfer"] = {{"crosses_bus", transfers != nullptr && transfers->crosses_bus()},
                                {"workers", options.workers},
                                {"prefetch", options.prefetch},
                                {"node", options.node}};
}

void prove_transfer(SweepStudy& study) {
  Transfers* const transfers = transfers_of(study.device);
  if (transfers == nullptr) {
    return;
  }
  Prover prover(study, *transfers);
  prover.pinning();
  prover.calls();
  prover.steps();
}

}  // namespace bench::sweeps
