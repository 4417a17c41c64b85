#include "bench/predict/cards_prediction.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/dtype.h"
#include "bench/error.h"
#include "bench/measure/quote.h"
#include "bench/measure/units.h"

namespace bench {
namespace {

bool is_on_several_hosts(const CardsRequest& request, std::int64_t cards) {
  const auto* const links = std::get_if<CardLinks>(&request.link);
  return links != nullptr && links->between && cards > links->per_host;
}

double all_reduce_ns(const CardsRequest& request, std::int64_t cards, double bytes, Bandwidth bandwidth) {
  if (const auto* const measured = std::get_if<MeasuredAllReduce>(&request.link)) {
    return measured_all_reduce_ns(*measured, cards, bytes);
  }
  return ring_all_reduce_ns(std::get<CardLinks>(request.link), cards, bytes, bandwidth);
}

// What steps take over their replay; nullptr: nobody measured it, as on hosts of one CPU each.
const ParallelLoss* loss_of(const CardsRequest& request, std::int64_t cards, const CardsStep& step,
                            const LinkCatalogue& catalogue) {
  if (!step.overlap) {
    return std::holds_alternative<MeasuredAllReduce>(request.link) ? catalogue.loss("ranks of one CPU", "")
                                                                   : nullptr;
  }
  const bool narrow = step.dtype == "fp16" || step.dtype == "bf16";
  return catalogue.loss(is_on_several_hosts(request, cards) ? "several hosts" : "one host",
                        narrow ? "16-bit" : "32-bit");
}

// In proportion to what the step took when it was timed many times.
GradientTimeline scaled(const GradientTimeline& timeline, double step_ns) {
  const double by = step_ns / timeline.step_ns();
  GradientTimeline scaled = timeline;
  for (GradientTimeline::Part& part : scaled.parts) {
    part.ready_ns *= by;
  }
  scaled.backward_ns *= by;
  scaled.update_ns *= by;
  return scaled;
}

std::string rate_in_words(const Link& link) {
  const Interval& range = link.bytes_per_s_range;
  return fmt::format("{}: {} ({} to {}), {} a hop", link.name, format_rate(link.bytes_per_s, "B/s"),
                     format_rate(range.low, "B/s"), format_rate(range.high, "B/s"),
                     format_duration(link.hop_ns));
}

void describe_link(const CardsRequest& request, CardsPrediction& prediction) {
  if (const auto* const measured = std::get_if<MeasuredAllReduce>(&request.link)) {
    prediction.link = fmt::format("all-reduces of {} ranks as measured", measured->ranks);
    prediction.link_source = request.link_path;
    return;
  }
  const auto& links = std::get<CardLinks>(request.link);
  prediction.link = rate_in_words(links.inside);
  prediction.link_source = links.inside.source;
  if (links.between) {
    prediction.link +=
        fmt::format("; between hosts of {} cards {}", links.per_host, rate_in_words(*links.between));
    prediction.link_source += "; " + links.between->source;
  }
}

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
                             .overlap = document.context.device.kind != "cpu"};
  describe_link(request, prediction);
  for (const MeasuredPoint* const point : points_of(document, request)) {
    const double one_ns = point->stats.median_ns;
    const GradientTimeline timeline = scaled(*point->timeline, one_ns);
    CardsStep step{.dtype = dtype_of(*point),
                   .batch = static_cast<std::int64_t>(point->items_per_step),
                   .step_ns = one_ns,
                   .step80_ns = {one_ns, one_ns},
                   .one_ns = one_ns,
                   .peak = point->memory.peak_measured,
                   .memory = point->memory.by_category,
                   .bucket = request.bucket,
                   .largest_part = std::ranges::max(timeline.parts, {}, &GradientTimeline::Part::bytes).bytes,
                   .overlap = prediction.overlap};
    prediction.steps.push_back(step);
    for (const std::int64_t cards : request.cards) {
      if (cards == 1) {
        continue;
      }
      const auto replayed = [&](Bandwidth bandwidth) {
        return replay_step(timeline, request.bucket, prediction.overlap,
                           [&](double bytes) { return all_reduce_ns(request, cards, bytes, bandwidth); });
      };
      const ParallelLoss* const known = loss_of(request, cards, step, catalogue);
      const ParallelLoss loss = known == nullptr ? ParallelLoss{} : *known;
      step.cards = cards;
      step.replay = replayed(Bandwidth::likely);
      step.loss80 = loss.interval80;
      step.step_ns = step.replay.step_ns * loss.likely;
      step.step80_ns = {replayed(Bandwidth::high).step_ns * loss.interval80.low,
                        replayed(Bandwidth::low).step_ns * loss.interval80.high};
      prediction.steps.push_back(step);
      const bool is_new = std::ranges::none_of(prediction.losses, [&](const ParallelLoss& other) {
        return other.where == loss.where && other.numbers == loss.numbers;
      });
      if (is_new && known != nullptr) {
        prediction.losses.push_back(loss);
      }
    }
  }
  return prediction;
}

}  // namespace bench
