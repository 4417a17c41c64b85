#include "bench/page/html.h"

#include <fmt/format.h>

#include "bench/text/escape.h"

namespace bench {
namespace {

constexpr std::size_t kLongestHtmlSentence = 2000;  // characters
constexpr std::size_t kLongestCell = 200;

}  // namespace

std::string html_sentence(std::string_view text) {
  return xml_text(text, kLongestHtmlSentence);
}

std::string html_table(const TextTable& table, std::size_t most) {
  if (table.rows.empty()) {
    return "";
  }
  // End tags of rows and cells may be left out in HTML; tables are most of a page.
  std::string html = "<div class=\"scroll\"><table>";
  const auto row = [&](const std::vector<std::string>& cells, const char* element) {
    html += "<tr>";
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const bool right = i < table.right.size() && table.right[i];
      html += fmt::format("<{}{}>{}", element, right ? "" : " class=l", xml_text(cells[i], kLongestCell));
    }
    html += '\n';
  };
  html += "<thead>";
  row(table.rows.front(), "th");
  html += "</thead><tbody>";
  for (std::size_t i = 1; i < table.rows.size() && i <= most; ++i) {
    row(table.rows[i], "td");
  }
  html += "</tbody></table></div>";
  if (table.rows.size() > most + 1) {
    html += fmt::format("<p class=\"soft\">The first {} of {} rows; the result file has all.</p>", most,
                        table.rows.size() - 1);
  }
  return html;
}

std::string html_list(const std::vector<std::string>& sentences, std::size_t most) {
  std::string html = "<ul>";
  for (std::size_t i = 0; i < sentences.size() && i < most; ++i) {
    html += fmt::format("<li>{}</li>\n", html_sentence(sentences[i]));
  }
  if (sentences.size() > most) {
    html += fmt::format("<li class=\"soft\">and {} more in the result file</li>", sentences.size() - most);
  }
  return html + "</ul>\n";
}

std::string html_details(const std::string& summary, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>{}</details>\n", summary, content);
}

namespace {

struct HtmlWriter {
  std::string operator()(const Paragraph& paragraph) const {
    return fmt::format(fmt::runtime(paragraph.strong ? "<p><b>{}</b></p>\n" : "<p>{}</p>\n"),
                       html_sentence(paragraph.text));
  }

  std::string operator()(const List& list) const {
    const bool has_heading = !list.title.empty() && !list.folded;
    std::string html = has_heading ? fmt::format("<h3>{}</h3>\n", html_sentence(list.title)) : "";
    html += "<ul>\n";
    for (const ListItem& item : list.items) {
      html += fmt::format("<li>{}", html_sentence(item.text));
      for (const std::string& detail : item.details) {
        html += fmt::format("<br><small>{}</small>", html_sentence(detail));
      }
      html += "</li>\n";
    }
    html += "</ul>\n";
    return list.folded ? html_details(html_sentence(list.title), html) : html;
  }

  std::string operator()(const TextTable& table) const {
    const std::string below =
        table.below.empty() ? "" : fmt::format("<p class=\"soft\">{}</p>", html_sentence(table.below));
    return html_details(html_sentence(table.title), html_table(table, table.rows.size()) + below);
  }
};

}  // namespace

std::string page_html(const Page& page) {
  std::string html = fmt::format("<p class=\"soft\">{}</p>\n", html_sentence(page.title));
  for (const Block& block : page.blocks) {
    html += std::visit(HtmlWriter(), block);
  }
  return html;
}

}  // namespace bench
