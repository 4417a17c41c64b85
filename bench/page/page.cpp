#include "bench/page/page.h"

#include <algorithm>

#include <fmt/format.h>

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
  findings.items.empty() ? say(std::move(findings.below)) : list(std::move(findings));
}

void Page::answer(const std::vector<std::string>& findings, Rest rest) {
  answer(list_of("", findings), rest);
}

void Page::table(TextTable table) {
  if (table.rows.size() < 2) {
    return;
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
  blocks.emplace_back(std::move(table));
}

std::string with_links(std::string_view text, const std::vector<PageLink>& links) {
  std::string all(text);
  for (const PageLink& link : links) {
    all += (all.empty() ? "" : &link == &links.front() ? " — " : "; ") + link.text;
  }
  return all;
}

std::string page_as(std::string_view format, const Page& page, std::size_t width) {
  return format == "markdown" ? page_markdown(page) : page_text(page, width);
}

}  // namespace bench
