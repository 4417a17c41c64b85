#include "bench/cli/command.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "bench/cli/text.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Command example_command(bool ends_at_dashes = false) {
  return {.name = "weigh",
          .usage = "[options] A -- B",
          .brief = "A -- B",
          .question = "which is heavier?",
          .options = {{"scale", "NAME", "the scale"},
                      {"wet", "", "with water"},
                      {"env", "K=V", "variable", true}},
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

TEST(CommandWords, AnotherProgramsWordsAreLeftAlone) {
  const CommandWords words(example_command(true),
                           {"a", "--env", "A=1", "--env=B=2", "--", "--wet", "--", "--nothing"});
  EXPECT_THAT(words.after(), ElementsAre("--wet", "--", "--nothing"));
  EXPECT_THAT(words.texts_of("env"), ElementsAre("A=1", "B=2"));
  EXPECT_FALSE(words.has("wet"));
}

TEST(CommandWords, MisuseIsNamed) {
  EXPECT_THAT(words_error({"--scal", "x"}), AllOf(HasSubstr("--scal:"), HasSubstr("did you mean --scale?")));
  EXPECT_THAT(words_error({"--scale", "x", "--scale", "y"}), HasSubstr("--scale: given twice"));
  EXPECT_THAT(words_error({"--scale"}), HasSubstr("--scale: a value is missing"));
  EXPECT_THAT(words_error({"--scale", "--wet"}), HasSubstr("--scale: a value is missing"));
  EXPECT_THAT(words_error({"--scale="}), HasSubstr("--scale: a value is missing"));
  EXPECT_THAT(words_error({"--wet=yes"}), HasSubstr("takes no value"));
  EXPECT_THAT(words_error({"--", "--"}), HasSubstr("--: given twice"));
  EXPECT_THAT(words_error({"--\x1b[31m"}), HasSubstr("\\x1b"));
}

TEST(Commands, EachHasAPageThatFitsOneScreen) {
  for (const Command& command : commands()) {
    const std::string page = help_of(command, 80);
    EXPECT_LE(std::ranges::count(page, '\n'), 40) << page;
    EXPECT_THAT(page, HasSubstr("Usage: bench " + command.name));
    for (const CommandArgument& option : command.options) {
      EXPECT_THAT(page, HasSubstr("--" + option.name));
    }
  }
}

TEST(Commands, AnUnknownOneNamesThem) {
  try {
    run_command("compair", {});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'compair'"), HasSubstr("did you mean compare?")));
  }
}

}  // namespace
}  // namespace bench
