#include "kernels/networks/graph/graph.h"

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/networks/models/network.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

WorkloadSpec spec_of(const std::string& image_size) {
  WorkloadSpec spec;
  spec.mode = "infer";
  spec.options["image-size"] = image_size;
  return spec;
}

std::string refusal(const std::string& network, const std::string& image_size) {
  try {
    registry<WorkloadType>().find(network)->configure(spec_of(image_size));
    return "accepted";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(Graph, InfersShapes) {
  Graph g({3, 11, 8});
  auto x = g.conv2d("conv", g.image(), {.channels = 5, .kernel = 3, .stride = 2, .pad = 1});
  EXPECT_EQ(g[x].shape, Shape::maps(5, 6, 4));
  x = g.max_pool("pool", x, {.kernel = 3, .stride = 2});
  EXPECT_EQ(g[x].shape, Shape::maps(5, 2, 1));
  x = g.average_pool("adaptive", x, 3);
  EXPECT_EQ(g[x].shape, Shape::maps(5, 3, 3));
  EXPECT_EQ(g.average_pool("again", x, 3), x);
  x = g.flatten("flatten", x);
  EXPECT_EQ(g[x].shape, Shape::features(45));
  x = g.softmax("softmax", g.linear("fc", x, 7));
  EXPECT_EQ(g[x].shape, Shape::features(7));
}

// Imported networks have values of up to six dimensions, of which the batch need not be the first.
TEST(Graph, ValuesHaveUpToSixDimensions) {
  Shape shape{2, kBatch, 3, 4};
  EXPECT_EQ(shape.elements(), 2 * 3 * 4);
  EXPECT_EQ(shape.elements(5), 5 * 2 * 3 * 4);
  EXPECT_EQ(shape[1].at(5), 5);
  EXPECT_EQ((Shape{Extent{8, true}, 4}).elements(3), 3 * 8 * 4);
  shape.append(7);
  shape.append(1);
  EXPECT_EQ(shape.rank(), 6U);
  EXPECT_THROW(shape.append(1), std::logic_error);
  const TensorDesc stored =
      stored_as(shape, {.batch = 5, .dtype = Dtype::fp32, .layouts = {}, .implementation = {}}, Layout::nchw);
  EXPECT_EQ(stored.elements(), shape.elements(5));
}

TEST(Graph, CountsParametersAndMultiplyAdds) {
  Graph g({4, 8, 8});
  auto x = g.conv2d("conv", g.image(), {.channels = 6, .kernel = 3, .pad = 1, .groups = 2, .bias = true});
  x = g.batch_norm("bn", x);
  g.linear("fc", g.flatten("flatten", g.average_pool("pool", x)), 10);
  EXPECT_EQ(g.parameter_count(), (6 * 2 * 9 + 6) + 2 * 6 + (6 * 10 + 10));
  EXPECT_EQ(g.macs(), 8 * 8 * 6 * 2 * 9 + 60);
}

TEST(Graph, RefusesWhatDoesNotFit) {
  Graph g({3, 4, 4});
  EXPECT_THROW(g.conv2d("big", g.image(), {.channels = 1, .kernel = 5}), ShapeTooSmall);
  EXPECT_THROW(g.conv2d("groups", g.image(), {.channels = 4, .groups = 2}), std::logic_error);
  EXPECT_THROW(g.linear("fc", g.image(), 10), std::logic_error);
  const auto narrow = g.conv2d("narrow", g.image(), {.channels = 2});
  EXPECT_THROW(g.add("sum", g.image(), narrow), std::logic_error);
  EXPECT_THROW(g.relu("future", 17), std::logic_error);
  EXPECT_EQ(g.nodes().size(), 2U);  // what was refused is not in the graph
}

TEST(Networks, ArePublished) {
  ASSERT_GE(registry<NetworkType>().entries().size(), 4U);
  for (const auto& network : registry<NetworkType>().entries()) {
    SCOPED_TRACE(network->name);
    const Graph graph = build_network(*network, {});
    EXPECT_EQ(graph.parameter_count(), network->published_parameters);
    EXPECT_NEAR(static_cast<double>(graph.macs()), network->published_macs, 0.01 * network->published_macs);
    const WorkloadType* workload = registry<WorkloadType>().find(network->name);
    ASSERT_NE(workload, nullptr);
    EXPECT_EQ(workload->kind, "network");
  }
}

TEST(Networks, PublishedNumbersAreTheIssues) {
  const auto parameters = [](const char* name) {
    return build_network(*registry<NetworkType>().find(name), {}).parameter_count();
  };
  EXPECT_EQ(parameters("resnet18"), 11'689'512);
  EXPECT_EQ(parameters("resnet34"), 21'797'672);
  EXPECT_EQ(parameters("resnet50"), 25'557'032);
  EXPECT_EQ(parameters("resnet101"), 44'549'160);
  EXPECT_EQ(parameters("resnet152"), 60'192'808);
  EXPECT_EQ(parameters("efficientnet_b0"), 5'288'548);
  EXPECT_EQ(parameters("convnext_tiny"), 28'589'128);
  EXPECT_EQ(parameters("vit_base_16"), 86'567'656);
  EXPECT_EQ(parameters("yolov8s"), 11'166'544);
  EXPECT_EQ(parameters("bert_base"), 109'482'240 + 2 * 769);  // BertModel and its classifier
  EXPECT_EQ(parameters("bert_large"), 335'141'888 + 2 * 1025);
  EXPECT_EQ(parameters("distilbert"), 66'362'880 + 768 * 769 + 2 * 769);
  EXPECT_EQ(parameters("vgg16"), 138'357'544);
  EXPECT_EQ(parameters("vgg16_gap"), 15'227'688);
  EXPECT_EQ(parameters("mobilenet_v2"), 3'504'872);
  EXPECT_EQ(parameters("gpt_small"), 124'439'808);
  EXPECT_EQ(parameters("embedding_classifier"), 120'001'204);
  EXPECT_NEAR(static_cast<double>(registry<NetworkType>().find("resnet50")->build(224).macs()), 4.09e9,
              0.005e9);
}

// Values of tables of positions, which another image size has more of.
std::int64_t positions(const Graph& graph) {
  std::int64_t values = 0;
  for (const Node& node : graph.nodes()) {
    values += node.is("position_embedding") ? node.shape.elements() : 0;
  }
  return values;
}

TEST(Networks, TakeAnyImageSize) {
  for (const auto& network : registry<NetworkType>().entries()) {
    if (!network->reads_images()) {
      continue;
    }
    const auto own = [](const Graph& graph) { return graph.parameter_count() - positions(graph); };
    const auto parameters = own(network->build(224));
    const bool rows = network->name == "unet" || network->name.starts_with("yolo");
    for (const std::int64_t size : {32, 33, 97, 224, 255, 1024}) {
      if (size % network->image_step != 0) {
        continue;
      }
      SCOPED_TRACE(network->name + " at " + std::to_string(size));
      const Graph graph = network->build(size);
      if (!rows) {
        EXPECT_EQ(graph[graph.output()].shape, Shape::features(1000));
      }
      EXPECT_EQ(own(graph), parameters);
    }
  }
}

TEST(Networks, LastFeatureMapFollowsTheImage) {
  // ceil(size / 32), from torchvision's resnet50(...).layer4 on images of these sizes.
  const NetworkType& network = *registry<NetworkType>().find("resnet50");
  for (const auto& [size, expected] : {std::pair{32, 1}, {33, 2}, {97, 4}, {224, 7}, {255, 8}}) {
    const Graph graph = network.build(size);
    std::int64_t height = 0;
    for (const Node& layer : graph.nodes()) {
      if (layer.name == "layer4.2.relu") {
        height = layer.shape.height();
        EXPECT_EQ(layer.shape.channels(), 2048);
      }
    }
    EXPECT_EQ(height, expected) << size;
  }
}

TEST(Networks, StrideOfABottleneckIsInItsThreeByThree) {
  const Graph graph = registry<NetworkType>().find("resnet50")->build(224);
  for (const Node& node : graph.nodes()) {
    if (node.name == "layer2.0.conv1" || node.name == "layer2.0.conv3") {
      EXPECT_EQ(graph[node.inputs[0]].shape.height(), node.shape.height()) << node.name;
    }
    if (node.name == "layer2.0.conv2" || node.name == "layer2.0.downsample.0") {
      EXPECT_EQ(graph[node.inputs[0]].shape.height(), 2 * node.shape.height()) << node.name;
    }
  }
}

TEST(Networks, RefuseImageSizesByName) {
  EXPECT_EQ(refusal("vgg16", "32"), "accepted");
  EXPECT_EQ(refusal("resnet50", "1"), "accepted");
  EXPECT_EQ(
      refusal("vgg16", "31"),
      "--image-size: '31' was given; accepted for vgg16: whole numbers from 32 to 4096 (pixels a side)");
  EXPECT_THAT(refusal("resnet50", "224x224"), ::testing::EndsWith("(did you mean 224?)"));
  EXPECT_THAT(refusal("resnet50", "224x112"), ::testing::EndsWith("(pixels a side)"));
  for (const char* wrong : {"0", "-1", "abc", "", "224px", "22.4", "99999999999999999999", "4097"}) {
    expect_words(refusal("resnet50", wrong));
  }
}

}  // namespace
}  // namespace bench::kernels
