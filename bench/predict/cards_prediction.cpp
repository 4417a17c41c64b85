#include "bench/predict/cards_prediction.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/dtype.h"
#include "bench/error.h"
#include "bench/measure/quote.h"

namespace bench {
namespace {

// Of a point of the batch sweep: its params have it. Empty where it is none.
std::string dtype_of(const MeasuredPoint& point) {
  const auto found = point.params.find("dtype");
  const std::string text = found != point.params.end() && found->is_string() ? found->get<std::string>() : "";
  return parse_dtype(text) ? text : "";
}

std::vector<const MeasuredPoint*> points_of(const ResultDocument& document, const CardsRequest& request) {
  std::vector<const MeasuredPoint*> all;
  for (const MeasuredPoint& point : document.benchmarks) {
    constexpr double kMostSamples = 1e12;
    const bool is_step =
        point.stats.median_ns > 0 && point.items_per_step >= 1 && point.items_per_step <= kMostSamples;
    if (point.timeline && is_step && !dtype_of(point).empty()) {
      all.push_back(&point);
    }
  }
  if (all.empty()) {
    throw UsageError(
        fmt::format("--from: {} holds no training step with the times of its gradients; give a result of "
                    "bench --sweep batch --mode train by this version",
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

}  // namespace

CardsPrediction predict_cards(const ResultDocument& document, const CardsRequest& request,
                              const LinkCatalogue& catalogue) {
  CardsPrediction prediction{.workload = printable(document.sweep.workload),
                             .device = printable(document.context.device.name),
                             .overlap = document.context.device.kind != "cpu",
                             .link = request.link.in_words(),
                             .link_source = request.link.source()};
  for (const MeasuredPoint* const point : points_of(document, request)) {
    const std::string dtype = dtype_of(*point);
    const OneCard one{.timeline = *point->timeline,
                      .step_ns = point->stats.median_ns,
                      .overlap = prediction.overlap,
                      .narrow = dtype == "fp16" || dtype == "bf16"};
    CardsStep step{
        .dtype = dtype,
        .batch = static_cast<std::int64_t>(point->items_per_step),
        .step_ns = one.step_ns,
        .step80_ns = {one.step_ns, one.step_ns},
        .one_ns = one.step_ns,
        .peak = point->memory.peak_measured,
        .memory = point->memory.by_category,
        .bucket = request.link.bucket,
        .largest_part = std::ranges::max(one.timeline.parts, {}, &GradientTimeline::Part::bytes).bytes,
        .on_cpu = !one.overlap};
    prediction.steps.push_back(step);
    for (const std::int64_t cards : request.cards) {
      if (cards == 1) {
        continue;
      }
      const ParallelStep several = parallel_step(one, cards, request.link, catalogue);
      step.cards = cards;
      step.replay = several.replay;
      step.step_ns = several.step_ns;
      step.step80_ns = several.step80_ns;
      step.loss80 = several.loss == nullptr ? Interval{1, 1} : several.loss->interval80;
      prediction.steps.push_back(step);
      const bool is_new =
          several.loss != nullptr && std::ranges::none_of(prediction.losses, [&](const ParallelLoss& other) {
            return other.where == several.loss->where && other.numbers == several.loss->numbers;
          });
      if (is_new) {
        prediction.losses.push_back(*several.loss);
      }
    }
  }
  return prediction;
}

}  // namespace bench
