#include "bench/evaluate/evaluated_cards.h"

#include <algorithm>
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

// `per_s`, its interval and the card's work of all cards.
void take_step(CurvePoint& point, const CardsStep& step) {
  point.is_predicted = true;
  point.per_s = step.likely_per_s();
  point.interval = step.per_s().interval;
  point.in_run.reset();
  if (point.ratio_deviation) {
    point.ratio_deviation = combined_deviation({*point.ratio_deviation, step.added_deviation});
  }
  point.step.gpu_ns += step.step_ns - step.one_ns;
  point.cards = step;
}

// PyTorch's DistributedDataParallel holds a copy of the gradients in buckets, unless it was given
// gradient_as_bucket_view=True. So the likely memory and the interval's upper end have the copy, the lower
// end does not.
void add_buckets(CurvePoint& point, std::int64_t buckets) {
  point.memory.at_peak[MemoryCategory::other] += buckets;
  point.memory.peak += buckets;
  point.memory.peak80.high += static_cast<double>(buckets);
  point.bytes += buckets;
}

// Fewer samples, by the memory that the buckets take. The bounds by the lower end of memory stay.
void leave_room(Curve& curve, const CurvePoint& point, std::int64_t buckets) {
  const MemoryByCategory& memory = point.memory.at_peak;
  const std::int64_t samples = memory[MemoryCategory::input] + memory[MemoryCategory::activations];
  const std::int64_t fewer = samples > 0 ? (buckets * point.batch + samples - 1) / samples : 0;
  for (std::int64_t LargestBatch::*const limit : {&LargestBatch::safe, &LargestBatch::likely}) {
    curve.limits.*limit = std::max<std::int64_t>(0, curve.limits.*limit - fewer);
  }
  curve.largest = curve.limits.safe > 0 ? std::optional(curve.limits.safe) : std::nullopt;
}

void take_bound(CurvePoint& point) {
  point.per_s = point.cards->per_s().value;
  point.interval.reset();
  point.ratio_deviation.reset();
  point.is_bound = true;
}

}  // namespace

EvaluatedDevice several_cards(const EvaluatedDevice& one, std::int64_t cards, const CardsLink& link,
                              const LinkCatalogue& catalogue, std::vector<CardsLoss>& losses) {
  EvaluatedDevice all = one;
  all.label = fmt::format("{}×{}", cards, one.label);
  all.name = fmt::format("{} × {}", cards, one.name);
  all.cards = cards;
  all.link = link.name();
  all.predicted = true;
  for (Curve& curve : all.curves) {
    for (CurvePoint& point : curve.points) {
      if (!point.timeline) {
        throw UsageError(
            fmt::format("--cards: {} has no times of its gradients at batch {}; measure it again "
                        "with this version, in training",
                        quote(one.label), point.batch));
      }
      if (point.framework == name_of(Framework::pytorch)) {
        const std::int64_t buckets = point.memory.at_peak[MemoryCategory::gradients];
        if (&point == &curve.points.back()) {
          leave_room(curve, point, buckets);
        }
        add_buckets(point, buckets);
      }
      take_step(point, cards_step(point, curve.dtype, one.is_cpu, cards, link, catalogue, losses));
    }
    complete_curve(curve, one.usable_bytes);
    for (CurvePoint& point : curve.points) {
      if (point.cards->at_least) {
        take_bound(point);
      }
    }
    if (curve.peak_flops_per_s) {
      *curve.peak_flops_per_s *= static_cast<double>(cards);
    }
  }
  return all;
}

LinkedCard linked_card(const EvaluatedDevice& device) {
  return {.peer_access = device.peer_access, .bus_bytes_per_s = device.bus_bytes_per_s};
}

std::vector<std::string> add_cards(EvaluatedDevices& devices, const std::vector<std::int64_t>& cards,
                                   const std::vector<CardsLink>& links, const LinkCatalogue& catalogue) {
  if (devices.task.mode != "train") {
    throw UsageError(
        fmt::format("--cards: cards train together, and mode is {}; give --mode train, or results of "
                    "training. For inference nothing need be predicted: two cards do twice what one does",
                    quote(devices.task.mode)));
  }
  std::vector<EvaluatedDevice> all;
  std::vector<CardsLoss> losses;
  std::vector<std::string> joins;  // one for each way in which cards are joined
  std::vector<std::string> cautions;
  for (std::size_t i = 0; i < devices.devices.size(); ++i) {
    EvaluatedDevice& device = devices.devices[i];
    for (Curve& curve : device.curves) {
      for (CurvePoint& point : curve.points) {
        point.of_card = device.label;
      }
    }
    const CardsLink& link = links.size() == 1 ? links.front() : links[i];
    all.push_back(device);
    for (const std::string& caution : link.cautions(cards)) {
      if (std::ranges::find(cautions, caution) == cautions.end()) {
        cautions.push_back(caution);
      }
    }
    const CardsLink joined = link.of_cards(linked_card(device));
    const std::string words = fmt::format("{} [{}]", joined.in_words(), joined.source());
    if (std::ranges::find(joins, words) == joins.end()) {
      joins.push_back(words);
    }
    for (const std::int64_t count : cards) {
      if (count > 1) {
        all.push_back(several_cards(device, count, joined, catalogue, losses));
      }
    }
  }
  std::set<std::string> used;
  for (const CardsLoss& loss : losses) {
    used.insert(fmt::format("Steps are {}.", loss.in_words()));
  }
  const auto is_bound = [](const Curve& curve) {
    return std::ranges::any_of(curve.points, &CurvePoint::is_bound);
  };
  if (std::ranges::any_of(
          all, [&](const EvaluatedDevice& device) { return std::ranges::any_of(device.curves, is_bound); })) {
    used.insert(fmt::format("{} They win no comparison.", kUnknownLoss));
  }
  const bool spread = std::ranges::any_of(devices.devices, &EvaluatedDevice::predicted);
  devices.devices = std::move(all);
  std::vector<std::string> notes{
      fmt::format("Several cards are predicted; batch and memory are of each. {} Link: {}. {}",
                  fmt::join(used, " "), fmt::join(joins, "; "), kCardsIntervals)};
  std::ranges::move(cautions, std::back_inserter(notes));
  if (spread) {
    notes.emplace_back(
        "Where a card is predicted, its gradients are spread evenly over the last two thirds of the step.");
  }
  return notes;
}

}  // namespace bench
