#include "bench/advise/results_advice.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/advise/change_words.h"
#include "bench/advise/measured_cards.h"
#include "bench/advise/step_option.h"
#include "bench/error.h"
#include "bench/evaluate/evaluated_curve.h"
#include "bench/predict/cards_prediction.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "bench/stats/ratio.h"
#include "bench/stats/statistics.h"
#include "bench/text/intervals.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

double rate(const Point& point) {
  return point.items_per_step / step_ns(point);
}

// What a step and the plans of sharing it out have in common.
Json without_sharing(Json params) {
  if (params.is_object()) {
    params.erase("shard");
  }
  return params;
}

Interval interval90(double value, double deviation) {
  return deviating(value, deviation, kAdviceLevel).interval.value();
}

class CardsAdviser {
 public:
  CardsAdviser(const EvaluatedFile& file, const std::optional<SeveralCards>& several)
      : file_(file), several_(several), cards_(file), now_(cards_.now()) {}

  Advice advice() {
    Advice advice;
    const TrainingSettings settings = settings_of(now_);
    advice.subject = fmt::format(
        "{}, {} in {} at batch {}, {}, on {}", printable(text_member(now_.params, "workload")),
        cards_.is_training() ? "training" : "inference", settings.dtype, settings.batch * settings.accumulate,
        stages_in_words(now_), printable(cards_.document().context.device.name));
    advice.basis =
        fmt::format("measured by the cards sweep, {} points", measured_points(cards_.document()).size());
    advice.current = settings;
    advice.step_ns = step_ns(now_) / static_cast<double>(settings.accumulate);
    advice.budget = cards_.budget();
    std::tie(advice.bottleneck, advice.reason) = cards_.limit();
    compare_points(advice);
    accumulate_more(advice);
    predict_more(advice);
    std::ranges::stable_sort(advice.changes, std::ranges::greater{}, &Change::speedup);
    share_out(advice);
    ask(advice);
    return advice;
  }

 private:
  Change change_to(const TrainingSettings& after, std::int64_t bytes) const {
    const TrainingSettings now = settings_of(now_);
    Change change;
    change.after = after;
    change.what = changed_words(now, after);
    change.setting = pytorch_setting(
        now, after, {.on_gpu = !cards_.is_on_cpu(), .training = cards_.is_training(), .cards_of_a_host = 0});
    change.costs = costs_of(
        now, after,
        {.device = bytes > 0 ? now_.memory.peak_measured : 0, .device_cap = cards_.memory_of_a_rank()},
        {.device = bytes, .device_cap = cards_.memory_of_a_rank()}, cards_.is_training());
    return change;
  }

  void compare_points(Advice& advice) const {
    AdviceTable table{.question = "Do more ranks pay?"};
    table.table.rows = {{"ranks", "batch", "step", "samples/s", "times as fast (90 %)", "pays"}};
    for (const Point& one : measured_points(cards_.document())) {
      if (!(step_ns(one) > 0)) {
        continue;
      }
      const Estimate times =
          throughput_ratio({one.stats.step_time(), round_times(one), one.items_per_step},
                           {now_.stats.step_time(), round_times(now_), now_.items_per_step});
      const bool is_now = &one == &now_;
      const auto times90 = times.ci95 && times.low() > 0
                               ? std::optional(interval90(times.value, log_deviation(*times.ci95, kNormal95)))
                               : std::nullopt;
      Change change = change_to(settings_of(one), one.memory.peak_measured);
      change.speedup = times.value;
      change.speedup90 = times90;
      table.table.rows.push_back({stages_in_words(one), count_of(one, "batch", 1),
                                  Cell::time(step_ns(one), one.stats.step_time().ci95),
                                  Cell::number(1e9 * rate(one)), is_now ? "as it is" : gain_cell(change),
                                  is_now ? "" : pays_in_words(change)});
      if (is_now) {
        continue;
      }
      if (splits_layers(now_) || splits_layers(one)) {
        change.what = fmt::format("{} → {}", stages_in_words(now_), stages_in_words(one));
        change.setting = splits_layers(one) ? "torch.distributed.pipelining" : "one process, one card";
      }
      change.step_ns = step_ns(one) / static_cast<double>(change.after.accumulate);
      change.evidence = {fmt::format("measured: {} in {}", printable(one.name), file_.path)};
      add_change(advice, std::move(change));
    }
    advice.tables.push_back(std::move(table));
  }

  // The wait comes once for all accumulations, as it was measured; that the update does too is left out. The
  // interval is that of the step.
  void accumulate_more(Advice& advice) const {
    const double waits = cards_.exposed_ns();
    if (!cards_.is_training() || splits_layers(now_) || waits < kCounts * step_ns(now_) ||
        cards_.takes_turns() || advice.bottleneck == Bottleneck::undecided) {
      return;
    }
    constexpr std::int64_t kTimes = 4;
    TrainingSettings after = settings_of(now_);
    after.accumulate *= kTimes;
    Change change = change_to(after, 0);
    const auto gain = [&](double step) { return step / (step - std::min(waits, step) * (1 - 1.0 / kTimes)); };
    change.speedup = gain(step_ns(now_));
    change.step_ns = step_ns(now_) / change.speedup / static_cast<double>(settings_of(now_).accumulate);
    if (const auto own = now_.stats.step_time().ci95) {
      const Interval step90 = interval90(step_ns(now_), log_deviation(*own, kNormal95));
      change.speedup90 = Interval{gain(step90.high), gain(step90.low)};
    }
    change.costs.emplace_back("never run: --accumulate measures it");
    change.evidence = {fmt::format("arithmetic: of {}, the wait of {} comes once for {} times the samples",
                                   format_duration(step_ns(now_)), format_duration(waits), kTimes)};
    add_change(advice, std::move(change));
  }

  void predict_more(Advice& advice) const {
    if (!several_ || several_->cards.empty()) {
      return;
    }
    if (!holds_timeline(cards_.document()) || splits_layers(now_)) {
      throw UsageError(
          fmt::format("--cards: {} holds no training step of one rank with the times of its gradients, from "
                      "which more cards are predicted; measure one with --sweep cards --cards 1,{}",
                      file_.path, ranks_of(now_)));
    }
    CardsRequest request{.cards = several_->cards, .link = several_->link};
    request.link.require_kind(cards_.document().context.device.kind);
    request.dtypes = {text_member(now_.params, "dtype")};
    if (cards_.alone() != nullptr) {
      request.batches = {static_cast<std::int64_t>(cards_.alone()->items_per_step)};
    }
    const CardsPrediction prediction = predict_cards(evaluated_device(file_), request, several_->catalogue);
    advice.warnings.insert(advice.warnings.end(), prediction.cautions.begin(), prediction.cautions.end());
    for (const CardsStep& step : prediction.steps) {
      if (step.cards == 1) {
        continue;
      }
      TrainingSettings after = settings_of(now_);
      after.cards = step.cards;
      after.accumulate = step.accumulate;
      after.batch = step.batch / step.accumulate;
      Change change = change_to(after, 0);
      change.step_ns = step.quoted_ns() / static_cast<double>(step.accumulate);
      change.speedup = step.per_s().value / (1e9 * rate(now_));
      const auto own = now_.stats.step_time().ci95;
      const double now_deviation = own ? log_deviation(*own, kNormal95) : 0;
      const double deviation = log_deviation(step.step80_ns, kNormal80);
      change.at_most = step.at_least;
      if (!change.at_most) {
        change.step90_ns = interval90(change.step_ns, deviation);
        change.speedup90 = interval90(change.speedup, combined_deviation({deviation, now_deviation}));
      }
      change.evidence = {"predicted over " + prediction.link};
      for (const CardsLoss& loss : prediction.losses) {
        change.evidence.push_back(loss.measured.empty()
                                      ? "steps " + loss.in_words()
                                      : fmt::format("steps of {} as two ranks of this file", loss.measured));
      }
      if (change.at_most) {
        change.evidence.emplace_back(kUnknownLoss);
      }
      advice.tables.front().table.rows.push_back(
          {fmt::format("{} cards, predicted", step.cards), step.batch,
           change.at_most ? Cell::time(change.step_ns * static_cast<double>(step.accumulate)).after("≥ ")
                          : Cell::time(step.step_ns),
           Cell::figure(digits80(step.per_s().value, *step.per_s().interval))
               .after(change.at_most ? "≤ " : ""),
           gain_cell(change), pays_in_words(change)});
      add_change(advice, std::move(change));
    }
  }

  // Where memory is what limits.
  void share_out(Advice& advice) const {
    if (!cards_.is_training() || splits_layers(now_) || !cards_.memory_is_full()) {
      return;
    }
    AdviceTable table{
        .question = fmt::format("What would sharing out over {} ranks free?", ranks_of(now_)),
        .table = {.rows = {{"shared out", "a rank", "rests on"},
                           {text_member(now_.params, "shard").empty() ? "nothing" : "optimizer (ZeRO-1)",
                            Cell::bytes(now_.memory.peak_measured), "measured"}}}};
    const std::int64_t state = now_.memory.by_category[MemoryCategory::optimizer];
    if (state > 0 && text_member(now_.params, "shard").empty()) {
      const std::int64_t freed = state - state / ranks_of(now_);
      table.table.rows.push_back({"optimizer (ZeRO-1)", Cell::bytes(now_.memory.peak_measured - freed),
                                  "arithmetic; --shard optimizer measures it"});
    }
    for (const Point& planned : modelled_points(cards_.document())) {
      if (without_sharing(planned.params) == without_sharing(now_.params)) {
        table.table.rows.push_back({text_member(planned.prediction.model, "shared"),
                                    Cell::bytes(planned.peak()), "planned, never run"});
      }
    }
    if (state == 0) {
      table.notes.emplace_back("Its optimizer has no state to share out.");
    }
    advice.tables.push_back(std::move(table));
  }

  void ask(Advice& advice) const {
    const Finding* const loader = cards_.findings().loader;
    if (loader != nullptr && !loader->value) {
      advice.missing.push_back(loader->claim);
    }
    const bool link_limits = advice.bottleneck == Bottleneck::link;
    std::set<double> batches;
    for (const Point& one : measured_points(cards_.document())) {
      if (ranks_of(one) == ranks_of(now_)) {
        batches.insert(one.items_per_step);
      }
    }
    if (link_limits && *batches.rbegin() <= now_.items_per_step) {
      advice.missing.push_back(fmt::format(
          "a larger batch, which waits no longer for more samples: bench --sweep cards --batch {},{}",
          count_of(now_, "batch", 1), 2 * count_of(now_, "batch", 1)));
    }
    if (link_limits && !cards_.is_on_cpu()) {
      advice.missing.push_back(fmt::format(
          "smaller buckets than {}, of which the last is exposed for less: bench --sweep cards --bucket 5MiB",
          format_bytes(count_of(now_, "bucket", 0))));
    }
    if (cards_.is_training() && !splits_layers(now_) && !several_) {
      advice.missing.push_back(
          fmt::format("more than {} cards: bench advise {} --cards {} --link NAME (bench predict --help)",
                      ranks_of(now_), file_.path, 2 * ranks_of(now_)));
    }
    const CardsFindings& all = cards_.findings();
    for (const Finding* const one : {all.ranks, all.balance, all.memory}) {
      if (one != nullptr) {
        advice.warnings.push_back(one->claim);
      }
    }
  }

  const EvaluatedFile& file_;
  const std::optional<SeveralCards>& several_;
  const MeasuredCards cards_;
  const Point& now_;
};

}  // namespace

Advice advice_from_cards(const EvaluatedFile& file, const std::optional<SeveralCards>& several) {
  return CardsAdviser(file, several).advice();
}

}  // namespace bench
