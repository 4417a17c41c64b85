// Imported networks in the terms of the model of GPUs, as tools/calibrate has them for the networks that the
// files were exported from.
#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "kernels/networks/eager/terms.h"
#include "kernels/networks/onnx/import.h"
#include "kernels/networks/passes/unfold_norms.h"

namespace bench::kernels::onnx {
namespace {

// In fp32. Batch norms that the export folded are left out; so are what it computed beforehand, and padding
// by nothing.
struct FileWithTerms {
  const char* name;
  double flops;    // a sample
  double bytes;    // a sample
  double weights;  // bytes a step
  double launches;
};

class EagerTermsOfFiles : public ::testing::TestWithParam<FileWithTerms> {};

TEST_P(EagerTermsOfFiles, AreThoseOfTheCalibration) {
  constexpr double kTolerance = 0.01;
  const FileWithTerms& known = GetParam();
  const ImportedNetwork network = import_network(
      std::string(BENCH_TEST_SOURCE_DIR "/tests/kernels/networks/onnx/data/") + known.name + ".onnx", {});
  const NetworkTerms terms = eager_terms(network.graph, {.dtype = Dtype::fp32});
  const auto sum = [](const auto& values) { return std::accumulate(values.begin(), values.end(), 0.0); };
  EXPECT_NEAR(sum(terms.per_sample.flops) / known.flops, 1, kTolerance);
  EXPECT_NEAR(sum(terms.per_sample.bytes) / known.bytes, 1, kTolerance);
  EXPECT_NEAR(sum(terms.per_step.bytes) / known.weights, 1, kTolerance);
  EXPECT_NEAR(terms.per_step.launches / known.launches, 1, kTolerance);
  EXPECT_TRUE(terms.unknown.empty());
}

TEST(EagerTermsOfAFile, TellWhetherBatchNormsAreFolded) {
  const auto folded = [](const char* name) {
    return folded_norms(
        import_network(
            std::string(BENCH_TEST_SOURCE_DIR "/tests/kernels/networks/onnx/data/") + name + ".onnx", {})
            .graph);
  };
  EXPECT_EQ(folded("cspresnet50"), FoldedNorms::some) << "weights onnx::Conv_531";
  EXPECT_EQ(folded("tv_mobilenet_v3_large"), FoldedNorms::some);
  EXPECT_EQ(folded("tv_alexnet"), FoldedNorms::none) << "weights features.3.weight";
  EXPECT_EQ(folded("light_squeezenet"), FoldedNorms::perhaps) << "of Caffe2, whose names tell nothing";
  EXPECT_EQ(folded("resnet50_op13bn"), FoldedNorms::none);
  EXPECT_EQ(folded("convnext_tiny"), FoldedNorms::none) << "layer norms";
  EXPECT_EQ(folded("vit_base_patch16_224"), FoldedNorms::none) << "layer norms";
}

// Two blocks, as a network has them and as an exporter leaves them.
kernels::Graph blocks(bool folded) {
  kernels::Graph graph({3, 32, 32});
  kernels::Graph::Value x = graph.image();
  for (const char* name : {"one", "two"}) {
    x = graph.conv2d(name, x, {.channels = 16, .kernel = 3, .pad = 1, .bias = folded});
    x = folded ? x : graph.batch_norm(std::string(name) + ".bn", x);
    x = graph.relu(std::string(name) + ".relu", x);
  }
  x = graph.flatten("flatten", graph.average_pool("pool", x));
  graph.linear("fc", x, 10);
  return graph;
}

TEST(EagerTermsOfAFile, TrainingIsPlannedWithTheNormsThatAnExporterMayHaveFolded) {
  const NetworkTerms built = eager_terms(blocks(false), {.train = true});
  const NetworkTerms as_it_is = eager_terms(blocks(true), {.train = true});
  ASSERT_LT(as_it_is.peak_bytes_per_sample, 0.8 * built.peak_bytes_per_sample);
  const NetworkTerms of_file = eager_terms_of_file(blocks(true), {.train = true});
  EXPECT_TRUE(of_file.may_lack_norms);
  EXPECT_EQ(of_file.parameters, built.parameters);
  EXPECT_EQ(of_file.peak_bytes_per_sample, built.peak_bytes_per_sample);
  EXPECT_EQ(of_file.saving.high, built.saving.high);
  EXPECT_NEAR(of_file.saving.low * of_file.peak_bytes_per_sample,
              as_it_is.saving.low * as_it_is.peak_bytes_per_sample, 1);
  EXPECT_EQ(eager_terms_of_file(blocks(true), {}).peak_bytes_per_sample,
            eager_terms(blocks(true), {}).peak_bytes_per_sample)
      << "inference runs what the file holds";
  EXPECT_EQ(eager_terms_of_file(blocks(false), {.train = true}).saving.low, built.saving.low);
}

// Of MobileNetV3's 62 convolutions 46 are followed by a norm; those that squeeze and excite are not.
TEST(EagerTermsOfAFile, HaveTheNormsThatTheNamesOfWeightsTell) {
  const kernels::Graph graph =
      import_network(BENCH_TEST_SOURCE_DIR "/tests/kernels/networks/onnx/data/tv_mobilenet_v3_large.onnx", {})
          .graph;
  const NetworkTerms as_it_is = eager_terms(graph, {});
  const NetworkTerms of_file = eager_terms_of_file(graph, {});
  EXPECT_TRUE(of_file.norms_put_back);
  EXPECT_FALSE(of_file.may_lack_norms);
  constexpr auto kNorm = static_cast<std::size_t>(Traffic::batch_norm);
  EXPECT_EQ(as_it_is.per_sample.bytes[kNorm], 0);
  EXPECT_GT(of_file.per_sample.bytes[kNorm], 0);
  EXPECT_EQ(of_file.per_step.launches - as_it_is.per_step.launches, 46);
}

INSTANTIATE_TEST_SUITE_P(
    Networks, EagerTermsOfFiles,
    ::testing::Values(FileWithTerms{"efficientnet_b0", 9.0863e8, 1.342e8, 2.0945e7, 189},
                      FileWithTerms{"vit_base_patch16_224", 3.6525e10, 3.1046e8, 3.4517e8, 149},
                      FileWithTerms{"dyn_swin_tiny_patch4_window7_224", 9.6357e9, 4.0022e8, 1.128e8, 275},
                      FileWithTerms{"convnext_tiny", 9.0869e9, 3.2939e8, 1.141e8, 174},
                      FileWithTerms{"resnet50_op13bn", 4.2589e9, 1.6591e8, 1.0201e8, 174},
                      FileWithTerms{"cspresnet50", 9.2018e9, 2.2677e8, 8.6299e7, 126}),
    [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace bench::kernels::onnx
