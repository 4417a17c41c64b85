// How fast do ranks exchange data?
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"
#include "sweeps/collectives/answer.h"
#include "sweeps/collectives/exchange.h"
#include "sweeps/collectives/operation.h"
#include "sweeps/collectives/workload.h"
#include "sweeps/ranks/setup.h"
#include "sweeps/series/points.h"

namespace bench::sweeps {
namespace {

std::vector<std::int64_t> sizes_in(const SweepRequest& request) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 30;
  const std::string& given = request.sweep_options.at("sizes");
  if (given == "auto") {
    return parse_sizes("--sizes", "64B:64MiB:x4");
  }
  std::vector<std::int64_t> sizes = parse_sizes("--sizes", given);
  if (sizes.back() > kLargest) {
    throw UsageError(fmt::format("--sizes: {} was given; accepted: sizes up to 1GiB", quote(given)));
  }
  return sizes;
}

// Send-receive: rank 0 with the next rank on its host, and with the first one on another.
std::vector<CollectiveParams> kinds_in(const SweepRequest& request) {
  const std::vector<RankPlace>& places = request.places;
  const int ranks = static_cast<int>(places.size());
  std::vector<std::string> accepted;
  for (const Operation operation : kOperations) {
    accepted.emplace_back(name_of(operation));
  }
  std::vector<CollectiveParams> kinds;
  for (const std::string& word :
       parse_words("--operations", request.sweep_options.at("operations"), accepted)) {
    const Operation operation = operation_named(word).value();
    if (operation != Operation::send_receive) {
      kinds.push_back(
          {.operation = operation, .ranks = ranks, .hosts = static_cast<int>(hosts_of(places).size())});
      continue;
    }
    for (const bool near : {true, false}) {
      const auto peer = std::find_if(places.begin() + 1, places.end(), [&](const RankPlace& place) {
        return (place.host == places.front().host) == near;
      });
      if (peer != places.end()) {
        kinds.push_back({.operation = operation,
                         .ranks = 2,
                         .hosts = near ? 1 : 2,
                         .peer = static_cast<int>(peer - places.begin())});
      }
    }
  }
  return kinds;
}

// Without workloads.
SweepPlan plan_of(const SweepRequest& request, const RankSetup& setup) {
  SweepPlan plan;
  const std::vector<std::int64_t> sizes = sizes_in(request);
  plan.axes = {{"operation", Json::array()}, {"bytes", sizes}, {"ranks", {setup.hosts.size()}}};
  std::vector<std::string> names;
  for (CollectiveParams params : kinds_in(request)) {
    plan.axes["operation"].push_back(params.label());
    for (const std::int64_t bytes : sizes) {
      params.bytes = shared_bytes(params.operation, bytes, params.ranks);
      SweepPoint point;
      point.name =
          fmt::format("collectives/{}/ranks:{}/bytes:{}", params.label(), params.ranks, params.bytes);
      // Each by itself: latency is most of a small one's time, so that it tells nothing of a larger one's.
      point.series = point.name;
      if (std::ranges::find(names, point.name) != names.end()) {  // another size, rounded
        continue;
      }
      names.push_back(point.name);
      point.params = params.to_json();
      point.spec.mode = name_of(params.operation);
      point.spec.batch = params.bytes;
      point.spec.seed = request.seed;
      point.oversubscribes_cores = setup.takes_turns(1);
      plan.points.push_back(std::move(point));
    }
  }
  // Small ones of every series come first, so that a short budget leaves out large ones.
  std::ranges::stable_sort(plan.points, {}, [](const SweepPoint& point) { return point.spec.batch; });
  plan.rounds.at_most = 12;
  plan.rounds.samples = 32;
  return plan;
}

std::shared_ptr<RankTeam> team_of(const SweepRequest& request, Device& device, const SweepPlan& plan) {
  std::vector<CollectiveParams> all;
  for (const SweepPoint& point : plan.points) {
    all.push_back(*read_collective_params(point.params));
  }
  const auto need = [all, &device](RankGroup&, std::size_t point) -> RankNeed {
    const CollectiveParams& params = all.at(point);
    return {.planned = buffer_bytes(params.operation, params.bytes, params.ranks),
            .cap = device.memory().cap()};
  };
  const auto make = [all, seed = request.seed, &device, &clock = request.clock](RankGroup& ranks,
                                                                                std::size_t point) {
    return std::make_unique<Exchange>(all.at(point), seed, ranks, device, clock);
  };
  return std::make_shared<RankTeam>(*request.ranks, RankTeam::Parts{.plan = need, .make = make});
}

class CollectivesSweep final : public Sweep {
 public:
  CollectivesSweep(const SweepRequest& request, Device& device) : setup_(setup_of(request)) {
    require_real_device("collectives", device);
    plan_ = plan_of(request, setup_);
    if (request.ranks != nullptr) {
      team_ = team_of(request, device, plan_);
    }
    for (std::size_t index = 0; index < plan_.points.size(); ++index) {
      SweepPoint& point = plan_.points[index];
      point.workload =
          std::make_shared<ConfiguredCollective>(*read_collective_params(point.params), index, team_);
    }
  }

  const SweepPlan& plan() const override { return plan_; }
  void prepare(SweepStudy& /*study*/) override {}  // no point rests on the device's peaks

  std::vector<Finding> findings(const ResultDocument& document) const override {
    return collectives_findings(document, setup_);
  }
  std::vector<TextTable> tables(const ResultDocument& document) const override {
    return collectives_tables(document);
  }
  Json to_json() const override { return {{"collectives", {{"hosts", setup_.hosts}}}}; }

 private:
  RankSetup setup_;
  std::shared_ptr<RankTeam> team_;
  SweepPlan plan_;
};

void serve_collectives(const SweepRequest& request, Device& device) {
  team_of(request, device, plan_of(request, setup_of(request)))->serve();
}

const Registration<SweepType> BENCH_REGISTERED{
    SweepType{.name = "collectives",
              .question = "How fast do ranks reduce, gather and send data, on one host and between hosts?",
              .default_workload = "copy",
              .options = {{"sizes", "auto", "bytes of a buffer: 4KiB,1MiB or 64B:64MiB:x4, up to 1GiB", "",
                           [] { return std::vector<std::string>{"LIST"}; }},
                          {"operations", "all-reduce,reduce-scatter,all-gather,send-receive",
                           "what is measured", "", [] { return std::vector<std::string>{"LIST"}; }},
                          {"rank-timeout", "60s", "end where a rank does not answer for so long", "",
                           [] { return std::vector<std::string>{"TIME"}; }}},
              .serve = serve_collectives,
              .takes_workload = false,
              .complete =
                  [](SweepRequest& request) {
                    request.workload_options.clear();
                    request.label = fmt::format("{}-ranks", request.places.size());
                  },
              .make = [](const SweepRequest& request, Device& device) -> std::unique_ptr<Sweep> {
                return std::make_unique<CollectivesSweep>(request, device);
              }}};

}  // namespace
}  // namespace bench::sweeps
