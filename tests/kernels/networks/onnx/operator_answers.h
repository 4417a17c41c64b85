// Answers of a network written in a test against a formula.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/onnx/import.h"
#include "kernels/networks/passes/inference.h"
#include "kernels/workloads/network/reference.h"
#include "tests/kernels/networks/networks_fixture.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {

using Values = std::vector<float>;
using Formula = std::function<Values(const Values& x)>;

class OnnxAnswers : public NetworkTest {
 protected:
  ImportedNetwork network(const OnnxWriter& net) { return import_model(net.parse(), "net.onnx", {}); }

  // Of two samples, by the layers' references and as the device runs them.
  void expect_answers(const ImportedNetwork& network, const Formula& formula) {
    const std::vector<Sample> samples{seeded_sample(network.graph, 1, 0), seeded_sample(network.graph, 1, 1)};
    const auto by_reference = reference_outputs(network.graph, samples, 1);
    Target target;
    target.batch = 2;
    target.layouts = layouts_for(*device_, Dtype::fp32);
    ProgramRunner runner(plan_inference(fuse_for_inference(network.graph), target, *device_), *device_, 1);
    runner.set_input(samples);
    poison_step(runner, *device_);
    runner.run();
    const Values both = runner.output();
    for (std::size_t sample = 0; sample < 2; ++sample) {
      const Values expected = formula(samples[sample]);
      ASSERT_EQ(by_reference[sample].size(), expected.size());
      ASSERT_EQ(both.size(), 2 * expected.size());
      const Values by_device(both.begin() + static_cast<std::ptrdiff_t>(sample * expected.size()),
                             both.begin() + static_cast<std::ptrdiff_t>((sample + 1) * expected.size()));
      EXPECT_THAT(by_reference[sample], ::testing::Pointwise(::testing::FloatNear(2e-5F), expected));
      EXPECT_THAT(by_device, ::testing::Pointwise(::testing::FloatNear(2e-5F), expected));
    }
  }
  void expect_answers(const OnnxWriter& net, const Formula& formula) {
    expect_answers(network(net), formula);
  }

  // The values of a file's weight.
  static Values weight(const ImportedNetwork& network, const std::string& name) {
    const auto at = std::ranges::find(network.parameters, name, &ParameterSource::initializer);
    return at == network.parameters.end() ? Values{} : plain_parameter(network.graph, at->layer, at->slot, 1);
  }
};

}  // namespace bench::kernels::onnx
