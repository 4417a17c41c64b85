#include "bench/advise/advice_formats.h"

#include <vector>

#include <fmt/format.h>

#include "bench/cli/table.h"
#include "bench/cli/text.h"
#include "bench/compare/escape.h"
#include "bench/measure/units.h"

namespace bench {
namespace {

std::string speedup_words(const Change& change) {
  return change.speedup90 ? fmt::format("{:.2f}× ({:.2f}–{:.2f}×)", change.speedup, change.speedup90->low,
                                        change.speedup90->high)
                          : fmt::format("{:.2f}×", change.speedup);
}

std::string step_words(const Change& change) {
  return change.step90_ns
             ? fmt::format("{} ({}–{})", format_duration(change.step_ns),
                           format_duration(change.step90_ns->low), format_duration(change.step90_ns->high))
             : format_duration(change.step_ns);
}

std::string bottleneck_words(const Advice& advice) {
  switch (advice.bottleneck) {
    case Bottleneck::none:
      return fmt::format("Nothing to gain: {}", advice.reason);
    case Bottleneck::undecided:
      return fmt::format("Undecided: {}", advice.reason);
    default:
      return fmt::format("Bottleneck, {}: {}", name_of(advice.bottleneck), advice.reason);
  }
}

std::vector<std::vector<std::string>> budget_rows(const Advice& advice) {
  std::vector<std::vector<std::string>> rows{{"part of a step", "time", "share"}};
  for (const BudgetPart& part : advice.budget) {
    rows.push_back(
        {part.name, format_duration(part.ns), fmt::format("{:.0f} %", 100 * part.ns / advice.step_ns)});
  }
  return rows;
}

// Sentences as they follow the tables.
std::vector<std::string> notes_of(const Advice& advice) {
  std::vector<std::string> notes;
  for (const std::string& contradiction : advice.contradictions) {
    notes.push_back("Contradiction: " + contradiction);
  }
  for (const std::string& missing : advice.missing) {
    notes.push_back("Not known: " + missing);
  }
  for (const std::string& warning : advice.warnings) {
    notes.push_back("Warning: " + warning);
  }
  return notes;
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

Json settings_json(const TrainingSettings& settings) {
  return {{"batch", settings.batch},     {"accumulate", settings.accumulate},
          {"workers", settings.workers}, {"prefetch", settings.prefetch},
          {"pin", settings.pin},         {"dtype", settings.dtype},
          {"cards", settings.cards}};
}

std::string markdown_table(const std::vector<std::vector<std::string>>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += "|";
    for (const std::string& cell : rows[i]) {
      text += fmt::format(" {} |", markdown_text(cell));
    }
    text += "\n";
    if (i == 0) {
      text += "|";
      for (std::size_t column = 0; column < rows[i].size(); ++column) {
        text += " --- |";
      }
      text += "\n";
    }
  }
  return text;
}

}  // namespace

std::string advice_text(const Advice& advice, std::size_t width) {
  constexpr std::size_t kIndent = 2;
  std::string text = wrap(fmt::format("{}; {}", advice.subject, advice.basis), width, kIndent) + "\n";
  text += wrap("* " + bottleneck_words(advice), width, kIndent);
  for (const Change& change : advice.changes) {
    text +=
        wrap(fmt::format("* {}: {}, a step of {}", change.what, speedup_words(change), step_words(change)),
             width, kIndent);
    const std::string indent(2 * kIndent, ' ');
    text += indent + wrap("PyTorch: " + change.setting, width, 2 * kIndent);
    for (const std::string& cost : change.costs) {
      text += indent + wrap(cost, width, 2 * kIndent);
    }
  }
  if (!advice.budget.empty()) {
    text += "\n" + in_columns(budget_rows(advice), {false, true, true});
  }
  for (const AdviceTable& table : advice.tables) {
    text += "\n" + wrap(table.question, width, 0);
    if (!table.table.rows.empty()) {
      text += in_columns(table.table.rows, table.table.right);
    }
    for (const std::string& note : table.notes) {
      text += wrap(note, width, kIndent);
    }
  }
  const std::vector<std::string> notes = notes_of(advice);
  text += notes.empty() ? "" : "\n";
  for (const std::string& note : notes) {
    text += wrap(note, width, kIndent);
  }
  return text;
}

std::string advice_markdown(const Advice& advice) {
  std::string text = fmt::format("### {}\n\n{}\n\n- **{}**\n", markdown_text(advice.subject),
                                 markdown_text(advice.basis), markdown_text(bottleneck_words(advice)));
  for (const Change& change : advice.changes) {
    text += fmt::format("- {}: **{}**, a step of {}: {}\n", markdown_text(change.what),
                        markdown_text(speedup_words(change)), markdown_text(step_words(change)),
                        markdown_code(change.setting));
    for (const std::string& cost : change.costs) {
      text += fmt::format("  - {}\n", markdown_text(cost));
    }
  }
  if (!advice.budget.empty()) {
    text += "\n" + markdown_table(budget_rows(advice));
  }
  for (const AdviceTable& table : advice.tables) {
    text += fmt::format("\n{}\n\n{}", markdown_text(table.question), markdown_table(table.table.rows));
    for (const std::string& note : table.notes) {
      text += fmt::format("\n{}\n", markdown_text(note));
    }
  }
  for (const std::string& note : notes_of(advice)) {
    text += fmt::format("\n{}\n", markdown_text(note));
  }
  return text;
}

Json advice_json(const Advice& advice) {
  Json json = {{"schema", "bench-advice/1"},
               {"subject", advice.subject},
               {"basis", advice.basis},
               {"current", settings_json(advice.current)},
               {"bottleneck", name_of(advice.bottleneck)},
               {"reason", advice.reason},
               {"step_ns", advice.step_ns},
               {"budget", Json::array()},
               {"changes", Json::array()},
               {"tables", Json::array()},
               {"contradictions", advice.contradictions},
               {"missing", advice.missing},
               {"warnings", advice.warnings}};
  for (const BudgetPart& part : advice.budget) {
    json["budget"].push_back({{"name", part.name}, {"ns", part.ns}});
  }
  for (const Change& change : advice.changes) {
    json["changes"].push_back({{"what", change.what},
                               {"setting", change.setting},
                               {"after", settings_json(change.after)},
                               {"step_ns", change.step_ns},
                               {"step90_ns", interval_json(change.step90_ns)},
                               {"speedup", change.speedup},
                               {"speedup90", interval_json(change.speedup90)},
                               {"costs", change.costs},
                               {"evidence", change.evidence}});
  }
  for (const AdviceTable& table : advice.tables) {
    json["tables"].push_back(
        {{"question", table.question}, {"rows", table.table.rows}, {"notes", table.notes}});
  }
  return json;
}

}  // namespace bench
