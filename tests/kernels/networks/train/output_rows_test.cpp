// Outputs of any form are trained as rows of classes: those of the same rows in plain order have the same
// gradients.
#include <gtest/gtest.h>

#include <functional>

#include "kernels/networks/graph/array_options.h"
#include "kernels/networks/passes/training.h"
#include "kernels/workloads/network/gradient_check.h"
#include "kernels/workloads/network/train.h"
#include "kernels/workloads/reference_answers.h"

namespace bench::kernels {
namespace {

struct OutputForm {
  Graph graph;
  Layout maps = Layout::nhwc;
};

// Eight maps of 8 x 8 pixels.
OutputForm trained_maps(Layout layout = Layout::nhwc) {
  Graph g(Image{3, 8, 8});
  g.conv2d("conv", g.image(), {.channels = 8, .kernel = 3, .pad = 1, .bias = true});
  return {std::move(g), layout};
}

OutputForm trained_shape(const Shape& shape, const std::vector<std::size_t>& order = {}) {
  OutputForm form = trained_maps();
  const Graph::Value reshaped =
      form.graph.append("reshaped", {form.graph.output()}, ReshapeOptions{.shape = shape});
  if (!order.empty()) {
    form.graph.append("turned", {reshaped}, TransposeOptions{.order = order});
  }
  return form;
}

ProgramPlan planned(const OutputForm& form, Device& device) {
  const Target target{
      .batch = 2, .dtype = Dtype::fp32, .layouts = {form.maps, form.maps}, .implementation = "reference"};
  return plan_training(form.graph, target, {}, device);
}

TEST(OutputRows, OfAnyFormAreTrainedAlike) {
  const auto device = open_reference_device();
  const std::vector<std::pair<OutputForm, OutputForm>> pairs{
      {trained_maps(Layout::nchw), trained_maps(Layout::nhwc)},
      {trained_shape({kBatch, 8, 64}, {1, 0, 2}), trained_shape({kBatch, 8, 64})},
      {trained_shape({kBatch, 8, 64}, {1, 2, 0}), trained_shape({kBatch, 8, 64})},
      {trained_shape({kBatch, 2, 4, 8, 8}), trained_shape({kBatch, 64, 8})},
      {trained_shape({Extent(4, true), 16, 8}), trained_shape({kBatch, 64, 8})}};
  for (const auto& [odd, plain] : pairs) {
    SCOPED_TRACE(odd.graph[odd.graph.output()].shape.text());
    Trainer one(planned(odd, *device), *device, 1);
    Trainer other(planned(plain, *device), *device, 1);
    for (Trainer* const trainer : {&one, &other}) {
      set_seeded_batch(*trainer, 1);
      trainer->run_gradients();
    }
    EXPECT_EQ(one.plan().training->classes, other.plan().training->classes);
    EXPECT_EQ(one.plan().training->rows, other.plan().training->rows);
    EXPECT_FLOAT_EQ(static_cast<float>(one.loss()), static_cast<float>(other.loss()));
    const GradientDifference difference = compare_gradients(one, other);
    EXPECT_EQ(difference.tensors.size(), 2U);
    for (const TensorDifference& tensor : difference.tensors) {
      EXPECT_LT(tensor.error, 1e-5) << tensor.name;
      EXPECT_GT(tensor.norm_ratio, 0.9) << tensor.name;
    }
  }
}

}  // namespace
}  // namespace bench::kernels
