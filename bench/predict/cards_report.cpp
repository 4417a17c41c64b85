#include "bench/predict/cards_report.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/page/csv.h"
#include "bench/predict/sharding.h"
#include "bench/result/json_members.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench {

void members(JsonWriter& io, const ShardedPlan& plan) {
  io("shared", plan.shared);
  io("peak_bytes", plan.peak);
  io("passing_bytes", plan.passing);
  io("start_bytes", plan.at_start);
  io("host_bytes", plan.host);
  io("sent_bytes", plan.sent);
  io("bus_bytes", plan.over_bus);
  io.optional("step_ns_range", plan.step_ns);
}

void members(JsonWriter& io, const CardsLoss& loss) {
  io("where", loss.where);
  io("framework", loss.framework);
  io("numbers", loss.numbers);
  io("micro_batches", loss.micro_batches);
  io("rows", loss.rows);
  io("measured", loss.measured);
  io("machines", loss.machines);
  io("likely", loss.likely);
  io("interval80", loss.interval80);
}

namespace {

bool has_width(const CardsStep& step) {
  return step.step80_ns.low < step.step80_ns.high;
}

std::string efficiency80(const CardsStep& step, std::string_view to) {
  const Ratio efficiency = scaled(step.efficiency(), 100);
  if (efficiency.is_bound) {
    return fmt::format("≤ {:.0f} %", efficiency.value);
  }
  const std::string low = fmt::format("{:.0f}", efficiency.low());
  const std::string high = fmt::format("{:.0f}", efficiency.high());
  return low == high ? format_percent(step.efficiency().value)
                     : fmt::format("{:.0f} ({}{}{}) %", efficiency.value, low, to, high);
}

// A part of the step, in as many digits as the step's interval allows.
std::string part80(const CardsStep& step, double ns) {
  const double share = ns / step.step_ns;
  return has_width(step) && !step.at_least
             ? duration80(ns, {share * step.step80_ns.low, share * step.step80_ns.high})
             : format_duration(ns);
}

Cell step80(const CardsStep& step) {
  return step.at_least     ? Cell::time(step.quoted_ns()).after("≥ ")
         : has_width(step) ? Cell::time80(step.step_ns, step.step80_ns)
                           : Cell::time(step.step_ns);
}

std::string digits(const Ratio& predicted) {
  return digits80(predicted.value, *predicted.interval);
}

std::string rate(const CardsStep& step) {
  return (step.at_least ? "≤ " : "") + digits(step.per_s());
}

std::string rate80(const CardsStep& step) {
  return step.at_least     ? "at most " + digits(step.per_s())
         : has_width(step) ? with_interval80(step.per_s().value, *step.per_s().interval)
                           : rate(step);
}

std::string subject(const CardsPrediction& prediction) {
  return fmt::format("Training {} on several {}, predicted from one; intervals {}", prediction.workload,
                     prediction.device,
                     prediction.machines.empty()
                         ? fmt::format("hold {} of measured steps", level_in_words(Origin::predicted))
                         : "reach from the slowest machine to the fastest");
}

// The most cards of the fastest series.
const CardsStep& best_of(const CardsPrediction& prediction) {
  return *std::ranges::max_element(prediction.steps, {}, &CardsStep::likely_per_s);
}

// What a step loses to gradients, and what else it loses.
std::string gradients_in_words(const CardsPrediction& prediction, const CardsStep& best) {
  const std::string step = best.at_least ? "" : " of a step of " + part80(best, best.step_ns);
  const std::string lost =
      prediction.overlap
          ? fmt::format("Gradients cost {}{} [larger batch, accumulation]", part80(best, best.exposed_ns()),
                        step)
          : fmt::format("Gradients cost {}{}: on the CPU nothing of it hides behind the backward pass",
                        part80(best, best.exposed_ns()), step);
  return best.at_least || best.loss80 == Interval{1, 1}
             ? lost + "."
             : fmt::format(
                   "{}; host, loader and framework make it {:.2f} ({:.2f} to {:.2f}) times as long as "
                   "simulated.",
                   lost, best.step_ns / best.replay.step_ns, best.loss80.low, best.loss80.high);
}

std::vector<std::string> findings(const CardsPrediction& prediction, bool verbose) {
  const CardsStep& best = best_of(prediction);
  std::vector<std::string> lines;
  if (best.cards == 1) {
    const CardsStep& most = *std::ranges::max_element(prediction.steps, {}, &CardsStep::cards);
    return {fmt::format("More cards do not pay: {} of batch {} would give {} samples/s, one gives {}.",
                        most.cards, most.batch, rate80(most), rate(best))};
  }
  lines.push_back(
      fmt::format("{} cards of batch {} in {} give {} samples/s, {} times one card's, an efficiency of {}.",
                  best.cards, best.batch, best.dtype, rate80(best), digits(best.speedup()),
                  best.at_least ? format_percent(best.efficiency().value) : efficiency80(best, kTo)));
  lines.push_back(gradients_in_words(prediction, best));
  lines.push_back(fmt::format(
      "The effective batch is {}, {} times one card's; scale the learning rate by as much with SGD (linear "
      "scaling, with a warm-up), and check the accuracy.",
      best.cards * best.batch, best.cards));
  constexpr double kGibi = 1 << 30;
  const Interval& bytes = best.peak80;
  const std::string holds =
      bytes.high > 0
          ? fmt::format("{} GiB, with the copy of its gradients that DistributedDataParallel sends",
                        with_interval80(static_cast<double>(best.peak) / kGibi,
                                        {bytes.low / kGibi, bytes.high / kGibi}))
          : format_bytes(best.peak) + ", as one alone";
  lines.push_back(fmt::format("A card holds {}; {} plans what sharing out frees.", holds,
                              verbose ? "the last table" : "--verbose"));
  return lines;
}

Warning warning_of(std::string sentence) {
  constexpr std::string_view kOfOtherFile = "Warning: ";
  if (const std::size_t at = sentence.find(kOfOtherFile); at != std::string::npos) {
    sentence.erase(at, kOfOtherFile.size());
  }
  if (sentence.ends_with('.')) {
    sentence.pop_back();
  }
  return {.text = std::move(sentence)};
}

std::vector<Warning> warnings(const CardsPrediction& prediction) {
  std::vector<Warning> all;
  if (std::ranges::any_of(prediction.steps, &CardsStep::at_least)) {
    all.push_back(warning_of(kUnknownLoss));
    all.back().brief = "steps may take longer than simulated (not measured): ≥ and ≤ are bounds";
  }
  for (const auto* const sentences : {&prediction.machines, &prediction.cautions, &prediction.caveats}) {
    std::ranges::transform(*sentences, std::back_inserter(all), warning_of);
  }
  if (std::ranges::any_of(prediction.losses, [](const CardsLoss& loss) {
        return !loss.measured.empty() && loss.interval80.high < 1;
      })) {
    all.push_back({.text = "two ranks lose nothing that one does not: one rank or the link was measured in a "
                           "slow spell",
                   .action = "measure again on an idle machine"});
  }
  const CardsStep& best = best_of(prediction);
  if (best.is_extrapolated) {
    all.push_back(
        {.text = fmt::format("adding up gradients makes {} of a step, more than of any published one: the "
                             "factor is extrapolated",
                             format_percent(best.replay.exposed_ns / best.replay.step_ns))});
  }
  all.push_back({.text = "not counted: what the library of the links allocates, and whether the loader feeds "
                         "all cards",
                 .brief = "not counted: the link library's memory, the loader"});
  return all;
}

// What the figures rest on.
std::vector<std::string> notes(const CardsPrediction& prediction) {
  std::vector<std::string> lines = prediction.basis;
  lines.push_back(fmt::format("Link: {} [{}].", prediction.link, prediction.link_source));
  for (const CardsLoss& loss : prediction.losses) {
    lines.push_back(
        loss.measured.empty()
            ? fmt::format("Steps are {}.", loss.in_words())
            : fmt::format(
                  "Steps of {} are {:.3g} ({:.3g} to {:.3g}) times as long as simulated, as two ranks "
                  "of this result were; that more ranks lose as much is assumed.",
                  loss.measured, loss.likely, loss.interval80.low, loss.interval80.high));
  }
  if (!prediction.losses.empty()) {
    lines.emplace_back(kCardsIntervals);
  }
  return lines;
}

TextTable sharing_table(const CardsStep& best) {
  return {.title = fmt::format("What {} cards hold where they share out more", best.cards),
          .rows = sharing_rows(best),
          .below = fmt::format(
              "Planned, never run; bench --sweep cards runs ZeRO-1 (--shard optimizer).{}",
              best.at_least
                  ? ""
                  : " step: shorter where transfers hide behind the computing, longer where none does."),
          .name = "sharing out memory"};
}

bool is_measured(const CardsPrediction& prediction, const CardsStep& step) {
  return step.cards == 1 && !prediction.is_predicted;
}

TextTable table(const CardsPrediction& prediction) {
  TextTable table{.title = "",
                  .rows = {{"cards", "dtype", "batch", "step", "samples/s", "efficiency", "all-reduce",
                            "gradients cost"}}};
  for (const CardsStep& step : prediction.steps) {
    const bool one = step.cards == 1;
    table.rows.push_back({step.cards, step.dtype, step.batch, step80(step), Cell::figure(rate(step)),
                          one ? (prediction.is_predicted ? "predicted" : "measured")
                              : Cell::figure(efficiency80(step, kToInCell)),
                          one ? Cell::none() : Cell::figure(part80(step, step.replay.all_reduce_ns)),
                          one ? Cell::none() : Cell::figure(part80(step, step.exposed_ns()))});
  }
  table.below = fmt::format("Link: {}.", prediction.link);
  return table;
}

void write_step(JsonWriter& io, const CardsStep& step, bool is_measured) {
  const Ratio rate = step.per_s();
  const Ratio efficiency = step.efficiency();
  io("cards", step.cards);
  io("dtype", step.dtype);
  io("batch", step.batch);
  io("micro_batches", step.accumulate);
  io("step_ns", step.quoted_ns());
  io("is_measured", is_measured);
  io("peak_bytes", step.peak);
  if (step.peak80.high > 0) {
    io("peak_bytes_interval80", step.peak80);
  }
  io("samples_per_s", rate.value);
  if (step.at_least) {
    io("is_bound", true);
  } else if (has_width(step)) {
    io("interval80_ns", step.step80_ns);
  }
  if (step.cards == 1) {
    return;
  }
  io("efficiency", efficiency.value);
  if (!step.at_least) {
    io.interval("samples_per_s_interval80", rate.interval);
    io.interval("efficiency_interval80", efficiency.interval);
  }
  io("all_reduce_ns", step.replay.all_reduce_ns);
  io("exposed_ns", step.exposed_ns());
  io("buckets", step.replay.buckets);
  io("gradient_bytes", step.replay.bytes);
  io.unless_empty("planned_sharded", sharded_plans(step));
}

}  // namespace

Page cards_page(const CardsPrediction& prediction, bool verbose) {
  Page page{.title = subject(prediction)};
  page.answer(findings(prediction, verbose), {.shown_by = "--format json"});
  std::vector<TextTable> tables{table(prediction)};
  if (const CardsStep& best = best_of(prediction); best.cards > 1) {
    tables.push_back(sharing_table(best));
  }
  page.tables(std::move(tables), verbose);
  page.warn(warnings(prediction), verbose);
  for (const std::string& line : verbose ? notes(prediction) : std::vector<std::string>{}) {
    page.say(line);
  }
  return page;
}

std::string cards_csv(const CardsPrediction& prediction) {
  std::vector<Cells> rows{{"cards", "dtype", "batch", "step_ms", "step_ms_low", "step_ms_high",
                           "samples_per_s", "efficiency", "efficiency_low", "efficiency_high",
                           "all_reduce_ms", "exposed_ms", "peak_bytes", "is_measured", "is_bound",
                           "peak_bytes_low", "peak_bytes_high"}};
  const auto ms = [](double ns) { return csv_number(1e-6 * ns); };
  const auto share = [](double value) { return fmt::format("{:.4g}", value); };
  for (const CardsStep& step : prediction.steps) {
    const bool bound = step.at_least;
    const Ratio efficiency = step.efficiency();
    rows.push_back({step.cards, step.dtype, step.batch, ms(step.quoted_ns()), ms(step.step80_ns.low),
                    bound ? "" : ms(step.step80_ns.high), csv_number(step.per_s().value),
                    share(efficiency.value), bound ? "" : share(efficiency.low()), share(efficiency.high()),
                    ms(step.replay.all_reduce_ns), ms(step.exposed_ns()), step.peak,
                    is_measured(prediction, step) ? "yes" : "no", bound ? "yes" : "no",
                    step.peak80.high > 0 ? Cell(csv_number(step.peak80.low)) : Cell(""),
                    step.peak80.high > 0 ? Cell(csv_number(step.peak80.high)) : Cell("")});
  }
  return csv_table(rows);
}

std::string cards_json(const CardsPrediction& prediction) {
  JsonWriter io;
  io("schema", "bench-predict-cards/1");
  io("workload", prediction.workload);
  io("device", prediction.device);
  io("overlap", prediction.overlap);
  io("link", prediction.link);
  io("link_source", prediction.link_source);
  io("link_cautions", prediction.cautions);
  io("losses", prediction.losses);
  io("machines", prediction.machines);
  io.list("steps", prediction.steps, [&](JsonWriter& one, const CardsStep& step) {
    write_step(one, step, is_measured(prediction, step));
  });
  std::vector<std::string> basis = prediction.basis;
  basis.insert(basis.end(), prediction.caveats.begin(), prediction.caveats.end());
  io.unless_empty("basis", basis);
  return to_indented_text(io.take());
}

}  // namespace bench
