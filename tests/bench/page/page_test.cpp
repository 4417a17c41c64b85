// A page in each format: its parts in their order, and foreign texts that no format acts on.
#include "bench/page/page.h"

#include <string>

#include <gtest/gtest.h>

namespace bench {
namespace {

Page sample_page() {
  Page page{.title = "net on a card"};
  page.say("Yes: up to batch 37.", true);
  page.say("A step of 12 ms.");
  page.say("");
  page.sentences("Take care", {});
  page.list("", {{.text = "workers 0 → 2", .details = {"costs: memory"}}, {.text = "pin"}});
  page.table(
      {.title = "By batch", .rows = {{"batch", "what"}, {"1", "a"}, {"16", "b"}}, .right = {true, false}});
  page.table({.title = "Nothing", .rows = {{"batch"}}, .right = {true}});
  page.say("A note.");
  return page;
}

TEST(Page, AsText) {
  EXPECT_EQ(page_text(sample_page(), 80),
            "net on a card\n\n"
            "Yes: up to batch 37.\nA step of 12 ms.\n\n"
            "* workers 0 → 2\n  costs: memory\n* pin\n\n"
            "By batch\nbatch  what\n    1  a\n   16  b\n\n"
            "A note.\n");
}

TEST(Page, AsTextOfANarrowTerminal) {
  Page page{.title = "a title of several words"};
  page.list("", {{.text = "an item of several words", .details = {"a detail of several words"}}});
  EXPECT_EQ(page_text(page, 16),
            "a title of\n  several words\n\n"
            "* an item of\n  several words\n  a detail of\n    several\n    words\n");
}

TEST(Page, AsMarkdown) {
  EXPECT_EQ(page_as("markdown", sample_page(), 80),
            "### net on a card\n\n"
            "**Yes: up to batch 37.**\n\nA step of 12 ms.\n\n"
            "- workers 0 → 2\n  - costs: memory\n- pin\n\n"
            "#### By batch\n\n| batch | what |\n| ---: | --- |\n| 1 | a |\n| 16 | b |\n\n"
            "A note.\n");
}

TEST(Page, AsHtml) {
  EXPECT_EQ(
      page_html(sample_page()),
      "<p class=\"soft\">net on a card</p>\n"
      "<p><b>Yes: up to batch 37.</b></p>\n<p>A step of 12 ms.</p>\n"
      "<ul>\n<li>workers 0 → 2<br><small>costs: memory</small></li>\n<li>pin</li>\n</ul>\n"
      "<details><summary>By batch</summary><div class=\"scroll\"><table><thead><tr><th>batch<th "
      "class=l>what\n"
      "</thead><tbody><tr><td>1<td class=l>a\n<tr><td>16<td class=l>b\n</tbody></table></div></details>\n"
      "<p>A note.</p>\n");
}

// A line's end, an escape of terminals, a mark that turns the writing direction, and each format's own marks.
constexpr const char* kHostile = "<script>a|b</script>\n\x1b[31m\u202E# `x` *y*";

Page hostile_page() {
  Page page{.title = kHostile};
  page.say(kHostile, true);
  page.list(kHostile, {{.text = kHostile, .details = {kHostile}}});
  page.table({.title = kHostile, .rows = {{kHostile}, {kHostile}}, .right = {false}});
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
  const std::string text = page_text(hostile_page(), 1'000'000);
  EXPECT_EQ(count_of(text, "<script>a|b</script>\\n\\x1b[31m\\xe2\\x80\\xae# `x` *y*"), 8U) << text;
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
