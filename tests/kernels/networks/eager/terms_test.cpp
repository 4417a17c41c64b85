// A step of eager PyTorch in the terms of the model of GPUs: the figures that tools/calibrate has for the
// same networks of torchvision.
#include "kernels/networks/eager/terms.h"

#include <gmock/gmock.h>

#include <array>
#include <map>
#include <string>
#include <tuple>

#include "bench/registry.h"
#include "bench/workload.h"
#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

constexpr double kTermsTolerance = 1e-4;

// Terms by the names that tools/calibrate gives them.
std::map<std::string, double> by_name(const NetworkTerms& terms, double batch) {
  constexpr std::array<const char*, kProductClasses> kClasses{"wino",  "point",  "dense", "stem",     "group",
                                                              "depth", "linear", "bmm",   "attention"};
  constexpr std::array<const char*, kTraffics> kMoved{"conv", "group", "depth", "matrix", "bn",
                                                      "norm", "act",   "move",  "weights"};
  std::map<std::string, double> named;
  const auto add = [&](const std::string& name, double each, double once) {
    if (const double value = batch * each + once; value != 0) {
      named[name] = value;
    }
  };
  const auto& [each, once] = std::tie(terms.per_sample, terms.per_step);
  for (std::size_t i = 0; i < kProductClasses; ++i) {
    add(std::string("flops.") + kClasses.at(i), each.flops.at(i), once.flops.at(i));
    add(std::string("grads.") + kClasses.at(i), each.grads.at(i), once.grads.at(i));
  }
  for (std::size_t i = 0; i < kTraffics; ++i) {
    add(std::string("bytes.") + kMoved.at(i), each.bytes.at(i), once.bytes.at(i));
  }
  add("tile", each.tile, once.tile);
  add("launches", each.launches, once.launches);
  return named;
}

NetworkTerms terms_of(const std::string& network, const WorkloadSpec& spec, bool cast_whole = false) {
  return registry<WorkloadType>()
      .find(network)
      ->configure(spec)
      ->eager_terms({.cast_whole = cast_whole})
      .value();
}

struct Known {
  const char* network;
  const char* mode;
  Dtype dtype;
  bool cast_whole;
  double batch;
  std::map<std::string, double> terms;
  double image_bytes = 0;  // of training: what a sample adds, its image counted
};

class KnownTerms : public testing::TestWithParam<Known> {};

TEST_P(KnownTerms, AreThoseOfTheCalibration) {
  const Known& known = GetParam();
  WorkloadSpec spec{.mode = known.mode, .dtype = known.dtype, .options = {}};
  if (spec.mode == "train") {
    spec.options["optimizer"] = "momentum";
  }
  const NetworkTerms terms = terms_of(known.network, spec, known.cast_whole);
  const std::map<std::string, double> found = by_name(terms, known.batch);
  for (const auto& [name, value] : known.terms) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_NEAR(found.at(name) / value, 1, kTermsTolerance) << name;
  }
  EXPECT_EQ(found.size(), known.terms.size());
  if (known.image_bytes > 0) {
    EXPECT_NEAR(terms.peak_bytes_per_sample / known.image_bytes, 1, kTermsTolerance);
  }
  EXPECT_EQ(terms.unknown_share, 0);
  EXPECT_FALSE(terms.is_language);
}

INSTANTIATE_TEST_SUITE_P(OfTorchvision, KnownTerms,
                         testing::Values(Known{"resnet18",
                                               "infer",
                                               Dtype::fp32,
                                               false,
                                               1,
                                               {{"bytes.act", 2.74964e+07},
                                                {"bytes.bn", 1.98697e+07},
                                                {"bytes.conv", 1.86655e+07},
                                                {"bytes.matrix", 6048},
                                                {"bytes.move", 5.72211e+06},
                                                {"bytes.weights", 4.67156e+07},
                                                {"flops.dense", 3.49626e+08},
                                                {"flops.linear", 1.06496e+06},
                                                {"flops.point", 4.1345e+07},
                                                {"flops.stem", 2.36028e+08},
                                                {"flops.wino", 3.02702e+09},
                                                {"launches", 68},
                                                {"tile", 4.98229e+08}}},
                                         Known{"resnet18",
                                               "train",
                                               Dtype::fp32,
                                               false,
                                               32,
                                               {{"bytes.act", 2.05521e+09},
                                                {"bytes.bn", 2.54332e+09},
                                                {"bytes.conv", 1.79189e+09},
                                                {"bytes.matrix", 580608},
                                                {"bytes.move", 4.6891e+08},
                                                {"bytes.norm", 512000},
                                                {"bytes.weights", 6.07727e+08},
                                                {"flops.dense", 1.1188e+10},
                                                {"flops.linear", 3.40787e+07},
                                                {"flops.point", 1.32304e+09},
                                                {"flops.stem", 7.55289e+09},
                                                {"flops.wino", 9.68646e+10},
                                                {"grads.dense", 2.23761e+10},
                                                {"grads.linear", 6.81574e+07},
                                                {"grads.point", 2.64608e+09},
                                                {"grads.stem", 7.55289e+09},
                                                {"grads.wino", 1.93729e+11},
                                                {"launches", 344},
                                                {"tile", 1.49469e+09}},
                                               22980608},
                                         Known{"resnet50",
                                               "infer",
                                               Dtype::fp16,
                                               false,
                                               64,
                                               {{"bytes.act", 4.63707e+09},
                                                {"bytes.bn", 2.84518e+09},
                                                {"bytes.conv", 2.78738e+09},
                                                {"bytes.matrix", 390144},
                                                {"bytes.move", 2.44318e+08},
                                                {"bytes.weights", 2.04023e+08},
                                                {"flops.dense", 4.51118e+10},
                                                {"flops.linear", 2.7263e+08},
                                                {"flops.point", 3.0787e+11},
                                                {"flops.stem", 1.51058e+10},
                                                {"flops.wino", 1.973e+11},
                                                {"launches", 229},
                                                {"tile", 8.79911e+08}}},
                                         Known{"resnet50",
                                               "train",
                                               Dtype::fp16,
                                               false,
                                               64,
                                               {{"bytes.act", 1.0447e+10},
                                                {"bytes.bn", 1.13807e+10},
                                                {"bytes.conv", 8.36213e+09},
                                                {"bytes.matrix", 1.17043e+06},
                                                {"bytes.move", 5.39754e+08},
                                                {"bytes.norm", 1.024e+06},
                                                {"bytes.weights", 1.48133e+09},
                                                {"flops.dense", 4.51118e+10},
                                                {"flops.linear", 2.7263e+08},
                                                {"flops.point", 3.0787e+11},
                                                {"flops.stem", 1.51058e+10},
                                                {"flops.wino", 1.973e+11},
                                                {"grads.dense", 9.02237e+10},
                                                {"grads.linear", 5.4526e+08},
                                                {"grads.point", 6.15741e+11},
                                                {"grads.stem", 1.51058e+10},
                                                {"grads.wino", 3.946e+11},
                                                {"launches", 943},
                                                {"tile", 2.63973e+09}},
                                               44756992},
                                         Known{"resnet50",
                                               "train",
                                               Dtype::fp16,
                                               true,
                                               64,
                                               {{"bytes.act", 1.03892e+10},
                                                {"bytes.bn", 1.13807e+10},
                                                {"bytes.conv", 8.36213e+09},
                                                {"bytes.matrix", 1.17043e+06},
                                                {"bytes.move", 5.39754e+08},
                                                {"bytes.norm", 1.024e+06},
                                                {"bytes.weights", 1.1753e+09},
                                                {"flops.dense", 4.51118e+10},
                                                {"flops.linear", 2.7263e+08},
                                                {"flops.point", 3.0787e+11},
                                                {"flops.stem", 1.51058e+10},
                                                {"flops.wino", 1.973e+11},
                                                {"grads.dense", 9.02237e+10},
                                                {"grads.linear", 5.4526e+08},
                                                {"grads.point", 6.15741e+11},
                                                {"grads.stem", 1.51058e+10},
                                                {"grads.wino", 3.946e+11},
                                                {"launches", 888},
                                                {"tile", 2.63973e+09}}},
                                         Known{"resnet50",
                                               "train",
                                               Dtype::tf32,
                                               false,
                                               64,
                                               {{"bytes.act", 2.07769e+10},
                                                {"bytes.bn", 2.27614e+10},
                                                {"bytes.conv", 1.67243e+10},
                                                {"bytes.matrix", 2.34086e+06},
                                                {"bytes.move", 9.76749e+08},
                                                {"bytes.norm", 1.024e+06},
                                                {"bytes.weights", 1.32832e+09},
                                                {"flops.dense", 4.45723e+10},
                                                {"flops.linear", 2.69484e+08},
                                                {"flops.point", 2.80433e+11},
                                                {"flops.stem", 1.51058e+10},
                                                {"flops.wino", 1.93601e+11},
                                                {"grads.dense", 8.91447e+10},
                                                {"grads.linear", 5.38968e+08},
                                                {"grads.point", 5.60867e+11},
                                                {"grads.stem", 1.51058e+10},
                                                {"grads.wino", 3.87201e+11},
                                                {"launches", 886},
                                                {"tile", 2.63973e+09}},
                                               87306240},
                                         Known{"mobilenet_v2",
                                               "infer",
                                               Dtype::fp32,
                                               false,
                                               1,
                                               {{"flops.stem", 2.1676e+07},
                                                {"bytes.conv", 2.96038e+07},
                                                {"bytes.bn", 5.34249e+07},
                                                {"bytes.act", 5.14429e+07},
                                                {"flops.depth", 4.14328e+07},
                                                {"bytes.depth", 2.41723e+07},
                                                {"flops.point", 6.34802e+08},
                                                {"bytes.move", 256000},
                                                {"flops.linear", 2.63782e+06},
                                                {"bytes.matrix", 9120},
                                                {"bytes.weights", 1.3879e+07},
                                                {"launches", 151},
                                                {"tile", 1.35131e+08}}},
                                         Known{"mobilenet_v2",
                                               "train",
                                               Dtype::fp16,
                                               false,
                                               1,
                                               {{"flops.stem", 2.1676e+07},
                                                {"bytes.conv", 4.44058e+07},
                                                {"bytes.act", 6.45697e+07},
                                                {"grads.stem", 2.1676e+07},
                                                {"bytes.bn", 1.0685e+08},
                                                {"flops.depth", 4.14328e+07},
                                                {"bytes.depth", 3.62584e+07},
                                                {"grads.depth", 8.28657e+07},
                                                {"flops.point", 1.07577e+09},
                                                {"grads.point", 2.15155e+09},
                                                {"bytes.move", 253440},
                                                {"bytes.norm", 16000},
                                                {"flops.linear", 2.68698e+06},
                                                {"bytes.matrix", 13680},
                                                {"grads.linear", 5.37395e+06},
                                                {"bytes.weights", 2.02651e+08},
                                                {"launches", 886},
                                                {"tile", 4.05393e+08}},
                                               39952640}),
                         [](const testing::TestParamInfo<Known>& tested) {
                           const Known& known = tested.param;
                           return std::string(known.network) + "_" + known.mode + "_" +
                                  std::string(name_of(known.dtype)) + (known.cast_whole ? "_cast_whole" : "");
                         });

// Every layer of the program's own networks says its operations.
TEST(EagerTerms, KnowAllLayersOfTheNetworks) {
  for (const auto& network : registry<NetworkType>().entries()) {
    for (const char* const mode : {"infer", "train"}) {
      const NetworkTerms terms = terms_of(network->name, {.mode = mode, .dtype = Dtype::fp16, .options = {}});
      EXPECT_THAT(terms.unknown, testing::IsEmpty()) << network->name;
      EXPECT_EQ(terms.is_language, !network->reads_images()) << network->name;
      EXPECT_EQ(terms.parameters, static_cast<double>(network->published_parameters)) << network->name;
    }
  }
}

TEST(EagerTerms, SayWhereValuesAreComputedAgain) {
  const WorkloadSpec spec{.mode = "train", .options = {{"recompute", "yes"}}};
  EXPECT_TRUE(terms_of("resnet18", spec).computes_again);
}

TEST(EagerTerms, OfOperations) {
  const auto in = [](const auto& values, auto kind) { return values.at(static_cast<std::size_t>(kind)); };
  const WorkloadSpec half{.mode = "forward", .dtype = Dtype::fp16, .options = {}};
  const NetworkTerms product = terms_of("gemm", half);  // of 1024 sums and 1024 columns
  EXPECT_EQ(in(product.per_sample.flops, ProductClass::linear), 2 * 1024 * (1024 + 32));
  EXPECT_EQ(in(product.per_sample.bytes, Traffic::matrix), 2 * 2048);
  EXPECT_EQ(in(product.per_step.bytes, Traffic::weights), 2 * 1024 * 1024);
  EXPECT_EQ(product.per_step.launches, 1);

  WorkloadSpec gradient{.mode = "backward-data", .dtype = Dtype::fp32, .options = {}};
  const NetworkTerms convolution = terms_of("conv2d", gradient);  // 3x3 on 64 channels of 56x56
  EXPECT_EQ(in(convolution.per_sample.grads, ProductClass::winograd), 2.0 * 56 * 56 * 64 * (9 * 64 + 8));
  EXPECT_EQ(in(convolution.per_sample.flops, ProductClass::winograd), 0);

  const NetworkTerms triad =
      terms_of("stream", {.mode = "triad", .dtype = Dtype::fp32, .options = {{"elements", "1000"}}});
  EXPECT_EQ(in(triad.per_sample.bytes, Traffic::elementwise), 3 * 4 * 1000);
  EXPECT_FALSE(registry<WorkloadType>().find("implicit_gemm")->configure(half)->eager_terms({}));
}

}  // namespace
}  // namespace bench::kernels
