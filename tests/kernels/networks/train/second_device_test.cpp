// How often a second device is opened for verification, and parameters are drawn, on made-up devices.
#include "kernels/workloads/network/second_device.h"

#include <gtest/gtest.h>

#include "bench/registry.h"
#include "kernels/networks/graph/layer.h"
#include "kernels/networks/graph/parameters.h"
#include "kernels/networks/program/recorder.h"
#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/operations/optimizer/optimizer.h"
#include "kernels/workloads/network/stage_train.h"
#include "kernels/workloads/network/train.h"
#include "tests/bench/run/fake_device.h"
#include "tests/bench/support/thread_ranks.h"

namespace bench::kernels {
namespace {

struct Opened {
  std::int64_t memory = 1000;  // bytes of each; as many are free but for 100
  bool is_hosts = false;       // that memory
  int devices = 0;
  int told_to_take_the_first = 0;
  int dropped = 0;
};
Opened opened;

class CountedDevice final : public bench::testing::FakeDevice {
 public:
  explicit CountedDevice(bool on_host, const std::string& id = "0") : on_host_(on_host) {
    info_ = FakeDevice::info();
    info_.kind = on_host ? "counted host" : "counted card";
    info_.id = id;
    info_.memory_bytes = opened.memory;
    info_.available_bytes = opened.memory - 100;
    memory_used = 300;
  }
  const DeviceInfo& info() const override { return info_; }
  bool host_accessible() const override { return opened.is_hosts; }
  bool computes_on_host() const override { return on_host_; }
  void take_first_algorithms() override { ++opened.told_to_take_the_first; }
  void drop_caches() override { ++opened.dropped; }

 private:
  bool on_host_;
  DeviceInfo info_;
};

DeviceKind counted(bool on_host) {
  return {.name = on_host ? "counted host" : "counted card",
          .preference = -1,
          .list = [] { return std::vector<DeviceKind::Listing>(); },
          .open = [on_host](const std::string& id) -> std::unique_ptr<Device> {
            ++opened.devices;
            return std::make_unique<CountedDevice>(on_host, id);
          }};
}
const Registration<DeviceKind> counted_host{counted(true)};
const Registration<DeviceKind> counted_card{counted(false)};

TEST(SecondDevice, OfACardIsOpenedOnceAndGivesItsMemoryBackEachTime) {
  opened = {};
  const CountedDevice measured(false);
  for (int use = 1; use <= 3; ++use) {
    const SecondDevice second(measured);
    EXPECT_NE(&*second, &measured);
    EXPECT_EQ(second.available_bytes(), 700) << "now, not when it was opened";
    EXPECT_EQ(opened.dropped, use - 1);
  }
  EXPECT_EQ(opened.devices, 1);
  EXPECT_EQ(opened.told_to_take_the_first, 1);
  EXPECT_EQ(opened.dropped, 3);
}

// The card computes as the reference does.
template <class Spec>
Implementation<Spec> on_the_counted_card() {
  return {.name = "on a counted card",
          .device_kind = "counted card",
          .preference = 0,
          .unsupported = [](const Spec&, const Device&) { return std::optional<std::string>(); },
          .make =
              [](const Spec& spec, Device& device) {
                return registry<Implementation<Spec>>().find("reference")->make(spec, device);
              }};
}
const Registration<Implementation<Linear>> counted_linear{on_the_counted_card<Linear>()};
const Registration<Implementation<CrossEntropy>> counted_loss{on_the_counted_card<CrossEntropy>()};
const Registration<Implementation<Elementwise>> counted_sum{on_the_counted_card<Elementwise>()};
const Registration<Implementation<Optimizer>> counted_optimizer{on_the_counted_card<Optimizer>()};

thread_local int parameters_drawn = 0;

struct CountedOptions {
  std::int64_t features = 4;
};

// A linear layer without a bias.
class CountedLayer final : public LayerOf<CountedLayer, CountedOptions> {
 public:
  using LayerOf::LayerOf;

  Shape shape(const std::string& /*name*/, std::span<const Shape> inputs) const override {
    return {inputs[0][0], options_.features};
  }
  std::int64_t macs(const LayerPlace& place) const override {
    return options_.features * place.input().elements();
  }
  std::vector<LayerParameter> parameters(const LayerPlace& place) const override {
    const std::int64_t inputs = place.input().features();
    return {{.slot = Slot::weights, .count = options_.features * inputs, .start = of_fan_in(inputs)}};
  }
  void init(const LayerPlace& place, Slot slot, std::uint64_t seed, std::int64_t from,
            std::span<float> values) const override {
    ++parameters_drawn;
    Layer::init(place, slot, seed, from, values);
  }
  void forward(Recorder& recorder) const override {
    recorder.record(spec(recorder, Direction::forward),
                    {{Slot::src, recorder.input()}, {Slot::dst, recorder.result()}});
  }
  void backward(Recorder& recorder) const override {
    recorder.record(spec(recorder, Direction::backward_weights),
                    {{Slot::src, recorder.input()},
                     {Slot::diff_dst, recorder.diff()},
                     {Slot::diff_weights, recorder.parameter_gradient(Slot::weights)}},
                    {}, " (weights)");
    if (recorder.wants_gradient()) {
      recorder.record(spec(recorder, Direction::backward_data),
                      {{Slot::diff_dst, recorder.diff()}, {Slot::diff_src, recorder.input_gradient()}});
    }
  }

 private:
  Linear spec(const Recorder& recorder, Direction direction) const {
    const TensorDesc rows = recorder.rows();
    return {.rows = rows.n,
            .inner = rows.c,
            .columns = options_.features,
            .direction = direction,
            .dtype = recorder.target().dtype};
  }
};
const LayerRegistration<CountedOptions, CountedLayer> counted_layer{"counted_of_a_test"};

NetworkPoint counted_point(std::int64_t batch) {
  constexpr std::int64_t kInputs = 24;
  Graph graph = Graph::reading({kBatch, kInputs});
  const Graph::Value x = graph.append("first", {graph.image()}, CountedOptions{.features = 16});
  graph.append("second", {x}, CountedOptions{.features = 5});
  return {.graph = graph, .dtype = Dtype::bf16, .batch = batch};
}

// A point in 16 bits is compared with the reference, at a small size, and with its twin in fp32: five
// trainers on three devices.
TEST(SecondDevice, OfTrainingsVerificationIsKeptAndParametersAreDrawnOnce) {
  constexpr int kParameters = 2;
  opened = {.memory = std::int64_t{1} << 30};
  const auto measured = std::make_unique<CountedDevice>(false, "of training");
  const auto reference = std::make_shared<GradientReference>();  // of all points
  for (const std::int64_t batch : {2, 4, 8}) {
    TrainWorkload workload(counted_point(batch), reference, *measured);
    parameters_drawn = 0;
    const Verification verification = workload.verify();
    EXPECT_TRUE(verification.passed) << verification.detail;
    EXPECT_EQ(verification.not_checked, "");
    EXPECT_NE(verification.detail.find("against the reference's at a small size"), std::string::npos);
    EXPECT_NE(verification.detail.find("to that of fp32"), std::string::npos) << verification.detail;
    EXPECT_EQ(parameters_drawn, kParameters) << "by all trainers that are compared, batch " << batch;
    EXPECT_EQ(opened.devices, 1) << "by all points";
  }
  EXPECT_EQ(opened.dropped, 4) << "after the small size, and after each twin";
}

// The first of two ranks computes the whole network. Ranks that are threads exchange the host's memory.
TEST(SecondDevice, OfStagesVerificationIsKeptToo) {
  opened = {.memory = std::int64_t{1} << 30, .is_hosts = true};
  for (const std::int64_t batch : {4, 8}) {
    bench::testing::run_ranks(2, [batch](RankGroup& group) {
      CountedDevice measured(false, "of a stage");
      NetworkPoint point = counted_point(batch);
      point.dtype = Dtype::fp32;
      point.stage = StagePlace{.stage = group.rank(), .stages = 2, .micro_batches = 2};
      point.training = staged(point.training, *point.stage);
      StageTrainWorkload workload(point, group, measured);
      parameters_drawn = 0;
      const Verification verification = workload.verify();
      EXPECT_TRUE(verification.passed) << verification.detail << verification.not_checked;
      EXPECT_EQ(parameters_drawn, group.rank() == 0 ? 2 : 1) << "rank " << group.rank();
    });
    EXPECT_EQ(opened.devices, 1) << "batch " << batch;
  }
  EXPECT_EQ(opened.told_to_take_the_first, 0) << "stages differ by 1e-5 at most";
  EXPECT_EQ(opened.dropped, 2);
}

// It opens at once, and the system's free memory is another each time.
TEST(SecondDevice, OfTheHostIsOpenedEachTime) {
  opened = {};
  const CountedDevice measured(true);
  for (int use = 0; use < 2; ++use) {
    EXPECT_EQ(SecondDevice(measured).available_bytes(), 900);
  }
  EXPECT_EQ(opened.devices, 2);
  EXPECT_EQ(opened.dropped, 0) << "the host's kept code is the measured device's too";
}

}  // namespace
}  // namespace bench::kernels
