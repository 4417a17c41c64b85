// Answers of a network written in a test against the reference.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/networks/onnx/import.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/workloads/network/reference.h"
#include "tests/kernels/networks/networks_fixture.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {

class ImportedAnswers : public NetworkTest {
 protected:
  // The answer of three samples by the device's implementations is the reference's, and depends on the input.
  void expect_like_reference(const ImportedNetwork& network, double tolerance = 2e-5) {
    const bench::kernels::Graph& graph = network.graph;
    const std::vector<Sample> samples{seeded_sample(graph, 1, 0), seeded_sample(graph, 1, 1),
                                      seeded_sample(graph, 1, 2)};
    const auto expected = reference_outputs(graph, samples, 1);
    EXPECT_GT(relative_error(expected[1], expected[0]), 1e-3);
    Target target;
    target.batch = 3;
    target.layouts = layouts_for(*device_, Dtype::fp32);
    ProgramRunner runner(plan_inference(fuse_for_inference(graph), target, *device_), *device_, 1);
    runner.set_input(samples);
    poison_step(runner, *device_);
    runner.run();
    const std::vector<float> found = runner.output();
    const std::size_t each = expected[0].size();
    ASSERT_EQ(found.size(), 3 * each);
    for (std::size_t sample = 0; sample < 3; ++sample) {
      EXPECT_LT(relative_error(std::span(found).subspan(sample * each, each), expected[sample]), tolerance);
    }
  }
};

}  // namespace bench::kernels::onnx
