// The cards that run compiled code, by NVIDIA's rules of binary and PTX compatibility; embedded cards are
// treated as others.
#include "kernels/devices/cuda/architectures.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace bench::kernels::cuda {
namespace {

std::vector<int> cards_for(const char* list) {
  const std::vector<Architecture> compiled = architectures_of(list);
  std::vector<int> cards;
  for (const int card : {61, 75, 80, 86, 87, 89, 90, 100, 103, 120}) {
    if (runs_on(compiled, card)) {
      cards.push_back(card);
    }
  }
  return cards;
}

using Cards = std::vector<int>;

TEST(Architectures, MachineCodeRunsOnItsMajorVersionFromItsMinorOneOn) {
  EXPECT_EQ(cards_for("86-real"), (Cards{86, 87, 89}));
  EXPECT_EQ(cards_for("80-real"), (Cards{80, 86, 87, 89}));
  EXPECT_EQ(cards_for("75-real,90-real"), (Cards{75, 90}));
}

TEST(Architectures, PtxRunsOnWhateverIsNotOlder) {
  EXPECT_EQ(cards_for("89-virtual"), (Cards{89, 90, 100, 103, 120}));
  EXPECT_EQ(cards_for("75-real,80-real,86-real,89-real,90"), (Cards{75, 80, 86, 87, 89, 90, 100, 103, 120}));
}

TEST(Architectures, WhatIsCompiledForOneOrForAFamilyStaysThere) {
  EXPECT_EQ(cards_for("90a"), (Cards{90}));
  EXPECT_EQ(cards_for("80a-virtual"), (Cards{80}));
  EXPECT_EQ(cards_for("100f-real"), (Cards{100, 103}));
}

TEST(Architectures, WithoutAnyNothingRuns) {
  EXPECT_EQ(cards_for(""), Cards{});
}

TEST(Architectures, AreNamedAsCardsAre) {
  EXPECT_EQ(described(architectures_of("86-real")), "8.6");
  EXPECT_EQ(described(architectures_of("75-real,90,120-real")),
            "7.5, 9.0, 12.0, and PTX of 9.0 for later ones");
  EXPECT_EQ(described(architectures_of("90a,86-real")), "9.0a, 8.6") << "its PTX helps no later card";
  EXPECT_EQ(described(architectures_of("100f-real")), "10.0f");
}

// PTX runs on the card that it begins with, which is worth saying where no machine code does.
TEST(Architectures, PtxAloneIsNamedWithWhatItRunsOn) {
  EXPECT_EQ(described(architectures_of("80-virtual")), "PTX of 8.0, for that and later ones");
  EXPECT_EQ(described(architectures_of("75-real,86-virtual")),
            "7.5, and PTX of 8.6, for that and later ones");
  EXPECT_EQ(described(architectures_of("86,90-virtual")),
            "8.6, and PTX of 8.6, 9.0, for those and later ones");
  EXPECT_EQ(described(architectures_of("80-real,80-virtual")), "8.0, and PTX of 8.0 for later ones");
  EXPECT_EQ(described(architectures_of("90a-virtual")), "PTX of 9.0a");
  EXPECT_EQ(described(architectures_of("90a-virtual,100f-virtual,86-real")), "8.6, and PTX of 9.0a, 10.0f");
  EXPECT_EQ(described(architectures_of("90a-virtual,80-virtual")),
            "PTX of 9.0a, and PTX of 8.0, for that and later ones");
}

TEST(Architectures, WhatIsNoneIsRefused) {
  for (const char* list : {"banana", "native", "86-", "86real", "86-real,,", "86-real,x", "a86", "-real"}) {
    EXPECT_THROW(architectures_of(list), std::invalid_argument) << list;
  }
}

}  // namespace
}  // namespace bench::kernels::cuda
