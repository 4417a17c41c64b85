// Where a network is cut into stages, and what each stage is.
#include "kernels/networks/passes/stages.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/networks/models/network.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/networks/program/input.h"
#include "kernels/operations/tensor.h"
#include "kernels/workloads/network/reference.h"
#include "networks_fixture.h"
#include "tiny_networks.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

double costliest(const StretchCosts& costs, const std::vector<std::size_t>& ends) {
  double most = 0;
  std::size_t first = 0;
  for (std::size_t stage = 0; stage < ends.size(); ++stage) {
    double sum = 0;
    for (; first <= ends[stage]; ++first) {
      sum += costs[stage][first];
    }
    most = std::max(most, sum);
  }
  return most;
}

// Of all ways to cut.
double least_costliest(const StretchCosts& costs) {
  const std::size_t stretches = costs.front().size();
  double least = 1e300;
  for (unsigned cuts = 0; cuts < 1U << (stretches - 1); ++cuts) {
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i + 1 < stretches; ++i) {
      if ((cuts >> i & 1U) != 0) {
        ends.push_back(i);
      }
    }
    ends.push_back(stretches - 1);
    if (ends.size() == costs.size()) {
      least = std::min(least, costliest(costs, ends));
    }
  }
  return least;
}

// Where a stretch costs every stage as much, and where it costs each something else.
TEST(BalancedStages, AreAsCheapAsTheBestOfAllWays) {
  std::mt19937 random(7);
  for (int tried = 0; tried < 300; ++tried) {
    std::vector<double> stretches(1 + random() % 9);
    const auto draw = [&] { return random() % 4 == 0 ? 0 : static_cast<double>(random() % 1000); };
    std::ranges::generate(stretches, draw);
    for (std::size_t stages = 1; stages <= stretches.size(); ++stages) {
      StretchCosts costs(stages, stretches);
      for (std::vector<double>& of_stage : costs) {
        if (tried % 2 == 1) {
          std::ranges::generate(of_stage, draw);
        }
      }
      const auto ends = balanced(costs);
      ASSERT_EQ(ends.size(), stages);
      EXPECT_EQ(ends.back(), stretches.size() - 1);
      EXPECT_EQ(std::ranges::adjacent_find(ends, std::greater_equal<>()), ends.end());
      EXPECT_EQ(costliest(costs, ends), least_costliest(costs)) << ::testing::PrintToString(costs);
    }
    EXPECT_THROW(balanced(StretchCosts(stretches.size() + 1, stretches)), std::invalid_argument);
  }
  EXPECT_THROW(balanced({}), std::invalid_argument);
}

std::vector<Stage> cut_by_compute(const Graph& graph, std::size_t stages) {
  return cut_into_stages(graph, StretchCosts(stages, compute_costs(graph)));
}

TEST(CutPlaces, AreWhereOneValueCrosses) {
  Graph g({8, 6, 6});
  const auto a = g.conv2d("a", g.image(), {.channels = 8});
  const auto b = g.conv2d("b", a, {.channels = 8});
  const auto c = g.conv2d("c", b, {.channels = 8});
  const auto sum = g.add("sum", c, a);  // a crosses behind b and c
  const auto pool = g.average_pool("pool", sum);
  const auto flat = g.flatten("flat", pool);
  const auto on = g.relu("on", flat);  // stored as flattened maps
  g.linear("head", on, 10);
  EXPECT_THAT(cut_places(g), ElementsAre(a, sum, pool));
}

TEST(CutPlaces, AreNotWhereTheInputIsReadOnceMore) {
  Graph g({8, 6, 6});
  const auto a = g.conv2d("a", g.image(), {.channels = 8});
  const auto b = g.conv2d("b", a, {.channels = 8});
  const auto sum = g.add("sum", b, g.image());
  g.conv2d("c", sum, {.channels = 4});
  EXPECT_THAT(cut_places(g), ElementsAre(sum));
}

TEST(CutPlaces, LayersThatNothingReadsDoNotMatter) {
  Graph g({8, 6, 6});
  const auto a = g.conv2d("a", g.image(), {.channels = 8});
  const auto b = g.conv2d("b", a, {.channels = 8});
  g.conv2d("dead", a, {.channels = 8});
  g.conv2d("c", b, {.channels = 4});
  EXPECT_THAT(cut_places(g), ElementsAre(a, b));
  Graph one({8, 6, 6});
  one.conv2d("a", one.image(), {.channels = 8});
  EXPECT_THAT(cut_places(one), IsEmpty());
  EXPECT_THROW(cut_by_compute(one, 2), std::invalid_argument);
}

// Stages hold every layer once, and what they compute, one behind the other, is what the network computes.
TEST(Stages, ComputeWhatTheNetworkComputes) {
  for (const char* name : {"resnet18", "mobilenet_v2", "gpt", "classifier"}) {
    SCOPED_TRACE(name);
    const bool text = std::string(name) == "gpt" || std::string(name) == "classifier";
    WorkloadSpec spec{.mode = "infer", .options = {}};
    spec.options["image-size"] = "32";
    const NetworkType network = text ? tiny_network(name) : *registry<NetworkType>().find(name);
    const Graph whole = fuse_for_inference(build_network(network, spec));
    const std::vector<Sample> samples{seeded_sample(whole, 1, 0), seeded_sample(whole, 1, 1)};
    const auto expected = reference_outputs(whole, samples, 1);
    for (std::size_t stages = 1; stages <= std::min<std::size_t>(4, cut_places(whole).size() + 1); ++stages) {
      const std::vector<Stage> cut = cut_by_compute(whole, stages);
      ASSERT_EQ(cut.size(), stages);
      std::multiset<std::string> names;
      double cost = 0;
      std::vector<Sample> values = samples;
      for (const Stage& stage : cut) {
        const Graph graph = stage_graph(whole, stage);
        EXPECT_EQ(graph[graph.output()].shape, whole[stage.end].shape);
        double own = 0;
        for (Graph::Value value = 1; value <= graph.output(); ++value) {
          names.insert(graph[value].name);
          own += stage_cost(graph, value);
        }
        EXPECT_EQ(own, stage.cost);
        cost += own;
        values = reference_outputs(graph, values, 1);
      }
      EXPECT_EQ(names.size(), whole.nodes().size() - 1);
      EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
      EXPECT_GT(cost, static_cast<double>(whole.macs()) - 1);
      for (std::size_t sample = 0; sample < samples.size(); ++sample) {
        EXPECT_LT(relative_error(values[sample], expected[sample]), 1e-6) << stages;
      }
    }
  }
}

// The last layers of a ResNet have most of its parameters, and with small images few pixels.
TEST(Stages, OfFewPixelsAndSamplesAreCutByTheirParameters) {
  const auto first_end = [](const char* image_size, std::int64_t batch) {
    WorkloadSpec spec{.mode = "infer", .options = {{"image-size", image_size}}};
    const Graph whole = fuse_for_inference(build_network(*registry<NetworkType>().find("resnet50"), spec));
    const Stage by_cost = cut_into_stages(whole, StretchCosts(2, inference_costs(whole, batch))).front();
    return std::pair(by_cost.end, cut_by_compute(whole, 2).front().end);
  };
  const auto [large, large_by_compute] = first_end("224", 64);
  EXPECT_EQ(large, large_by_compute);
  const auto [small, small_by_compute] = first_end("32", 1);
  EXPECT_GT(small, small_by_compute);
}

// A block of ResNet-18 has an eighth of its multiply-adds.
TEST(Stages, AreBalancedByMultiplyAdds) {
  WorkloadSpec spec{.mode = "infer", .options = {{"image-size", "224"}}};
  const Graph whole = fuse_for_inference(build_network(*registry<NetworkType>().find("resnet18"), spec));
  for (const std::size_t stages : {2, 3, 4}) {
    double most = 0;
    for (const Stage& stage : cut_by_compute(whole, stages)) {
      most = std::max(most, stage.cost);
    }
    EXPECT_LT(most, 1.4 * static_cast<double>(whole.macs()) / static_cast<double>(stages)) << stages;
  }
}

// The head's table is the embedding's, which lies in another stage: it is drawn alike there.
TEST(Stages, ATableThatTwoStagesShareIsInBoth) {
  const Graph whole = fuse_for_inference(gpt(kTinyGpt));
  const std::vector<Stage> cut = cut_by_compute(whole, 3);
  const Graph last = stage_graph(whole, cut.back());
  ASSERT_TRUE(whole[whole.output()].shares.has_value());
  EXPECT_FALSE(last[last.output()].shares.has_value());
  std::int64_t values = 0;
  for (const Stage& stage : cut) {
    values += stage_graph(whole, stage).parameter_count();
  }
  EXPECT_EQ(values, whole.parameter_count() + kTinyGpt.vocabulary * kTinyGpt.width);
}

}  // namespace
}  // namespace bench::kernels
