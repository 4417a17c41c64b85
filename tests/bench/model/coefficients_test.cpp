#include "bench/model/coefficients.h"

#include <numeric>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/model/products.h"
#include "tests/bench/model/program_data.h"
#include "tests/bench/support/mutants.h"

namespace bench {
namespace {

std::string refusal_of(const Json& document) {
  try {
    coefficients_from_json(document);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Coefficients, OfTheFile) {
  const ModelCoefficients& read = testing::coefficients();
  EXPECT_EQ(read.fp32.channels_first.flops[static_cast<std::size_t>(ProductClass::winograd)], 0.585);
  EXPECT_EQ(read.bits16.channels_last.grads[static_cast<std::size_t>(ProductClass::depthwise)], 12.44);
  EXPECT_EQ(read.bits16.channels_first.bytes[static_cast<std::size_t>(Traffic::weights)], 1.111);
  EXPECT_TRUE(read.fp32.measured_chip("TU104"));
  EXPECT_FALSE(read.fp32.measured_chip("GA106"));
  EXPECT_EQ(read.compiled.bytes[static_cast<std::size_t>(Traffic::elementwise)], 0.2628);
  EXPECT_EQ(read.compiled.bytes[static_cast<std::size_t>(Traffic::weights)], 1);
  EXPECT_EQ(read.language.card, 0.1625);
  EXPECT_EQ(read.products.tiles.front(), (std::pair{256, 128}));
  EXPECT_EQ(read.slack, 1.08);
  EXPECT_EQ(read.slack80, (Interval{1.029, 1.09}));
}

TEST(Coefficients, RefusesWhatIsNone) {
  Json document = testing::json_of("calibration.json");
  document["schema"] = "bench-calibration/2";
  EXPECT_EQ(refusal_of(document), "schema is bench-calibration/2; this program reads bench-calibration/1");
  document = testing::json_of("calibration.json");
  document["sets"]["fp32"]["coefficients"]["bytes"]["nchw"].erase("bn");
  EXPECT_EQ(refusal_of(document), "sets.fp32.coefficients.bytes.nchw.bn is missing");
  document = testing::json_of("calibration.json");
  document["sets"]["16bit"]["coefficients"]["overlap"] = 0;
  EXPECT_EQ(refusal_of(document), "sets.16bit.coefficients.overlap is 0; accepted is more than 0");
  document = testing::json_of("calibration.json");
  document["products"]["tiles"] = Json::array();
  EXPECT_EQ(refusal_of(document), "products.tiles is empty; one tile or more is expected");
  EXPECT_EQ(refusal_of(Json::object()), "schema is missing");
}

TEST(Coefficients, WhateverAFileHoldsItIsReadOrRefused) {
  int refused = 0;
  testing::for_each_odd_document(testing::json_of("calibration.json"), [&](const Json& document) {
    refused += refusal_of(document).empty() ? 0 : 1;
  });
  EXPECT_GT(refused, 100);
}

// By tools/calibrate/products.py.
TEST(Products, WorkedExamples) {
  const ProductSize one{1, 4096, 4096};
  const ProductSize few{128, 4096, 4096};
  const ProductSize square{2048, 8192, 8192};
  const auto microseconds = [](const char* card, const ProductSize& size) {
    return 1e6 * product_s(testing::coefficients().products, testing::card(card), Dtype::fp16, size);
  };
  EXPECT_NEAR(microseconds("a100-80gb", one), 25.100, 0.03);
  EXPECT_NEAR(microseconds("a100-80gb", few), 35.837, 0.04);
  EXPECT_NEAR(microseconds("a100-80gb", square), 1168.579, 1);
  EXPECT_NEAR(microseconds("h100-sxm", {4096, 4096, 11008}), 509.680, 0.5);
  EXPECT_NEAR(microseconds("t4", few), 189.240, 0.2);
  EXPECT_NEAR(microseconds("rtx3060-12gb", square), 13620.905, 14);
}

}  // namespace
}  // namespace bench
