// Which points the workers sweep asks for, and which options it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "bench/cli/option.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "sweeps/workers/options.h"
#include "sweeps/workers/profile.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/bench/support/without_path.h"
#include "tests/sweeps/fake_device.h"
#include "tests/sweeps/workers/loader/jpegs.h"
#include "tests/sweeps/workers/loader/temporary_folder.h"
#include "tests/sweeps/workers/loader_machine.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;

class NoMemory : public ConfiguredWorkload {
 public:
  MemoryPlan plan(Device& /*device*/) const override { return {}; }
  std::unique_ptr<Workload> make(Device& /*device*/) const override { return nullptr; }
  std::optional<std::int64_t> image_size() const override { return 64; }
};

class WorkersPlan : public ::testing::Test {
 protected:
  WorkersPlan() {
    network_.name = "net";
    network_.kind = "network";
    network_.modes = {"infer", "train"};
    network_.options = {{"image-size", "64", ""}};
    request_.workload = &network_;
    request_.workloads = {&network_};
    request_.modes = {"infer"};
    request_.workload_options = {{"image-size", {"64"}}};
    network_.configure = [](const WorkloadSpec&) { return std::make_shared<NoMemory>(); };
    for (const CommandOption& option : registry<SweepType>().find("workers")->options) {
      request_.sweep_options[option.name] = option.default_value;
    }
  }

  std::unique_ptr<Sweep> make() { return registry<SweepType>().find("workers")->make(request_, device_); }
  SweepPlan plan() { return make()->plan(); }
  std::vector<std::string> names() {
    std::vector<std::string> all;
    for (const SweepPoint& point : plan().points) {
      all.push_back(point.name);
    }
    return all;
  }
  std::string refusal() {
    try {
      plan();
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  }

  WorkloadType network_;
  testing::ManualClock clock_;
  SweepRequest request_{clock_};
  testing::FakeDevice device_{{Dtype::fp32, Dtype::bf16}};
};

TEST_F(WorkersPlan, AsksForReadyDataEachWorkerCountAndTheLoaderAlone) {
  request_.sweep_options["workers"] = "0,2,1:8:x2";
  EXPECT_THAT(names(), AllOf(Contains("workers/net/fp32/batch:4/ready"),
                             Contains("workers/net/fp32/batch:4/in-order/workers:0"),
                             Contains("workers/net/fp32/batch:4/in-order/workers:8"),
                             Contains("workers/net/fp32/batch:4/capacity/workers:1")));
  std::set<std::string> seen;
  for (const SweepPoint& point : plan().points) {
    EXPECT_TRUE(seen.insert(point.name).second) << point.name;
    EXPECT_EQ(point.is_reference, point.params.at("loader") == "ready");
    EXPECT_EQ(point.oversubscribes_cores,
              point.params.at("loader") == "pool" || point.params.at("loader") == "capacity");
    EXPECT_EQ(point.params.at("consumer"), point.params.at("loader") == "capacity" ? "none" : "net");
  }
  EXPECT_EQ(plan().axes.at("workers"), Json({0, 1, 2, 4, 8}));
}

TEST_F(WorkersPlan, CheapCountsComeFirst) {
  const auto counts = [&](const std::string& asked) {
    request_.sweep_options["workers"] = asked;
    std::vector<std::int64_t> pool;
    for (const SweepPoint& point : plan().points) {
      if (point.params.at("loader") == "pool") {
        pool.push_back(point.params.at("workers"));
      }
    }
    return pool;
  };
  EXPECT_THAT(counts("0,1,2,4,8"), ElementsAre(1, 2, 0, 4, 8));
  EXPECT_THAT(counts("0,4"), ElementsAre(4, 0));
  EXPECT_THAT(counts("0"), ElementsAre(0));
  EXPECT_THAT(counts("2,4"), ElementsAre(2, 4));
}

TEST_F(WorkersPlan, BehindABusReadyDataComesFromBothKindsOfHostMemory) {
  EXPECT_THAT(names(), Contains("workers/net/fp32/batch:4/ready/staging:pinned"));
  request_.sweep_options["staging"] = "pinned";
  EXPECT_THAT(names(), Contains("workers/net/fp32/batch:4/ready/staging:pageable"));
}

TEST_F(WorkersPlan, BothOrdersHavePointsOfTheirOwn) {
  request_.sweep_options["workers"] = "2";
  request_.sweep_options["order"] = "any,in-order";
  EXPECT_THAT(names(), AllOf(Contains("workers/net/fp32/batch:4/any/workers:2"),
                             Contains("workers/net/fp32/batch:4/in-order/workers:2")));
}

TEST_F(WorkersPlan, AConsumerThatReadsNoImagesIsRefused) {
  struct Blind final : NoMemory {
    std::optional<std::int64_t> image_size() const override { return std::nullopt; }
  };
  network_.configure = [](const WorkloadSpec&) { return std::make_shared<Blind>(); };
  expect_words(refusal());
}

TEST_F(WorkersPlan, ATimeIsAConsumerElsewhere) {
  request_.sweep_options["consumer"] = "40ms";
  request_.sweep_options["workers"] = "1";
  EXPECT_THAT(names(), Contains("workers/40ms/fp32/batch:32/in-order/workers:1"));
}

TEST_F(WorkersPlan, MemoryIsTheConsumersAndTwoArrivingBatches) {
  request_.sweep_options["consumer"] = "40ms";
  request_.sweep_options["workers"] = "1";
  const SweepPlan planned = plan();
  const SweepPoint& point = planned.points.front();
  EXPECT_EQ(point.workload->plan(device_).peak, 2 * 32 * 3 * 64 * 64 * 4);
}

// A budget without room for what such a storage gives is not overrun to find out.
TEST_F(WorkersPlan, KnowsWhatAStorageTakesBeforeAnythingIsRead) {
  const loader::TemporaryFolder folder;
  const std::vector<std::byte> image = loader::make_jpeg({}, 1);
  folder.write("image.jpg", image);
  request_.sweep_options["data"] = folder.path().string();
  request_.sweep_options["consumer"] = "40ms";
  request_.sweep_options["workers"] = "2";
  for (const SweepPoint& point : plan().points) {
    EXPECT_EQ(point.workload->least_cost().setup_ns, 0) << point.name;
  }
  request_.sweep_options["storage"] = "1KB/s,10ms";
  const SweepPlan planned = plan();
  for (const SweepPoint& point : planned.points) {
    const PointCost cost = point.workload->least_cost();
    const auto readers = std::max(1.0, point.params.at("workers").get<double>());
    const double batch_ns = 32 * (static_cast<double>(image.size()) * 1e6 + 10e6 / readers);
    if (point.params.at("loader") == "ready" || point.params.at("loader") == "other-staging") {
      EXPECT_NEAR(cost.setup_ns, (2 + 1 + 2 * 8) * batch_ns, 1e-6 * batch_ns);
      EXPECT_EQ(cost.step_ns, 0);
    } else {
      EXPECT_GE(cost.step_ns, 8 * batch_ns);  // a window
      EXPECT_NEAR(cost.setup_ns, cost.step_ns + batch_ns, 1e-6 * batch_ns);
    }
  }
}

TEST_F(WorkersPlan, RefusesWhatItCannotMean) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> wrong = {
      {"workers", {"1001", "-1", "a", "", "1,,2", "0:4:x2", "4:1:x2"}},
      {"prefetch", {"0", "65", "two", "1.5"}},
      {"order", {"fifo", "", "in-order,"}},
      {"consumer", {"nothing", "40", "-3ms", "0ms", "", "/no/such/file"}},
      {"element", {"fp64", ""}},
      {"layout", {"nchwc", ""}},
      {"staging", {"locked", ""}},
      {"storage", {"200", "200MB", "MB/s", "200MB/s,", "200MB/s,5", "0MB/s", "-1MB/s,5ms"}},
      {"demand",
       {"t4", "t4=", "t4=0/s", "t4=-1/s", "t4=fast/s", "t4=1128", "a=1/s,,b=2/s", "=nan/s", "x=inf/s"}},
      {"bus", {"4GB", "fast", "/s", "0GB/s", "-1GB/s", ""}},
      {"gpus", {"0", "65"}},
      {"cores", {"0", "many"}},
  };
  for (const auto& [option, values] : wrong) {
    const std::string before = request_.sweep_options.at(option);
    for (const std::string& value : values) {
      request_.sweep_options[option] = value;
      expect_words(refusal());
    }
    request_.sweep_options[option] = before;
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(WorkersPlan, TheHelpShowsTheFormOfEachOptionsValues) {
  for (const CommandOption& option : registry<SweepType>().find("workers")->options) {
    EXPECT_TRUE(option.is_switch || value_name(option) != "VALUE") << option.name;
  }
}

TEST_F(WorkersPlan, TakesOneBatchAndOneDtype) {
  request_.batches = {4, 8};
  expect_words(refusal());
  request_.batches = {4};
  request_.dtypes = {Dtype::fp32, Dtype::bf16};
  expect_words(refusal());
}

TEST_F(WorkersPlan, SimulatingMeasuresNothing) {
  request_.sweep_options["simulate"] = "yes";
  expect_words(refusal());
  request_.sweep_options["profile"] = "earlier.json";
  EXPECT_TRUE(plan().points.empty());
}

// A batch sweep of another machine: batches 8 and 16 in fp16.
class OtherMachine : public WorkersPlan {
 protected:
  OtherMachine() {
    ResultDocument document;
    document.context.device.name = "Some Card";
    document.sessions = {{.id = "run", .started = "2026-03-01T12:34:56+01:00"}};
    document.sweep.name = "batch";
    document.sweep.workload = "resnet50";
    for (const auto& [batch, milliseconds] : {std::pair(8, 10), std::pair(16, 16)}) {
      Point point;
      point.name = "batch/" + std::to_string(batch);
      point.params = {{"batch", batch}, {"dtype", "fp16"}};
      point.samples_ns = {milliseconds * 1'000'000};
      point.rounds = rounds_of({1});
      point.items_per_step = batch;
      point.stats.median_ns = milliseconds * 1e6;
      point.stats.rounds = 1;
      document.points.push_back(point);
    }
    std::ofstream(file_) << to_json(document);
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "batch-resnet50-cuda0.json";
};

TEST_F(OtherMachine, ItsBestBatchIsTheConsumer) {
  request_.sweep_options["consumer"] = file_.string();
  const sweeps::WorkersOptions options = sweeps::workers_options(request_, device_);
  EXPECT_EQ(options.setup.batch, 16);
  EXPECT_EQ(options.consumer.step_ns, 16'000'000);
  EXPECT_EQ(options.setup.consumer, "resnet50 on Some Card");
}

TEST_F(OtherMachine, BetweenItsBatchesALineIsDrawn) {
  request_.sweep_options["consumer"] = file_.string();
  request_.batches = {12};
  EXPECT_EQ(sweeps::workers_options(request_, device_).consumer.step_ns, 13'000'000);
  request_.batches = {32};
  expect_words(refusal());
}

TEST_F(OtherMachine, ItsBestRateIsARequiredThroughput) {
  request_.sweep_options["demand"] = "card=" + file_.string() + ",t4=1128/s";
  const auto required = sweeps::workers_options(request_, device_).setup.required;
  ASSERT_EQ(required.size(), 2U);
  EXPECT_EQ(required[0].name, "card");
  EXPECT_DOUBLE_EQ(required[0].samples_per_s, 1000);
  EXPECT_EQ(required[1].samples_per_s, 1128);
}

TEST_F(OtherMachine, SimulatedItsStepIsThatOfTheProfilesBatch) {
  sweeps::testing::LoaderMachine machine;
  const auto step_of = [&](std::int64_t batch) {
    machine.batch = batch;
    const sweeps::LoaderSetup setup = machine.setup();
    const auto profile = sweeps::measure_profile(sweeps::loader_points(machine.measured(), setup), setup);
    const std::filesystem::path file = folder_.path() / "workers.json";
    std::ofstream(file) << Json{{"schema", kResultSchema},
                                {"sweep", {{"name", "workers"}, {"profile", sweeps::to_json(*profile)}}}};
    request_.sweep_options["simulate"] = "yes";
    request_.sweep_options["profile"] = file.string();
    request_.sweep_options["consumer"] = file_.string();
    request_.given_sweep_options = {"simulate", "profile", "consumer"};
    const auto sweep = make();
    sweep->predict([] { return std::nullopt; });
    return sweep->to_json().at("profile").at("compute_ns").at(0).get<double>();
  };
  EXPECT_EQ(step_of(8), 10'000'000);  // not its best batch's, which is 16
  EXPECT_EQ(step_of(12), 13'000'000);
  expect_words(message_of<UsageError>([&] { step_of(4); }));
}

TEST_F(OtherMachine, AnotherSweepsResultIsRefused) {
  Json other = Json::parse(std::ifstream(file_));
  for (const char* const sweep : {"workers", "memory", "transfer"}) {
    other["sweep"]["name"] = sweep;
    std::ofstream(file_) << other;
    request_.sweep_options["consumer"] = file_.string();
    expect_words(without_path(refusal(), file_.parent_path()));
    request_.sweep_options["consumer"] = "40ms";
    request_.sweep_options["demand"] = "card=" + file_.string();
    expect_words(without_path(refusal(), file_.parent_path()));
    request_.sweep_options["demand"] = "none";
  }
}

TEST_F(OtherMachine, ADeeplyNestedFileIsRefused) {
  Json other = Json::parse(std::ifstream(file_));
  other["sweep"]["deep"] = "HERE";
  std::string text = other.dump();
  text.replace(text.find("\"HERE\""), 6, std::string(300'000, '[') + std::string(300'000, ']'));
  std::ofstream(file_) << text;
  for (const char* const option : {"consumer", "demand"}) {
    const std::string before = request_.sweep_options.at(option);
    request_.sweep_options[option] = file_.string();
    expect_words(without_path(refusal(), file_.parent_path()));
    request_.sweep_options[option] = before;
  }
}

TEST_F(OtherMachine, TheLabelKeepsATimeWholeAndDropsAFilesEnding) {
  const auto label = [&](const std::string& consumer) {
    request_.sweep_options["consumer"] = consumer;
    registry<SweepType>().find("workers")->complete(request_);
    return request_.label;
  };
  EXPECT_EQ(label("12.5ms"), "12.5ms");
  EXPECT_EQ(label("workload"), "net");
  EXPECT_EQ(label(file_.string()), "batch-resnet50-cuda0");
}

TEST_F(WorkersPlan, AFileNameLongerThanTheSystemTakesIsNoFile) {
  for (const char* const option : {"consumer", "demand"}) {
    const std::string before = request_.sweep_options.at(option);
    request_.sweep_options[option] = std::string(6000, 'x');
    expect_words(refusal());
    request_.sweep_options[option] = before;
  }
}

TEST_F(OtherMachine, AnotherDtypeOrNoResultIsRefused) {
  request_.sweep_options["consumer"] = file_.string();
  request_.dtypes = {Dtype::bf16};
  expect_words(without_path(refusal(), file_.parent_path()));
  std::ofstream(file_) << "{";
  expect_words(without_path(refusal(), file_.parent_path()));
  std::ofstream(file_) << "[]";
  expect_words(without_path(refusal(), file_.parent_path()));
}

}  // namespace
}  // namespace bench
