#include "bench/evaluate/evaluated_cards.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// Of one card's step, on a logarithmic scale.
double own_deviation(const EvaluatedPoint& one) {
  return one.interval ? log_deviation(*one.interval, one.is_predicted ? kNormal80 : kNormal95) : 0;
}

// Over one card. Where that computes faster or more slowly than was said, gradients cost more or less of it.
Interval speedup80(const OneCard& card, const ParallelStep& step, double own, std::int64_t cards,
                   const CardsLink& link, const LinkCatalogue& catalogue) {
  const double likely = step.step_ns / card.step_ns;
  const auto moved = [&](double factor) {
    OneCard other = card;
    other.step_ns *= factor;
    return std::log(parallel_step(other, cards, link, catalogue).step_ns / other.step_ns / likely);
  };
  const double factor = std::exp(kNormal80 * own);
  const double slower = combined_deviation({std::log(step.step80_ns.high / step.step_ns), moved(1 / factor)});
  const double faster = combined_deviation({std::log(step.step_ns / step.step80_ns.low), moved(factor)});
  const auto all = static_cast<double>(cards);
  const double most = step.loss == nullptr ? all : all / step.loss->interval80.low;
  return {.low = all / likely * std::exp(-slower),
          .high = std::max(all / likely, std::min(most, all / likely * std::exp(faster)))};
}

EvaluatedPoint of_all(const EvaluatedPoint& one, const ParallelStep& step, std::int64_t cards) {
  const double samples = static_cast<double>(cards * one.batch) * 1e9;
  const double one_ns = static_cast<double>(one.batch) * 1e9 / one.per_s;
  EvaluatedPoint all = one;
  all.is_predicted = true;
  all.per_s = samples / step.step_ns;
  const Interval step80 = widened80(step.step80_ns, step.step_ns, own_deviation(one));
  all.interval = Interval{samples / step80.high, samples / step80.low};
  if (one.ratio_deviation) {
    all.ratio_deviation = combined_deviation({*one.ratio_deviation, step.deviation()});
  }
  all.gpu_ns += step.step_ns - one_ns;
  return all;
}

// By the one card's median: its own error is that of what it is compared with.
EvaluatedPoint at_most(EvaluatedPoint point, double per_s) {
  point.per_s = per_s;
  point.interval.reset();
  point.ratio_deviation.reset();
  point.is_bound = true;
  return point;
}

// Adds the losses that it uses.
EvaluatedDevice several(const EvaluatedDevice& one, std::int64_t cards, const CardsLink& link,
                        const LinkCatalogue& catalogue, std::set<std::string>& losses) {
  EvaluatedDevice all = one;
  all.label = fmt::format("{}×{}", cards, one.label);
  all.name = fmt::format("{} × {}", cards, one.name);
  all.cards = cards;
  all.predicted = true;
  for (EvaluatedCurve& curve : all.curves) {
    std::vector<std::pair<EvaluatedPoint*, double>> bounds;
    for (EvaluatedPoint& point : curve.points) {
      if (!point.timeline) {
        throw UsageError(
            fmt::format("--cards: {} has no times of its gradients at batch {}; measure it again "
                        "with this version, in training",
                        quote(one.label), point.batch));
      }
      const OneCard card{.timeline = *point.timeline,
                         .step_ns = static_cast<double>(point.batch) * 1e9 / point.per_s,
                         .overlap = !one.is_cpu,
                         .narrow = curve.dtype != "fp32" && curve.dtype != "tf32",
                         .accumulate = point.accumulate};
      const ParallelStep step = parallel_step(card, cards, link, catalogue);
      losses.insert(step.loss == nullptr
                        ? fmt::format("{} Their figures are bounds, and win no comparison.", kUnknownLoss)
                        : fmt::format("Steps are {}.", step.loss->in_words()));
      const OverOneCard over_one{
          .one_per_s = point.per_s,
          .speedup80 = speedup80(card, step, own_deviation(point), cards, link, catalogue)};
      point = of_all(point, step, cards);
      point.over_one = over_one;
      if (step.loss == nullptr) {
        bounds.emplace_back(&point, static_cast<double>(cards * point.batch) * 1e9 / step.step80_ns.low);
      }
    }
    complete_curve(curve, one.predicted, one.usable_bytes);
    for (const auto& [point, per_s] : bounds) {
      *point = at_most(*point, per_s);
    }
    if (curve.peak_flops_per_s) {
      *curve.peak_flops_per_s *= static_cast<double>(cards);
    }
  }
  return all;
}

}  // namespace

LinkedCard linked_card(const EvaluatedDevice& device) {
  return {.peer_access = device.peer_access, .bus_bytes_per_s = device.bus_bytes_per_s};
}

std::vector<std::string> add_cards(EvaluatedDevices& devices, const std::vector<std::int64_t>& cards,
                                   const CardsLink& link, const LinkCatalogue& catalogue) {
  if (devices.task.mode != "train") {
    throw UsageError(fmt::format(
        "--cards: cards train together, and mode is {}; give --mode train, or results of training",
        quote(devices.task.mode)));
  }
  std::vector<EvaluatedDevice> all;
  std::set<std::string> losses;
  std::vector<std::string> joins;  // one for each way in which cards are joined
  for (const EvaluatedDevice& device : devices.devices) {
    all.push_back(device);
    const CardsLink joined = link.of_cards(linked_card(device));
    const std::string words = fmt::format("{} [{}]", joined.in_words(), joined.source());
    if (std::ranges::find(joins, words) == joins.end()) {
      joins.push_back(words);
    }
    for (const std::int64_t count : cards) {
      if (count > 1) {
        all.push_back(several(device, count, joined, catalogue, losses));
      }
    }
  }
  const bool spread = std::ranges::any_of(devices.devices, &EvaluatedDevice::predicted);
  devices.devices = std::move(all);
  std::vector<std::string> notes{fmt::format(
      "Several cards are predicted; batch and memory are of each. {} Link: {}. Intervals: the link's range, "
      "the factor's and the one card's, which are independent; over one card its own cancels.",
      fmt::join(losses, " "), fmt::join(joins, "; "))};
  std::ranges::move(link.cautions(cards), std::back_inserter(notes));
  if (spread) {
    notes.emplace_back(
        "Where a card is predicted, its gradients are spread evenly over the last two thirds of the step.");
  }
  notes.emplace_back("Whether the loader feeds several cards is in the column `fed` alone.");
  return notes;
}

}  // namespace bench
