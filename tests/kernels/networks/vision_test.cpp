// U-Net and YOLOv3-tiny: their layers, what they publish, and their answers.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/workloads/network/infer.h"
#include "kernels/workloads/network/reference.h"
#include "tests/kernels/networks/networks_fixture.h"

namespace bench::kernels {
namespace {

class Vision : public NetworkTest {
 protected:
  static const NetworkType& network(const std::string& name) { return *registry<NetworkType>().find(name); }
  static Graph build(const std::string& name, std::int64_t image_size) {
    return network(name).build(image_size);
  }
  static const Node& layer(const Graph& graph, const std::string& name) {
    const auto at = std::ranges::find(graph.nodes(), name, &Node::name);
    EXPECT_NE(at, graph.nodes().end()) << name;
    return *at;
  }
  static std::int64_t count(const Graph& graph, std::string_view kind) {
    return std::ranges::count_if(graph.nodes(), [&](const Node& node) { return node.is(kind); });
  }
  static std::int64_t normalised_channels(const Graph& graph) {
    std::int64_t channels = 0;
    for (const Node& each : graph.nodes()) {
      channels += each.is("batch_norm") ? each.shape.channels() : 0;
    }
    return channels;
  }
};

TEST_F(Vision, GraphInfersTheNewShapes) {
  Graph g({8, 7, 5});
  const auto up = g.upsample("up", g.image());
  EXPECT_EQ(g[up].shape, Shape::maps(8, 14, 10));
  const auto patches = g.conv_transpose("patches", g.image(), 4, 3);
  EXPECT_EQ(g[patches].shape, Shape::maps(4, 21, 15));
  EXPECT_EQ(g.parameter_count(), 8 * 4 * 9 + 4);
  EXPECT_EQ(g.macs(), 7 * 5 * 8 * 4 * 9);
  const auto joined = g.concat("joined", {up, patches});
  EXPECT_EQ(g[joined].shape, Shape::maps(12, 21, 15));
  const auto same = g.max_pool("same", g.image(), {.kernel = 2, .stride = 1, .end_pad = 1});
  EXPECT_EQ(g[same].shape, Shape::maps(8, 7, 5));
  const auto rows = g.rows("rows", {joined, same}, 4);
  EXPECT_EQ(g[rows].shape, Shape::sequence(3 * 21 * 15 + 2 * 7 * 5, 4));
  EXPECT_THROW(g.rows("broken", {same}, 3), std::logic_error);
  EXPECT_THROW(g.concat("alone", {same}), std::logic_error);
}

TEST_F(Vision, PublishedNumbersAreTheIssues) {
  EXPECT_EQ(build("unet", 512).parameter_count(), 31'037'698);
  const Graph yolo = build("yolov3_tiny", 416);
  EXPECT_EQ(yolo.parameter_count(), 8'852'366);
  // Darknet's file of weights also holds each batch norm's running mean and variance.
  EXPECT_EQ(yolo.parameter_count() + 2 * normalised_channels(yolo), 8'858'734);
  EXPECT_NEAR(static_cast<double>(yolo.macs()), 5.56e9 / 2, 0.005e9);
}

TEST_F(Vision, UnetKeepsTheSizeOfItsImage) {
  for (const std::int64_t size : {512, 600, 33, 16}) {
    SCOPED_TRACE(size);
    const Graph graph = build("unet", size);
    EXPECT_EQ(graph[graph.output()].shape, Shape::sequence(size * size, 2));
    EXPECT_EQ(layer(graph, "down4.maxpool_conv.1.double_conv.5").shape,
              Shape::maps(1024, size / 16, size / 16));
    EXPECT_EQ(layer(graph, "up1.cat").shape, Shape::maps(1024, size / 8, size / 8));
    EXPECT_EQ(layer(graph, "up4.cat").shape, Shape::maps(128, size, size));
    EXPECT_EQ(count(graph, "conv2d"), 19);
    EXPECT_EQ(count(graph, "conv_transpose"), 4);
  }
  // 600, 300, 150, 75, 37: on the way up 74 meets 75.
  EXPECT_EQ(layer(build("unet", 600), "up1.up").shape, Shape::maps(512, 74, 74));
}

TEST_F(Vision, YoloPredictsThreeBoxesAPixelOfBothHeads) {
  const Graph graph = build("yolov3_tiny", 416);
  EXPECT_EQ(graph[graph.output()].shape, Shape::sequence(3 * (13 * 13 + 26 * 26), 85));
  EXPECT_EQ(layer(graph, "11.maxpool").shape, Shape::maps(512, 13, 13));
  EXPECT_EQ(layer(graph, "15.conv").shape, Shape::maps(255, 13, 13));
  EXPECT_EQ(layer(graph, "20.route").shape, Shape::maps(128 + 256, 26, 26));
  EXPECT_EQ(layer(graph, "22.conv").shape, Shape::maps(255, 26, 26));
  EXPECT_EQ(count(graph, "conv2d"), 13);
}

TEST_F(Vision, ImageSizesHaveTheirDefaultsAndSteps) {
  WorkloadSpec none;
  EXPECT_EQ(image_size(network("unet"), none), 512);
  EXPECT_EQ(image_size(network("yolov3_tiny"), none), 416);
  EXPECT_EQ(image_size(network("resnet18"), none), 224);
  const auto refusal = [&](const std::string& name, std::int64_t size) -> std::string {
    try {
      registry<WorkloadType>().find(name)->configure(spec(1, Dtype::fp32, size));
      return "accepted";
    } catch (const UsageError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(refusal("yolov3_tiny", 608), "accepted");
  EXPECT_EQ(refusal("yolov3_tiny", 400),
            "--image-size: '400' was given; accepted for yolov3_tiny: multiples of 32 from 32 to 4096 "
            "(pixels a side)");
  EXPECT_EQ(refusal("unet", 600), "accepted");
  EXPECT_EQ(refusal("unet", 15),
            "--image-size: '15' was given; accepted for unet: whole numbers from 16 to 4096 (pixels a side)");
}

TEST_F(Vision, NormsAndActivationsAreFused) {
  for (const char* name : {"unet", "yolov3_tiny"}) {
    const Graph fused = fuse_for_inference(network(name).build(64));
    EXPECT_EQ(count(fused, "batch_norm"), 0) << name;
    EXPECT_EQ(count(fused, "activation"), 0) << name;
    EXPECT_EQ(fused.parameter_count(), network(name).published_parameters);
  }
}

// Channels 0 and 1 are the first row of a pixel, 2 and 3 its second; a map after another's rows.
TEST_F(Vision, RowsFollowPixelsAndThenBoxes) {
  Graph one({4, 1, 2});
  one.rows("rows", {one.image()}, 2);
  Graph alike({4, 1, 2});
  alike.rows("rows", {alike.image(), alike.relu("relu", alike.image())}, 2);
  Graph unlike({4, 1, 2});
  unlike.rows("rows", {unlike.image(), unlike.concat("twice", {unlike.image(), unlike.image()})}, 2);
  const std::vector<Sample> images{{10, 20, 11, 21, -12, 22, -13, 23}};
  for (const auto& [graph, expected] :
       {std::pair{one, std::vector<float>{10, 11, -12, -13, 20, 21, 22, 23}},
        std::pair{alike, std::vector<float>{10, 11, -12, -13, 20, 21, 22, 23, 10, 11, 0, 0, 20, 21, 22, 23}},
        std::pair{unlike, std::vector<float>{10, 11, -12, -13, 20, 21, 22, 23, 10, 11, -12, -13,
                                             10, 11, -12, -13, 20, 21, 22, 23, 20, 21, 22,  23}}}) {
    EXPECT_EQ(reference_outputs(graph, images, 1).front(), expected);
    for (const NetworkLayouts layouts :
         {NetworkLayouts{Layout::nhwc, Layout::nhwc}, NetworkLayouts{Layout::nchw, Layout::nchw},
          NetworkLayouts{Layout::nchw, Layout::nchw16c}}) {
      const Target target{.batch = 2, .dtype = Dtype::fp32, .layouts = layouts, .implementation = {}};
      ProgramRunner runner(plan_inference(graph, target, *device_), *device_, 1);
      runner.set_input(images);
      runner.run();
      std::vector<float> found = runner.output();
      found.resize(expected.size());
      EXPECT_EQ(found, expected) << name_of(layouts.inner);
    }
  }
}

// Four heads of different sizes and a concatenation of four maps, in every layout: the answer does not depend
// on it.
TEST_F(Vision, ManyMapsAnswerAlikeInEveryLayout) {
  Graph g({3, 13, 9});
  const auto conv = [&](const char* name, Graph::Value x, std::int64_t channels, std::int64_t stride) {
    return g.leaky_relu(fmt::format("{}.leaky", name),
                        g.conv2d(name, x, {.channels = channels, .kernel = 3, .stride = stride, .pad = 1}));
  };
  const auto a = conv("a", g.image(), 32, 1);
  const auto b = conv("b", a, 16, 2);
  const auto c = conv("c", b, 48, 2);
  const auto d = g.conv_transpose("d", c, 20, 2);
  const auto all = g.concat("all", {a, b, c, d});
  g.rows("rows", {conv("head", all, 20, 1), d, conv("e", b, 10, 1), conv("f", c, 40, 1)}, 10);
  const std::vector<std::vector<float>> images{seeded_image(g[0].shape.image(), 1, 0),
                                               seeded_image(g[0].shape.image(), 1, 1)};
  const auto expected = reference_outputs(g, images, 1);
  for (const NetworkLayouts layouts :
       {NetworkLayouts{Layout::nhwc, Layout::nhwc}, NetworkLayouts{Layout::nchw, Layout::nchw},
        NetworkLayouts{Layout::nchw, Layout::nchw16c}}) {
    SCOPED_TRACE(std::string(name_of(layouts.inner)));
    const Target target{.batch = 3, .dtype = Dtype::fp32, .layouts = layouts, .implementation = {}};
    ProgramRunner executor(plan_inference(fuse_for_inference(g), target, *device_), *device_, 1);
    executor.set_input(images);
    executor.poison_output();
    executor.run();
    const auto answers = executor.output();
    const std::size_t columns = expected[0].size();
    ASSERT_EQ(answers.size(), 3 * columns);
    for (std::size_t row = 0; row < 3; ++row) {
      EXPECT_LT(relative_error(std::span(answers).subspan(row * columns, columns), expected[row % 2]), 1e-5);
    }
  }
}

}  // namespace
}  // namespace bench::kernels
