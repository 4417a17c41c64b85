// How many loader workers does it take to feed the device, and what is to blame where none is enough?
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/registry.h"
#include "bench/run/host.h"
#include "bench/run/interrupt.h"
#include "bench/sweep.h"
#include "sweeps/workers/findings.h"
#include "sweeps/workers/options.h"
#include "sweeps/workers/other_result.h"
#include "sweeps/workers/pipeline.h"
#include "sweeps/workers/session.h"
#include "sweeps/workers/tables.h"
#include "sweeps/workers/what_if.h"

namespace bench::sweeps {
namespace {

// The points' own workload types live as long as the plan.
struct Keeps {
  std::shared_ptr<Session> session = std::make_shared<Session>();
  std::vector<std::unique_ptr<WorkloadType>> types;
};

struct Stopped {};

// A line when it begins and every two seconds; Ctrl-C gives up.
loader::Progress told_now_and_then() {
  using Clock = std::chrono::steady_clock;
  return [last = Clock::time_point()](const std::string& what, double fraction) mutable {
    if (interrupted()) {
      throw Stopped();
    }
    if (const auto now = Clock::now(); now - last > std::chrono::seconds(2)) {
      last = now;
      fmt::print(std::cerr, "{}{}\n", what, fraction > 0 ? fmt::format(": {:.0f} %", 100 * fraction) : "");
    }
  };
}

class Planner {
 public:
  Planner(const SweepRequest& request, Device& device)
      : request_(request), options_(workers_options(request, device)), cores_(host_info().usable_cores) {}

  SweepPlan run() && {
    keeps_->session->data_name = options_.data;
    keeps_->session->cold = options_.cold;
    keeps_->session->storage = options_.storage;
    keeps_->session->progress = told_now_and_then();

    add_ready();
    for (const loader::Order order : options_.orders) {
      for (const std::int64_t workers : options_.workers) {
        add_pool(order, workers);
      }
    }
    add_capacities();
    plan_.axes = {{"workers", options_.workers}, {"order", Json::array()}, {"prefetch", {options_.prefetch}}};
    for (const loader::Order order : options_.orders) {
      plan_.axes["order"].push_back(name_of(order));
    }
    plan_.most_rounds = 6;
    plan_.most_samples = 8;
    plan_.prepare = [session = keeps_->session] {
      try {
        session->data();
      } catch (const Unsupported&) {
        // Each point says so.
      } catch (const Stopped&) {
        // The run sees that it was interrupted, and measures nothing.
      }
    };
    plan_.keeps = std::move(keeps_);
    return std::move(plan_);
  }

 private:
  PipelineSpec spec_of(std::int64_t workers) const {
    PipelineSpec spec;
    spec.pool = {.workers = static_cast<int>(workers),
                 .prefetch = static_cast<int>(options_.prefetch),
                 .order = options_.orders.front(),
                 .batch = options_.batch,
                 .seed = request_.seed,
                 .interrupted = interrupted};
    spec.transform = options_.transform;
    spec.staging = options_.staging;
    spec.workload = options_.consumer.workload;
    spec.step_ns = options_.consumer.step_ns;
    if (spec.workload != nullptr) {
      spec.workload_spec = {.mode = mode_of(*spec.workload),
                            .dtype = options_.dtype,
                            .batch = options_.batch,
                            .seed = request_.seed,
                            .options = {}};
      for (const CommandOption& option : spec.workload->options) {
        const auto given = request_.workload_options.find(option.name);
        spec.workload_spec.options[option.name] =
            given == request_.workload_options.end() ? option.default_value : given->second.front();
      }
    }
    return spec;
  }

  std::string mode_of(const WorkloadType& type) const {
    return std::ranges::find(type.modes, request_.modes.front()) == type.modes.end() ? type.modes.front()
                                                                                     : request_.modes.front();
  }

  std::string stem() const {
    std::string consumer = options_.consumer.name;
    std::ranges::replace(consumer, ' ', '_');
    return fmt::format("workers/{}/{}/batch:{}", consumer, bench::name_of(options_.dtype), options_.batch);
  }

  void add_ready() {
    PipelineSpec spec = spec_of(1);
    spec.loader = LoaderKind::ready;
    add(stem() + "/ready", "ready", std::move(spec), 0).first = true;
  }

  void add_pool(loader::Order order, std::int64_t workers) {
    PipelineSpec spec = spec_of(workers);
    spec.pool.order = order;
    add(fmt::format("{}/{}/workers:{}", stem(), name_of(order), workers), "pool", std::move(spec), workers);
  }

  // The loader alone, at few worker counts: what the scalability law is fitted to.
  void add_capacities() {
    for (const std::int64_t workers : capacity_workers(cores_)) {
      PipelineSpec spec = spec_of(workers);
      spec.workload = nullptr;
      spec.step_ns = 0;
      add(fmt::format("{}/capacity/workers:{}", stem(), workers), "capacity", std::move(spec), workers);
    }
  }

  static std::vector<std::int64_t> capacity_workers(int cores) {
    std::vector<std::int64_t> counts = {1};
    if (cores > 3) {
      counts.push_back(cores / 2);
    }
    if (cores > 1) {
      counts.push_back(cores);
    }
    counts.push_back(2 * std::int64_t{cores});
    counts.push_back(4 * std::int64_t{cores});
    return counts;
  }

  SweepPoint& add(const std::string& name, const std::string& loader, PipelineSpec spec,
                  std::int64_t workers) {
    SweepPoint point;
    point.name = name;
    point.series = name;
    point.params = {{"loader", loader},
                    {"workers", workers},
                    {"prefetch", options_.prefetch},
                    {"order", name_of(spec.pool.order)},
                    {"batch", options_.batch},
                    {"dtype", bench::name_of(options_.dtype)},
                    {"consumer", loader == "capacity" ? "none" : options_.consumer.name},
                    {"data", options_.data},
                    {"page-cache", options_.cold ? "cold" : "warm"},
                    {"storage", request_.sweep_options.at("storage")},
                    {"element", request_.sweep_options.at("element")},
                    {"layout", request_.sweep_options.at("layout")},
                    {"staging", options_.staging == HostKind::pinned ? "pinned" : "pageable"}};
    point.spec.dtype = options_.dtype;
    point.spec.batch = options_.batch;
    point.spec.seed = request_.seed;
    point.crowds_cores = loader != "ready";
    point.workload = type_of(name, std::move(spec));
    plan_.points.push_back(std::move(point));
    return plan_.points.back();
  }

  const WorkloadType* type_of(const std::string& name, PipelineSpec spec) {
    WorkloadType type;
    type.name = "loader";
    type.kind = "pipeline";
    type.modes = {""};
    const auto shared = std::make_shared<const PipelineSpec>(std::move(spec));
    type.check = [shared](const WorkloadSpec&) {
      if (shared->workload != nullptr) {
        shared->workload->check(shared->workload_spec);
      }
    };
    type.unsupported = [shared](const WorkloadSpec&, Device& device) {
      return shared->workload == nullptr ? std::nullopt
                                         : shared->workload->unsupported(shared->workload_spec, device);
    };
    type.plan = [shared](const WorkloadSpec&, Device& device) { return pipeline_memory(*shared, device); };
    type.make = [shared, name, session = keeps_->session](const WorkloadSpec&, Device& device) {
      return make_pipeline(name, *shared, device, session);
    };
    keeps_->types.push_back(std::make_unique<WorkloadType>(std::move(type)));
    return keeps_->types.back().get();
  }

  const SweepRequest& request_;
  WorkersOptions options_;
  int cores_;  // of the host
  SweepPlan plan_;
  std::shared_ptr<Keeps> keeps_ = std::make_shared<Keeps>();
};

SweepPlan plan_workers(const SweepRequest& request, Device& device) {
  if (simulates(request)) {
    workers_options(request, device);  // refuses what is wrong
    SweepPlan plan;
    plan.measures = false;
    plan.axes = Json::object();
    return plan;
  }
  return Planner(request, device).run();
}

Json noted(const std::vector<LoaderDemand>& demands) {
  Json json = Json::array();
  for (const LoaderDemand& demand : demands) {
    json.push_back({{"name", demand.name}, {"images_per_s", demand.images_per_s}, {"source", demand.source}});
  }
  return json;
}

// What is known before anything runs; the data may not have been made yet.
void note_loader(const SweepRequest& request, Device& device, ResultDocument& document) {
  const WorkersOptions options = workers_options(request, device);
  const Json& host = document.context["host"];
  document.sweep["loader"] = {
      {"cores", host.value("usable_cores", 1)},
      {"cores_why", "affinity mask and cgroup quota"},
      {"data", options.data},
      {"page_cache", options.cold ? "cold" : "warm"},
      {"storage", options.storage ? Json{{"bytes_per_s", options.storage->bytes_per_s},
                                         {"latency_ns", options.storage->latency_ns}}
                                  : Json(nullptr)},
      {"consumer", options.consumer.name},
      {"consumer_device", options.consumer.workload == nullptr ? "none" : device.info().id},
      {"consumer_on_cores", options.consumer.workload != nullptr && device.host_accessible()},
      {"batch", options.batch},
      {"slot_bytes", options.batch * options.transform.sample_bytes()},
      {"pinned", options.staging == HostKind::pinned},
      {"demands", noted(options.demands)},
      {"gpus", options.gpus}};
}

// What the run has found of the data.
void note_data(Session& session, ResultDocument& document) {
  constexpr std::size_t kMostNamed = 100;
  constexpr std::int64_t kMostAsked = 100'000;  // images whose size is asked for
  try {
    const loader::Dataset& data = session.data();
    const std::int64_t asked = std::min(data.size(), kMostAsked);
    double bytes = 0;
    for (std::int64_t i = 0; i < asked; ++i) {
      bytes += static_cast<double>(data.encoded_bytes(i));
    }
    Json& loader = document.sweep["loader"];
    loader["images"] = data.size();
    loader["mean_encoded_bytes"] = bytes / static_cast<double>(asked);
    loader["bad_files"] = Json::array();
    for (const auto& [number, reason] : session.bad.all()) {
      if (loader["bad_files"].size() < kMostNamed) {
        loader["bad_files"].push_back({{"file", data.name(number)}, {"reason", reason}});
      }
    }
  } catch (const Unsupported&) {
    // Each point says so.
  }
}

// From an earlier result's profile alone.
void simulate(const SweepRequest& request, const Device& device, ResultDocument& document) {
  const WorkersOptions options = workers_options(request, device);
  if (options.profile == "none") {
    throw UsageError(
        "--simulate: needs the profile of an earlier run; give --profile FILE, a result of --sweep workers");
  }
  WhatIf what_if;
  if (request.sweep_options.at("workers") != "auto") {
    what_if.workers = options.workers;
  }
  if (options.cores) {
    what_if.cores = static_cast<int>(*options.cores);
  }
  if (request.given_sweep_options.contains("prefetch")) {
    what_if.prefetch = options.prefetch;
  }
  if (request.given_sweep_options.contains("order")) {
    what_if.order = name_of(options.orders.front());
  }
  what_if.gpus = static_cast<int>(options.gpus);
  for (const LoaderDemand& demand : options.demands) {
    what_if.demands.push_back(
        {.name = demand.name, .images_per_s = demand.images_per_s, .source = demand.source});
  }
  what_if.seed = request.seed;
  const Json profile = json_in("--profile", options.profile);
  try {
    simulate_profile(profile, what_if, document);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("--profile: {}: {}", quote(options.profile), error.what()));
  }
}

const Registration<Sweep> registered{Sweep{
    .name = "workers",
    .question = "How many loader workers feed the device, and what is to blame where none is enough?",
    .default_workload = "resnet18",
    .options = workers_command_options(),
    .label =
        [](const SweepRequest& request) {
          const std::string& consumer = request.sweep_options.at("consumer");
          const std::string name = consumer == "workload" ? request.workload->name
                                                          : std::filesystem::path(consumer).stem().string();
          return simulates(request) ? name + "-simulated" : name;
        },
    .plan = plan_workers,
    .predict =
        [](const SweepRequest& request, const SweepPlan& /*plan*/, Device& device, ResultDocument& document) {
          simulates(request) ? simulate(request, device, document) : note_loader(request, device, document);
        },
    .prove =
        [](SweepStudy& study) {
          note_data(*static_cast<const Keeps*>(study.plan.keeps.get())->session, study.document);
          note_simulation(study.document);
        },
    .findings = workers_findings,
    .tables = workers_tables}};

}  // namespace
}  // namespace bench::sweeps
