#include "bench/advise/advice_formats.h"

#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/advise/change_words.h"
#include "bench/error.h"
#include "bench/page/csv.h"
#include "bench/result/json_members.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {

void read_value(const Field& name, Bottleneck& bottleneck) {
  for (int i = 0; i <= static_cast<int>(Bottleneck::stages); ++i) {
    bottleneck = static_cast<Bottleneck>(i);
    if (name_of(bottleneck) == name.string()) {
      return;
    }
  }
  throw UsageError(
      fmt::format("{} is {}, which this program does not know", name.path(), quote(name.string())));
}

void members(auto& io, Of<TrainingSettings> auto& settings) {
  io("batch", settings.batch);
  io("accumulate", settings.accumulate);
  io("workers", settings.workers);
  io("prefetch", settings.prefetch);
  io("pin", settings.pin);
  io("dtype", settings.dtype);
  io("cards", settings.cards);
  io.derived("effective_batch", settings.effective_batch());
}

void members(auto& io, Of<BudgetPart> auto& part) {
  io("name", part.name);
  io("ns", part.ns);
}

void members(auto& io, Of<Change> auto& change) {
  io("what", change.what);
  io("setting", change.setting);
  io("after", change.after);
  io("step_ns", change.step_ns);
  io.interval("step90_ns", change.step90_ns);
  io("speedup", change.speedup);
  io.interval("speedup90", change.speedup90);
  io("costs", change.costs);
  io("evidence", change.evidence);
  io.unless_empty("at_most", change.at_most);
  io.unless_empty("unsure", change.is_unsure);
}

Json written_value(const Cell& cell) {
  return cell.text;
}

void read_value(const Field& field, Cell& cell) {
  cell = field.string();
}

void members(auto& io, Of<AdviceTable> auto& table) {
  io("question", table.question);
  io("rows", table.table.rows);
  io("notes", table.notes);
}

void members(auto& io, Of<Advice> auto& advice) {
  io.derived("schema", "bench-advice/1");
  io("subject", advice.subject);
  io("basis", advice.basis);
  io("current", advice.current);
  io("bottleneck", advice.bottleneck);
  io("reason", advice.reason);
  io("step_ns", advice.step_ns);
  io("budget", advice.budget);
  io("tables", advice.tables);
  io("changes", advice.changes);
  io("tried", advice.tried);
  io("contradictions", advice.contradictions);
  io("missing", advice.missing);
  io("warnings", advice.warnings);
}

namespace {

std::string times(double value) {
  return fmt::format("{:.2f}×", value);
}

std::string gain_of(const Change& change) {
  std::string text = (change.at_most ? "at most " : "") + times(change.speedup);
  if (change.speedup90) {
    text += fmt::format(" ({:.2f}–{:.2f}×)", change.speedup90->low, change.speedup90->high);
  }
  return text;
}

std::string step_of(const Change& change) {
  if (change.step_ns <= 0) {
    return "step not known";
  }
  std::string text = fmt::format("{}{} {}", change.after.accumulate > 1 ? "micro-batch" : "step",
                                 change.at_most ? " at least" : "", format_duration(change.step_ns));
  if (change.step90_ns) {
    text += fmt::format(" ({} to {})", format_duration(change.step90_ns->low),
                        format_duration(change.step90_ns->high));
  }
  return text;
}

std::string bottleneck_line(const Advice& advice) {
  return advice.bottleneck == Bottleneck::none
             ? fmt::format("Nothing to gain. {}", advice.reason)
             : fmt::format("Bottleneck: {}. {}", name_of(advice.bottleneck), advice.reason);
}

// Whether its reason tells how much of a step it takes.
bool tells_its_share(Bottleneck bottleneck) {
  switch (bottleneck) {
    case Bottleneck::launch:
    case Bottleneck::vram:
    case Bottleneck::host_memory:
    case Bottleneck::swap:
    case Bottleneck::host:
      return false;
    default:
      return true;
  }
}

// Empty where the bottleneck's line tells it: that one part takes all, or which of two takes how much.
std::string budget_line(const Advice& advice) {
  constexpr std::size_t kTold = 2;  // parts
  if (advice.budget.size() < kTold || (advice.budget.size() == kTold && tells_its_share(advice.bottleneck))) {
    return "";
  }
  std::vector<std::string> parts;
  for (const BudgetPart& part : advice.budget) {
    parts.push_back(fmt::format("{} {} ({})", part.name, format_duration(part.ns),
                                format_percent(advice.step_ns > 0 ? part.ns / advice.step_ns : 0)));
  }
  return fmt::format("A step of {}: {}.", format_duration(advice.step_ns), fmt::join(parts, ", "));
}

std::string change_line(const Change& change) {
  return fmt::format("{}{}: {} the samples/s, {}", change.is_unsure ? "perhaps " : "", change.what,
                     gain_of(change), step_of(change));
}

}  // namespace

Page advice_page(const Advice& advice) {
  Page page{.title = fmt::format("{}: {}", advice.subject, advice.basis)};
  page.say(bottleneck_line(advice), Tone::answer);
  page.say(budget_line(advice));
  std::vector<ListItem> changes;
  for (const Change& change : advice.changes) {
    ListItem item{.text = change_line(change), .details = {change.setting}};
    for (const std::string& cost : change.costs) {
      item.details.push_back(cost.starts_with(kSaves) ? cost : "costs: " + cost);
    }
    for (const std::string& evidence : change.evidence) {
      item.details.push_back("by: " + evidence);
    }
    changes.push_back(std::move(item));
  }
  if (changes.empty() && advice.bottleneck != Bottleneck::none) {
    page.say("No change is advised on what is known.");
  }
  page.answer(List{.items = std::move(changes)}, {.shown_by = "--format json"});
  page.sentences("Readings that contradict each other", advice.contradictions);
  page.sentences("Missing readings", advice.missing);
  page.sentences("Take care", advice.warnings);
  for (const AdviceTable& table : advice.tables) {
    if (table.table.rows.empty()) {
      page.sentences(table.question, table.notes);
      continue;
    }
    TextTable titled = table.table;
    titled.title = table.question;
    page.table(std::move(titled));
    for (const std::string& note : table.notes) {
      page.say(note);
    }
  }
  return page;
}

std::string advice_csv(const Advice& advice) {
  std::vector<Cells> rows{{"change", "pays", "setting", "speedup", "speedup_low", "speedup_high", "step_ns",
                           "costs", "evidence"}};
  for (const auto* const changes : {&advice.changes, &advice.tried}) {
    for (const Change& change : *changes) {
      rows.push_back({change.what,
                      change.is_unsure             ? "perhaps"
                      : changes == &advice.changes ? "yes"
                                                   : "no",
                      change.setting, csv_number(change.speedup), csv_low(change.speedup90),
                      csv_high(change.speedup90), csv_number(change.step_ns),
                      fmt::format("{}", fmt::join(change.costs, "; ")),
                      fmt::format("{}", fmt::join(change.evidence, "; "))});
    }
  }
  return csv_table(rows);
}

Json advice_json(const Advice& advice) {
  return write_struct(advice);
}

Advice advice_of(const Field& root) {
  auto advice = read_struct<Advice>(root);
  for (AdviceTable& table : advice.tables) {
    for (Cells& row : table.table.rows) {
      row.resize(table.table.rows.front().size());
    }
  }
  return advice;
}

}  // namespace bench
