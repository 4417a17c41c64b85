#include "sweeps/workers/plan.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "bench/error.h"
#include "bench/run/host.h"
#include "bench/run/interrupt.h"
#include "sweeps/workers/options.h"
#include "sweeps/workers/pipeline.h"

namespace bench::sweeps {
namespace {

struct Stopped : std::exception {};

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
      : request_(request),
        options_(workers_options(request, device)),
        cores_(host_info().usable_cores),
        crosses_bus_(!device.host_accessible()) {}

  SweepPlan run() && {
    keeps_->session->data_name = options_.data;
    keeps_->session->cold = options_.cold;
    keeps_->session->storage = options_.storage;
    keeps_->session->progress = told_now_and_then();

    note_contents();
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
    plan_.most_rounds = 24;
    plan_.trusted_rounds = 6;
    plan_.most_samples = 8;
    plan_.prepare = [session = keeps_->session, nice = options_.nice, cores = cores_] {
      session->nice = nice ? Nice{.wanted = *nice} : nice_beside_others(cores);
      try {
        session->warm();
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
  // With these in every point's params, --resume does not mix points of one folder before and after its
  // contents changed. The images that the program makes are always the same, and may not have been made yet.
  void note_contents() {
    if (options_.data == "synthetic" || options_.data == "synthetic:heavy") {
      return;
    }
    try {
      contents_ = loader::contents_of(keeps_->session->data());
    } catch (const Unsupported&) {
      // Each point says so.
    }
  }

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
    add(stem() + "/ready", "ready", spec, 0).first = true;
    if (crosses_bus_) {  // what the other kind of host memory would be worth
      spec.staging = spec.staging == HostKind::pinned ? HostKind::pageable : HostKind::pinned;
      const std::string name = fmt::format("{}/ready/staging:{}", stem(), staging_name(spec.staging));
      add(name, "other-staging", std::move(spec), 0);
    }
  }

  static const char* staging_name(HostKind kind) { return kind == HostKind::pinned ? "pinned" : "pageable"; }

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
      spec.probe_ns = sleep_of_probe();
      add(fmt::format("{}/capacity/workers:{}", stem(), workers), "capacity", std::move(spec), workers);
    }
  }

  // As long as the consumer's thread sleeps, which a scheduler may repay; often enough to learn something in
  // a window. Of a network nobody knows yet.
  std::int64_t sleep_of_probe() const {
    constexpr std::int64_t kMillisecond = 1'000'000;
    const std::int64_t step = options_.consumer.workload == nullptr ? options_.consumer.step_ns : 0;
    return step == 0 ? 20 * kMillisecond : std::clamp(step, kMillisecond, 50 * kMillisecond);
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
                    {"page-cache", options_.cold ? "cold" : "as found"},
                    {"storage", request_.sweep_options.at("storage")},
                    {"element", request_.sweep_options.at("element")},
                    {"layout", request_.sweep_options.at("layout")},
                    {"nice", request_.sweep_options.at("nice")},
                    {"staging", staging_name(spec.staging)}};
    if (!contents_.empty()) {
      point.params["data-contents"] = contents_;
    }
    point.spec.dtype = options_.dtype;
    point.spec.batch = options_.batch;
    point.spec.seed = request_.seed;
    point.crowds_cores = loader == "pool" || loader == "capacity";
    if (options_.storage) {
      point.least_cost = [spec, session = keeps_->session] { return storage_cost(spec, *session); };
    }
    point.workload = type_of(name, std::move(spec));
    plan_.points.push_back(std::move(point));
    return plan_.points.back();
  }

  // Of the storage that is only a what-if: a batch to verify and a window to warm up, and then a window.
  // Nobody else reads meanwhile.
  static PointCost storage_cost(const PipelineSpec& spec, Session& session) {
    constexpr std::int64_t kAsked = 1000;  // images whose size is asked for
    double bytes = 0;
    std::int64_t asked = 0;
    try {
      const loader::Dataset& data = session.data();
      asked = std::min(data.size(), kAsked);
      for (std::int64_t i = 0; i < asked; ++i) {
        bytes += static_cast<double>(data.encoded_bytes(i));
      }
    } catch (const Unsupported&) {
      return {};  // the point itself will say so
    }
    const auto readers = static_cast<double>(std::max(1, spec.pool.workers));
    const double image_ns = bytes / static_cast<double>(asked) / session.storage->bytes_per_s * 1e9 +
                            static_cast<double>(session.storage->latency_ns) / readers;
    const double batch_ns = image_ns * static_cast<double>(spec.pool.batch);
    const auto window = static_cast<double>(window_of(spec));
    if (spec.loader == LoaderKind::ready) {
      // Worth nothing by itself: with what it takes to measure the smallest pool, as a part of each visit.
      return {.setup_ns = (static_cast<double>(spec.host_slots()) + 1 + 2 * window) * batch_ns};
    }
    return {.setup_ns = (1 + window) * batch_ns, .step_ns = window * batch_ns};
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
  bool crosses_bus_;
  SweepPlan plan_;
  std::string contents_;  // of the data folder
  std::shared_ptr<Kept> keeps_ = std::make_shared<Kept>();
};

}  // namespace

SweepPlan plan_workers(const SweepRequest& request, Device& device) {
  for (const char* const name : {"profile", "cores"}) {
    if (!simulates(request) && request.given_sweep_options.contains(name)) {
      throw UsageError(fmt::format("--{}: belongs to --simulate; give that with it", name));
    }
  }
  if (simulates(request)) {
    workers_options(request, device);  // refuses what is wrong
    SweepPlan plan;
    plan.measures = false;
    plan.axes = Json::object();
    return plan;
  }
  return Planner(request, device).run();
}

Session& session_of(const SweepPlan& plan) {
  return *static_cast<const Kept*>(plan.keeps.get())->session;
}

}  // namespace bench::sweeps
