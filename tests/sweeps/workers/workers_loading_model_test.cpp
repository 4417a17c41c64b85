// A measured loader under other settings, as advice asks for it.
#include "bench/advise/loading_model.h"

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "sweeps/workers/simulated.h"
#include "tests/sweeps/workers/loader_machine.h"

namespace bench::sweeps {
namespace {

using testing::LoaderMachine;

std::unique_ptr<LoadingModel> model_of(const LoaderMachine& machine, const Simulated& simulated = {},
                                       bool device_on_cores = false,
                                       const std::vector<LoaderPoint>& measured = {}) {
  const auto profile = measure_profile(loader_points(machine.measured(), machine.setup()), machine.setup());
  ResultDocument document;
  Json& sweep = document.sweep.state;
  sweep = {
      {"profile", to_json(*profile)}, {"loader", {{"dtype", "bf16"}}}, {"simulated", to_json(simulated)}};
  for (const LoaderPoint& point : measured) {
    sweep["measured"].push_back(to_json(point));
  }
  return registry<LoadingModelReader>().find("workers")->read(document, device_on_cores);
}

TEST(WorkersLoadingModel, ReadsASimulatedLoaderOfTheUsersAndRefusesOtherSimulatedResults) {
  const LoaderMachine machine;
  auto profile = *measure_profile(loader_points(machine.measured(), machine.setup()), machine.setup());
  const auto read = [&] {
    ResultDocument document;
    document.sweep.state = {{"profile", to_json(profile)}};
    return registry<LoadingModelReader>().find("workers")->read(document, false);
  };
  profile.consumer = "20ms";
  EXPECT_THROW(read(), UsageError);
  profile.loader = "a loader of the user's";
  EXPECT_EQ(read()->facts().measured.dtype, "fp32");
  profile.consumer = "resnet18 (fp16, batch 16)";
  EXPECT_THROW(read(), UsageError);
}

// 16 samples of 5 ms take a worker 80 ms; the device computes 36.
TEST(WorkersLoadingModel, WaitsWithoutWorkersAndComputesWithEnough) {
  const auto model = model_of(LoaderMachine());
  EXPECT_EQ(model->facts().measured.batch, 16);
  EXPECT_EQ(model->facts().measured.dtype, "bf16");
  const LoadedStep without = model->step({.batch = 16, .workers = 0}, 36e6, {});
  EXPECT_NEAR(without.step_ns, 116e6, 4e6);
  EXPECT_NEAR(without.waiting_ns, 80e6, 4e6);
  const LoadedStep fed = model->step({.batch = 16, .workers = 4}, 36e6, {});
  EXPECT_NEAR(fed.step_ns, 36e6, 1e6);
  EXPECT_NEAR(fed.computing_ns + fed.copying_ns + fed.waiting_ns + fed.handover_ns, fed.step_ns, 1);
  EXPECT_EQ(model->limit({.batch = 16, .workers = 0}, 36e6, {}), Bottleneck::loader_cpu);
  EXPECT_EQ(model->limit({.batch = 16, .workers = 4}, 36e6, {}), Bottleneck::compute);
}

TEST(WorkersLoadingModel, AnotherBatchAndAnotherDeviceScaleTheStep) {
  const auto model = model_of(LoaderMachine());
  EXPECT_NEAR(model->step({.batch = 32, .workers = 0}, 72e6, {}).step_ns, 232e6, 8e6);
  // A device four times as fast waits for four workers: 80 ms · 1.12 / 4.
  EXPECT_NEAR(model->step({.batch = 16, .workers = 4}, 9e6, {}).step_ns, 22.4e6, 1e6);
}

// Four workers on four cores leave one to the device while they load: 80 ms · 1.12 of each 16 samples.
TEST(WorkersLoadingModel, ADeviceOnTheWorkersCoresSlowsDown) {
  const auto apart = model_of(LoaderMachine());
  const auto together = model_of(LoaderMachine(), {}, true);
  EXPECT_FALSE(together->facts().measured_on_cores);
  const TrainingSettings settings{.batch = 16, .workers = 4};
  const LoadedStep step = together->step(settings, 200e6, {});
  EXPECT_NEAR(apart->step(settings, 200e6, {}).step_ns, 200e6, 2e6);
  // A quarter of the cores' time goes into loading at least, all of it at most.
  EXPECT_GT(step.step_ns, 200e6 + 80e6 / 4 * 0.9);
  EXPECT_LT(step.step_ns, 200e6 + 2 * 80e6);
}

// 200 samples a second, a step's 16 computed in 36 ms.
LoaderPoint two_workers(const Interval& per_s) {
  LoaderPoint point;
  point.workers = 2;
  point.samples_per_s = {.value = 200, .ci95 = per_s};
  point.compute_ns = 36e6;
  return point;
}

// Two workers took 80 ms where the simulation says 45, as one of them is slow.
TEST(WorkersLoadingModel, AMeasuredCountIsTakenAsItWasMeasured) {
  const auto model = model_of(LoaderMachine(), {}, false, {two_workers({190, 210})});
  const LoadedStep measured = model->step({.batch = 16, .workers = 2, .prefetch = 2}, 36e6, {});
  EXPECT_DOUBLE_EQ(measured.step_ns, 80e6);
  EXPECT_NEAR(measured.computing_ns + measured.waiting_ns + measured.handover_ns + measured.copying_ns, 80e6,
              1);
  ASSERT_TRUE(measured.measured_deviation);
  EXPECT_NEAR(*measured.measured_deviation, std::log(210.0 / 190) / (2 * 1.96), 1e-12);
  // More prefetching brings what the simulation says, from there.
  EXPECT_NEAR(model->step({.batch = 16, .workers = 2, .prefetch = 8}, 36e6, {}).step_ns, 80e6, 4e6);
  // Another device, and another count, were not measured.
  EXPECT_GT(std::abs(model->step({.batch = 16, .workers = 2, .prefetch = 2}, 30e6, {}).step_ns - 80e6), 20e6);
  EXPECT_FALSE(model->step({.batch = 16, .workers = 3, .prefetch = 2}, 36e6, {}).measured_deviation);
}

// One rate from 100 to 400 samples/s says less than the simulation, whose own error is 5 % at least.
TEST(WorkersLoadingModel, ANoisyCountLeansOnTheSimulation) {
  const Simulated simulated{.points = {{.workers = 1, .held_out_au = 0.5}}};
  const TrainingSettings settings{.batch = 16, .workers = 2, .prefetch = 2};
  const double alone = model_of(LoaderMachine())->step(settings, 36e6, {}).step_ns;
  const LoadedStep step =
      model_of(LoaderMachine(), simulated, false, {two_workers({100, 400})})->step(settings, 36e6, {});
  const double deviation = std::log(4) / (2 * 1.96);
  const double own = 1 / (deviation * deviation);
  const double model = 1 / (0.1 * 0.1);  // no count left out was measured: twice the least error
  EXPECT_NEAR(std::log(step.step_ns), (own * std::log(80e6) + model * std::log(alone)) / (own + model), 1e-6);
  EXPECT_NEAR(*step.measured_deviation, 1 / std::sqrt(own + model), 1e-12);
}

TEST(WorkersLoadingModel, ACopyThatTakesLongerThanComputingIsTheBus) {
  const auto model = model_of(LoaderMachine());
  const LoadedStep step = model->step({.batch = 16, .workers = 8}, 36e6, 60e6);
  EXPECT_NEAR(step.copying_ns, 24e6, 2e6);
  EXPECT_EQ(model->limit({.batch = 16, .workers = 8}, 36e6, 60e6), Bottleneck::bus);
}

TEST(WorkersLoadingModel, SlowStorageIsNamed) {
  LoaderMachine machine;
  machine.storage = loader::Storage{.bytes_per_s = 20e6, .latency_ns = 1e6};  // 16 · 110 kB take 88 ms
  EXPECT_EQ(model_of(machine)->limit({.batch = 16, .workers = 4}, 36e6, {}), Bottleneck::storage);
}

TEST(WorkersLoadingModel, MemoryIsThatOfSlotsAndWorkers) {
  const auto model = model_of(LoaderMachine());
  const double slot = 16 * 602'112;
  EXPECT_NEAR(model->host_bytes({.batch = 16, .workers = 3}), 3 * (2 * slot + 3e6), 100);
  EXPECT_NEAR(model->host_bytes({.batch = 32, .workers = 0}), 2 * slot, 1);
  EXPECT_NEAR(model->host_bytes({.batch = 16, .workers = 3, .cards = 2}), 6 * (2 * slot + 3e6), 200);
}

TEST(WorkersLoadingModel, ItsErrorIsThatOfCountsLeftOut) {
  EXPECT_FALSE(model_of(LoaderMachine())->facts().error);
  const Simulated simulated{
      .points = {{.workers = 1, .held_out_au = 0.55}, {.workers = 2, .held_out_au = 0.8}, {.workers = 3}}};
  std::vector<LoaderPoint> measured(2);
  for (const auto& [row, au] : {std::pair{0, 0.5}, std::pair{1, 0.8}}) {
    measured[static_cast<std::size_t>(row)].workers = row + 1;
    measured[static_cast<std::size_t>(row)].au = Estimate{.value = au};
  }
  const auto model = model_of(LoaderMachine(), simulated, false, measured);
  ASSERT_TRUE(model->facts().error);
  EXPECT_NEAR(*model->facts().error, std::log(1.1) / std::sqrt(2), 1e-12);
}

}  // namespace
}  // namespace bench::sweeps
