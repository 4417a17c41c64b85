// A page in each format: its parts in their order, and foreign texts that no format acts on.
#include "bench/page/page.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bench {
namespace {

Page sample_page() {
  Page page{.title = "net on a card"};
  page.say("Yes: up to batch 37.", Tone::answer);
  page.say("A step of 12 ms.");
  page.say("");
  page.sentences("Take care", {});
  page.list({.items = {{.text = "workers 0 → 2", .details = {"costs: memory"}}, {.text = "pin"}}});
  page.table({.title = "By batch", .rows = {{"batch", "what"}, {1, "a"}, {16, "b"}}});
  page.table({.title = "Nothing", .rows = {{"batch"}}});
  page.say("A note.");
  return page;
}

// As a report is: links, facts, a chart, and sections.
Page sectioned_page() {
  Page page{.title = "Two results"};
  page.list({.items = {{.text = "Use batch 8.", .links = {{"the first", "#r1"}}}}, .numbered = true});
  Page& section = page.sections.emplace_back(Page{.title = "The first", .id = "r1"});
  section.say("Noise.", Tone::warning);
  section.blocks.emplace_back(
      Figure{{.title = "Rate",
              .content = plots::Curves{.x = {.label = "batch"},
                                       .y = {.label = "samples/s"},
                                       .series = {{.name = "fp32", .points = {{.x = 1, .y = 2}}}}},
              .predicted = true},
             9});
  section.blocks.emplace_back(FactList{"How", {{"seed", "1"}}});
  section.blocks.emplace_back(Paragraph{.text = "", .links = {{"a", "#a"}, {"b.json", "data:,1", true}}});
  return page;
}

TEST(Page, AsText) {
  EXPECT_EQ(page_text(sample_page(), 80),
            "Yes: up to batch 37.\nA step of 12 ms.\nnet on a card\n\n"
            "* workers 0 → 2\n  costs: memory\n* pin\n\n"
            "By batch\nbatch  what\n    1  a\n   16  b\n\n"
            "A note.\n");
  EXPECT_EQ(page_text(sectioned_page(), 80),
            "Two results\n\n1. Use batch 8. — the first\n\n"
            "The first\n\nNoise.\n\n"
            "Rate, samples/s (predicted, not measured)\nbatch  fp32\n    1     2\n\n"
            "How\nseed: 1\n\na; b.json\n");
}

TEST(Page, AsTextOfANarrowTerminal) {
  Page page{.title = "a title of several words"};
  page.list({.items = {{.text = "an item of several words", .details = {"a detail of several words"}}}});
  EXPECT_EQ(page_text(page, 16),
            "a title of\n  several words\n\n"
            "* an item of\n  several words\n  a detail of\n    several\n    words\n");
}

// Five findings, whatever the caller has; what is left out is counted.
TEST(Page, AnAnswerHasFiveFindings) {
  const std::vector<std::string> six{"a", "b", "c", "d", "e", "f"};
  const auto answered = [&](const std::vector<std::string>& findings, Page::Rest rest) {
    Page page;
    page.answer(findings, rest);
    return page_text(page, 80);
  };
  EXPECT_EQ(answered(six, {}), "* a\n* b\n* c\n* d\n* e\n1 more finding (--verbose).\n");
  EXPECT_EQ(answered(six, {.left_out = 2, .shown_by = "in the file"}),
            "* a\n* b\n* c\n* d\n* e\n3 more findings (in the file).\n");
  EXPECT_EQ(answered(six, {.is_shown = true}), "* a\n* b\n* c\n* d\n* e\n* f\n");
  EXPECT_EQ(answered({"a"}, {}), "* a\n");
  EXPECT_EQ(answered({}, {.left_out = 1}), "1 more finding (--verbose).\n");
}

// The first, and where the others are; HTML has room for all.
TEST(Page, OfSeveralTablesOneIsShown) {
  const std::vector<TextTable> tables{{.title = "None", .rows = {{"x"}}},
                                      {.title = "First", .rows = {{"a"}, {1}}, .below = "a: one"},
                                      {.title = "The second", .rows = {{"b"}, {2}}, .name = "more"},
                                      {.title = "Third", .rows = {{"c"}, {3}}}};
  Page page;
  page.tables(tables, false);
  page.say("A note.");
  EXPECT_EQ(page_text(page, 80), "First\na\n1\na: one\n2 more tables: more, Third (--verbose).\n\nA note.\n");
  EXPECT_EQ(page_markdown(page),
            "#### First\n\n| a |\n| ---: |\n| 1 |\n\na: one\n\n2 more tables: more, Third (--verbose).\n\n"
            "A note.\n");
  EXPECT_EQ(page_html(page).find("--verbose"), std::string::npos);
  EXPECT_NE(page_html(page).find("<summary>The second</summary>"), std::string::npos);
  Page all;
  all.tables(tables, true);
  EXPECT_EQ(page_text(all, 80), "First\na\n1\na: one\n\nThe second\nb\n2\n\nThird\nc\n3\n");
}

TEST(Page, WarnsInOneLine) {
  const std::vector<Warning> warnings{{.text = "fewer than 3 rounds at 1 of 2 points",
                                       .action = "more time",
                                       .brief = "few rounds",
                                       .is_marked = true},
                                      {.text = "a point was left out", .action = "more time"},
                                      {.text = "others used the CPU", .action = "idle machine"}};
  const auto warned = [&](bool all, std::size_t width) {
    Page page;
    page.warn(warnings, all);
    return page_text(page, width);
  };
  EXPECT_EQ(warned(false, 100),
            "Warning: few rounds; a point was left out [more time]; others used the CPU [idle machine].\n");
  EXPECT_EQ(warned(false, 80),
            "Warning: few rounds; a point was left out [more time]; 1 more (--verbose).\n");
  EXPECT_EQ(warned(false, 60), "Warning: few rounds [more time]; 2 more (--verbose).\n");
  EXPECT_EQ(warned(false, 37), "Warning: few…; 2 more (--verbose)\n");
  EXPECT_EQ(
      warned(true, 200),
      "Warning: fewer than 3 rounds at 1 of 2 points; a point was left out [more time]. Others used the CPU "
      "[idle machine].\n");
  Page page;
  page.table({.title = "", .rows = {{"a", ""}, {1, "○"}}});
  page.warn(warnings, false);
  EXPECT_EQ(page_text(page, 80),
            "a\n1  ○\n\nWarning: few rounds (○); a point was left out [more time]; 1 more (--verbose).\n")
      << "a mark is explained where it is shown";
  page = {};
  page.warn(warnings, false);
  EXPECT_EQ(
      page_markdown(page),
      "Warning: fewer than 3 rounds at 1 of 2 points; a point was left out [more time]. Others used the CPU "
      "[idle machine].\n");
}

TEST(Page, AsMarkdown) {
  EXPECT_EQ(formatted("markdown", {.page = sample_page, .csv = nullptr, .json = nullptr}, 80),
            "### net on a card\n\n"
            "**Yes: up to batch 37.**\n\nA step of 12 ms.\n\n"
            "- workers 0 → 2\n  - costs: memory\n- pin\n\n"
            "#### By batch\n\n| batch | what |\n| ---: | --- |\n| 1 | a |\n| 16 | b |\n\n"
            "A note.\n");
  EXPECT_EQ(
      page_markdown(sectioned_page(), 1),
      "# Two results\n\n1. Use batch 8. — the first\n\n"
      "## The first\n\nNoise.\n\n"
      "### Rate, samples/s (predicted, not measured)\n\n| batch | fp32 |\n| ---: | ---: |\n| 1 | 2 |\n\n"
      "### How\n\n- seed: 1\n\na; b.json\n");
}

// Between the head with its style and the end.
std::string main_of(const std::string& html) {
  const std::size_t begin = html.find("<main>\n") + 7;
  return html.substr(begin, html.find("</main>") - begin);
}

TEST(Page, AsHtml) {
  EXPECT_EQ(
      main_of(page_html(sample_page())),
      "<h1>net on a card</h1>\n"
      "<p><b>Yes: up to batch 37.</b></p>\n<p>A step of 12 ms.</p>\n"
      "<ul>\n<li>workers 0 → 2<br><small>costs: memory</small></li>\n<li>pin</li>\n</ul>\n"
      "<details><summary>By batch</summary><div class=\"scroll\"><table><thead><tr><th>batch<th "
      "class=l>what\n"
      "</thead><tbody><tr><td>1<td class=l>a\n<tr><td>16<td class=l>b\n</tbody></table></div></details>\n"
      "<p>A note.</p>\n");
}

TEST(Page, AsHtmlWithSections) {
  std::string html = main_of(page_html(sectioned_page()));
  const std::size_t svg = html.find("<svg");
  html.replace(svg, html.find("</svg>") + 6 - svg, "SVG");
  EXPECT_EQ(
      html,
      "<h1>Two results</h1>\n"
      "<ol class=\"answer\">\n<li>Use batch 8. <small><a href=\"#r1\">the first</a></small></li>\n</ol>\n"
      "<section id=\"r1\"><h2>The first</h2>\n<p class=\"warn\">Noise.</p>\n"
      "<div class=\"charts\">\n"
      "<figure><h3>Rate <span class=\"predicted\">predicted, not measured</span></h3>\nSVG\n"
      "<details><summary>Table</summary><div class=\"scroll\"><table><thead><tr><th>batch<th>fp32\n"
      "</thead><tbody><tr><td>1<td>2\n</tbody></table></div></details>\n</figure>\n</div>\n"
      "<details><summary>How</summary><dl><dt>seed</dt><dd>1</dd></dl>\n</details>\n"
      "<p><a href=\"#a\">a</a>; <a download=\"b.json\" href=\"data:,1\">b.json</a></p>\n"
      "</section>\n");
}

// A line's end, an escape of terminals, a mark that turns the writing direction, and each format's own marks.
constexpr const char* kHostile = "<script>a|b</script>\n\x1b[31m\u202E# `x` *y*";

Page hostile_page() {
  Page page{.title = kHostile};
  page.say(kHostile, Tone::answer);
  page.list({.title = kHostile,
             .items = {{.text = kHostile, .details = {kHostile}, .links = {{kHostile, "#r1"}}}}});
  page.table({.title = kHostile, .rows = {{kHostile}, {kHostile}}});
  page.blocks.emplace_back(FactList{kHostile, {{kHostile, kHostile}}});
  page.sections.push_back({.title = kHostile, .id = "\"><script>"});
  return page;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Page, ShowsForeignTextsWhole) {
  std::string text = page_text(hostile_page(), 1'000'000);
  for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at)) {
    text.replace(at, 3, " ");  // lines are broken at 100 columns
  }
  EXPECT_EQ(count_of(text, "<script>a|b</script>\\n\\x1b[31m\\xe2\\x80\\xae# `x` *y*"), 13U) << text;
}

TEST(Page, ActsOnNoForeignText) {
  for (const std::string& page :
       {page_text(hostile_page(), 100), page_markdown(hostile_page()), page_html(hostile_page())}) {
    EXPECT_EQ(page.find('\x1b'), std::string::npos) << page;
    EXPECT_EQ(page.find("\u202E"), std::string::npos) << page;
  }
  EXPECT_EQ(page_html(hostile_page()).find("<script"), std::string::npos);
  const std::string markdown = page_markdown(hostile_page());
  EXPECT_EQ(markdown.find("<script"), std::string::npos);
  EXPECT_EQ(markdown.find("a|b"), std::string::npos);
  EXPECT_EQ(markdown.find("*y*"), std::string::npos);
  EXPECT_EQ(markdown.find("`x`"), std::string::npos);
}

}  // namespace
}  // namespace bench
