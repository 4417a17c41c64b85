// A model's layers split over cards, against a copy of the model on each.
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/advise/observed_parts.h"

namespace bench {

void advise_split(const Observed& observed, Advice& advice) {
  if (!observed.split_by_layers) {
    return;
  }
  if (observed.memory.size() < 2) {
    advice.missing.emplace_back("memory_gib: of each card that holds a part of the layers");
    return;
  }
  const auto cards = static_cast<double>(observed.memory.size());
  const double whole = std::accumulate(observed.memory.begin(), observed.memory.end(), 0.0);
  const double most = std::ranges::max(observed.memory);
  const std::string idle = fmt::format("{:.0f} %", 100 * (cards - 1) / cards);
  const bool timed = observed.step_s && observed.all_iterations();
  const double time = timed ? static_cast<double>(*observed.all_iterations()) * *observed.step_s : 0;
  const bool fits = observed.memory_cap && whole <= *observed.memory_cap;
  // In training the copies exchange gradients, and what they take is not known.
  const bool may_copy = observed.mode == "infer" && (fits || !observed.memory_cap);

  const auto hours = [&](double seconds) {
    return timed ? Cell::figure(hours_in_words(seconds)) : Cell::none();
  };
  AdviceTable table{.question = fmt::format("Layers split over {:.0f} cards, or a copy on each?", cards)};
  table.table.rows = {
      {"", "time", "memory a card", "cards idle"},
      {"layers split", hours(time), Cell::figure("at most " + gib_in_words(most)), Cell::figure(idle)},
      {observed.memory_cap && !fits ? "a copy on each (does not fit)" : "a copy on each",
       may_copy ? hours(time / cards) : Cell::none(), Cell::figure(gib_in_words(whole)),
       Cell::figure("0 %")}};
  table.notes.push_back(
      fmt::format("Split, one card works at a time, so {} of the cards' time is idle.", idle));
  // The stage that takes longest sets the pace; a stage's part of the time is taken to be its part of the
  // memory.
  const double pace = most / whole;
  const double ahead = timed ? time * pace + *observed.step_s * (1 - pace) : 0;
  if (observed.mode == "infer") {
    table.table.rows.insert(
        table.table.rows.begin() + 2,
        {"split, several images at a time", hours(ahead),
         Cell::figure(fmt::format("at most {} and images", gib_in_words(most))),
         Cell::figure(
             fmt::format("{:.0f} %", 100 * (1 - (timed ? time / (cards * ahead) : 1 / (cards * pace)))))});
    table.notes.emplace_back(
        "Several at a time: a card works on one image while the next card works on the one before, and the "
        "slowest sets the pace. Planned, as if a card's part of the time were its part of the memory; bench "
        "--sweep cards --split layers --micro-batches 1,8 measures a network of yours.");
  }
  if (observed.memory_cap) {
    table.notes.push_back(fmt::format("A copy takes {} of a card's {} ({}): {} for inference.",
                                      gib_in_words(whole), gib_in_words(*observed.memory_cap),
                                      share_in_words(whole / *observed.memory_cap),
                                      fits ? "it fits" : "it does not fit"));
  } else {
    advice.missing.emplace_back("memory_cap_gib: the memory of a card");
  }
  table.notes.emplace_back(
      "Training is unknown: it adds gradients, optimizer state and saved activations, none of which was "
      "read; with "
      "Adam in one precision the weights alone count four times.");
  if (timed && may_copy) {
    table.notes.emplace_back(
        "The time of copies assumes that the images are shared out evenly and that the host feeds all "
        "cards.");
  }
  advice.tables.push_back(std::move(table));
  advice.missing.emplace_back(
      "parameters, optimizer and max_memory_reserved of one training step: whether training fits");
  const auto add = [&](const char* what, const char* setting, double speedup,
                       std::vector<std::string> costs) {
    Change change;
    change.what = what;
    change.setting = setting;
    change.after = observed.settings;
    change.speedup = speedup;
    change.step_ns = 1e9 * *observed.step_s;
    change.costs = std::move(costs);
    change.evidence = {fmt::format("memory of {:.0f} cards, step, iterations", cards)};
    advice.changes.push_back(std::move(change));
  };
  if (timed && observed.mode == "infer") {
    add("one image at a time → several, through the same stages",
        "torch.distributed.pipelining, ScheduleGPipe with several micro-batches", time / ahead,
        {"the activations of the images under way, on each card"});
  }
  if (timed && fits && may_copy) {
    add("layers split → a copy on each card",
        "one process a card, each with model.to(rank) and its share of the images", cards,
        {fmt::format("{} of memory a card in place of {}", gib_in_words(whole), gib_in_words(most)),
         "an upper bound: cards that share a host's loader or bus gain less"});
  }
}

}  // namespace bench
