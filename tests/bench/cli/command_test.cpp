#include "bench/cli/command.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Command example_command(bool ends_at_dashes = false) {
  return {.name = "weigh",
          .usage = "[options] A -- B",
          .brief = "A -- B",
          .question = "which is heavier?",
          .options = {{"scale", "NAME", "the scale"},
                      {"wet", "", "with water"},
                      {"env", "K=V", "variable", {}, true},
                      {"format", "NAME", "{} (default: text)", these({"text", "csv", "json"})},
                      {.name = "out", .value = "FILE", .help = "", .letter = 'o'}},
          .notes = {},
          .examples = {},
          .ends_at_dashes = ends_at_dashes};
}

std::string words_error(const std::vector<std::string>& words) {
  try {
    const CommandWords read(example_command(), words);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(CommandWords, SortsOptionsAndFiles) {
  const CommandWords words(example_command(), {"a", "--scale", "kitchen", "b", "--", "c", "--wet"});
  EXPECT_THAT(words.before(), ElementsAre("a", "b"));
  EXPECT_THAT(words.after(), ElementsAre("c"));
  EXPECT_EQ(*words.text_of("scale"), "kitchen");
  EXPECT_TRUE(words.has("wet"));
  EXPECT_EQ(words.text_of("env"), nullptr);
}

TEST(CommandWords, ALetterMeansItsOption) {
  EXPECT_EQ(*CommandWords(example_command(), {"a", "-o", "x"}).text_of("out"), "x");
  EXPECT_EQ(*CommandWords(example_command(), {"--out", "-", "a"}).text_of("out"), "-");
  EXPECT_THAT(CommandWords(example_command(), {"-", "a"}).before(), ElementsAre("-", "a"))
      << "standard input";
  expect_words(words_error({"a", "-o"}));
  expect_words(words_error({"-x"}));
}

TEST(CommandWords, AnOptionsWordsAreItsHelpAndWhatItAccepts) {
  EXPECT_EQ(help_of(example_command().options[3]), "text, csv or json (default: text)");
  const Command command = example_command();
  EXPECT_EQ(CommandWords(command, {}).choice_of("format"), "text");
  EXPECT_EQ(CommandWords(command, {"--format", "csv"}).choice_of("format"), "csv");
  EXPECT_EQ(CommandWords(command, {"--format", "table"}).choice_of("format"), "text") << "as it was called";
  try {
    CommandWords(command, {"--format", "xml"}).choice_of("format");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--format: 'xml' is not known; accepted: text, csv, json");
  }
}

TEST(CommandWords, OtherToolsNamesLeadToOurs) {
  expect_words(words_error({"--json"}));
  expect_words(words_error({"--gpu"}));  // without --device, which this command lacks
}

TEST(CommandWords, AnotherProgramsWordsAreLeftAlone) {
  const CommandWords words(example_command(true),
                           {"a", "--env", "A=1", "--env=B=2", "--", "--wet", "--", "--nothing"});
  EXPECT_THAT(words.after(), ElementsAre("--wet", "--", "--nothing"));
  EXPECT_THAT(words.texts_of("env"), ElementsAre("A=1", "B=2"));
  EXPECT_FALSE(words.has("wet"));
}

TEST(CommandWords, MisuseIsNamed) {
  expect_words(words_error({"--scal", "x"}));
  expect_words(words_error({"--scale", "x", "--scale", "y"}));
  expect_words(words_error({"--scale"}));
  expect_words(words_error({"--scale", "--wet"}));
  expect_words(words_error({"--scale="}));
  expect_words(words_error({"--wet=yes"}));
  expect_words(words_error({"--", "--"}));
  expect_words(words_error({"--\x1b[31m"}));
}

TEST(Commands, EachHasAPageThatFitsOneScreen) {
  for (const Command& command : commands()) {
    const std::string page = help_of(command, 80);
    EXPECT_LE(std::ranges::count(page, '\n'), 40) << page;
    EXPECT_THAT(page, HasSubstr("Usage: bench " + command.name));
    for (const Option& option : command.options) {
      EXPECT_THAT(page, HasSubstr("--" + option.name));
      EXPECT_EQ(help_of(option).find("{}"), std::string::npos) << option.name;
    }
  }
}

TEST(Commands, AnUnknownOneNamesThem) {
  try {
    run_command("compair", {});
    FAIL();
  } catch (const UsageError& error) {
    expect_words(error.what());
  }
}

}  // namespace
}  // namespace bench
