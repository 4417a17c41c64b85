#include "bench/model/cards_step.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "bench/model/curve.h"
#include "bench/stats/statistics.h"

namespace bench {
namespace {

// The factor by which one card's step may differ from what is known of it.
Interval error80_of_one(const CurvePoint& one) {
  if (!one.is_predicted && one.step.interval80_ns.low > 0) {
    return {one.step.interval80_ns.low / one.step.step_ns, one.step.interval80_ns.high / one.step.step_ns};
  }
  const double factor = std::exp(kNormal80 * deviation_of(one));
  return {1 / factor, factor};
}

// Of two ranks over their replay; nullopt where a step has no interval.
std::optional<ParallelLoss> measured_loss(const CurvePoint& one, const OneCard& card, const CardsLink& link,
                                          const LinkCatalogue& catalogue) {
  if (!one.two_ranks || !(deviation_of(one) > 0)) {
    return std::nullopt;
  }
  const double factor = one.two_ranks->step_ns / parallel_step(card, 2, link, catalogue).replay.step_ns;
  return ParallelLoss{
      .where = one.two_ranks->where,
      .numbers = "",
      .rows = 1,
      .machines = 1,
      .likely = factor,
      .interval80 = widened80({factor, factor}, factor,
                              combined_deviation({deviation_of(one), one.two_ranks->deviation}))};
}

// Where the one card computes faster or more slowly than was said, gradients cost more or less of it.
Interval slowdown80(const OneCard& card, const Interval& own80, const ParallelStep& step, std::int64_t cards,
                    const CardsLink& link, const LinkCatalogue& catalogue) {
  const double likely = step.step_ns / card.step_ns;
  const auto moved = [&](double factor) {
    OneCard other = card;
    other.step_ns *= factor;
    return std::log(parallel_step(other, cards, link, catalogue).step_ns / other.step_ns / likely);
  };
  const double slower = combined_deviation({std::log(step.step80_ns.high / step.step_ns), moved(own80.low)});
  const double faster = combined_deviation({std::log(step.step_ns / step.step80_ns.low), moved(own80.high)});
  return {std::min(likely, std::max(step.loss->interval80.low, likely * std::exp(-faster))),
          likely * std::exp(slower)};
}

}  // namespace

CardsStep step_of_one(const CurvePoint& one, const std::string& dtype, bool on_cpu, const CardsLink& link) {
  const auto& parts = one.timeline->parts;
  const double ns = one.step.step_ns;
  return {
      .dtype = dtype,
      .batch = one.batch,
      .step_ns = ns,
      .step80_ns = widened80({ns, ns}, ns, error80_of_one(one)),
      .one_ns = ns,
      .accumulate = one.accumulate,
      .peak = one.memory.peak,
      .memory = one.memory.at_peak,
      .peak80 = one.memory.peak80,
      .bucket = link.bucket,
      .largest_part = parts.empty() ? 0 : std::ranges::max(parts, {}, &GradientTimeline::Part::bytes).bytes,
      .on_cpu = on_cpu};
}

CardsStep cards_step(const CurvePoint& one, const std::string& dtype, bool on_cpu, std::int64_t cards,
                     const CardsLink& link, const LinkCatalogue& catalogue, std::vector<CardsLoss>& losses) {
  const OneCard card{.timeline = *one.timeline,
                     .step_ns = one.step.step_ns,
                     .overlap = !on_cpu,
                     .narrow = dtype == "fp16" || dtype == "bf16" || dtype == "half",
                     .accumulate = one.accumulate};
  const Interval own80 = error80_of_one(one);
  LinkCatalogue known = catalogue;
  const auto own = measured_loss(one, card, link, catalogue);
  if (own) {
    known.losses.insert(known.losses.begin(), *own);  // the first that fits counts
  }
  const ParallelStep several = parallel_step(card, cards, link, known);
  const bool is_own = own && several.loss == known.losses.data();
  CardsStep step = step_of_one(one, dtype, on_cpu, link);
  step.cards = cards;
  step.replay = several.replay;
  step.step_ns = several.step_ns;
  // Two ranks' own factor has the one card's error in it, turned over: it cancels in the step.
  step.at_least = several.loss == nullptr;
  step.step80_ns =
      is_own || step.at_least ? several.step80_ns : widened80(several.step80_ns, step.step_ns, own80);
  step.added_deviation = several.deviation();
  step.slowdown80 = is_own || step.at_least ? Interval{several.step80_ns.low / card.step_ns,
                                                       several.step80_ns.high / card.step_ns}
                                            : slowdown80(card, own80, several, cards, link, known);
  if (step.at_least) {
    return step;
  }
  step.loss80 = several.loss->interval80;
  step.is_extrapolated =
      several.loss->machines > 1 && !is_own &&
      several.replay.exposed_ns > most_published_exposed(several.loss->where) * several.replay.step_ns;
  const CardsLoss loss{*several.loss, is_own ? fmt::format("batch {} in {}", one.batch, dtype) : ""};
  if (std::ranges::count(losses, loss) == 0) {
    losses.push_back(loss);
  }
  return step;
}

}  // namespace bench
