#include "bench/page/page.h"

namespace bench {

void Page::say(std::string text, bool strong) {
  if (!text.empty()) {
    blocks.emplace_back(Paragraph{.text = std::move(text), .strong = strong});
  }
}

void Page::list(std::string heading, std::vector<ListItem> items) {
  if (!items.empty()) {
    blocks.emplace_back(List{.title = std::move(heading), .items = std::move(items)});
  }
}

void Page::sentences(std::string heading, const std::vector<std::string>& texts) {
  std::vector<ListItem> items;
  for (const std::string& text : texts) {
    items.push_back({.text = text});
  }
  list(std::move(heading), std::move(items));
}

void Page::table(TextTable table) {
  if (table.rows.size() > 1) {
    blocks.emplace_back(std::move(table));
  }
}

std::string page_as(std::string_view format, const Page& page, std::size_t width) {
  return format == "markdown" ? page_markdown(page) : page_text(page, width);
}

}  // namespace bench
