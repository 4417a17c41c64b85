// Options that declare themselves and read their values.
#include "kernels/workloads/options.h"

#include <gmock/gmock.h>

#include "bench/error.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;

enum class Colour { red, green, blue };

const WholeOption kRowsOption{"rows", 8, 1, std::int64_t{1} << 20, "rows of the table"};
const BytesOption kSize{"size", "1MiB", std::int64_t{1} << 30, "of one copy"};
const WordOption<Colour> kColour{
    .name = "colour",
    .default_value = "green",
    .words = {{"red", Colour::red}, {"green", Colour::green}, {"blue", Colour::blue}},
    .help = "of the table"};

WorkloadSpec with(const std::string& option, const std::string& value) {
  WorkloadSpec spec;
  spec.options[option] = value;
  return spec;
}

template <class Option>
std::string refusal(const Option& option, const std::string& value) {
  try {
    option.read(with(option.name, value));
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Options, DeclareTheirDefaultRangeAndWords) {
  const std::vector<CommandOption> all =
      declare(kRowsOption, kSize, kColour, yes_or_no("fast", "no", "in a hurry", "train"));
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(all[0].default_value, "8");
  EXPECT_EQ(all[0].help, "rows of the table, 1 to 2^20");
  EXPECT_EQ(all[1].default_value, "1MiB");
  EXPECT_EQ(all[1].help, "of one copy, up to 1.00 GiB");
  EXPECT_EQ(all[2].default_value, "green");
  EXPECT_THAT(all[2].words(), ElementsAre("red", "green", "blue"));
  EXPECT_EQ(all[3].default_value, "no");
  EXPECT_EQ(all[3].mode, "train");
  EXPECT_THAT(all[3].words(), ElementsAre("yes", "no"));
}

TEST(Options, HaveTheirDefaultWhereNothingIsGiven) {
  EXPECT_EQ(kRowsOption.read({}), 8);
  EXPECT_EQ(kSize.read({}), 1 << 20);
  EXPECT_EQ(kColour.read({}), Colour::green);
  EXPECT_FALSE(yes_or_no("fast", "no", "").read({}));
}

TEST(Options, ReadWhatIsGiven) {
  EXPECT_EQ(kRowsOption.read(with("rows", "1048576")), 1 << 20);
  EXPECT_EQ(kSize.read(with("size", "2KiB")), 2048);
  EXPECT_EQ(kColour.read(with("colour", "blue")), Colour::blue);
  EXPECT_TRUE(yes_or_no("fast", "no", "").read(with("fast", "yes")));
}

TEST(Options, RefuseByNameAndSayWhatIsAccepted) {
  for (const char* wrong : {"0", "1048577", "ten", "", "1.5", " 1", "99999999999999999999"}) {
    EXPECT_EQ(refusal(kRowsOption, wrong),
              std::string("--rows: '") + wrong + "' was given; accepted: whole numbers from 1 to 1048576");
  }
  EXPECT_EQ(refusal(kSize, "2GiB"), "--size: '2GiB' was given; accepted: up to 1.00 GiB");
  EXPECT_EQ(refusal(kSize, "2").substr(0, 8), "--size: ");
  EXPECT_EQ(refusal(kColour, "Red"),
            "--colour: 'Red' is not known; accepted: red, green, blue (did you mean red?)");
  EXPECT_EQ(refusal(yes_or_no("fast", "no", ""), "maybe"), "--fast: 'maybe' is not known; accepted: yes, no");
}

}  // namespace
}  // namespace bench::kernels
