// The card that tests labelled gpu run on.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "bench/device.h"

namespace bench::kernels::testing {

struct FirstCard {
  std::unique_ptr<Device> device{};  // nullptr where there is none
  std::string missing{};             // then why, as `bench --list` says it
};

// Opens the first CUDA device that is usable.
FirstCard open_first_card();

// Skipped, with the reason, where there is none.
class OnFirstCard : public ::testing::Test {
 protected:
  void SetUp() override {
    FirstCard card = open_first_card();
    if (!card.device) {
      GTEST_SKIP() << card.missing;
    }
    device_ = std::move(card.device);
  }

  std::unique_ptr<Device> device_;
};

}  // namespace bench::kernels::testing
