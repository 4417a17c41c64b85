// How many loader workers does it take to feed the device, and what limits where none is enough?
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "bench/clock.h"
#include "bench/error.h"
#include "bench/host/cpu_usage.h"
#include "bench/host/host_info.h"
#include "bench/host/interrupt.h"
#include "bench/predicted_step.h"
#include "bench/registry.h"
#include "bench/result/result_context.h"
#include "bench/run/result_file.h"
#include "bench/sweep.h"
#include "bench/text/quote.h"
#include "sweeps/series/points.h"
#include "sweeps/workers/answer.h"
#include "sweeps/workers/load_times.h"
#include "sweeps/workers/options.h"
#include "sweeps/workers/pipeline.h"
#include "sweeps/workers/session.h"

namespace bench::sweeps {
namespace {

// Prints a line when it begins and every two seconds; Ctrl-C ends the work.
loader::ProgressCallback print_now_and_then(const Clock& clock) {
  return [&clock, next = Clock::time_point()](const std::string& what, double fraction) mutable {
    stop_if_interrupted("the images were read");
    if (clock.now() >= next) {
      next = clock.now() + std::chrono::seconds(2);
      fmt::print(std::cerr, "{}{}\n", what, fraction > 0 ? fmt::format(": {:.0f} %", 100 * fraction) : "");
    }
  };
}

// "needs 112 MiB, the memory cap is 100 MiB [smaller --batch]"; empty where the document has no such point.
std::string why_no_ready_data(const ResultDocument& document) {
  for (const UnmeasuredPoint& point : document.unmeasured) {
    const auto loader = point.params.find("loader");
    if (loader != point.params.end() && *loader == "ready") {
      const std::string reason = printable(point.reason, 120);
      return point.status == "oom" ? reason + " [smaller --batch]" : "was not measured: " + reason;
    }
  }
  return "";
}

const char* name_of(HostKind kind) {
  return kind == HostKind::pinned ? "pinned" : "pageable";
}

// Part of every point's params, so that --resume does not mix points from before and after a folder changed.
// Images that the program makes never change, and may not have been made yet.
std::string contents_in(LoaderSession& session) {
  if (session.data_name == "synthetic" || session.data_name == "synthetic:heavy") {
    return "";
  }
  try {
    return loader::contents_of(session.data());
  } catch (const Unsupported&) {
    return "";  // making a point says so
  }
}

// The scalability law is fitted to the loader alone at these counts.
std::vector<std::int64_t> capacity_workers(std::int64_t cores) {
  std::vector<std::int64_t> counts = {1};
  if (cores > 3) {
    counts.push_back(cores / 2);
  }
  if (cores > 1) {
    counts.push_back(cores);
  }
  counts.push_back(2 * cores);
  counts.push_back(4 * cores);
  return counts;
}

// The order that lets a short run answer: two cheap counts to compare first. Without workers a step loads and
// computes in turn and takes the longest; many workers have long windows. `growing`: the counts.
std::vector<std::int64_t> in_order_of_cost(std::vector<std::int64_t> growing) {
  if (!growing.empty() && growing.front() == 0) {
    constexpr std::size_t kCheaper = 2;
    const auto end = static_cast<std::ptrdiff_t>(std::min(1 + kCheaper, growing.size()));
    std::rotate(growing.begin(), growing.begin() + 1, growing.begin() + end);
  }
  return growing;
}

// Ready data, the pool at each worker count, and the loader alone at few.
SweepPlan plan_workers(const SweepRequest& request, const WorkersOptions& options, const Device& device,
                       const std::shared_ptr<LoaderSession>& session) {
  SweepPlan plan;
  plan.rounds = {.at_most = 24, .samples = 8};
  plan.axes = {{"workers", options.workers}, {"order", Json::array()}, {"prefetch", {options.prefetch}}};
  for (const loader::Order order : options.orders) {
    plan.axes["order"].push_back(name_of(order));
  }
  const LoaderSetup& setup = options.setup;
  std::string consumer = setup.consumer;
  std::ranges::replace(consumer, ' ', '_');
  std::ranges::replace(consumer, '/', '_');
  const std::string stem = fmt::format("workers/{}/{}/batch:{}", consumer, setup.dtype, setup.batch);
  const std::string contents = contents_in(*session);

  PipelineSpec base;
  base.pool = {.prefetch = static_cast<int>(options.prefetch),
               .order = options.orders.front(),
               .batch = setup.batch,
               .seed = request.seed,
               .interrupted = interrupted};
  base.transform = options.transform;
  base.staging = setup.pinned ? HostKind::pinned : HostKind::pageable;
  base.workload_name = setup.consumer;
  base.workload = options.consumer.workload;
  base.step_ns = options.consumer.step_ns;
  base.bus_bytes_per_s = setup.bus_bytes_per_s;

  const auto add = [&](const std::string& name, const std::string& loader, std::int64_t workers,
                       PipelineSpec spec) {
    spec.name = stem + "/" + name;
    spec.pool.workers = static_cast<int>(spec.loader == LoaderKind::ready ? 1 : workers);
    SweepPoint point;
    point.name = spec.name;
    point.series = spec.name;
    point.is_reference = loader == "ready";
    point.oversubscribes_cores = spec.loader == LoaderKind::pool;
    point.params = {{"loader", loader},
                    {"workers", workers},
                    {"prefetch", options.prefetch},
                    {"order", name_of(spec.pool.order)},
                    {"batch", setup.batch},
                    {"dtype", setup.dtype},
                    {"consumer", loader == "capacity" ? "none" : setup.consumer},
                    {"data", setup.data},
                    {"page-cache", setup.cold ? "cold" : "as found"},
                    {"storage", request.sweep_options.at("storage")},
                    {"element", request.sweep_options.at("element")},
                    {"layout", request.sweep_options.at("layout")},
                    {"staging", name_of(spec.staging)}};
    if (setup.bus_bytes_per_s > 0) {
      point.params["bus"] = request.sweep_options.at("bus");
    }
    if (!contents.empty()) {
      point.params["data-contents"] = contents;
    }
    // Points of one loader take alike: the mode tells the run so, which estimates one by another.
    point.spec = {
        .mode = loader, .dtype = options.dtype, .batch = setup.batch, .seed = request.seed, .options = {}};
    point.workload = std::make_shared<ConfiguredPipeline>(std::move(spec), session);
    plan.points.push_back(std::move(point));
  };

  PipelineSpec ready = base;
  ready.loader = LoaderKind::ready;
  add("ready", "ready", 0, ready);
  if (!device.host_accessible()) {  // is the other kind of host memory faster across the bus?
    ready.staging = ready.staging == HostKind::pinned ? HostKind::pageable : HostKind::pinned;
    add(fmt::format("ready/staging:{}", name_of(ready.staging)), "other-staging", 0, ready);
  }
  for (const loader::Order order : options.orders) {
    for (const std::int64_t workers : in_order_of_cost(options.workers)) {
      PipelineSpec pool = base;
      pool.pool.order = order;
      add(fmt::format("{}/workers:{}", name_of(order), workers), "pool", workers, std::move(pool));
    }
  }
  for (const std::int64_t workers : capacity_workers(setup.cores)) {
    PipelineSpec alone = base;
    alone.workload = nullptr;
    alone.step_ns = 0;
    alone.bus_bytes_per_s = 0;
    add(fmt::format("capacity/workers:{}", workers), "capacity", workers, std::move(alone));
  }
  return plan;
}

// Measured points, or with --simulate an earlier run's profile alone.
class WorkersSweep final : public Sweep {
 public:
  WorkersSweep(const SweepRequest& request, Device& device)
      : request_(request),
        device_(device),
        options_(workers_options(request, device)),
        session_(std::make_shared<LoaderSession>(request.clock)) {
    if (simulates(request)) {
      plan_.axes = Json::object();
      return;
    }
    if (device.model() != nullptr) {
      throw UsageError(fmt::format(
          "--device: {} is not here, and takes the loader's profile from a run on this host; give --simulate "
          "--profile FILE, which bench --sweep workers --device cpu --consumer 40ms writes",
          device.info().id));
    }
    known_.setup = options_.setup;
    session_->data_name = known_.setup.data;
    session_->cold = known_.setup.cold;
    session_->storage = known_.setup.storage;
    session_->progress = print_now_and_then(session_->clock);
    plan_ = plan_workers(request, options_, device, session_);
  }

  const SweepPlan& plan() const override { return plan_; }

  void prepare(SweepStudy& study) override {
    constexpr std::int64_t kWorkersPerCore = 16;  // each must be scheduled once more to end
    if (!known_.setup.consumer_on_cores && !others_want_cores(known_.setup.cores, session_->clock)) {
      session_->most_low_priority_workers = kWorkersPerCore * known_.setup.cores;
    }
    const Clock::time_point begun = session_->clock.now();
    try {
      session_->warm();
    } catch (const Unsupported&) {
      // Making a point says so.
    }
    // Images are made or listed once, for minutes where other programs use the cores.
    study.leave_out(std::chrono::duration_cast<std::chrono::nanoseconds>(session_->clock.now() - begun));
  }

  void predict(const PlanningEnd& /*end*/) override {
    if (simulates(request_)) {
      simulate_profile();
    }
  }

  void study(SweepStudy& study) override {
    const ResultDocument& document = study.document;
    try {
      known_.setup.found = session_->found();
      known_.setup.found->from_storage =
          part_from_storage(measured_points(document), known_.setup.found->mean_encoded_bytes);
    } catch (const Unsupported&) {
      // Each point says so.
    }
    known_.points = loader_points(measured_points(document), known_.setup);
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
    for (const LoaderPoint& point : known_.points.pool) {
      json["measured"].push_back(sweeps::to_json(point));
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
    evidence.of_predicted_gpu = device_.model() != nullptr;
    evidence.points = loader_points(measured_points(document), known_.setup);
    evidence.no_ready_data = why_no_ready_data(document);
    evidence.host_memory_bytes = static_cast<double>(document.context.host.memory_bytes);
    for (const std::int64_t workers : options_.workers) {
      if (!evidence.points.pool.empty() && evidence.points.at(workers) == nullptr) {
        evidence.not_measured.push_back(workers);
      }
    }
    return evidence;
  }

  SimulationRequest simulation_request(const Profile& profile) const {
    const auto given = [&](const char* name) { return request_.given_sweep_options.contains(name); };
    SimulationRequest simulation{.gpus = options_.setup.gpus,
                                 .required = options_.setup.required,
                                 .storage = options_.setup.storage,
                                 .seed = request_.seed};
    if (request_.sweep_options.at("workers") != "auto") {
      simulation.workers = options_.workers;
    }
    if (options_.cores) {
      simulation.cores = static_cast<double>(*options_.cores);
    }
    if (given("prefetch")) {
      simulation.prefetch = options_.prefetch;
    }
    if (given("order")) {
      simulation.order = options_.orders.front();
    }
    if (device_.model() != nullptr) {
      add_predicted_consumer(profile.pipeline.batch, simulation);
    } else if (given("consumer")) {
      const auto& steps = options_.consumer.steps;
      simulation.consumer = options_.setup.consumer;
      simulation.step_ns = steps ? static_cast<std::int64_t>(steps->step_ns(profile.pipeline.batch))
                                 : options_.consumer.step_ns;
    } else if (options_.samples != "none") {
      const RequiredThroughput& required = simulation.required.front();
      simulation.consumer = required_text(required);
      simulation.step_ns =
          std::llround(static_cast<double>(profile.pipeline.batch) / required.samples_per_s * 1e9);
    }
    return simulation;
  }

  // A device that is not here takes the batches as fast as it is predicted to, and as fast as the interval
  // allows.
  void add_predicted_consumer(std::int64_t batch, SimulationRequest& simulation) const {
    const DeviceInfo& info = device_.info();
    if (options_.consumer.workload == nullptr) {
      throw UsageError(fmt::format("--consumer: {} was given, but {} is the consumer; give a network",
                                   quote(request_.sweep_options.at("consumer")), info.id));
    }
    WorkloadSpec spec{.mode = request_.modes.front(),
                      .dtype = options_.dtype,
                      .batch = batch,
                      .seed = request_.seed,
                      .options = {}};
    for (const auto& [name, values] : option_values(request_, spec.mode)) {
      spec.options[name] = values.front();
    }
    try {
      const PredictedStep step = predicted_step(device_, *options_.consumer.workload, spec);
      simulation.consumer = fmt::format("{} ({}, batch {}) on {} (predicted)", options_.setup.consumer,
                                        name_of(spec.dtype), batch, info.name);
      simulation.step_ns = static_cast<std::int64_t>(step.step_ns);
      const auto require = [&](const std::string& name, double step_ns) {
        simulation.required.push_back({.name = name,
                                       .samples_per_s = static_cast<double>(batch) * 1e9 / step_ns,
                                       .source = "predicted"});
      };
      require(info.id, step.step_ns);
      require(fmt::format("{}, fast end ({})", info.id, level_in_words(Origin::predicted)),
              step.interval80_ns.low);
    } catch (const Unsupported& error) {
      throw UsageError(
          fmt::format("--device: {} cannot be predicted as a consumer: {}", info.id, error.what()));
    }
  }

  void simulate_profile() {
    const bool from_samples = options_.samples != "none";
    const std::string& path = from_samples ? options_.samples : options_.profile;
    const auto naming_the_option = [&](const std::string& file, const auto& work) {
      try {
        return work();
      } catch (const UsageError& error) {
        throw UsageError(fmt::format("--{}: {}{}", from_samples ? "samples" : "profile", file, error.what()));
      }
    };
    const std::string file = quote(path) + ": ";
    const Json given =
        naming_the_option("", [&] { return from_samples ? read_samples_file(path) : read_json(path); });
    Profile profile = naming_the_option(
        file, [&] { return from_samples ? profile_of(read_load_times(given)) : read_profile(given); });
    const SimulationRequest simulation = simulation_request(profile);
    known_.profile = naming_the_option(file, [&] { return changed_for(std::move(profile), simulation); });
    known_.simulated = simulate(*known_.profile, simulation);
    try {  // as the file will be written
      ResultDocument document;
      document.sweep.state = to_json();
      static_cast<void>(bench::to_json(document));
    } catch (const std::domain_error&) {
      naming_the_option(file,
                        []() -> void { throw UsageError("the simulation diverged: a value overflowed"); });
    }
  }

  const SweepRequest& request_;
  Device& device_;
  const WorkersOptions options_;
  std::shared_ptr<LoaderSession> session_;
  SweepPlan plan_;
  Evidence known_;  // beyond the points, until study(); with them after it
};

std::string label_of(const SweepRequest& request) {
  if (simulates(request)) {
    const bool samples = request.given_sweep_options.contains("samples");
    const std::string profile =
        std::filesystem::path(request.sweep_options.at(samples ? "samples" : "profile")).stem().string();
    return fmt::format("simulated-{}", profile.starts_with("workers-") ? profile.substr(8) : profile);
  }
  if (takes_required_throughput(request)) {  // "demand-t4", "demand-800"
    const std::string& demand = request.sweep_options.at("demand");
    return "demand-" + demand.substr(0, std::min(demand.find('='), demand.find('/')));
  }
  const std::string& consumer = request.sweep_options.at("consumer");
  std::error_code error;
  const bool is_file = std::filesystem::is_regular_file(consumer, error);
  return consumer == "workload" ? request.workload->name
         : is_file              ? std::filesystem::path(consumer).stem().string()
                                : consumer;
}

const Registration<SweepType> BENCH_REGISTERED{
    SweepType{.name = "workers",
              .question = "How many loader workers feed the device, and what limits it where none is enough?",
              .default_workload = "resnet18",
              .options = workers_command_options(),
              .complete = [](SweepRequest& request) { request.label = label_of(request); },
              .make = [](const SweepRequest& request, Device& device) -> std::unique_ptr<Sweep> {
                return std::make_unique<WorkersSweep>(request, device);
              }}};

}  // namespace
}  // namespace bench::sweeps
