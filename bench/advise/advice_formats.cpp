#include "bench/advise/advice_formats.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "bench/error.h"
#include "bench/page/csv.h"
#include "bench/result/field_lists.h"
#include "bench/result/result_json.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
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
  std::string text = (change.at_most ? "step at least " : "step ") + format_duration(change.step_ns);
  if (change.step90_ns) {
    text += fmt::format(" ({} to {})", format_duration(change.step90_ns->low),
                        format_duration(change.step90_ns->high));
  }
  return text;
}

Json settings_json(const TrainingSettings& settings) {
  return {{"batch", settings.batch},     {"accumulate", settings.accumulate},
          {"workers", settings.workers}, {"prefetch", settings.prefetch},
          {"pin", settings.pin},         {"dtype", settings.dtype},
          {"cards", settings.cards},     {"effective_batch", settings.effective_batch()}};
}

std::string bottleneck_line(const Advice& advice) {
  return advice.bottleneck == Bottleneck::none
             ? fmt::format("Nothing to gain. {}", advice.reason)
             : fmt::format("Bottleneck: {}. {}", name_of(advice.bottleneck), advice.reason);
}

// Empty where the bottleneck's line tells it: that one part takes all, or so much "of a step of" so long.
std::string budget_line(const Advice& advice) {
  constexpr std::size_t kTold = 2;  // parts
  const bool is_told = advice.reason.find("of a step of") != std::string::npos;
  if (advice.budget.size() < kTold || (advice.budget.size() == kTold && is_told)) {
    return "";
  }
  std::vector<std::string> parts;
  for (const BudgetPart& part : advice.budget) {
    parts.push_back(fmt::format("{} {} ({})", part.name, format_duration(part.ns),
                                format_percent(advice.step_ns > 0 ? part.ns / advice.step_ns : 0)));
  }
  return fmt::format("A step of {}: {}.", format_duration(advice.step_ns), fmt::join(parts, ", "));
}

Bottleneck bottleneck_of(const Field& name) {
  for (int i = 0; i <= static_cast<int>(Bottleneck::stages); ++i) {
    if (const auto bottleneck = static_cast<Bottleneck>(i); name_of(bottleneck) == name.string()) {
      return bottleneck;
    }
  }
  throw UsageError(
      fmt::format("{} is {}, which this program does not know", name.path(), quote(name.string())));
}

Change change_of(const Field& change) {
  return {.what = change.at("what").string(),
          .setting = change.at("setting").string(),
          .after = {},
          .step_ns = change.at("step_ns").number(),
          .step90_ns = find_interval(change, "step90_ns"),
          .speedup = change.at("speedup").number(),
          .speedup90 = find_interval(change, "speedup90"),
          .at_most = change.has("at_most") && change.at("at_most").json() == true,
          .costs = strings_of(change.at("costs")),
          .evidence = strings_of(change.at("evidence"))};
}

AdviceTable advice_table_of(const Field& table) {
  AdviceTable read{.question = table.at("question").string(), .notes = strings_of(table.at("notes"))};
  const Field rows = table.at("rows");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string> texts = strings_of(rows.at(i));
    Cells& row = read.table.rows.emplace_back(texts.begin(), texts.end());
    row.resize(read.table.rows.front().size());
  }
  return read;
}

template <class Of>
auto each_of(const Field& list, const Of& of) {
  std::vector<decltype(of(list))> all;
  for (std::size_t i = 0; i < list.size(); ++i) {
    all.push_back(of(list.at(i)));
  }
  return all;
}

std::string change_line(const Change& change) {
  return fmt::format("{}: {} the samples/s, {}", change.what, gain_of(change), step_of(change));
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
      item.details.push_back("costs: " + cost);
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
      rows.push_back({change.what, changes == &advice.changes ? "yes" : "no", change.setting,
                      csv_number(change.speedup), csv_low(change.speedup90), csv_high(change.speedup90),
                      csv_number(change.step_ns), fmt::format("{}", fmt::join(change.costs, "; ")),
                      fmt::format("{}", fmt::join(change.evidence, "; "))});
    }
  }
  return csv_table(rows);
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
            {"tables", Json::array()}};
  for (const BudgetPart& part : advice.budget) {
    json["budget"].push_back({{"name", part.name}, {"ns", part.ns}});
  }
  const auto add = [&json](const char* key, const std::vector<Change>& changes) {
    json[key] = Json::array();
    for (const Change& change : changes) {
      json[key].push_back({{"what", change.what},
                           {"setting", change.setting},
                           {"after", settings_json(change.after)},
                           {"step_ns", change.step_ns},
                           {"step90_ns", interval_json(change.step90_ns)},
                           {"speedup", change.speedup},
                           {"speedup90", interval_json(change.speedup90)},
                           {"costs", change.costs},
                           {"evidence", change.evidence}});
      if (change.at_most) {
        json[key].back()["at_most"] = true;
      }
    }
  };
  add("changes", advice.changes);
  add("tried", advice.tried);
  for (const AdviceTable& table : advice.tables) {
    Json rows = Json::array();
    for (const Cells& row : table.table.rows) {
      Json& texts = rows.emplace_back(Json::array());
      std::ranges::transform(row, std::back_inserter(texts), &Cell::text);
    }
    json["tables"].push_back(
        {{"question", table.question}, {"rows", std::move(rows)}, {"notes", table.notes}});
  }
  json["contradictions"] = advice.contradictions;
  json["missing"] = advice.missing;
  json["warnings"] = advice.warnings;
  return json;
}

Advice advice_of(const Field& root) {
  return {.subject = root.at("subject").string(),
          .basis = root.at("basis").string(),
          .current = {},
          .bottleneck = bottleneck_of(root.at("bottleneck")),
          .reason = root.at("reason").string(),
          .step_ns = root.at("step_ns").number(),
          .budget = each_of(root.at("budget"),
                            [](const Field& part) {
                              return BudgetPart{.name = part.at("name").string(),
                                                .ns = part.at("ns").number()};
                            }),
          .changes = each_of(root.at("changes"), change_of),
          .tried = {},
          .tables = each_of(root.at("tables"), advice_table_of),
          .contradictions = strings_of(root.at("contradictions")),
          .missing = strings_of(root.at("missing")),
          .warnings = strings_of(root.at("warnings"))};
}

}  // namespace bench
