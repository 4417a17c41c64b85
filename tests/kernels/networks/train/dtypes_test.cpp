// A training step is planned in every dtype, those that only cards have among them: by the slow references,
// which take them all and need no card.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "../networks_fixture.h"
#include "kernels/networks/models/network.h"
#include "kernels/networks/passes/training.h"
#include "kernels/networks/program/trainer.h"

namespace bench::kernels {
namespace {

class TrainingDtypes : public NetworkTest {
 protected:
  ProgramPlan plan(const NetworkType& network, Dtype dtype, Optimizer::Kind optimizer) {
    const Target target{.batch = 1, .dtype = dtype, .layouts = {}, .implementation = "reference"};
    return plan_training(build_network(network, {}), target,
                         {.optimizer = optimizer, .loss_scaling = dtype == Dtype::fp16}, *device_);
  }
};

TEST_F(TrainingDtypes, ArePlannedForEveryNetworkAndOptimizer) {
  for (const auto& network : registry<NetworkType>().entries()) {
    for (const Dtype dtype : kAllDtypes) {
      for (const auto optimizer : {Optimizer::Kind::sgd, Optimizer::Kind::momentum, Optimizer::Kind::adam}) {
        SCOPED_TRACE(fmt::format("{} {}", network->name, name_of(dtype)));
        const ProgramPlan planned = plan(*network, dtype, optimizer);
        for (const ParameterGroup& group : planned.groups) {
          EXPECT_NE(group.dtype, Dtype::tf32);  // how it multiplies, not how it is stored
        }
      }
    }
  }
}

TEST_F(TrainingDtypes, Tf32TakesWhatFp32Does) {
  const NetworkType& network = *registry<NetworkType>().find("resnet18");
  EXPECT_EQ(plan(network, Dtype::tf32, Optimizer::Kind::adam).memory().peak,
            plan(network, Dtype::fp32, Optimizer::Kind::adam).memory().peak);
}

}  // namespace
}  // namespace bench::kernels
