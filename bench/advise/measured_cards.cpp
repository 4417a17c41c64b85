#include "bench/advise/measured_cards.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "bench/advise/step_option.h"
#include "bench/error.h"
#include "bench/evaluate/evaluated_curve.h"
#include "bench/result/finding.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "bench/stats/memory_line.h"
#include "bench/stats/statistics.h"
#include "bench/text/units.h"

namespace bench {
namespace {

bool say_turns(const Finding* finding) {
  return finding != nullptr && finding->details.contains(kTakesTurns);
}

}  // namespace

double step_ns(const Point& point) {
  return point.stats.median_ns;
}

std::int64_t count_of(const Point& point, const char* key, std::int64_t otherwise) {
  const std::int64_t value = whole_member(point.params, key);
  return value > 0 ? value : otherwise;
}

std::int64_t ranks_of(const Point& point) {
  return count_of(point, "ranks", 1);
}

bool splits_layers(const Point& point) {
  return text_member(point.params, "split") == "layers";
}

TrainingSettings settings_of(const Point& point) {
  TrainingSettings settings;
  settings.accumulate = count_of(point, "accumulate", 1);
  settings.batch = count_of(point, "batch", 1) / settings.accumulate;
  settings.dtype = text_member(point.params, "dtype");
  settings.cards = splits_layers(point) ? 1 : ranks_of(point);
  return settings;
}

std::string stages_in_words(const Point& point) {
  const std::string ranks = fmt::format("{} rank{}", ranks_of(point), ranks_of(point) == 1 ? "" : "s");
  const std::int64_t micro_batches = count_of(point, "micro-batches", 1);
  return splits_layers(point) ? fmt::format("layers over {}, {} micro-batch{}", ranks, micro_batches,
                                            micro_batches == 1 ? "" : "es")
                              : ranks;
}

CardsFindings::CardsFindings(const ResultDocument& document) {
  const auto named = [&](std::string_view name) { return find_finding(document.findings, name); };
  cards = named("cards");
  limit = named("limit");
  loader = named("loader");
  ranks = named(kRanksFinding);
  balance = named("balance");
  memory = named("memory");
  for (const char* const prefix : {"efficiency/", "waits/"}) {
    std::ranges::copy(find_findings(document.findings, prefix), std::back_inserter(steps));
  }
}

MeasuredCards::MeasuredCards(const EvaluatedFile& file)
    : document_(file.document), findings_(file.document), shared_cores_(shared_cores_in(file.document)) {
  const Finding* const cards = findings_.cards;
  if (cards == nullptr || cards->evidence.empty() || point(cards->evidence.back()) == nullptr) {
    throw UsageError(
        fmt::format("{}: it has no finding on several ranks to advise from; give a whole result of bench "
                    "--sweep cards of two ranks or more",
                    file.path));
  }
  now_ = point(cards->evidence.back());
  const Point* const first = point(cards->evidence.front());
  alone_ = first != nullptr && ranks_of(*first) == 1 && first != now_ ? first : nullptr;
  for (const Finding* const one : findings_.steps) {
    if (std::ranges::count(one->evidence, now_->name) > 0) {
      steps_ = one;
    }
  }
}

const Point* MeasuredCards::point(const std::string& name) const {
  const auto found = std::ranges::find(measured_points(document_), name, &Point::name);
  return found == measured_points(document_).end() ? nullptr : &*found;
}

double MeasuredCards::exposed_ns() const {
  return steps_ == nullptr ? 0 : positive_member(steps_->details, "exposed_ns").value_or(0);
}

bool MeasuredCards::takes_turns() const {
  return say_turns(findings_.limit);
}

std::int64_t MeasuredCards::memory_of_a_rank() const {
  return document_.sweep.memory_cap_bytes.value_or(document_.context.device.memory_bytes);
}

double MeasuredCards::memory_share() const {
  const std::int64_t whole = memory_of_a_rank();
  return whole > 0 ? static_cast<double>(now_->memory.peak_measured) / static_cast<double>(whole) : 0;
}

bool MeasuredCards::memory_is_full() const {
  return memory_share() > kSafeShare;
}

std::vector<BudgetPart> MeasuredCards::budget() const {
  const TrainingSettings settings = settings_of(*now_);
  if (steps_ == nullptr || splits_layers(*now_) || settings.accumulate > 1) {
    return {};
  }
  const double waits = exposed_ns();
  const double alone = positive_member(steps_->details, "alone_ns").value_or(0);
  const bool same_work = alone_ != nullptr && settings_of(*alone_).batch == settings.batch;
  if (const double longer = step_ns(*now_) - waits - alone; same_work && longer > 0) {
    return {{"computing, as one rank alone", alone},
            {"computing longer than alone", longer},
            {"waiting for gradients", waits}};
  }
  return {{"computing", step_ns(*now_) - waits}, {"waiting for gradients", waits}};
}

// Ranks that take turns come first: nothing else is told apart then.
std::pair<Bottleneck, std::string> MeasuredCards::limit() const {
  const Finding* const limit = findings_.limit;
  const Finding* const loader = findings_.loader;
  if (shared_cores_ && (limit == nullptr || say_turns(limit))) {
    return {Bottleneck::host, "Shared cores " + turns_in_words(*shared_cores_, ranks_of(*now_))};
  }
  if (loader != nullptr && positive_member(loader->details, "loader_per_s") &&
      positive_member(loader->details, "needed_per_s").value_or(0) >
          *positive_member(loader->details, "loader_per_s")) {
    return {Bottleneck::loader_cpu, loader->claim};
  }
  if (memory_is_full()) {
    return {Bottleneck::vram, fmt::format("A rank takes {} of {} ({}): a larger batch does not fit.",
                                          format_bytes(now_->memory.peak_measured),
                                          format_bytes(memory_of_a_rank()), format_percent(memory_share()))};
  }
  if (splits_layers(*now_)) {
    return {limit == nullptr ? Bottleneck::undecided : Bottleneck::stages,
            limit == nullptr ? findings_.cards->claim : limit->claim};
  }
  const std::string named = limit == nullptr ? "" : text_member(limit->details, "limit");
  if (named == "bus" || named == "launch") {
    return {named == "bus" ? Bottleneck::bus : Bottleneck::launch, limit->claim};
  }
  if (limit != nullptr && limit->ci95 && limit->value) {
    return {limit->ci95->low >= 0.5 ? Bottleneck::link : Bottleneck::host, limit->claim};
  }
  if (const auto launching = launch_limit()) {
    return {Bottleneck::launch, *launching};
  }
  if (limit == nullptr && steps_ != nullptr && exposed_ns() > kLimits * step_ns(*now_)) {
    return {Bottleneck::link, steps_->claim};
  }
  const bool loses_nothing = limit != nullptr && steps_ != nullptr && steps_->ci95 &&
                             steps_->ci95->low > 0.9 && alone_ != nullptr &&
                             step_ns(*now_) < 1.02 * step_ns(*alone_);
  return {loses_nothing ? Bottleneck::compute : Bottleneck::undecided, limit != nullptr ? limit->claim
                                                                       : steps_ != nullptr
                                                                           ? steps_->claim
                                                                           : findings_.cards->claim};
}

// The part of a rank's step that is the same whatever its batch, by two batches of one rank, on a card.
std::optional<std::string> MeasuredCards::launch_limit() const {
  if (is_on_cpu() || alone_ == nullptr) {
    return std::nullopt;
  }
  const auto other = std::ranges::find_if(measured_points(document_), [&](const Point& one) {
    return ranks_of(one) == 1 && one.items_per_step != alone_->items_per_step && one.stats.step_time().ci95;
  });
  const Estimate own = alone_->stats.step_time();
  if (other == measured_points(document_).end() || !own.ci95) {
    return std::nullopt;
  }
  const Estimate others = other->stats.step_time();
  const double run = other->items_per_step - alone_->items_per_step;
  const double a = other->items_per_step / run;  // of the fixed part: a·own − b·others
  const double b = alone_->items_per_step / run;
  const double fixed = a * own.value - b * others.value;
  const double error =
      combined_deviation({a * (own.high() - own.low()) / 2, b * (others.high() - others.low()) / 2});
  if (fixed - error < kLaunchBound * own.value) {
    return std::nullopt;
  }
  return fmt::format(
      "{} of a rank's {} are the same at every batch: starting operations, updating the weights.",
      format_duration(fixed), format_duration(own.value));
}

}  // namespace bench
