#include "bench/advise/advice_formats.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/cli/table.h"
#include "bench/cli/text.h"
#include "bench/measure/units.h"

namespace bench {
namespace {

std::string bottleneck_line(const Advice& advice) {
  return advice.bottleneck == Bottleneck::none
             ? fmt::format("Nothing to gain: {}", advice.reason)
             : fmt::format("Bottleneck: {}. {}", name_of(advice.bottleneck), advice.reason);
}

std::string times(double value) {
  return fmt::format("{:.2f}×", value);
}

std::string gain_of(const Change& change) {
  std::string text = times(change.speedup);
  if (change.speedup90) {
    text += fmt::format(" ({:.2f}–{:.2f}×)", change.speedup90->low, change.speedup90->high);
  }
  return text;
}

std::string step_of(const Change& change) {
  if (change.step_ns <= 0) {
    return "step not known";
  }
  std::string text = "step " + format_duration(change.step_ns);
  if (change.step90_ns) {
    text += fmt::format(" ({}–{})", format_duration(change.step90_ns->low),
                        format_duration(change.step90_ns->high));
  }
  return text;
}

std::string budget_line(const Advice& advice) {
  std::vector<std::string> parts;
  for (const BudgetPart& part : advice.budget) {
    parts.push_back(fmt::format("{} {} ({})", part.name, format_duration(part.ns),
                                format_percent(advice.step_ns > 0 ? part.ns / advice.step_ns : 0)));
  }
  return fmt::format("A step of {}: {}.", format_duration(advice.step_ns), fmt::join(parts, ", "));
}

// Cells of a Markdown table: a bar would end one.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    safe += c == '|' ? "\\|" : c == '<' ? "&lt;" : std::string(1, c);
  }
  return safe;
}

std::string markdown_rows(const TextTable& table) {
  std::string text;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    for (const std::string& one : table.rows[i]) {
      text += "| " + cell(one) + " ";
    }
    text += "|\n";
    for (std::size_t column = 0; i == 0 && column < table.right.size(); ++column) {
      text += table.right[column] ? "| ---: " : "| --- ";
    }
    text += i == 0 ? "|\n" : "";
  }
  return text;
}

struct Section {
  std::string_view title;
  const std::vector<std::string>& lines;
};

std::vector<Section> sections_of(const Advice& advice) {
  return {{"Readings that contradict each other", advice.contradictions},
          {"Missing readings", advice.missing},
          {"Take care", advice.warnings}};
}

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json::array({interval->low, interval->high}) : Json();
}

Json settings_json(const TrainingSettings& settings) {
  return {{"batch", settings.batch},     {"accumulate", settings.accumulate},
          {"workers", settings.workers}, {"prefetch", settings.prefetch},
          {"pin", settings.pin},         {"dtype", settings.dtype},
          {"cards", settings.cards},     {"effective_batch", settings.effective_batch()}};
}

}  // namespace

std::string advice_text(const Advice& advice, std::size_t width) {
  std::string text = wrap(fmt::format("{}: {}", advice.subject, advice.basis), width, 2) + "\n";
  text += wrap(bottleneck_line(advice), width, 2);
  if (!advice.budget.empty()) {
    text += wrap(budget_line(advice), width, 2);
  }
  for (const Change& change : advice.changes) {
    text += "\n" + wrap(fmt::format("* {}: {} a sample, {}", change.what, gain_of(change), step_of(change)),
                        width, 2);
    text += wrap("  " + change.setting, width, 4).insert(0, "  ");
    for (const auto* const lines : {&change.costs, &change.evidence}) {
      for (const std::string& line : *lines) {
        text +=
            "  " + wrap(fmt::format("{} {}", lines == &change.costs ? "costs:" : "by:", line), width - 2, 4);
      }
    }
  }
  if (advice.changes.empty()) {
    text += "\n" + wrap("No change is advised on what is known.", width, 2);
  }
  for (const Section& section : sections_of(advice)) {
    text += section.lines.empty() ? "" : fmt::format("\n{}\n", section.title);
    for (const std::string& line : section.lines) {
      text += wrap("* " + line, width, 2);
    }
  }
  for (const AdviceTable& table : advice.tables) {
    text += "\n" + wrap(table.question, width, 2);
    text += table.table.rows.empty() ? "" : in_columns(table.table.rows, table.table.right);
    for (const std::string& note : table.notes) {
      text += wrap(note, width, 2);
    }
  }
  return text;
}

std::string advice_markdown(const Advice& advice) {
  std::string text = fmt::format("### {}\n\n{}\n\n**{}**\n", cell(advice.subject), cell(advice.basis),
                                 cell(bottleneck_line(advice)));
  if (!advice.budget.empty()) {
    text += "\n" + budget_line(advice) + "\n";
  }
  if (!advice.changes.empty()) {
    text +=
        "\n| change | gain a sample | step | setting | costs | evidence |\n| --- | ---: | ---: | --- | --- | "
        "--- |\n";
  }
  for (const Change& change : advice.changes) {
    text += fmt::format("| {} | {} | {} | `{}` | {} | {} |\n", cell(change.what), gain_of(change),
                        step_of(change), cell(change.setting),
                        cell(fmt::format("{}", fmt::join(change.costs, "; "))),
                        cell(fmt::format("{}", fmt::join(change.evidence, "; "))));
  }
  for (const Section& section : sections_of(advice)) {
    text += section.lines.empty() ? "" : fmt::format("\n#### {}\n\n", section.title);
    for (const std::string& line : section.lines) {
      text += "- " + cell(line) + "\n";
    }
  }
  for (const AdviceTable& table : advice.tables) {
    text += fmt::format("\n#### {}\n\n", cell(table.question));
    text += table.table.rows.empty() ? "" : markdown_rows(table.table) + "\n";
    for (const std::string& note : table.notes) {
      text += "- " + cell(note) + "\n";
    }
  }
  return text;
}

Json advice_json(const Advice& advice) {
  Json json{{"schema", "bench-advice/1"},
            {"subject", advice.subject},
            {"basis", advice.basis},
            {"current", settings_json(advice.current)},
            {"bottleneck", name_of(advice.bottleneck)},
            {"reason", advice.reason},
            {"step_ns", advice.step_ns},
            {"budget", Json::array()},
            {"changes", Json::array()},
            {"tables", Json::array()}};
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
  json["contradictions"] = advice.contradictions;
  json["missing"] = advice.missing;
  json["warnings"] = advice.warnings;
  return json;
}

}  // namespace bench
