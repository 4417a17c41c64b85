// cuDNN's description of a card, made from its data sheet.
#include "kernels/devices/cuda/card_properties.h"

#include <array>
#include <fstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench/json.h"
#include "tests/bench/model/program_data.h"

namespace bench::kernels::cuda {
namespace {

constexpr std::array<std::pair<const char*, const char*>, 5> kRecorded{{{"T4", "t4"},
                                                                        {"RTX 3060", "rtx3060-12gb"},
                                                                        {"A100", "a100-40gb"},
                                                                        {"H200", "h200"},
                                                                        {"H100", "h100-sxm"}}};

Json recorded(const std::string& name) {
  std::ifstream file(BENCH_TEST_SOURCE_DIR "/tests/kernels/backends/cudnn/cards.json");
  const Json document = Json::parse(file);
  for (const Json& card : document.at("cards")) {
    if (card.at("name") == name) {
      return card.at("properties");
    }
  }
  return {};
}

// Of a driver: memory that it shows, the memory's clock and the name. L2 and clocks may be rounded.
TEST(CardProperties, OfADataSheetAreThoseRecorded) {
  for (const auto& [name, id] : kRecorded) {
    const Json made = Json::parse(cudnn_properties(bench::testing::card(id)));
    const Json known = recorded(name);
    ASSERT_EQ(made.size(), 23U);
    ASSERT_EQ(known.size(), 23U) << name;
    for (const auto& [key, value] : known.items()) {
      ASSERT_TRUE(made.contains(key)) << key;
      if (key == "deviceName" || key == "memClockRateKHz") {
        continue;
      }
      if (key == "totalGlobalMem" || key == "smClockRateKHz") {
        EXPECT_NEAR(made.at(key).get<double>() / value.get<double>(), 1, 0.1) << name << ' ' << key;
      } else if (key == "l2CacheSize") {
        EXPECT_NEAR(made.at(key).get<double>() / value.get<double>(), 1, 0.35) << name;
      } else {
        EXPECT_EQ(made.at(key), value) << name << ' ' << key;
      }
    }
  }
}

TEST(CardProperties, OfACardOfOnesOwnHaveNoUnknown) {
  Gpu gpu = bench::testing::card("t4");
  gpu.l2_bytes = 0;
  gpu.compute_capability = 88;
  gpu.names.clear();
  const Json made = Json::parse(cudnn_properties(gpu));
  EXPECT_EQ(made.at("maxSharedMemoryPerBlockOptin"), 166912) << "of 8.7";
  EXPECT_GT(made.at("l2CacheSize").get<int>(), 0);
  EXPECT_EQ(made.at("deviceName"), "t4");
}

}  // namespace
}  // namespace bench::kernels::cuda
