#include "bench/predict/cards_prediction.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/dtype.h"
#include "bench/error.h"
#include "bench/result/result_json.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// Of a point of the batch sweep: its params have it. Empty where it is none.
std::string dtype_of(const MeasuredPoint& point) {
  const auto found = point.params.find("dtype");
  const std::string text = found != point.params.end() && found->is_string() ? found->get<std::string>() : "";
  return parse_dtype(text) ? text : "";
}

std::vector<const MeasuredPoint*> points_with_timelines(const ResultDocument& document) {
  std::vector<const MeasuredPoint*> all;
  for (const MeasuredPoint& point : document.benchmarks) {
    constexpr double kMostSamples = 1e12;
    const bool is_step =
        point.stats.median_ns > 0 && point.items_per_step >= 1 && point.items_per_step <= kMostSamples;
    if (point.timeline && is_step && !dtype_of(point).empty()) {
      all.push_back(&point);
    }
  }
  return all;
}

std::vector<const MeasuredPoint*> points_of(const ResultDocument& document, const CardsRequest& request) {
  const std::vector<const MeasuredPoint*> all = points_with_timelines(document);
  if (all.empty() && document.context.device.kind == "modelled") {
    throw UsageError(
        fmt::format("--from: {} is predicted; give a measured result, or ask bench evaluate --gpu {} --cards",
                    quote(request.path), document.context.device.id));
  }
  if (all.empty()) {
    throw UsageError(
        fmt::format("--from: {} holds no training step with the times of its gradients; give a result of "
                    "bench --sweep batch --mode train, or of --sweep cards with one rank among its ranks, by "
                    "this version",
                    quote(request.path)));
  }
  std::set<std::string> dtypes;
  std::set<std::int64_t> batches;
  std::vector<const MeasuredPoint*> chosen;
  for (const MeasuredPoint* const point : all) {
    const std::string dtype = dtype_of(*point);
    const auto batch = static_cast<std::int64_t>(point->items_per_step);
    dtypes.insert(dtype);
    batches.insert(batch);
    const bool is_asked = (request.dtypes.empty() || std::ranges::count(request.dtypes, dtype) > 0) &&
                          (request.batches.empty() || std::ranges::count(request.batches, batch) > 0);
    if (is_asked) {
      chosen.push_back(point);
    }
  }
  if (chosen.empty()) {
    throw UsageError(fmt::format("{}: nothing of it is in {}; it has {} at batch {}",
                                 request.batches.empty() ? "--dtype" : "--batch", quote(request.path),
                                 fmt::join(dtypes, ", "), fmt::join(batches, ", ")));
  }
  return chosen;
}

// The result's label, but for a cards sweep's, which names its ranks too.
std::string workload_of(const ResultDocument& document, const MeasuredPoint& point) {
  const auto found = point.params.find("workload");
  return printable(document.sweep.name == "cards" && found != point.params.end() && found->is_string()
                       ? found->get<std::string>()
                       : document.sweep.workload);
}

// Where the first two ranks of a cards sweep ran, as losses are named.
std::string place_of_two(const ResultDocument& document) {
  const Json& state = document.sweep.state;
  const auto cards = state.find("cards");
  const bool told = cards != state.end() && cards->is_object() && cards->contains("hosts");
  const Json hosts = told ? cards->at("hosts") : Json();
  return place_of_cards(document.context.device.kind == "cpu",
                        hosts.is_array() && hosts.size() > 1 && hosts[0] != hosts[1]);
}

// Of the step in another run, where that is known, else in this one; nullopt where it has no interval.
std::optional<double> deviation_of(const SampleStats& stats) {
  const auto& interval = stats.ci95_between_ns ? stats.ci95_between_ns : stats.ci95_ns;
  return interval && interval->low > 0 ? std::optional(log_deviation(*interval, kNormal95)) : std::nullopt;
}

const MeasuredPoint* two_ranks_of(const ResultDocument& document, const MeasuredPoint& one) {
  const auto found = std::ranges::find_if(document.benchmarks, [&](const MeasuredPoint& point) {
    return whole_member(point.params, "ranks") == 2 && !point.params.contains("shard") &&
           !point.params.contains("split") && dtype_of(point) == dtype_of(one) &&
           whole_member(point.params, "batch") == whole_member(one.params, "batch") &&
           point.stats.median_ns > 0;
  });
  return found == document.benchmarks.end() ? nullptr : &*found;
}

// What a step of two ranks took in this result over its replay, in place of what published ones took; nullopt
// where it has none, or no intervals.
std::optional<ParallelLoss> measured_loss(const ResultDocument& document, const MeasuredPoint& point,
                                          const OneCard& one, const CardsLink& link,
                                          const LinkCatalogue& catalogue) {
  const MeasuredPoint* const two = two_ranks_of(document, point);
  const auto of_one = deviation_of(point.stats);
  const auto of_two = two == nullptr ? std::nullopt : deviation_of(two->stats);
  if (!of_one || !of_two) {
    return std::nullopt;
  }
  const double factor = two->stats.median_ns / parallel_step(one, 2, link, catalogue).replay.step_ns;
  return ParallelLoss{
      .where = place_of_two(document),
      .numbers = "",
      .rows = 1,
      .machines = 1,
      .likely = factor,
      .interval80 = widened80({factor, factor}, factor, combined_deviation({*of_one, *of_two}))};
}

}  // namespace

bool holds_timeline(const ResultDocument& document) {
  return !points_with_timelines(document).empty();
}

CardsPrediction predict_cards(const ResultDocument& document, const CardsRequest& request,
                              const LinkCatalogue& catalogue) {
  const std::vector<const MeasuredPoint*> points = points_of(document, request);
  CardsPrediction prediction{.workload = workload_of(document, *points.front()),
                             .device = printable(document.context.device.name),
                             .overlap = document.context.device.kind != "cpu",
                             .link = request.link.in_words(),
                             .link_source = request.link.source(),
                             .cautions = request.link.cautions(request.cards)};
  for (const MeasuredPoint* const point : points) {
    const std::string dtype = dtype_of(*point);
    const OneCard one{.timeline = *point->timeline,
                      .step_ns = point->stats.median_ns,
                      .overlap = prediction.overlap,
                      .narrow = dtype == "fp16" || dtype == "bf16",
                      .accumulate = std::max<std::int64_t>(1, whole_member(point->params, "accumulate"))};
    const double own_deviation = deviation_of(point->stats).value_or(0);
    CardsStep step{
        .dtype = dtype,
        .batch = static_cast<std::int64_t>(point->items_per_step),
        .step_ns = one.step_ns,
        .step80_ns = widened80({one.step_ns, one.step_ns}, one.step_ns, own_deviation),
        .one_ns = one.step_ns,
        .accumulate = one.accumulate,
        .peak = point->memory.peak_measured,
        .memory = point->memory.by_category,
        .bucket = request.link.bucket,
        .largest_part = std::ranges::max(one.timeline.parts, {}, &GradientTimeline::Part::bytes).bytes,
        .on_cpu = !one.overlap};
    prediction.steps.push_back(step);
    LinkCatalogue known = catalogue;
    const auto own = measured_loss(document, *point, one, request.link, catalogue);
    if (own) {
      known.losses.insert(known.losses.begin(), *own);  // the first that fits counts
    }
    for (const std::int64_t cards : request.cards) {
      if (cards == 1) {
        continue;
      }
      const ParallelStep several = parallel_step(one, cards, request.link, known);
      step.cards = cards;
      step.replay = several.replay;
      step.step_ns = several.step_ns;
      const bool is_own = own && several.loss == known.losses.data();
      // Two ranks' own factor has the one card's error in it, turned over: it cancels in the step.
      step.step80_ns = is_own ? several.step80_ns : widened80(several.step80_ns, step.step_ns, own_deviation);
      step.slowdown80 = {several.step80_ns.low / one.step_ns, several.step80_ns.high / one.step_ns};
      step.loss80 = several.loss == nullptr ? Interval{1, 1} : several.loss->interval80;
      step.at_least = several.loss == nullptr;
      step.is_extrapolated =
          several.loss != nullptr && several.loss->machines > 1 && !is_own &&
          several.replay.exposed_ns > most_published_exposed(several.loss->where) * several.replay.step_ns;
      prediction.steps.push_back(step);
      if (step.at_least) {
        continue;
      }
      const CardsLoss loss{*several.loss, is_own ? fmt::format("batch {} in {}", step.batch, dtype) : ""};
      if (std::ranges::count(prediction.losses, loss) == 0) {
        prediction.losses.push_back(loss);
      }
    }
  }
  return prediction;
}

}  // namespace bench
