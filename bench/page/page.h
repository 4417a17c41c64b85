// What a reader gets to see, as data: a title, and below it paragraphs, lists, facts, tables, charts and
// sections in their order. The texts may hold anything: each writer shows them as text, whatever its format
// would make of them.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bench/page/cell.h"
#include "plots/chart.h"

namespace bench {

// To a section of the page ("#r1"), or to a file within it ("data:…"). HTML leads there.
struct PageLink {
  std::string text;
  std::string target;
  bool is_download = false;  // of a file with this name
};

struct TextTable {
  std::string title{};        // HTML folds a table up below it; none: the table is open
  std::vector<Cells> rows{};  // the first is the header
  bool lists_points = false;  // replaces the general table of points
  std::string below{};        // a line under the rows
  std::string name{};         // in a few words, where it is left out; none: the title
};

// Tables that weigh less than the one before: HTML shows them, other formats say which are left out.
struct MoreTables {
  std::vector<TextTable> tables;
};

enum class Tone { plain, answer, aside, warning };

struct Paragraph {
  std::string text;
  Tone tone = Tone::plain;
  std::string brief{};            // for a terminal where the text takes more than one line: cut to one
  std::vector<PageLink> links{};  // behind the text
};

// Why figures are less reliable or missing.
struct Warning {
  std::string text;
  std::string action{};    // what to do
  std::string brief{};     // the text among others on one line; none: the text
  bool is_marked = false;  // "(○)" follows where a table of the page marks such points
};

// In the order of their weight. `is_brief`: a terminal shows those that fit one line, and how many more there
// are.
struct Warnings {
  std::vector<Warning> warnings;
  bool is_brief = false;
};

struct ListItem {
  std::string text;
  std::vector<std::string> details{};  // lines below it
  std::vector<PageLink> links{};       // behind the text
};

struct List {
  std::string title{};  // empty: none
  std::vector<ListItem> items{};
  bool folded = false;    // what few readers need: folded up, if the format can
  bool numbered = false;  // the order tells how much they weigh
  std::string below{};    // a line under the items
  bool is_answer = false;
};

// Names and texts, in this order.
using Facts = std::vector<std::pair<std::string, std::string>>;
struct FactList {
  std::string title;  // HTML folds the facts up below it; none: they are open
  Facts facts;
};

// A picture, with its table; the table alone where a format has no pictures.
struct Figure {
  plots::Chart chart;
  std::size_t rows;  // of the table, at most; 0: other tables tell it
};

using Block = std::variant<Paragraph, Warnings, List, FactList, TextTable, MoreTables, Figure>;

struct Page {
  std::string title{};  // empty: none, in text; a terminal shows an answer above it
  std::vector<Block> blocks{};
  std::vector<Page> sections{};
  std::string id{};  // that links to it name

  // Nothing is added where the text, the list or the rows below the header are empty, and no column that
  // holds nothing but "–".
  void say(std::string text, Tone tone = Tone::plain);
  void list(List list);
  void sentences(std::string heading, const std::vector<std::string>& texts);
  // The answer: the first five findings, or all. Those that are left out, here and by the caller, are
  // counted, with what shows them.
  struct Rest {
    bool is_shown = false;     // all findings are
    std::size_t left_out = 0;  // by the caller
    std::string_view shown_by = "--verbose";
  };
  void answer(List findings, Rest rest);
  void answer(const std::vector<std::string>& findings, Rest rest);
  void table(TextTable table);
  // In the order of their weight: the first; `all`: each of them.
  void tables(std::vector<TextTable> tables, bool all);
  void warn(std::vector<Warning> warnings, bool all);

  // Whether one of its tables marks points as less reliable.
  bool has_marks() const;
};

// Lines of at most `width` columns. Paragraphs follow each other without an empty line between them.
std::string page_text(const Page& page, std::size_t width);
// `heading`: the level of the title's; those of lists, tables and sections are one below.
std::string page_markdown(const Page& page, std::size_t heading = 3);
// A whole HTML document. It loads nothing and runs no script.
std::string page_html(const Page& page);

// "text — link; link", for a format that leads nowhere.
std::string with_links(std::string_view text, const std::vector<PageLink>& links);

// "Warning: A; B [do this]. C [do that].": a sentence for each action; empty: none.
std::string in_words(const std::vector<Warning>& warnings, bool with_marks = false);
// "2 more tables: a, b (--verbose)."
std::string in_words(const MoreTables& more);

// What a command answers; only the format that is asked for is made.
struct InFormats {
  std::function<Page()> page;
  std::function<std::string()> csv;
  std::function<std::string()> json;
  std::function<std::string()> markdown{};  // where it is more than the page's
};
// As --format asks: "json", "csv", "markdown", else text.
std::string formatted(std::string_view format, const InFormats& answer, std::size_t width);

}  // namespace bench
