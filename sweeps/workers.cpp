// How many loader workers does it take to feed the device, and what limits where none is enough?
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "bench/clock.h"
#include "bench/error.h"
#include "bench/host/host_info.h"
#include "bench/host/interrupt.h"
#include "bench/measure/quote.h"
#include "bench/measure/result_context.h"
#include "bench/registry.h"
#include "bench/run/result_file.h"
#include "bench/sweep.h"
#include "sweeps/workers/batch_result.h"
#include "sweeps/workers/findings.h"
#include "sweeps/workers/options.h"
#include "sweeps/workers/other_cpu_usage.h"
#include "sweeps/workers/plan.h"
#include "sweeps/workers/session.h"

namespace bench::sweeps {
namespace {

struct Interrupted : std::exception {};

// Prints a line when it begins and every two seconds; Ctrl-C ends the work.
loader::ProgressCallback print_now_and_then(const Clock& clock) {
  return [&clock, next = Clock::time_point()](const std::string& what, double fraction) mutable {
    if (interrupted()) {
      throw Interrupted();
    }
    if (clock.now() >= next) {
      next = clock.now() + std::chrono::seconds(2);
      fmt::print(std::cerr, "{}{}\n", what, fraction > 0 ? fmt::format(": {:.0f} %", 100 * fraction) : "");
    }
  };
}

// Measured points, or with --simulate an earlier run's profile alone.
class WorkersSweep final : public Sweep {
 public:
  WorkersSweep(const SweepRequest& request, Device& device)
      : request_(request),
        options_(workers_options(request, device)),
        session_(std::make_shared<Session>(request.clock)) {
    if (simulates(request)) {
      plan_.axes = Json::object();
      check_simulation();
      return;
    }
    for (const char* const name : {"profile", "cores"}) {
      if (request.given_sweep_options.contains(name)) {
        throw UsageError(fmt::format("--{}: belongs to --simulate; give that with it", name));
      }
    }
    known_.setup = options_.setup;
    session_->data_name = known_.setup.data;
    session_->cold = known_.setup.cold;
    session_->storage = known_.setup.storage;
    session_->progress = print_now_and_then(session_->clock);
    plan_ = plan_workers(request, options_, device, session_);
  }

  const SweepPlan& plan() const override { return plan_; }

  void prepare() override {
    constexpr std::int64_t kWorkersPerCore = 16;  // each must be scheduled once more to end
    if (!known_.setup.consumer_on_cores && !others_want_cores(known_.setup.cores, session_->clock)) {
      session_->most_low_priority_workers = kWorkersPerCore * known_.setup.cores;
    }
    try {
      session_->warm();
    } catch (const Unsupported&) {
      // Making a point says so.
    } catch (const Interrupted&) {
      // The run ends before its first point.
    }
  }

  void predict(const RunContext& context, const PlanningEnd& /*end*/) override {
    if (simulates(request_)) {
      simulate_profile();
      known_.host_memory_bytes = static_cast<double>(context.host.memory_bytes);
    }
  }

  void study(SweepStudy& study) override {
    const ResultDocument& document = study.document;
    try {
      known_.setup.found = session_->found();
      known_.setup.found->from_storage =
          part_from_storage(document.benchmarks, known_.setup.found->mean_encoded_bytes);
    } catch (const Unsupported&) {
      // Each point says so.
    }
    known_.points = loader_points(document.benchmarks, known_.setup);
    known_.profile = measure_profile(known_.points, known_.setup);
    if (known_.profile) {
      known_.profile->host = bench::to_json(document.context).at("host");
      known_.profile->software = document.context.software;
      known_.simulated = simulate_measured(known_.points, known_.setup, *known_.profile);
    }
  }

  std::vector<Finding> findings(const ResultDocument& document) const override {
    return workers_findings(evidence_of(document));
  }
  std::vector<TextTable> tables(const ResultDocument& document) const override {
    return workers_tables(evidence_of(document));
  }

  Json to_json() const override {
    Json json = Json::object();
    if (!simulates(request_)) {
      json["loader"] = sweeps::to_json(known_.setup);
    }
    for (const LoaderPoint& point : known_.points.pool) {  // for the picture, which computes nothing
      Json measured = {{"name", point.name},
                       {"workers", point.workers},
                       {"flagged", point.flagged},
                       {"images_per_s", point.samples_per_s.value},
                       {"images_per_s_ci95", {point.samples_per_s.low(), point.samples_per_s.high()}}};
      if (point.au) {
        measured["au"] = point.au->value;
        measured["au_ci95"] = {point.au->low(), point.au->high()};
      }
      json["measured"].push_back(std::move(measured));
    }
    if (known_.profile) {
      json["profile"] = sweeps::to_json(*known_.profile);
    }
    if (known_.simulated) {
      json["simulated"] = sweeps::to_json(*known_.simulated);
    }
    return json;
  }

  void restore(ResultDocument& document) override { restore_points(document); }

 private:
  Evidence evidence_of(const ResultDocument& document) const {
    Evidence evidence = known_;
    evidence.points = loader_points(document.benchmarks, known_.setup);
    evidence.host_memory_bytes = static_cast<double>(document.context.host.memory_bytes);
    for (const std::int64_t workers : options_.workers) {
      if (!evidence.points.pool.empty() && evidence.points.at(workers) == nullptr) {
        evidence.not_measured.push_back(workers);
      }
    }
    return evidence;
  }

  void check_simulation() const {
    if (options_.profile == "none") {
      throw UsageError(
          "--simulate: needs the profile of an earlier run; give --profile FILE, a result of --sweep "
          "workers");
    }
    for (const char* const name : {"data", "element", "layout", "staging", "cold"}) {
      if (request_.given_sweep_options.contains(name)) {
        throw UsageError(fmt::format("--{}: --simulate takes it from the profile; leave it out", name));
      }
    }
    if (!request_.batches.empty()) {
      throw UsageError("--batch: --simulate takes it from the profile; leave it out");
    }
    if (options_.orders.size() > 1) {
      throw UsageError("--order: --simulate takes one value");
    }
    if (request_.given_sweep_options.contains("consumer") && options_.consumer.workload != nullptr) {
      throw UsageError(
          fmt::format("--consumer: {} was given, and --simulate runs no network; accepted with it: a time a "
                      "step such as 40ms, or a batch sweep's result file",
                      quote(request_.sweep_options.at("consumer"))));
    }
  }

  SimulationRequest simulation_request() const {
    const auto given = [&](const char* name) { return request_.given_sweep_options.contains(name); };
    SimulationRequest simulation{
        .gpus = options_.setup.gpus, .required = options_.setup.required, .seed = request_.seed};
    if (request_.sweep_options.at("workers") != "auto") {
      simulation.workers = options_.workers;
    }
    if (options_.cores) {
      simulation.cores = static_cast<int>(*options_.cores);
    }
    if (given("prefetch")) {
      simulation.prefetch = options_.prefetch;
    }
    if (given("order")) {
      simulation.order = options_.orders.front();
    }
    simulation.storage = options_.setup.storage;
    return simulation;
  }

  void simulate_profile() {
    const auto naming_the_option = [&](const std::string& file, const auto& work) {
      try {
        return work();
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("--profile: {}{}", file, error.what()));
      }
    };
    const Json earlier = naming_the_option("", [&] { return read_json(options_.profile); });
    const std::string file = quote(options_.profile) + ": ";
    Profile profile = naming_the_option(file, [&] { return read_profile(earlier); });
    SimulationRequest simulation = simulation_request();
    if (request_.given_sweep_options.contains("consumer")) {
      const auto& steps = options_.consumer.steps;
      simulation.consumer = options_.setup.consumer;
      simulation.step_ns = steps ? static_cast<std::int64_t>(steps->step_ns(profile.pipeline.batch))
                                 : options_.consumer.step_ns;
    }
    known_.profile = naming_the_option(file, [&] { return changed_for(std::move(profile), simulation); });
    known_.simulated = simulate(*known_.profile, simulation);
    try {  // as the file will be written
      ResultDocument document;
      document.sweep.state = to_json();
      static_cast<void>(bench::to_json(document));
    } catch (const std::domain_error&) {
      throw UsageError(fmt::format("--profile: {}the simulation diverged: a value overflowed", file));
    }
  }

  const SweepRequest& request_;
  const WorkersOptions options_;
  std::shared_ptr<Session> session_;
  SweepPlan plan_;
  Evidence known_;  // beyond the points, until study(); with them after it
};

std::string label_of(const SweepRequest& request) {
  if (simulates(request)) {
    const std::string profile = std::filesystem::path(request.sweep_options.at("profile")).stem().string();
    return fmt::format("simulated-{}", profile.starts_with("workers-") ? profile.substr(8) : profile);
  }
  const std::string& consumer = request.sweep_options.at("consumer");
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(consumer, error);
  return consumer == "workload" ? request.workload->name
         : is_file              ? std::filesystem::path(consumer).stem().string()
                                : consumer;
}

const Registration<SweepType> registered{
    SweepType{.name = "workers",
              .question = "How many loader workers feed the device, and what limits it where none is enough?",
              .default_workload = "resnet18",
              .options = workers_command_options(),
              .label = label_of,
              .make = [](const SweepRequest& request, Device& device) -> std::unique_ptr<Sweep> {
                return std::make_unique<WorkersSweep>(request, device);
              }}};

}  // namespace
}  // namespace bench::sweeps
