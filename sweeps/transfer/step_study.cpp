#include <algorithm>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "sweeps/transfer/beside.h"
#include "sweeps/transfer/studied.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShareOfSteps = 0.2;  // of what is left of the time budget

// Of a batch. Getting ready may take the most memory, with no input held yet; an operation's plan knows its
// peak only.
std::int64_t input_bytes(const MemoryPlan& plan) {
  return std::max(plan.in_step[MemoryCategory::input], plan.at_peak[MemoryCategory::input]);
}

// A workload's steps with the copy of the next batch before and beside them.
class StepStudies {
 public:
  explicit StepStudies(const TransferStudies& studies) : studies_(studies) {}

  void run() {
    Json rows = Json::array();
    const std::vector<std::int64_t> batches = studied_batches(studies_.sweep.request, studies_.sweep.device);
    std::size_t left = batches.size();
    for (const std::int64_t batch : batches) {
      const double budget_ns = kShareOfSteps * studies_.sweep.left_ns() / static_cast<double>(left--);
      if (studies_.sweep.interrupted()) {
        break;
      }
      rows.push_back(steps_of(batch, budget_ns));
      studies_.noted()["steps"] = rows;
      studies_.sweep.save();
    }
  }

 private:
  std::unique_ptr<Workload> copy_of(std::int64_t bytes, const std::string& kind, const char* queue) {
    const WorkloadType& type = *registry<WorkloadType>().find("copy");
    WorkloadSpec spec;
    spec.mode = "h2d";
    spec.seed = studies_.sweep.request.seed;
    for (const CommandOption& option : type.options) {
      spec.options[option.name] = option.default_value;
    }
    spec.options["bytes"] = fmt::format("{}B", bytes);
    spec.options["host-memory"] = kind;
    spec.options["queue"] = queue;
    spec.options["node"] = studies_.options.node;
    type.plan(spec, studies_.sweep.device);  // says why where the host may not lock so much
    return type.make(spec, studies_.sweep.device);
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
    const WorkloadType& type = *studies_.sweep.request.workload;
    const WorkloadSpec spec = studied_step(studies_.sweep.request, batch);
    Json row = {
        {"workload", type.name}, {"mode", spec.mode}, {"dtype", name_of(spec.dtype)}, {"batch", batch}};
    studies_.sweep.report(fmt::format("preparing steps of {} with batch {}", type.name, batch));
    try {
      if (const auto reason = type.unsupported(spec, studies_.sweep.device)) {
        throw Unsupported(*reason);
      }
      const std::int64_t bytes = input_bytes(type.plan(spec, studies_.sweep.device));
      if (bytes <= 0) {
        throw Unsupported(fmt::format("{} takes no input that could be copied", type.name));
      }
      row["bytes"] = bytes;
      const auto compute = type.make(spec, studies_.sweep.device);
      std::vector<Kind> kinds = make_kinds(bytes);
      std::vector<double> alone;
      run_round(*compute, kinds, alone);  // a warm-up
      forget(kinds, alone);
      const auto start = Clock::now();
      while (alone.size() < kMost && !studies_.sweep.interrupted() &&
             (alone.size() < kFewest || since_ns(start) < budget_ns)) {
        studies_.sweep.report(
            fmt::format("steps of {} with batch {}, round {}", type.name, batch, alone.size() + 1));
        run_round(*compute, kinds, alone);
      }
      if (alone.size() < kFewest) {
        throw Unsupported("interrupted before there were three rounds");
      }
      row["rounds"] = alone.size();
      row["compute"] = time_of(alone, studies_.sweep.request.seed);
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
    Device& device = studies_.sweep.device;
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
      const std::uint64_t seed = studies_.sweep.request.seed;
      rows.push_back({{"host_memory", kind.name},
                      {"copy", time_of(kind.copy, seed)},
                      {"serial", time_of(kind.serial, seed)},
                      {"beside", time_of(kind.together, seed)},
                      {"compute_beside", time_of(kind.compute_beside, seed)}});
    }
    return rows;
  }

  const TransferStudies& studies_;
};

}  // namespace

void study_steps(const TransferStudies& studies) {
  StepStudies(studies).run();
}

}  // namespace bench::sweeps
