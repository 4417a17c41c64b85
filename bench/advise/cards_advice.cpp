#include "bench/advise/cards_advice.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/advise/change_words.h"
#include "bench/advise/step_option.h"
#include "bench/error.h"
#include "bench/evaluate/evaluated_curve.h"
#include "bench/measure/finding.h"
#include "bench/measure/paired_ratio.h"
#include "bench/measure/quote.h"
#include "bench/measure/statistics.h"
#include "bench/measure/units.h"
#include "bench/predict/cards_prediction.h"

namespace bench {
namespace {

constexpr double kWaitCounts = 0.05;  // of a step
constexpr double kTight = 0.9;        // of a rank's memory

std::int64_t count_of(const MeasuredPoint& point, const char* key, std::int64_t otherwise) {
  const auto value = positive_member(point.params, key);
  return value ? static_cast<std::int64_t>(*value) : otherwise;
}

std::int64_t ranks_of(const MeasuredPoint& point) {
  return count_of(point, "ranks", 1);
}

bool splits_layers(const MeasuredPoint& point) {
  return text_member(point.params, "split") == "layers";
}

// Ranks that share out the layers hold one copy of the model, and count as one card of its batch.
TrainingSettings settings_of(const MeasuredPoint& point) {
  TrainingSettings settings;
  settings.accumulate = count_of(point, "accumulate", 1);
  settings.batch = count_of(point, "batch", 1) / settings.accumulate;
  settings.dtype = text_member(point.params, "dtype");
  settings.cards = splits_layers(point) ? 1 : ranks_of(point);
  return settings;
}

std::string stages_in_words(const MeasuredPoint& point) {
  const std::string ranks = fmt::format("{} rank{}", ranks_of(point), ranks_of(point) == 1 ? "" : "s");
  const std::int64_t micro_batches = count_of(point, "micro-batches", 1);
  return splits_layers(point) ? fmt::format("layers over {}, {} micro-batch{}", ranks, micro_batches,
                                            micro_batches == 1 ? "" : "es")
                              : ranks;
}

// Of a log-normal error.
Interval with_half_width(double value, const Interval& interval, double from, double to) {
  const double factor = std::exp(to * log_deviation(interval, from));
  return {value / factor, value * factor};
}

class CardsAdviser {
 public:
  CardsAdviser(const AdviceFile& file, const std::optional<SeveralCards>& several)
      : file_(file), document_(file.document), several_(several) {
    const Finding* const cards = finding("cards");
    if (cards == nullptr || cards->evidence.empty() || point(cards->evidence.back()) == nullptr) {
      throw UsageError(
          fmt::format("{}: it has no finding on several ranks to advise from; give a whole result of bench "
                      "--sweep cards of two ranks or more",
                      file.path));
    }
    now_ = point(cards->evidence.back());
    const MeasuredPoint* const first = point(cards->evidence.front());
    alone_ = first != nullptr && ranks_of(*first) == 1 && first != now_ ? first : nullptr;
    for (const Finding& one : document_.findings) {
      const bool is_of_steps = one.name.starts_with("efficiency/") || one.name.starts_with("waits/");
      if (is_of_steps && std::ranges::count(one.evidence, now_->name) > 0) {
        steps_ = &one;
      }
    }
  }

  Advice advice() {
    Advice advice;
    const bool infers = document_.sweep.mode == "infer";
    const TrainingSettings settings = settings_of(*now_);
    advice.subject =
        fmt::format("{}, {} in {} at batch {}, {}, on {}", printable(text_member(now_->params, "workload")),
                    infers ? "inference" : "training", settings.dtype, settings.batch * settings.accumulate,
                    stages_in_words(*now_), printable(document_.context.device.name));
    advice.basis = fmt::format("measured by the cards sweep, {} points", document_.benchmarks.size());
    advice.current = settings;
    advice.step_ns = step_ns(*now_) / static_cast<double>(settings.accumulate);
    fill_budget(advice);
    name_limit(advice);
    compare_points(advice);
    accumulate_more(advice);
    predict_more(advice);
    std::ranges::stable_sort(advice.changes, std::ranges::greater{}, &Change::speedup);
    share_out(advice);
    ask(advice);
    return advice;
  }

 private:
  const Finding* finding(const std::string& name) const {
    const auto found = std::ranges::find(document_.findings, name, &Finding::name);
    return found == document_.findings.end() ? nullptr : &*found;
  }
  const MeasuredPoint* point(const std::string& name) const {
    const auto found = std::ranges::find(document_.benchmarks, name, &MeasuredPoint::name);
    return found == document_.benchmarks.end() ? nullptr : &*found;
  }
  static double step_ns(const MeasuredPoint& point) { return point.stats.median_ns; }
  static double rate(const MeasuredPoint& point) { return point.items_per_step / step_ns(point); }
  bool is_training() const { return document_.sweep.mode != "infer"; }
  double exposed_ns() const {
    return steps_ == nullptr ? 0 : positive_member(steps_->details, "exposed_ns").value_or(0);
  }
  static bool takes_turns(const Finding* of) { return of != nullptr && of->details.contains("takes_turns"); }

  void fill_budget(Advice& advice) const {
    const double waits = exposed_ns();
    if (steps_ == nullptr || splits_layers(*now_) || advice.current.accumulate > 1) {
      return;
    }
    advice.budget = {{"computing", advice.step_ns - waits}, {"waiting for gradients", waits}};
    const double alone = positive_member(steps_->details, "alone_ns").value_or(0);
    const bool same_work = alone_ != nullptr && settings_of(*alone_).batch == advice.current.batch;
    if (const double longer = advice.step_ns - waits - alone; same_work && longer > 0) {
      advice.budget = {{"computing, as one rank alone", alone},
                       {"computing longer than alone", longer},
                       {"waiting for gradients", waits}};
    }
  }

  // Ranks that take turns come first: nothing else is told apart then.
  void name_limit(Advice& advice) const {
    const Finding* const limit = finding("limit");
    const Finding* const loader = finding("loader");
    const auto say = [&](Bottleneck bottleneck, const std::string& reason) {
      constexpr std::string_view kWarning = "Warning: ";
      advice.bottleneck = bottleneck;
      advice.reason = reason.starts_with(kWarning) ? reason.substr(kWarning.size()) : reason;
      if (!advice.reason.empty() && advice.reason.front() >= 'a' && advice.reason.front() <= 'z') {
        advice.reason.front() = static_cast<char>(advice.reason.front() - 'a' + 'A');
      }
    };
    if (takes_turns(limit) || (limit == nullptr && takes_turns(finding("ranks")))) {
      return say(Bottleneck::host, (limit == nullptr ? finding("ranks") : limit)->claim);
    }
    if (loader != nullptr && positive_member(loader->details, "loader_per_s") &&
        positive_member(loader->details, "needed_per_s").value_or(0) >
            *positive_member(loader->details, "loader_per_s")) {
      return say(Bottleneck::loader_cpu, loader->claim);
    }
    if (const auto full = nearly_full()) {
      return say(Bottleneck::vram, *full);
    }
    if (splits_layers(*now_)) {
      return say(limit == nullptr ? Bottleneck::undecided : Bottleneck::stages,
                 limit == nullptr ? finding("cards")->claim : limit->claim);
    }
    if (limit != nullptr && limit->ci95 && limit->value) {
      return say(limit->ci95->low >= 0.5 ? Bottleneck::link : Bottleneck::host, limit->claim);
    }
    if (const auto launching = launch_limit()) {
      return say(Bottleneck::launch, *launching);
    }
    if (limit == nullptr && steps_ != nullptr && exposed_ns() > 2 * kWaitCounts * step_ns(*now_)) {
      return say(Bottleneck::link, steps_->claim);
    }
    const bool loses_nothing = limit != nullptr && steps_ != nullptr && steps_->ci95 &&
                               steps_->ci95->low > 0.9 && alone_ != nullptr &&
                               step_ns(*now_) < 1.02 * step_ns(*alone_);
    say(loses_nothing ? Bottleneck::compute : Bottleneck::undecided, limit != nullptr ? limit->claim
                                                                     : steps_ != nullptr
                                                                         ? steps_->claim
                                                                         : finding("cards")->claim);
  }

  std::int64_t memory_of_a_rank() const {
    return document_.sweep.memory_cap_bytes.value_or(document_.context.device.memory_bytes);
  }
  double memory_share() const {
    const std::int64_t whole = memory_of_a_rank();
    return whole > 0 ? static_cast<double>(now_->memory.peak_measured) / static_cast<double>(whole) : 0;
  }
  std::optional<std::string> nearly_full() const {
    return memory_share() <= kTight
               ? std::nullopt
               : std::optional(fmt::format("A rank takes {} of {} ({}): a larger batch does not fit.",
                                           format_bytes(now_->memory.peak_measured),
                                           format_bytes(memory_of_a_rank()), format_percent(memory_share())));
  }

  // The part of a rank's step that is the same whatever its batch, by two batches of one rank, on a card.
  std::optional<std::string> launch_limit() const {
    if (document_.context.device.kind == "cpu" || alone_ == nullptr) {
      return std::nullopt;
    }
    const auto other = std::ranges::find_if(document_.benchmarks, [&](const MeasuredPoint& one) {
      return ranks_of(one) == 1 && one.items_per_step != alone_->items_per_step && one.stats.step_time().ci95;
    });
    const Estimate own = alone_->stats.step_time();
    if (other == document_.benchmarks.end() || !own.ci95) {
      return std::nullopt;
    }
    const Estimate others = other->stats.step_time();
    const double run = other->items_per_step - alone_->items_per_step;
    const double a = other->items_per_step / run;  // of the fixed part: a·own − b·others
    const double b = alone_->items_per_step / run;
    const double fixed = a * own.value - b * others.value;
    const double error =
        combined_deviation({a * (own.high() - own.low()) / 2, b * (others.high() - others.low()) / 2});
    constexpr double kLaunchBound = 0.3;
    if (fixed - error < kLaunchBound * own.value) {
      return std::nullopt;
    }
    return fmt::format(
        "{} of a rank's {} are the same at every batch: starting operations, updating the weights.",
        format_duration(fixed), format_duration(own.value));
  }

  Change change_to(const TrainingSettings& after, std::int64_t bytes) const {
    const TrainingSettings now = settings_of(*now_);
    Change change;
    change.after = after;
    change.what = changed_words(now, after);
    change.setting = pytorch_setting(
        now, after,
        {.on_gpu = document_.context.device.kind != "cpu", .training = is_training(), .cards_of_a_host = 0});
    change.costs = costs_of(
        now, after, {.device = bytes > 0 ? now_->memory.peak_measured : 0, .device_cap = memory_of_a_rank()},
        {.device = bytes, .device_cap = memory_of_a_rank()}, is_training());
    return change;
  }

  void compare_points(Advice& advice) const {
    AdviceTable table{.question = "Do more ranks pay?", .table = {}, .notes = {finding("cards")->claim}};
    table.table.rows = {{"ranks", "batch", "step", "samples/s", "times as fast (90 %)", "pays"}};
    table.table.right = {false, true, true, true, true, false};
    for (const MeasuredPoint& one : document_.benchmarks) {
      if (!(step_ns(one) > 0)) {
        continue;
      }
      const Estimate times = scaled(ratio_by_rounds(now_->stats.step_time(), round_times(*now_),
                                                    one.stats.step_time(), round_times(one)),
                                    one.items_per_step / now_->items_per_step);
      const bool is_now = &one == now_;
      const auto times90 = times.ci95 && times.low() > 0
                               ? std::optional(with_half_width(times.value, *times.ci95, kNormal95, kZ90))
                               : std::nullopt;
      const bool pays = !is_now && times90 && is_worth(times.value, times90->low);
      const bool open = !pays && (times90 ? times90->high : times.value) >= kWorthIt;
      table.table.rows.push_back(
          {stages_in_words(one), fmt::format("{}", count_of(one, "batch", 1)),
           plus_minus_duration(step_ns(one), one.stats.step_time().ci95), format_number(1e9 * rate(one)),
           is_now    ? "as it is"
           : times90 ? fmt::format("{:.2f} ({:.2f}–{:.2f})", times.value, times90->low, times90->high)
                     : fmt::format("{:.2f}", times.value),
           is_now ? ""
           : pays ? "yes"
           : open ? "not known"
                  : "no"});
      if (is_now) {
        continue;
      }
      Change change = change_to(settings_of(one), one.memory.peak_measured);
      if (splits_layers(*now_) || splits_layers(one)) {
        change.what = fmt::format("{} → {}", stages_in_words(*now_), stages_in_words(one));
        change.setting = splits_layers(one) ? "torch.distributed.pipelining" : "one process, one card";
      }
      change.step_ns = step_ns(one) / static_cast<double>(change.after.accumulate);
      change.speedup = times.value;
      change.speedup90 = times90;
      change.evidence = {fmt::format("measured: {} in {}", printable(one.name), file_.path)};
      (pays ? advice.changes : advice.tried).push_back(std::move(change));
    }
    advice.tables.push_back(std::move(table));
  }

  // The wait comes once for all accumulations, as it was measured; that the update does too is left out. The
  // interval is that of the step.
  void accumulate_more(Advice& advice) const {
    const double waits = exposed_ns();
    if (!is_training() || splits_layers(*now_) || waits < kWaitCounts * step_ns(*now_) ||
        takes_turns(finding("limit"))) {
      return;
    }
    constexpr std::int64_t kTimes = 4;
    TrainingSettings after = settings_of(*now_);
    after.accumulate *= kTimes;
    Change change = change_to(after, 0);
    const auto gain = [&](double step) { return step / (step - std::min(waits, step) * (1 - 1.0 / kTimes)); };
    change.speedup = gain(step_ns(*now_));
    change.step_ns = step_ns(*now_) / change.speedup / static_cast<double>(settings_of(*now_).accumulate);
    if (const auto own = now_->stats.step_time().ci95) {
      const Interval step90 = with_half_width(step_ns(*now_), *own, kNormal95, kZ90);
      change.speedup90 = Interval{gain(step90.high), gain(step90.low)};
    }
    change.costs.emplace_back("never run: --accumulate measures it");
    change.evidence = {fmt::format("arithmetic: of {}, the wait of {} comes once for {} times the samples",
                                   format_duration(step_ns(*now_)), format_duration(waits), kTimes)};
    const bool pays = change.speedup90 && is_worth(change.speedup, change.speedup90->low);
    (pays ? advice.changes : advice.tried).push_back(std::move(change));
  }

  void predict_more(Advice& advice) const {
    if (!several_ || several_->cards.empty()) {
      return;
    }
    if (!holds_timeline(document_) || splits_layers(*now_)) {
      throw UsageError(
          fmt::format("--cards: {} holds no training step of one rank with the times of its gradients, from "
                      "which more cards are predicted; measure one with --sweep cards --cards 1,{}",
                      file_.path, ranks_of(*now_)));
    }
    CardsRequest request{.path = file_.path, .cards = several_->cards, .link = several_->link};
    request.link.require_kind(document_.context.device.kind);
    request.dtypes = {text_member(now_->params, "dtype")};
    if (alone_ != nullptr) {
      request.batches = {static_cast<std::int64_t>(alone_->items_per_step)};
    }
    const CardsPrediction prediction = predict_cards(document_, request, several_->catalogue);
    for (const CardsStep& step : prediction.steps) {
      if (step.cards == 1) {
        continue;
      }
      TrainingSettings after = settings_of(*now_);
      after.cards = step.cards;
      after.accumulate = step.accumulate;
      after.batch = step.batch / step.accumulate;
      Change change = change_to(after, 0);
      change.step_ns = step.step_ns / static_cast<double>(step.accumulate);
      change.speedup = step.per_s() / (1e9 * rate(*now_));
      const auto own = now_->stats.step_time().ci95;
      const double now_deviation = own ? log_deviation(*own, kNormal95) : 0;
      const double deviation = log_deviation(step.step80_ns, kNormal80);
      const double factor = std::exp(kZ90 * combined_deviation({deviation, now_deviation}));
      change.at_most = step.at_least;
      if (change.at_most) {
        change.step_ns = step.step80_ns.low / static_cast<double>(step.accumulate);
        change.speedup = step.per_s80().high / (1e9 * rate(*now_));
      } else {
        change.step90_ns = with_half_width(change.step_ns, step.step80_ns, kNormal80, kZ90);
        change.speedup90 = Interval{change.speedup / factor, change.speedup * factor};
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
      const bool pays = !change.at_most && is_worth(change.speedup, change.speedup90->low);
      const bool open = !pays && is_worth(change.at_most ? change.speedup : change.speedup90->high, kWorthIt);
      advice.tables.front().table.rows.push_back(
          {fmt::format("{} cards, predicted", step.cards), fmt::format("{}", step.batch),
           change.at_most ? "≥ " + format_duration(change.step_ns * static_cast<double>(step.accumulate))
                          : format_duration(step.step_ns),
           fmt::format("{}{}", change.at_most ? "≤ " : "",
                       digits80(change.at_most ? step.per_s80().high : step.per_s(), step.per_s80())),
           change.at_most ? fmt::format("at most {:.2f}", change.speedup)
                          : fmt::format("{:.2f} ({:.2f}–{:.2f})", change.speedup, change.speedup90->low,
                                        change.speedup90->high),
           pays   ? "yes"
           : open ? "not known"
                  : "no"});
      (pays ? advice.changes : advice.tried).push_back(std::move(change));
    }
  }

  // Where memory is what limits.
  void share_out(Advice& advice) const {
    if (!is_training() || splits_layers(*now_) || memory_share() <= kTight) {
      return;
    }
    AdviceTable table{.question = fmt::format("What would sharing out over {} ranks free?", ranks_of(*now_)),
                      .table = {},
                      .notes = {}};
    table.table.rows = {{"shared out", "a rank", "rests on"},
                        {text_member(now_->params, "shard").empty() ? "nothing" : "optimizer (ZeRO-1)",
                         format_bytes(now_->memory.peak_measured), "measured"}};
    table.table.right = {false, true, false};
    const std::int64_t state = now_->memory.by_category[MemoryCategory::optimizer];
    if (state > 0 && text_member(now_->params, "shard").empty()) {
      const std::int64_t freed = state - state / ranks_of(*now_);
      table.table.rows.push_back({"optimizer (ZeRO-1)", format_bytes(now_->memory.peak_measured - freed),
                                  "arithmetic; --shard optimizer measures it"});
    }
    for (const PredictedPoint& planned : document_.predicted) {
      if (planned.name.starts_with(now_->name + "/shard:")) {
        table.table.rows.push_back(
            {text_member(planned.model, "shared"), format_bytes(planned.peak), "planned, never run"});
      }
    }
    if (state == 0) {
      table.notes.emplace_back("Its optimizer has no state to share out.");
    }
    advice.tables.push_back(std::move(table));
  }

  void ask(Advice& advice) const {
    const Finding* const loader = finding("loader");
    if (loader != nullptr && !loader->value) {
      advice.missing.push_back(loader->claim);
    }
    const bool link_limits = advice.bottleneck == Bottleneck::link;
    std::set<double> batches;
    for (const MeasuredPoint& one : document_.benchmarks) {
      if (ranks_of(one) == ranks_of(*now_)) {
        batches.insert(one.items_per_step);
      }
    }
    if (link_limits && *batches.rbegin() <= now_->items_per_step) {
      advice.missing.push_back(fmt::format(
          "a larger batch, which waits no longer for more samples: bench --sweep cards --batch {},{}",
          count_of(*now_, "batch", 1), 2 * count_of(*now_, "batch", 1)));
    }
    if (link_limits && document_.context.device.kind != "cpu") {
      advice.missing.push_back(fmt::format(
          "smaller buckets than {}, of which the last is exposed for less: bench --sweep cards --bucket 5MiB",
          format_bytes(count_of(*now_, "bucket", 0))));
    }
    if (is_training() && !splits_layers(*now_) && !several_) {
      advice.missing.push_back(
          fmt::format("more than {} cards: bench advise {} --cards {} --link NAME (bench predict --help)",
                      ranks_of(*now_), file_.path, 2 * ranks_of(*now_)));
    }
    for (const char* const name : {"ranks", "balance", "memory"}) {
      if (const Finding* const one = finding(name)) {
        advice.warnings.push_back(one->claim);
      }
    }
  }

  const AdviceFile& file_;
  const ResultDocument& document_;
  const std::optional<SeveralCards>& several_;
  const MeasuredPoint* now_ = nullptr;
  const MeasuredPoint* alone_ = nullptr;  // one rank, with as much work; nullptr: it was not measured
  const Finding* steps_ = nullptr;  // on the step of `now_`: efficiency, or waits without one rank alone
};

}  // namespace

Advice advice_from_cards(const AdviceFile& file, const std::optional<SeveralCards>& several) {
  return CardsAdviser(file, several).advice();
}

}  // namespace bench
