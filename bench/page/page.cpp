#include "bench/page/page.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/result/finding.h"

namespace bench {
namespace {

List list_of(std::string heading, const std::vector<std::string>& texts) {
  List list{.title = std::move(heading)};
  for (const std::string& text : texts) {
    list.items.push_back({.text = text});
  }
  return list;
}

// Without columns that hold nothing but "–"; none where there is no row.
std::optional<TextTable> with_content(TextTable table) {
  if (table.rows.size() < 2) {
    return std::nullopt;
  }
  for (std::size_t i = table.rows.front().size(); i-- > 0;) {
    const auto fills = [i](const Cells& row) {
      return i < row.size() && !row[i].text.empty() && row[i] != Cell::none();
    };
    if (std::none_of(table.rows.begin() + 1, table.rows.end(), fills)) {
      for (Cells& row : table.rows) {
        if (i < row.size()) {
          row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
        }
      }
    }
  }
  return table;
}

}  // namespace

void Page::say(std::string text, Tone tone) {
  if (!text.empty()) {
    blocks.emplace_back(Paragraph{.text = std::move(text), .tone = tone});
  }
}

void Page::list(List list) {
  if (!list.items.empty()) {
    blocks.emplace_back(std::move(list));
  }
}

void Page::sentences(std::string heading, const std::vector<std::string>& texts) {
  list(list_of(std::move(heading), texts));
}

void Page::answer(List findings, Rest rest) {
  constexpr std::size_t kMost = kHeadlines;
  if (!rest.is_shown && findings.items.size() > kMost) {
    rest.left_out += findings.items.size() - kMost;
    findings.items.resize(kMost);
  }
  if (rest.left_out > 0) {
    findings.below =
        fmt::format("{} more finding{} ({}).", rest.left_out, rest.left_out == 1 ? "" : "s", rest.shown_by);
  }
  findings.is_answer = true;
  findings.items.empty() ? say(std::move(findings.below)) : list(std::move(findings));
}

void Page::answer(const std::vector<std::string>& findings, Rest rest) {
  answer(list_of("", findings), rest);
}

void Page::table(TextTable table) {
  if (auto content = with_content(std::move(table))) {
    blocks.emplace_back(*std::move(content));
  }
}

void Page::tables(std::vector<TextTable> tables, bool all) {
  MoreTables more;
  bool is_first = true;
  for (TextTable& table : tables) {
    auto content = with_content(std::move(table));
    if (content && (all || is_first)) {
      blocks.emplace_back(*std::move(content));
      is_first = false;
    } else if (content) {
      more.tables.push_back(*std::move(content));
    }
  }
  if (!more.tables.empty()) {
    blocks.emplace_back(std::move(more));
  }
}

void Page::warn(std::vector<Warning> warnings, bool all) {
  if (!warnings.empty()) {
    blocks.emplace_back(Warnings{.warnings = std::move(warnings), .is_brief = !all});
  }
}

bool Page::has_marks() const {
  return std::ranges::any_of(blocks, [](const Block& block) {
    const auto* const table = std::get_if<TextTable>(&block);
    return table != nullptr && std::ranges::any_of(table->rows, [](const Cells& row) {
             return std::ranges::any_of(
                 row, [](const Cell& cell) { return cell.text.find("○") != std::string::npos; });
           });
  });
}

std::string with_links(std::string_view text, const std::vector<PageLink>& links) {
  std::string all(text);
  for (const PageLink& link : links) {
    all += (all.empty() ? "" : &link == &links.front() ? " — " : "; ") + link.text;
  }
  return all;
}

std::string in_words(const std::vector<Warning>& warnings, bool with_marks) {
  struct Sentence {
    std::string text;
    std::string_view action;
  };
  std::vector<Sentence> sentences;  // one for each action
  for (const Warning& warning : warnings) {
    const std::string text = warning.text + (with_marks && warning.is_marked ? " (○)" : "");
    const auto same = std::ranges::find(sentences, warning.action, &Sentence::action);
    if (same == sentences.end()) {
      sentences.push_back({text, warning.action});
    } else {
      same->text += "; " + text;
    }
  }
  std::string text;
  for (Sentence& sentence : sentences) {
    if (!text.empty()) {
      sentence.text.front() =
          static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.text.front())));
    }
    text += fmt::format("{} {}{}.", text.empty() ? "Warning:" : "", sentence.text,
                        sentence.action.empty() ? "" : fmt::format(" [{}]", sentence.action));
  }
  return text;
}

std::string in_words(const MoreTables& more) {
  std::vector<std::string_view> names;
  for (const TextTable& table : more.tables) {
    names.push_back(table.name.empty() ? table.title : table.name);
  }
  return fmt::format("{} more table{}: {} (--verbose).", names.size(), names.size() == 1 ? "" : "s",
                     fmt::join(names, ", "));
}

std::string formatted(std::string_view format, const InFormats& answer, std::size_t width) {
  return format == "json"       ? answer.json()
         : format == "csv"      ? answer.csv()
         : format != "markdown" ? page_text(answer.page(), width)
         : answer.markdown      ? answer.markdown()
                                : page_markdown(answer.page());
}

}  // namespace bench
