// A page as one HTML file: its style, pictures and files are within it. It loads nothing and runs no script.
#include <limits>
#include <regex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/page/chart_table.h"
#include "bench/page/page.h"
#include "bench/page/style.h"
#include "bench/text/escape.h"
#include "plots/svg.h"

namespace bench {
namespace {

// Scripts, frames, forms and whatever would be loaded are forbidden; the page's own style is not.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

std::string sentence(std::string_view text) {
  constexpr std::size_t kLongest = 2000;  // characters
  return xml_text(text, kLongest);
}

// As above; an option is not broken at its hyphens.
std::string prose(std::string_view text) {
  static const std::regex option("--[a-z][a-z_-]*");
  return std::regex_replace(sentence(text), option, "<span class=\"o\">$&</span>");
}

// Links behind a text are small.
std::string text_and_links(std::string_view text, const std::vector<PageLink>& links) {
  std::vector<std::string> shown;
  for (const PageLink& link : links) {
    const std::string name = sentence(link.text);
    shown.push_back(fmt::format("<a{} href=\"{}\">{}</a>",
                                link.is_download ? fmt::format(" download=\"{}\"", name) : "",
                                xml_text(link.target, std::numeric_limits<std::size_t>::max()), name));
  }
  return text.empty() || links.empty()
             ? fmt::format("{}{}", prose(text), fmt::join(shown, "; "))
             : fmt::format("{} <small>{}</small>", prose(text), fmt::join(shown, "; "));
}

// The content folded up below its title; open where there is none.
std::string below(const std::string& title, const std::string& content) {
  return title.empty()
             ? content
             : fmt::format("<details><summary>{}</summary>{}</details>\n", sentence(title), content);
}

// End tags of rows and cells may be left out in HTML; tables are most of a page.
std::string table_html(const std::vector<Cells>& rows) {
  constexpr std::size_t kLongestCell = 200;
  constexpr std::size_t kLongestWord = 20;  // what is longer is read from the left, among figures too
  const std::vector<bool> right = figure_columns(rows);
  std::string html = "<div class=\"scroll\"><table>";
  for (std::size_t row = 0; row < rows.size(); ++row) {
    html += row == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t i = 0; i < rows[row].size(); ++i) {
      const Cell& cell = rows[row][i];
      const bool is_sentence = row > 0 && !cell.is_figure && cell.text.size() > kLongestWord;
      html += fmt::format("<{}{}>{}", row == 0 ? "th" : "td", right[i] && !is_sentence ? "" : " class=l",
                          xml_text(cell.text, kLongestCell));
    }
    html += row == 0 ? "\n</thead><tbody>" : "\n";
  }
  return html + "</tbody></table></div>";
}

struct HtmlWriter {
  std::size_t heading;  // of a block's title
  bool has_marks;       // of the page

  std::string titled(const std::string& title, std::string_view more = "") const {
    return title.empty() ? "" : fmt::format("<h{0}>{1}{2}</h{0}>\n", heading, sentence(title), more);
  }

  std::string operator()(const Paragraph& paragraph) const {
    const std::string text = text_and_links(paragraph.text, paragraph.links);
    switch (paragraph.tone) {
      case Tone::answer:
        return fmt::format("<p><b>{}</b></p>\n", text);
      case Tone::aside:
        return fmt::format("<p class=\"soft\">{}</p>\n", text);
      case Tone::warning:
        return fmt::format("<p class=\"warn\">{}</p>\n", text);
      case Tone::plain:
        break;
    }
    return fmt::format("<p>{}</p>\n", text);
  }

  std::string operator()(const Warnings& block) const {
    return (*this)(Paragraph{.text = in_words(block.warnings, has_marks), .tone = Tone::warning});
  }

  std::string operator()(const MoreTables& more) const {
    std::string html;
    for (const TextTable& table : more.tables) {
      html += (*this)(table);
    }
    return html;
  }

  std::string operator()(const List& list) const {
    std::string html = list.numbered ? "<ol class=\"answer\">\n" : "<ul>\n";
    for (const ListItem& item : list.items) {
      html += fmt::format("<li>{}", text_and_links(item.text, item.links));
      for (const std::string& detail : item.details) {
        html += fmt::format("<br><small>{}</small>", prose(detail));
      }
      html += "</li>\n";
    }
    html += list.numbered ? "</ol>\n" : "</ul>\n";
    html += list.below.empty() ? "" : (*this)(Paragraph{.text = list.below, .tone = Tone::aside});
    return list.folded ? below(list.title, html) : titled(list.title) + html;
  }

  std::string operator()(const FactList& list) const {
    constexpr std::size_t kLongestName = 60;
    constexpr std::size_t kLongestFact = 300;
    std::string html = "<dl>";
    for (const auto& [name, fact] : list.facts) {
      html +=
          fmt::format("<dt>{}</dt><dd>{}</dd>", xml_text(name, kLongestName), xml_text(fact, kLongestFact));
    }
    return below(list.title, html + "</dl>\n");
  }

  std::string operator()(const TextTable& table) const {
    return below(
        table.title,
        table_html(table.rows) +
            (table.below.empty() ? "" : (*this)(Paragraph{.text = table.below, .tone = Tone::aside})));
  }

  std::string operator()(const Figure& figure) const {
    const plots::Chart& chart = figure.chart;
    const plots::SvgChart drawn = plots::chart_svg(chart);
    std::string html = fmt::format(
        "<figure>{}{}\n",
        titled(chart.title,
               chart.predicted ? " <span class=\"predicted\">predicted, not measured</span>" : ""),
        drawn.svg);
    if (!drawn.legend.empty()) {
      html += "<ul class=\"legend\">";
      for (const plots::SvgLegendEntry& entry : drawn.legend) {
        html += fmt::format("<li>{}<span>{}</span></li>", entry.mark, sentence(entry.text));
      }
      html += "</ul>\n";
    }
    if (const std::string caption = plots::caption_of(chart); !caption.empty()) {
      html += fmt::format("<figcaption>{}</figcaption>\n", sentence(caption));
    }
    if (figure.rows == 0) {
      return html + "</figure>\n";
    }
    TextTable table = chart_table(chart, figure.rows);
    table.title = "Table";
    return html + (*this)(table) + "</figure>\n";
  }
};

std::string content_of(const Page& page, std::size_t heading) {
  const HtmlWriter writer{heading + 1, page.has_marks()};
  std::string html =
      page.title.empty() ? "" : fmt::format("<h{0}>{1}</h{0}>\n", heading, sentence(page.title));
  bool among_figures = false;
  const auto go_among_figures = [&](bool is_figure) {
    html += is_figure == among_figures ? "" : is_figure ? "<div class=\"charts\">\n" : "</div>\n";
    among_figures = is_figure;
  };
  for (const Block& block : page.blocks) {
    go_among_figures(std::holds_alternative<Figure>(block));
    html += std::visit(writer, block);
  }
  go_among_figures(false);
  for (const Page& section : page.sections) {
    html += fmt::format("<section{}>{}</section>\n",
                        section.id.empty() ? "" : fmt::format(" id=\"{}\"", sentence(section.id)),
                        content_of(section, heading + 1));
  }
  return html;
}

}  // namespace

std::string page_html(const Page& page) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}{}</style></head>\n<body><main>\n{}</main></body></html>\n",
      kPolicy, sentence(page.title), kStyle, plots::chart_style(), content_of(page, 1));
}

}  // namespace bench
