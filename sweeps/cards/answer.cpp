#include "sweeps/cards/answer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <tuple>
#include <utility>

#include "bench/result/flags.h"
#include "bench/stats/ratio.h"
#include "bench/stats/statistics.h"

namespace bench::sweeps {
namespace {

constexpr double kWorth = 0.5;  // that a rank has to give, of what the first gives

double median_of(std::vector<double> values) {
  return values.empty() ? 0 : median(values);
}

void read_notes(const Point& measured, CardsPoint& point) {
  const auto ranks = static_cast<std::size_t>(point.ranks);
  std::vector<double> exposed;
  std::vector<double> queued;
  std::vector<double> copied;
  std::vector<std::vector<double>> own(ranks);
  std::vector<std::shared_ptr<const RankSteps>> kept;
  std::vector<const RankSteps*> all;  // by sample
  for (const auto& note : measured.notes) {
    const auto* steps = dynamic_cast<const RankSteps*>(note.get());
    if (steps == nullptr && note != nullptr) {  // as a file has it
      kept.push_back(read_rank_steps(note->to_json()));
      steps = kept.back().get();
    }
    if (steps != nullptr && steps->step_ns.size() != ranks) {
      steps = nullptr;
    }
    all.push_back(steps);
    if (steps == nullptr) {
      continue;
    }
    exposed.push_back(std::ranges::min(steps->waited_ns));
    for (const auto& [values, longest] :
         {std::pair(&steps->queued_ns, &queued), std::pair(&steps->copied_ns, &copied)}) {
      if (!values->empty()) {
        longest->push_back(std::ranges::max(*values));
      }
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      own[rank].push_back(steps->own_ns(rank));
    }
    point.plan_bytes = steps->plan_bytes;
    point.peak_bytes = steps->peak_bytes;
    point.activation_bytes = steps->activation_bytes;
  }
  if (exposed.empty()) {
    return;
  }
  point.exposed_ns = median_of(exposed);
  point.queued_ns = median_of(queued);
  point.copied_ns = median_of(copied);
  for (const std::vector<double>& values : own) {
    point.own_ns.push_back(median_of(values));
  }
  point.own_by_round.resize(ranks);
  std::size_t next = 0;
  for (const MeasuredRound& round : measured.rounds) {
    const std::size_t end = std::min(next + static_cast<std::size_t>(round.samples), all.size());
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::vector<double> values;
      for (std::size_t sample = next; sample < end; ++sample) {
        if (all[sample] != nullptr) {
          values.push_back(all[sample]->own_ns(rank));
        }
      }
      point.own_by_round[rank].push_back(median_of(values));
    }
    next = end;
  }
}

// Of what each rank beyond `base` gives; no interval where a speedup has none.
Estimate gain_of_each(const Estimate& times, int ranks, const Estimate& base, int base_ranks) {
  const double more = ranks - base_ranks;
  Estimate gain{.value = (times.value - base.value) / more};
  if (times.ci95) {  // the base's is exact for one rank
    const double below = combined_deviation({times.value - times.low(), base.high() - base.value});
    const double above = combined_deviation({times.high() - times.value, base.value - base.low()});
    gain.ci95 = Interval{gain.value - below / more, gain.value + above / more};
  }
  return gain;
}

// The rounds' range of the time that the rank computes which computes longest; nullopt where it is not known
// by rounds.
std::optional<Interval> computing(const CardsPoint& point) {
  std::optional<Interval> range;
  for (std::size_t round = 0; !point.own_by_round.empty() && round < point.own_by_round.front().size();
       ++round) {
    double longest = 0;
    for (const std::vector<double>& of_rank : point.own_by_round) {
      longest = std::max(longest, of_rank.at(round));
    }
    range = range ? Interval{std::min(range->low, longest), std::max(range->high, longest)}
                  : Interval{longest, longest};
  }
  return range;
}

SlowestRank slowest_rank(const CardsPoint& point) {
  const auto slowest = std::ranges::max_element(point.own_ns);
  const auto rank = static_cast<std::size_t>(slowest - point.own_ns.begin());
  const auto of_others = [rank](std::vector<double> all) {
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(rank));
    return median_of(all);
  };
  SlowestRank found{.rank = rank, .own_ns = *slowest, .longer = *slowest / of_others(point.own_ns) - 1};
  if (point.own_by_round.size() == point.own_ns.size()) {
    const std::vector<double>& own = point.own_by_round[rank];
    std::vector<double> others;
    for (std::size_t round = 0; round < own.size(); ++round) {
      std::vector<double> all;
      for (const std::vector<double>& values : point.own_by_round) {
        all.push_back(values[round]);
      }
      others.push_back(of_others(std::move(all)));
    }
    if (const auto times = paired_ratio(own, others); times && times->ci95) {
      found.ci95 = Interval{times->low() - 1, times->high() - 1};
    }
  }
  return found;
}

PayingRanks paying_ranks(const std::vector<const CardsPoint*>& scaling, const CardsPoint& alone) {
  PayingRanks pays{.best = &alone};
  for (const CardsPoint* const point : scaling) {
    const Estimate times = speedup(*point, alone);
    const Estimate gain = gain_of_each(times, point->ranks, pays.times, pays.best->ranks);
    if (gain.ci95 && gain.low() >= kWorth) {
      pays = {.best = point, .times = times, .ranks = point->ranks};
    } else if (pays.open == nullptr && (!gain.ci95 || gain.high() >= kWorth)) {
      pays.open = point;
      pays.more_times = times;
      pays.would_pay = pays.times.value + kWorth * (point->ranks - pays.best->ranks);
    }
  }
  if (pays.open == nullptr && pays.ranks == 1) {
    pays.more_times = speedup(*scaling.front(), alone);
    pays.would_pay = 1 + kWorth * (scaling.front()->ranks - 1);
  }
  return pays;
}

PayingRanks paying_stages(const CardsPoint& best, const CardsPoint& alone) {
  const Estimate times = speedup(best, alone);
  return {.best = &best,
          .times = times,
          .open = differs_from_one(times) ? nullptr : &best,
          .more_times = times,
          .would_pay = 1,
          .ranks = times.low() > 1 ? best.ranks : 1};
}

// Where a card's bus or its host takes nearly as long as a step; nullopt: neither does, or it is not known.
std::optional<CardsLimit> card_limit(const CardsPoint& point) {
  constexpr double kNearlyAll = 0.9;  // of a step
  using Kind = CardsLimit::Kind;
  if (point.copied_ns >= kNearlyAll * point.ns.value) {
    return CardsLimit{.kind = Kind::bus, .longest_ns = point.copied_ns};
  }
  return point.queued_ns >= kNearlyAll * point.ns.value
             ? std::optional(CardsLimit{.kind = Kind::launch, .longest_ns = point.queued_ns})
             : std::nullopt;
}

// The larger part of what a step of several ranks takes longer than alone.
CardsLimit limit_of(const CardsPoint& point, const CardsPoint& alone, const CardsSetup& setup) {
  using Kind = CardsLimit::Kind;
  constexpr double kLittle = 0.02;  // of a step
  if (setup.takes_turns()) {
    return {.kind = Kind::shared_cores};
  }
  CardsLimit limit{.lost_ns = point.ns.value - alone.ns.value};
  const double lost = limit.lost_ns;
  const Estimate efficiency = scaled(speedup(point, alone), 1.0 / point.ranks);
  if (lost < kLittle * point.ns.value && efficiency.ci95 && efficiency.low() > 1 - 5 * kLittle) {
    limit.kind = Kind::nothing;
    return limit;
  }
  // A rank may wait longer than a step is longer, where it computes less than alone.
  const double waits = std::clamp(point.exposed_ns, 0.0, std::max(0.0, lost));
  // A step that is longer because it waits longer is no doubt about what it waits for: the computing alone
  // tells how much of a step is not waiting.
  const Interval own{std::max(0.0, point.ns.low() - point.exposed_ns),
                     std::max(0.0, point.ns.high() - point.exposed_ns)};
  const Interval computes = computing(point).value_or(own);
  const auto share_where = [&](double longer) {
    const double all = point.exposed_ns + std::max(0.0, longer);
    return all > 0 ? std::min(1.0, point.exposed_ns / all) : 0;
  };
  const double low = share_where(computes.high - alone.ns.low());
  const double high = share_where(computes.low - alone.ns.high());
  const bool known = point.ns.ci95 && alone.ns.ci95;
  if (lost > 0 && known && (low >= 0.5 || high < 0.5)) {
    limit.kind = low >= 0.5 ? Kind::waiting : Kind::computing;
    limit.part_ns = limit.kind == Kind::waiting ? waits : lost - waits;
    limit.share = {.value = waits / lost, .ci95 = Interval{low, high}};
  }
  return limit;
}

LoaderNeed loader_need(const CardsPoint& point, const CardsSetup& setup) {
  const auto started = static_cast<double>(setup.ranks.hosts.size());
  const double share = started > 0 ? setup.ranks.near / started : 1;
  LoaderNeed need{.needed_per_s = point.per_s().value * share, .loader = setup.loader};
  if (need.loader) {
    need.workers = std::ceil(need.needed_per_s / need.loader->per_core());
  }
  return need;
}

// Of the largest batch that one rank ran too, else of the largest.
void choose_scaling(const CardsSetup& setup, CardsAnswer& answer) {
  const auto size_of = [&](const CardsPoint& point) {
    return setup.strong ? point.samples() : static_cast<double>(point.batch);
  };
  std::vector<const CardsPoint*>& scaling = answer.scaling;
  for (const auto& [point, own] : answer.steps) {
    const CardsPoint* const alone = answer.alone;
    const bool is_larger =
        scaling.empty() || (own != nullptr && (alone == nullptr || own->samples() > alone->samples())) ||
        (own == nullptr && alone == nullptr && size_of(*point) > size_of(*scaling.front()));
    if (is_larger) {
      answer.alone = own;
      scaling.clear();
    }
    if (own == answer.alone && (scaling.empty() || size_of(*point) == size_of(*scaling.front()))) {
      scaling.push_back(point);
    }
  }
  answer.most = scaling.empty() ? nullptr : scaling.back();
}

// The same of layers over ranks, and of these the fastest.
void choose_stages(CardsAnswer& answer) {
  for (const auto& [point, own] : answer.steps) {
    const CardsPoint* const best = answer.most;
    const bool known = best != nullptr && (own != nullptr) == (answer.alone != nullptr);
    const bool larger = best == nullptr || (own != nullptr && answer.alone == nullptr) ||
                        (known && point->batch > best->batch);
    if (larger || (known && point->batch == best->batch && point->ns.value < best->ns.value)) {
      answer.alone = own;
      answer.most = point;
    }
  }
}

}  // namespace

bool SlowestRank::is_unbalanced() const {
  constexpr double kUnbalanced = 0.1;  // beyond the other ranks' median
  return is_sure() && longer > kUnbalanced;
}

std::vector<CardsPoint> cards_points(const ResultDocument& document) {
  const FlagMarks marks(measured_points(document));
  std::vector<CardsPoint> all;
  for (const Point& measured : measured_points(document)) {
    const auto params = read_cards_params(measured.params);
    if (!params || measured.stats.median_ns <= 0) {
      continue;
    }
    CardsPoint point;
    static_cast<CardsParams&>(point) = *params;
    point.name = measured.name;
    point.ns = measured.stats.step_time();
    point.rounds = round_times(measured);
    point.mark = marks.of(measured);
    read_notes(measured, point);
    all.push_back(std::move(point));
  }
  std::ranges::sort(all, {}, [](const CardsPoint& point) {
    return std::tuple(point.ranks, point.batch, point.micro_batches);
  });
  return all;
}

Estimate speedup(const CardsPoint& point, const CardsPoint& alone) {
  return throughput_ratio({point.ns, point.rounds, point.samples()},
                          {alone.ns, alone.rounds, alone.samples()});
}

const CardsPoint* alone_for(const CardsPoint& point, const std::vector<CardsPoint>& all, bool strong) {
  const auto at = std::ranges::find_if(all, [&](const CardsPoint& other) {
    return other.ranks == 1 && other.dtype == point.dtype &&
           (strong ? other.samples() == point.samples() : other.batch == point.batch);
  });
  return at == all.end() ? nullptr : &*at;
}

double pipeline_idle(int stages, std::int64_t micro_batches) {
  const double behind = stages - 1;
  return behind / (static_cast<double>(micro_batches) + behind);
}

std::vector<double> idle_shares(const CardsPoint& point) {
  std::vector<double> shares;
  std::ranges::transform(point.own_ns, std::back_inserter(shares),
                         [&](double own) { return std::max(0.0, 1 - own / point.ns.value); });
  return shares;
}

CardsSetup cards_setup_in(const ResultDocument& document) {
  const Json& axes = document.sweep.axes;
  const Json state = document.sweep.state.value("cards", Json::object());
  return {.ranks = rank_setup_in(document),
          .threads = state.value("threads", 1),
          .strong = axes.is_object() && axes.value("scaling", "weak") == "strong",
          .split_layers = axes.is_object() && axes.value("split", "none") == "layers"};
}

CardsAnswer answer_of(const std::vector<CardsPoint>& all, const CardsSetup& setup) {
  CardsAnswer answer;
  for (const CardsPoint& point : all) {
    if (setup.split_layers ? point.split_layers : point.ranks > 1) {
      answer.steps.push_back({&point, alone_for(point, all, setup.strong || setup.split_layers)});
    }
  }
  if (setup.split_layers) {
    choose_stages(answer);
  } else {
    choose_scaling(setup, answer);
  }
  if (answer.most == nullptr) {
    return answer;
  }
  const CardsPoint& most = *answer.most;
  if (answer.alone != nullptr) {
    answer.pays =
        setup.split_layers ? paying_stages(most, *answer.alone) : paying_ranks(answer.scaling, *answer.alone);
  }
  if (most.own_ns.size() > 1) {
    answer.slowest = slowest_rank(most);
  }
  if (!setup.split_layers) {
    answer.limit = card_limit(most);
    if (!answer.limit && answer.alone != nullptr && !setup.strong) {
      answer.limit = limit_of(most, *answer.alone, setup);
    }
    answer.loader = loader_need(most, setup);
  }
  return answer;
}

}  // namespace bench::sweeps
