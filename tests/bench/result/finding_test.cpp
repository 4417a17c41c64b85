#include "bench/result/finding.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(Advice, AnInterruptedRunIsToBeGoneOnWith) {
  EXPECT_EQ(advice_after_interrupt("No second batch was measured [give a larger --time-budget]."),
            "No second batch was measured [go on with --resume].");
  EXPECT_EQ(advice_after_interrupt("It still grows [if its accuracy suffices; measure larger batches]."),
            "It still grows [if its accuracy suffices; go on with --resume].");
  EXPECT_EQ(advice_after_interrupt("Noisy [run on an idle machine]."), "Noisy [run on an idle machine].");
}

}  // namespace
}  // namespace bench
