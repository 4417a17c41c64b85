// The text of --input.
#include "kernels/networks/onnx/input_sizes.h"

#include <gmock/gmock.h>

#include "bench/error.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(InputSizes, OfTheOnlyInputNeedNoName) {
  EXPECT_THAT(input_sizes("1x3x320x320", {"images"}, ""),
              ElementsAre(Pair("images", ElementsAre(1, 3, 320, 320))));
  EXPECT_THAT(input_sizes("7", {"images"}, ""), ElementsAre(Pair("images", ElementsAre(7))));
}

TEST(InputSizes, OfSeveralInputsHaveNames) {
  EXPECT_THAT(input_sizes("ids=1x128,mask=1x128", {"ids", "mask", "types"}, ""),
              ElementsAre(Pair("ids", ElementsAre(1, 128)), Pair("mask", ElementsAre(1, 128))));
}

TEST(InputSizes, NamesMayHoldCommasAndEqualsSigns) {
  EXPECT_THAT(input_sizes("a,b=c=1x2,d=3", {"a,b=c", "d"}, ""),
              ElementsAre(Pair("a,b=c", ElementsAre(1, 2)), Pair("d", ElementsAre(3))));
  EXPECT_THAT(input_sizes("=4", {""}, ""), ElementsAre(Pair("", ElementsAre(4))));
}

TEST(InputSizes, WrongOnesAreRefusedWithWhatIsAccepted) {
  const std::vector<std::string> inputs{"ids", "mask"};
  for (const char* const text :
       {"", ",", "1x128", "ids", "ids=", "ids=1x", "ids=x1", "ids=1x0", "ids=-1", "ids=1x1.5", "ids=1x2x3y",
        "ids=1x99999999999", "nobody=1x128", "ids=1x2,", "ids=1x2,,mask=1x2", "ids=1x2,ids=1x2", "ids=1X2"}) {
    try {
      input_sizes(text, inputs, "ids=1x128");
      ADD_FAILURE() << text;
    } catch (const UsageError& error) {
      expect_words(error.what());
    }
  }
}

}  // namespace
}  // namespace bench::kernels::onnx
