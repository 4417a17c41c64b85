// What a reader gets to see, as data: a title, and below it paragraphs, lists and tables in their order. The
// texts may hold anything: each writer shows them as text, whatever its format would make of them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

struct TextTable {
  std::string title;
  std::vector<std::vector<std::string>> rows;  // the first is the header
  std::vector<bool> right;                     // columns that are aligned right
  bool lists_points = false;                   // replaces the general table of points
  bool details = false;                        // printed with --verbose only
  std::string below{};                         // a line under the rows
};

struct Paragraph {
  std::string text;
  bool strong = false;  // the answer
  bool brief = false;   // a terminal shows its first line only, with a pointer to --verbose
};

struct ListItem {
  std::string text;
  std::vector<std::string> details{};  // lines below it
};

struct List {
  std::string title;  // empty: none
  std::vector<ListItem> items;
  bool folded = false;  // what few readers need: folded up, if the format can
};

using Block = std::variant<Paragraph, List, TextTable>;

struct Page {
  std::string title;  // empty: none, in text
  std::vector<Block> blocks{};

  // Nothing is added where the text, the list or the rows below the header are empty.
  void say(std::string text, bool strong = false);
  void list(std::string heading, std::vector<ListItem> items);
  void sentences(std::string heading, const std::vector<std::string>& texts);
  void table(TextTable table);
};

// Lines of at most `width` columns. Paragraphs follow each other without an empty line between them.
std::string page_text(const Page& page, std::size_t width);
// `heading`: the level of the title's; those of lists and tables are one below.
std::string page_markdown(const Page& page, std::size_t heading = 3);
// Without the elements around it: the title is a paragraph, a table lies below its title, folded up.
std::string page_html(const Page& page);

// As --format asks: "markdown", else text.
std::string page_as(std::string_view format, const Page& page, std::size_t width);

}  // namespace bench
