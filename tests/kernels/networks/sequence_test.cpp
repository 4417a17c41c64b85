// Networks of text in inference: shapes, tokens, shared weights, answers and memory.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/workloads/network/infer.h"
#include "kernels/workloads/network/reference.h"
#include "networks_fixture.h"
#include "tests/bench/support/golden_words.h"
#include "tiny_networks.h"

namespace bench::kernels {
namespace {

std::string refusal(const std::string& network, const std::string& option, const std::string& value) {
  WorkloadSpec spec;
  spec.mode = "infer";
  spec.options[option] = value;
  try {
    registry<WorkloadType>().find(network)->configure(spec);
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(SequenceGraph, InfersShapesAndCounts) {
  Graph g(Tokens{.sequence = 6, .vocabulary = 11});
  const auto table = g.embedding("table", g.image(), {.width = 8});
  EXPECT_EQ(g[table].shape, Shape::sequence(6, 8));
  auto x = g.layer_norm("norm", g.position_embedding("positions", table, {.rows = 7}));
  x = g.linear("qkv", x, {.features = 24});
  x = g.attention("attention", x, 2);
  EXPECT_EQ(g[x].shape, Shape::sequence(6, 8));
  x = g.tied_linear("head", g.gelu("gelu", x), table);
  EXPECT_EQ(g[x].shape, Shape::sequence(6, 11));
  EXPECT_EQ(g.parameter_count(), 11 * 8 + 7 * 8 + 2 * 8 + (8 * 24 + 24));
  EXPECT_EQ(g.macs(), 6 * 8 * 24 + 2 * 6 * 6 * 8 + 6 * 8 * 11);
  EXPECT_EQ(g.owner_of(x, Slot::weights), table);
  EXPECT_EQ(g.owner_of(x, Slot::bias), x);
}

TEST(SequenceGraph, RefusesWhatDoesNotFit) {
  Graph g(Tokens{.sequence = 6, .vocabulary = 11});
  const auto table = g.embedding("table", g.image(), {.width = 8});
  EXPECT_THROW(g.position_embedding("short", table, {.rows = 5}), std::logic_error);
  EXPECT_THROW(g.attention("heads", table, 2), std::logic_error);  // 8 is not 3 · 2 · head size
  EXPECT_THROW(g.flatten("flatten", table), std::logic_error);
  EXPECT_THROW(g.embedding("twice", table, {.width = 8}), std::logic_error);
  const auto wide = g.linear("wide", table, 9);
  EXPECT_THROW(g.tied_linear("head", wide, table), std::logic_error);
  EXPECT_THROW(Graph(Tokens{.sequence = 0, .vocabulary = 3}), ShapeTooSmall);
  Graph image({3, 4, 1});
  EXPECT_THROW(image.layer_norm("norm", image.image()), std::logic_error);
}

TEST(SequenceNetworks, CountMultiplyAddsAsTheirFormula) {
  const NetworkType& small = *registry<NetworkType>().find("gpt_small");
  for (const std::int64_t s : {1, 256, 1024}) {
    const Graph graph = small.build_sized({{"sequence", s}});
    EXPECT_EQ(graph.parameter_count(), 124'439'808);
    EXPECT_EQ(graph.macs(), s * (12 * 12 * 768 * 768 + 768 * 50257) + 12 * 2 * s * s * 768);
  }
}

TEST(SequenceNetworks, RefuseSizesByName) {
  EXPECT_EQ(refusal("gpt_small", "sequence", "1024"), "accepted");
  EXPECT_EQ(refusal("embedding_classifier", "vocabulary", "7"), "accepted");
  for (const char* wrong : {"0", "1025", "", "many"}) {
    EXPECT_EQ(refusal("gpt_small", "sequence", wrong),
              fmt::format("--sequence: '{}' was given; accepted: whole numbers from 1 to 1024", wrong));
  }
  expect_words(refusal("embedding_classifier", "vocabulary", "0"));
}

TEST(SequenceNetworks, HaveOptionsOfTheirOwn) {
  for (const char* network : {"gpt_small", "embedding_classifier"}) {
    std::set<std::string> names;
    for (const CommandOption& option : registry<WorkloadType>().find(network)->options) {
      names.insert(option.name);
    }
    EXPECT_TRUE(names.contains("sequence"));
    EXPECT_TRUE(names.contains("optimizer"));
    EXPECT_FALSE(names.contains("image-size"));
  }
}

TEST(Tokens, AreSeeded) {
  const Tokens fifty{.sequence = 4000, .vocabulary = 50};
  const auto tokens = seeded_tokens(fifty, 4000, 1, 0);
  EXPECT_EQ(tokens, seeded_tokens(fifty, 4000, 1, 0));
  EXPECT_NE(tokens, seeded_tokens(fifty, 4000, 2, 0));
  EXPECT_NE(tokens, seeded_tokens(fifty, 4000, 1, 1));
  const auto longer = seeded_tokens(fifty, 4001, 1, 0);
  EXPECT_TRUE(std::equal(tokens.begin(), tokens.end(), longer.begin()));
  EXPECT_EQ(std::set<std::int32_t>(tokens.begin(), tokens.end()).size(), 50U);
  EXPECT_EQ(std::ranges::min(tokens), 0);
  EXPECT_EQ(std::ranges::max(tokens), 49);
  EXPECT_EQ(std::ranges::max(seeded_tokens({.sequence = 10, .vocabulary = 1}, 10, 1, 0)), 0);
}

TEST(Tokens, KeepToWhatLayersRestOn) {
  const Tokens kind{.sequence = 3000, .vocabulary = 50, .absent = {0, 7, 49, 1000}, .largest_is_last = true};
  const auto tokens = seeded_tokens(kind, 3001, 1, 0);
  const std::set<std::int32_t> seen(tokens.begin(), tokens.end() - 2);
  EXPECT_EQ(seen.size(), 46U);
  EXPECT_FALSE(seen.contains(0) || seen.contains(7) || seen.contains(48) || seen.contains(49));
  EXPECT_EQ(tokens[2999], 48);
  Graph graph(Tokens{.sequence = 4, .vocabulary = 2});
  graph.set_tokens({.sequence = 4, .vocabulary = 2, .absent = {}, .largest_is_last = true});
  EXPECT_THAT(seeded_sample(graph.input_only(), 1, 0), ::testing::ElementsAre(0, 0, 0, 1));
}

TEST(Tokens, AreStoredAsIntegers) {
  const Graph graph(Tokens{.sequence = 3, .vocabulary = 20'000'000});
  const InputBatch input =
      ProgramPlan(graph, {.batch = 5, .dtype = Dtype::bf16, .layouts = {}, .implementation = {}}).input;
  EXPECT_EQ(input.bytes(), 5 * 3 * 4);
  EXPECT_EQ(input.sample_bytes(), 3 * 4);
  std::vector<std::int32_t> stored(3);
  input.store_sample(std::vector<float>{0, 7, 16'777'215}, stored.data());
  EXPECT_THAT(stored, ::testing::ElementsAre(0, 7, 16'777'215));
  EXPECT_THROW(input.store_sample(std::vector<float>{1, 2}, stored.data()), std::invalid_argument);
}

TEST(SequenceParameters, AreDrawnWithTheirDeviation) {
  const Graph graph = gpt(kTinyGpt);
  const auto deviation = [&](Graph::Value value, Slot slot) {
    double squares = 0;
    const auto values = plain_parameter(graph, value, slot, 1);
    for (const float v : values) {
      squares += static_cast<double>(v) * static_cast<double>(v);
    }
    return std::sqrt(squares / static_cast<double>(values.size()));
  };
  const double expected = 0.02 * std::sqrt(768.0 / 48);
  EXPECT_NEAR(deviation(1, Slot::weights), expected, 0.03 * expected);  // wte
  EXPECT_NEAR(deviation(2, Slot::weights), expected, 0.03 * expected);  // wpe
  EXPECT_EQ(plain_parameter(graph, graph.output(), Slot::weights, 1),
            plain_parameter(graph, 1, Slot::weights, 1));
  EXPECT_THROW(plain_parameter(graph, graph.output(), Slot::bias, 1), std::logic_error);
  EXPECT_THROW(plain_parameter(graph, 3, Slot::mean, 1), std::logic_error);  // layer norm
}

class SequenceInference : public NetworkTest,
                          public ::testing::WithParamInterface<std::tuple<std::string, Dtype>> {
 protected:
  static std::string network() { return std::get<0>(GetParam()); }
  static Dtype dtype() { return std::get<1>(GetParam()); }
  ProgramPlan plan(const Graph& graph, std::int64_t batch) {
    const Target target{
        .batch = batch, .dtype = dtype(), .layouts = layouts_for(*device_, dtype()), .implementation = {}};
    return plan_inference(fuse_for_inference(graph), target, *device_);
  }
};

INSTANTIATE_TEST_SUITE_P(Networks, SequenceInference,
                         ::testing::Combine(::testing::Values("gpt", "classifier"),
                                            ::testing::Values(Dtype::fp32, Dtype::bf16)),
                         [](const auto& tested) {
                           return std::get<0>(tested.param) + "_" +
                                  std::string(name_of(std::get<1>(tested.param)));
                         });

TEST_P(SequenceInference, AnswersAsTheReferenceAndHoldsWhatWasPlanned) {
  if (device_->unsupported(dtype())) {
    GTEST_SKIP();
  }
  for (const std::int64_t batch : {1, 3}) {
    for (const char* sequence : {"1", "12", "17"}) {
      SCOPED_TRACE(fmt::format("batch {} sequence {}", batch, sequence));
      WorkloadSpec wanted = spec(batch, dtype(), 0);
      wanted.options["sequence"] = sequence;
      const MemoryPlan planned = plan_inference(tiny_network(network()), wanted, *device_).memory();
      device_->memory().reset_peak();
      {
        InferWorkload workload(tiny_network(network()), wanted, *device_);
        const Verification verification = workload.verify();
        EXPECT_TRUE(verification.passed) << verification.detail;
        EXPECT_LE(verification.error, logits_tolerance(dtype()) / 3) << verification.error;
        EXPECT_GT(workload.work().flops, 0);
      }
      EXPECT_EQ(device_->memory().peak(), planned.peak);
      EXPECT_EQ(device_->memory().at_peak(), planned.at_peak);
    }
  }
}

TEST_P(SequenceInference, SwappedSamplesFail) {
  if (device_->unsupported(dtype())) {
    GTEST_SKIP();
  }
  InferWorkload workload(tiny_network(network()), spec(2, dtype(), 0), *device_);
  const Graph& graph = workload.runner().plan().graph;
  ASSERT_TRUE(workload.verify().passed);
  const std::vector<Sample> swapped{seeded_sample(graph, 1, 1), seeded_sample(graph, 1, 0)};
  workload.runner().set_input(swapped);
  EXPECT_FALSE(workload.verify().passed);
}

TEST_P(SequenceInference, ScratchAndArenaHoldNothingBetweenSteps) {
  if (device_->unsupported(dtype())) {
    GTEST_SKIP();
  }
  InferWorkload workload(tiny_network(network()), spec(3, dtype(), 0), *device_);
  poison_step(workload.runner(), *device_);
  const Verification verification = workload.verify();
  EXPECT_TRUE(verification.passed) << verification.detail;
}

class GptInference : public NetworkTest {};

// One table in memory, and no less than one.
TEST_F(GptInference, SharedWeightsTakeMemoryOnce) {
  const Graph tied = gpt(kTinyGpt);
  Graph apart = tied;
  apart.edit(apart.output()).shares.reset();
  for (const Dtype dtype : {Dtype::fp32, Dtype::bf16}) {
    if (device_->unsupported(dtype)) {
      continue;
    }
    const std::int64_t table = kTinyGpt.vocabulary * kTinyGpt.width * bytes_of(dtype);
    const Target target{.batch = 2, .dtype = dtype, .layouts = {}, .implementation = {}};
    const auto weights = [&](const Graph& graph) {
      return plan_inference(graph, target, *device_).block_bytes()[MemoryCategory::weights];
    };
    EXPECT_GE(weights(apart) - weights(tied), table);
    EXPECT_LE(weights(apart) - weights(tied), 2 * table);  // packed, it may be padded
    EXPECT_EQ(apart.parameter_count() - tied.parameter_count(), kTinyGpt.vocabulary * kTinyGpt.width);
  }
}

TEST_F(GptInference, ATokenChangesNothingBeforeIt) {
  const Target target{.batch = 1, .dtype = Dtype::fp32, .layouts = {}, .implementation = {}};
  const Graph graph = gpt(kTinyGpt);
  ProgramRunner executor(plan_inference(fuse_for_inference(graph), target, *device_), *device_, 1);
  std::vector<Sample> samples{seeded_sample(graph, 1, 0)};
  const auto answer = [&] {
    executor.set_input(samples);
    executor.run();
    return executor.output();
  };
  const auto before = answer();
  constexpr std::size_t kChanged = 9;
  samples[0][kChanged] = samples[0][kChanged] == 5 ? 6 : 5;
  const auto after = answer();
  const auto position = [&](const std::vector<float>& logits, std::size_t at) {
    return std::span(logits).subspan(at * 97, 97);
  };
  for (std::size_t at = 0; at < 16; ++at) {
    const double difference = relative_error(position(after, at), position(before, at));
    EXPECT_TRUE(at < kChanged ? difference < 1e-6 : difference > 1e-3) << at << ": " << difference;
  }
}

// The fused network has GELU inside its matrix products, and answers as the plain one.
TEST_F(GptInference, GeluGoesIntoTheLinearLayerBeforeIt) {
  const Graph graph = gpt(kTinyGpt);
  const Graph fused = fuse_for_inference(graph);
  EXPECT_EQ(graph.nodes().size() - fused.nodes().size(), 2U);
  EXPECT_EQ(fused.parameter_count(), graph.parameter_count());
  EXPECT_EQ(fused.macs(), graph.macs());
  EXPECT_TRUE(fused[fused[fused.output()].shares.value()].is("embedding"));
  const std::vector<Sample> samples{seeded_sample(graph, 1, 0)};
  const auto expected = reference_outputs(graph, samples, 1);
  const Target target{.batch = 1, .dtype = Dtype::fp32, .layouts = {}, .implementation = {}};
  for (const Graph& each : {graph, fused}) {
    ProgramRunner executor(plan_inference(each, target, *device_), *device_, 1);
    executor.set_input(samples);
    executor.run();
    EXPECT_LT(relative_error(executor.output(), expected[0]), 1e-5);
  }
}

// A large table is drawn and packed in pieces: no second one is held meanwhile.
TEST_F(GptInference, TablesAreDrawnInPieces) {
  WorkloadSpec wanted = spec(1, Dtype::fp32, 0);
  wanted.options["vocabulary"] = "1001";  // 300 values each: four pieces and a part of one
  wanted.options["sequence"] = "256";
  InferWorkload workload(tiny_classifier(), wanted, *device_);
  const ProgramPlan& plan = workload.runner().plan();
  EXPECT_LT(plan.largest_plain.bytes, 4 * 1001 * 300 / 4);
  EXPECT_GE(plan.block_bytes()[MemoryCategory::weights], 4 * 1001 * 300);
  const auto expected = plain_parameter(plan.graph, 1, Slot::weights, 1);
  std::vector<float> table(expected.size());
  device_->download(table.data(), workload.runner().address(plan.parameters.front().value), 4 * 1001 * 300);
  EXPECT_EQ(table, expected);
}

// A table is looked up in: a step does not move it as a whole.
TEST_F(GptInference, WorkCountsTheRowsRead) {
  const NetworkType classifier = tiny_classifier();
  const auto work = [&](const char* vocabulary, std::int64_t batch) {
    WorkloadSpec wanted = spec(batch, Dtype::fp32, 0);
    wanted.options["vocabulary"] = vocabulary;
    return plan_inference(classifier, wanted, *device_).work();
  };
  EXPECT_EQ(work("500", 4).sample_bytes, work("50000", 4).sample_bytes);
  EXPECT_EQ(work("500", 4).fixed_bytes, work("50000", 4).fixed_bytes);
  EXPECT_NEAR(work("500", 4).sample_bytes / work("500", 1).sample_bytes, 4, 1e-9);
  EXPECT_GE(work("500", 4).sample_bytes, 4 * 12 * (2 * 300 * 4));
}

}  // namespace
}  // namespace bench::kernels
