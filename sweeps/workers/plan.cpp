#include "sweeps/workers/plan.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "sweeps/workers/pipeline.h"
#include "sweeps/workers/points.h"

namespace bench::sweeps {
namespace {

const char* name_of(HostKind kind) {
  return kind == HostKind::pinned ? "pinned" : "pageable";
}

// Part of every point's params, so that --resume does not mix points from before and after a folder changed.
// Images that the program makes never change, and may not have been made yet.
std::string contents_in(Session& session) {
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

}  // namespace

SweepPlan plan_workers(const SweepRequest& request, const WorkersOptions& options, const Device& device,
                       const std::shared_ptr<Session>& session) {
  SweepPlan plan;
  plan.needs_peaks = false;
  plan.rounds = {.at_most = 24, .trusted_rounds = 6, .samples = 8};
  plan.axes = {{"workers", options.workers}, {"order", Json::array()}, {"prefetch", {options.prefetch}}};
  for (const loader::Order order : options.orders) {
    plan.axes["order"].push_back(name_of(order));
  }
  const LoaderSetup& setup = options.setup;
  std::string consumer = setup.consumer;
  std::ranges::replace(consumer, ' ', '_');
  const std::string stem = fmt::format("workers/{}/{}/batch:{}", consumer, setup.dtype, setup.batch);
  const std::string contents = contents_in(*session);

  PipelineSpec base;
  base.pool = {.prefetch = static_cast<int>(options.prefetch),
               .order = options.orders.front(),
               .batch = setup.batch,
               .seed = request.seed,
               .interrupted = interrupted};
  base.transform = options.transform;
  base.staging = options.staging;
  base.workload_name = setup.consumer;
  base.workload = options.consumer.workload;
  base.step_ns = options.consumer.step_ns;

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
    if (!contents.empty()) {
      point.params["data-contents"] = contents;
    }
    point.parsed = read_loader_params(point.params).value();
    point.spec = {
        .mode = "", .dtype = options.dtype, .batch = setup.batch, .seed = request.seed, .options = {}};
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
    for (const std::int64_t workers : options.workers) {
      PipelineSpec pool = base;
      pool.pool.order = order;
      add(fmt::format("{}/workers:{}", name_of(order), workers), "pool", workers, std::move(pool));
    }
  }
  for (const std::int64_t workers : capacity_workers(setup.cores)) {
    PipelineSpec alone = base;
    alone.workload = nullptr;
    alone.step_ns = 0;
    add(fmt::format("capacity/workers:{}", workers), "capacity", workers, std::move(alone));
  }
  return plan;
}

}  // namespace bench::sweeps
