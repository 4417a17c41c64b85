#include "bench/advise/measured_advice.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "tests/bench/evaluate/documents.h"
#include "tests/bench/model/program_data.h"

namespace bench {
namespace {

using testing::add_measured;
using testing::batch_document;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A loader of two cores whose workers never vary: its file says how long a worker takes for a sample, what
// limits it, how much each worker slows computing down, and what else went on.
class SteadyLoading final : public LoadingModel {
 public:
  explicit SteadyLoading(const Json& file)
      : sample_ns_(file.at("sample_ns").get<double>()),
        slowdown_(file.value("slowdown", 0.0)),
        other_cores_(file.value("other_cores", 0.0)),
        measured_(file.value("measured", -1)),
        storage_(file.value("storage", false)),
        out_of_memory_(file.value("oom", false)) {}

  LoadedStep step(const TrainingSettings& settings, double compute_ns,
                  std::optional<double> copy_ns) const override {
    const double load = static_cast<double>(settings.batch) * sample_ns_ /
                        static_cast<double>(std::clamp<std::int64_t>(settings.workers, 1, 2));
    const double copy = copy_ns.value_or(0);
    const double computing = compute_ns * (1 + slowdown_ * static_cast<double>(settings.workers));
    const double ready = std::max(computing, copy);
    const double whole = settings.workers == 0 ? ready + load : std::max(ready, load);
    return {.step_ns = whole,
            .computing_ns = computing,
            .copying_ns = ready - computing,
            .waiting_ns = whole - ready,
            .measured_deviation = settings.workers == measured_ ? std::optional(0.03) : std::nullopt};
  }
  Bottleneck limit(const TrainingSettings& /*settings*/, double /*compute_ns*/,
                   std::optional<double> /*copy_ns*/) const override {
    return storage_ ? Bottleneck::storage : Bottleneck::loader_cpu;
  }
  double host_bytes(const TrainingSettings& settings) const override {
    return 10.0 * static_cast<double>(settings.workers * settings.batch);
  }
  std::optional<double> error() const override { return 0.02; }
  TrainingSettings measured() const override { return {.batch = 8}; }
  double compute_ns() const override { return 80e6; }
  bool measured_on_cores() const override { return false; }
  std::int64_t most_workers() const override { return 8; }
  double cores() const override { return 2; }
  double other_cores() const override { return other_cores_; }
  bool ran_out_of_memory(const TrainingSettings& settings) const override {
    return out_of_memory_ && settings.workers > 1;
  }
  double samples_per_s_of_a_worker() const override { return 1e9 / sample_ns_; }
  std::string consumer() const override { return "resnet50"; }

 private:
  double sample_ns_;
  double slowdown_;
  double other_cores_;
  std::int64_t measured_;  // a count of workers; -1: none
  bool storage_;
  bool out_of_memory_;
};

const Registration<LoadingModelReader> registered{LoadingModelReader{
    .name = "workers", .read = [](const Json& file, bool /*on_cores*/) -> std::unique_ptr<LoadingModel> {
      return std::make_unique<SteadyLoading>(file);
    }}};

// 10 ms a sample, and at batch 1 twice that.
AdviceFile batch_file(double error = 0.01) {
  AdviceFile file{.path = "batch.json", .json = {}, .document = batch_document("gpu")};
  file.document.sweep.mode = "train";
  file.document.context.device.kind = "cuda";
  for (const std::int64_t batch : {1, 8, 16}) {
    add_measured(file.document, "fp32", batch, batch == 1 ? 50 : 100, error, 100 + 10 * batch);
  }
  return file;
}

AdviceFile workers_file(double sample_ms, bool storage = false) {
  AdviceFile file{.path = "workers.json",
                  .json = {{"sample_ns", sample_ms * 1e6}, {"storage", storage}},
                  .document = batch_document("cpu")};
  file.document.sweep.name = "workers";
  file.document.sweep.workload = "resnet50";
  file.document.context.host.memory_bytes = 1'000'000;
  Finding scaling = finding_of("scaling", "images/s");
  scaling.value = 100;
  file.document.findings.push_back(scaling);
  return file;
}

const Change* change_named(const Advice& advice, const std::string& what) {
  const auto found = std::ranges::find(advice.changes, what, &Change::what);
  return found == advice.changes.end() ? nullptr : &*found;
}

std::string refusal(const std::vector<AdviceFile>& files, const TrainingSettings& current = {}) {
  try {
    static_cast<void>(advice_from(StepModel(files), current));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(MeasuredAdvice, NamesALoaderWithoutWorkersAndHowManyHideIt) {
  const StepModel model({batch_file(), workers_file(5)});
  const Advice advice = advice_from(model, {.batch = 8});
  EXPECT_EQ(advice.bottleneck, Bottleneck::loader_cpu);
  // 80 ms of computing and 40 of loading, one after the other.
  EXPECT_NEAR(advice.step_ns, 120e6, 1);
  ASSERT_EQ(advice.budget.size(), 2);
  EXPECT_EQ(advice.budget[1].name, "waiting for data");
  EXPECT_NEAR(advice.budget[1].ns, 40e6, 1);
  const Change* const change = change_named(advice, "workers 0 → 1");
  ASSERT_NE(change, nullptr);
  EXPECT_NEAR(change->step_ns, 80e6, 1);
  EXPECT_NEAR(change->speedup, 1.5, 1e-9);
  EXPECT_LT(change->speedup90->low, 1.5);
  EXPECT_GT(change->speedup90->high, 1.5);
  EXPECT_EQ(change->setting, "DataLoader(num_workers=1, prefetch_factor=2, persistent_workers=True)");
}

// 80 ms of computing: one worker loads in 83.2, a second one brings 4 %, less than the noise.
TEST(MeasuredAdvice, AdvisesTheMeasuredWorkersThatNoiseDoesNotTellFromMore) {
  AdviceFile workers = workers_file(10.4);
  workers.json["measured"] = 1;
  const StepModel model({batch_file(), workers});
  const Advice advice = advice_from(model, {.batch = 8});
  EXPECT_NE(change_named(advice, "workers 0 → 1"), nullptr);
  EXPECT_EQ(change_named(advice, "workers 0 → 2"), nullptr);
}

TEST(MeasuredAdvice, NamesTheStorageWhereTheLoaderSaysSo) {
  const Advice advice = advice_from(StepModel({batch_file(), workers_file(5, true)}), {.batch = 8});
  EXPECT_EQ(advice.bottleneck, Bottleneck::storage);
}

TEST(MeasuredAdvice, NothingPaysWhereTheDeviceNeverWaits) {
  const Advice advice = advice_from(StepModel({batch_file(), workers_file(5)}), {.batch = 16, .workers = 2});
  EXPECT_EQ(advice.bottleneck, Bottleneck::none);
  EXPECT_THAT(advice.changes, IsEmpty());
  EXPECT_THAT(advice.reason, HasSubstr("Computing takes 100 % of a step"));
}

TEST(MeasuredAdvice, OneSettingAloneDecidesNothing) {
  AdviceFile file = batch_file();
  file.document.benchmarks.resize(1);
  const Advice advice = advice_from(StepModel({file}), {.batch = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  EXPECT_THAT(advice.reason, HasSubstr("no other batch and no other dtype was measured"));
}

TEST(MeasuredAdvice, ALoaderBesideASingleBatchDecidesNothingEither) {
  AdviceFile file = batch_file(0.6);
  file.document.benchmarks.resize(1);
  const Advice advice = advice_from(StepModel({file, workers_file(0.1)}), {.batch = 1, .workers = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  EXPECT_THAT(advice.missing, ::testing::Contains(HasSubstr("bench --sweep batch --batch")));
  EXPECT_THAT(advice.warnings, ::testing::Contains(HasSubstr("A step of 20.0 ms may take")));
}

TEST(MeasuredAdvice, AShortWaitIsNotWhatLimitsAStep) {
  const Advice advice = advice_from(StepModel({batch_file(), workers_file(0.8)}), {.batch = 8});
  EXPECT_EQ(advice.bottleneck, Bottleneck::compute) << "6.4 of 86.4 ms wait";
  EXPECT_NE(change_named(advice, "workers 0 → 1"), nullptr);
}

TEST(MeasuredAdvice, ChangesCombineInTheModelAndNotByTheirPercentages) {
  const StepModel model({batch_file(), workers_file(20)});
  const Advice advice = advice_from(model, {.batch = 1, .accumulate = 8});
  // 20 ms of computing and 20 of loading a sample now; 10 of both, overlapped, at batch 8 with two workers.
  const Change* const change = change_named(advice, "batch 1 → 8, accumulate 8 → 1, workers 0 → 2");
  ASSERT_NE(change, nullptr);
  EXPECT_EQ(&advice.changes.front(), change);
  EXPECT_NEAR(change->speedup, 4, 1e-9);
  EXPECT_EQ(change->after.effective_batch(), 8);
  EXPECT_THAT(change->costs, ::testing::Contains(HasSubstr("effective batch stays 8")));
  EXPECT_THAT(change->costs, ::testing::Contains(HasSubstr("device memory 110 B → 180 B (18 % of 1000 B)")));
}

TEST(MeasuredAdvice, AnotherEffectiveBatchNamesTheLearningRate) {
  const Advice advice = advice_from(StepModel({batch_file()}), {.batch = 1});
  ASSERT_FALSE(advice.changes.empty());
  EXPECT_EQ(advice.changes.front().what, "batch 1 → 8");
  EXPECT_THAT(advice.changes.front().costs,
              ::testing::Contains(HasSubstr("learning rate × 8 with SGD, × 2.83 with Adam")));
  EXPECT_THAT(advice.missing, ::testing::Contains(HasSubstr("bench --sweep workers")));
}

TEST(MeasuredAdvice, AGainWithinTheNoiseIsNone) {
  AdviceFile noisy = batch_file(0.6);
  const Advice advice = advice_from(StepModel({noisy}), {.batch = 1});
  EXPECT_THAT(advice.changes, IsEmpty());
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  EXPECT_THAT(advice.reason,
              HasSubstr("batch 1 → 8 seems to be 2.00 times as fast, but noise leaves it open"));
}

TEST(MeasuredAdvice, AMemoryNearItsCapComesBeforeComputing) {
  AdviceFile file = batch_file();
  file.document.benchmarks.back().memory.peak_measured = 960;  // of 1000
  const Advice advice = advice_from(StepModel({file}), {.batch = 16});
  EXPECT_EQ(advice.bottleneck, Bottleneck::vram);
  EXPECT_THAT(advice.reason, HasSubstr("960 B of 1000 B"));
}

TEST(MeasuredAdvice, HostMemoryThatTheWorkersNeedIsNamedFirst) {
  AdviceFile workers = workers_file(5);
  workers.document.context.host.memory_bytes = 100;
  const Advice advice = advice_from(StepModel({batch_file(), workers}), {.batch = 8, .workers = 2});
  EXPECT_EQ(advice.bottleneck, Bottleneck::host_memory);
}

TEST(MeasuredAdvice, HostMemoryThatEndedAPointIsNamedFirst) {
  AdviceFile workers = workers_file(5);
  workers.json["oom"] = true;
  const StepModel model({batch_file(), workers});
  EXPECT_EQ(advice_from(model, {.batch = 8, .workers = 2}).bottleneck, Bottleneck::host_memory);
  EXPECT_EQ(advice_from(model, {.batch = 8, .workers = 1}).bottleneck, Bottleneck::none);
}

TEST(MeasuredAdvice, WorkersThatTakeTheCoresOfComputingAreTheLoaders) {
  AdviceFile workers = workers_file(5);
  workers.json["slowdown"] = 0.2;
  const StepModel model({batch_file(), workers});
  const Advice advice = advice_from(model, {.batch = 8, .workers = 4});
  EXPECT_EQ(advice.bottleneck, Bottleneck::loader_cpu);
  EXPECT_THAT(advice.reason,
              HasSubstr("computing takes 144 ms of a step of 144 ms, and 80.0 ms without them"));
  EXPECT_EQ(advice.changes.front().what, "workers 4 → 1");
}

// 80 ms of computing, 100 of loading with one worker.
TEST(MeasuredAdvice, AWaitThatOtherProgramsMayHaveMadeIsUndecided) {
  AdviceFile workers = workers_file(12.5);
  workers.json["other_cores"] = 1;  // the second one
  EXPECT_EQ(advice_from(StepModel({batch_file(), workers}), {.batch = 8, .workers = 1}).bottleneck,
            Bottleneck::loader_cpu);
  workers.json["other_cores"] = 1.5;
  const Advice advice = advice_from(StepModel({batch_file(), workers}), {.batch = 8, .workers = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::undecided);
  EXPECT_THAT(advice.reason, HasSubstr("other programs kept 1.5 of 2 cores busy"));
  EXPECT_THAT(advice.missing, ::testing::Contains(HasSubstr("idle machine")));
}

// The fixed part of a step: 40 of 50 ms at batch 1, of which moving the weights takes 10 with 1 GB/s, and
// 10000 operations are started.
AdviceFile fixed_cost_file() {
  AdviceFile file{.path = "batch.json", .json = {}, .document = batch_document("gpu")};
  file.document.sweep.mode = "train";
  file.document.context.device.kind = "cpu";
  for (const std::int64_t batch : {1, 2, 4}) {
    const auto samples = static_cast<double>(batch);
    add_measured(file.document, "fp32", batch, samples / (0.04 + 0.01 * samples), 0.01, 100 + 100 * batch);
    file.document.benchmarks.back().work.fixed_bytes = 10e6;
    file.document.benchmarks.back().work.launches = 10'000;
  }
  Finding fixed = finding_of("t0", "ns");  // as a sweep in one dtype calls it
  fixed.set({.value = 40e6, .ci95 = Interval{39e6, 41e6}});
  file.document.findings.push_back(fixed);
  file.document.context.peaks[Dtype::fp32] = {.flops_per_s = 1e9, .bytes_per_s = 1e9, .source = "measured"};
  return file;
}

double part_named(const Advice& advice, const std::string& name) {
  const auto found = std::ranges::find(advice.budget, name, &BudgetPart::name);
  return found == advice.budget.end() ? 0 : found->ns;
}

TEST(MeasuredAdvice, FixedTimeBeyondTheWeightsIsLaunching) {
  const AdviceFile file = fixed_cost_file();
  const Advice advice = advice_from(StepModel({file}), {.batch = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::launch);
  EXPECT_NEAR(part_named(advice, "launching"), 30e6, 1);
  EXPECT_NEAR(part_named(advice, "computing"), 20e6, 1);
}

TEST(MeasuredAdvice, AHostThatStartsOperationsSlowerThanAPredictedCardEndsThemIsNamed) {
  AdviceFile file{.path = "batch.json", .json = {}, .document = testing::predicted_document("t4")};
  for (const std::int64_t batch : {1, 3}) {
    testing::add_predicted(file.document, "fp32", batch, batch == 1 ? 25 : 30, 0.1, 100 * batch);
    Json& model = file.document.predicted.back().model;
    model["host_ns"] = 36e6;
    model["gpu_ns"] = batch == 1 ? 20e6 : 95e6;  // of 40 and 100 ms
  }
  const StepModel model({file});
  const Advice small = advice_from(model, {.batch = 1});
  EXPECT_EQ(small.bottleneck, Bottleneck::launch);
  EXPECT_THAT(small.reason, HasSubstr("takes the host 36.0 ms, the card's work 20.0 ms"));
  EXPECT_NEAR(part_named(small, "launching"), 20e6, 1);
  EXPECT_NEAR(part_named(small, "computing"), 20e6, 1);
  EXPECT_NE(advice_from(model, {.batch = 3}).bottleneck, Bottleneck::launch);
}

TEST(MeasuredAdvice, FixedTimeOfTheWeightsIsComputing) {
  AdviceFile file = fixed_cost_file();
  file.document.context.peaks[Dtype::fp32].bytes_per_s = 0.25e9;
  const Advice advice = advice_from(StepModel({file}), {.batch = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::compute);
  EXPECT_EQ(part_named(advice, "launching"), 0);
  EXPECT_EQ(advice.changes.front().what, "batch 1 → 4");
}

TEST(MeasuredAdvice, FixedTimeBeyondWhatAnOperationTakesToStartIsComputing) {
  AdviceFile file = fixed_cost_file();
  for (MeasuredPoint& point : file.document.benchmarks) {
    point.work.launches = 100;
  }
  const Advice advice = advice_from(StepModel({file}), {.batch = 1});
  EXPECT_EQ(advice.bottleneck, Bottleneck::compute);
  EXPECT_NEAR(part_named(advice, "launching"), 2e6, 1);
}

TEST(MeasuredAdvice, AKernelsResultTellsBandwidthAndTheShortestOperation) {
  AdviceFile kernels{.path = "kernels.json", .json = {}, .document = batch_document("gpu")};
  kernels.document.sweep.name = "kernels";
  Finding bandwidth = finding_of("memory_bandwidth", "B/s");
  bandwidth.value = 0.5e9;
  kernels.document.findings.push_back(bandwidth);
  EXPECT_NEAR(part_named(advice_from(StepModel({fixed_cost_file(), kernels}), {.batch = 1}), "launching"),
              20e6, 1);
  add_measured(kernels.document, "fp32", 1, 1e6);  // 1 µs
  kernels.document.benchmarks.back().work.launches = 1;
  EXPECT_NEAR(part_named(advice_from(StepModel({fixed_cost_file(), kernels}), {.batch = 1}), "launching"),
              10e6, 1);
}

TEST(MeasuredAdvice, AMemoryThatStopsTheBatchIsNamedWhereALargerOneWouldPay) {
  AdviceFile file = fixed_cost_file();
  file.document.context.peaks[Dtype::fp32].bytes_per_s = 0.25e9;
  AdviceFile memory{.path = "memory.json", .json = {}, .document = batch_document("gpu")};
  memory.document.sweep.name = "memory";
  memory.document.sweep.memory_cap_bytes = 600;
  memory.document.sweep.state["limits"] = {
      {{"params", {{"dtype", "fp32"}, {"mode", "train"}}}, {"largest_batch", 5}, {"safe_batch", 4}}};
  const StepModel model({file, memory});
  const Advice advice = advice_from(model, {.batch = 4});
  EXPECT_EQ(advice.bottleneck, Bottleneck::vram);
  EXPECT_THAT(advice.reason,
              HasSubstr("Batch 8 would take 25 % less time a sample, and 4 fit safely into 600 B"));
  EXPECT_EQ(advice_from(model, {.batch = 1}).bottleneck, Bottleneck::compute);
}

TEST(MeasuredAdvice, AGainThatNoiseLeavesOpenIsCalledSoAndMustBeLarger) {
  const auto advice_at = [](double rate_of_8) {
    AdviceFile file{.path = "batch.json", .json = {}, .document = batch_document("gpu")};
    file.document.sweep.mode = "train";
    file.document.context.device.kind = "cpu";
    add_measured(file.document, "fp32", 4, 40, 0.4, 500);
    add_measured(file.document, "fp32", 8, rate_of_8, 0.4, 560);
    AdviceFile memory{.path = "memory.json", .json = {}, .document = batch_document("gpu")};
    memory.document.sweep.name = "memory";
    memory.document.sweep.memory_cap_bytes = 600;
    memory.document.sweep.state["limits"] = {
        {{"params", {{"dtype", "fp32"}, {"mode", "train"}}}, {"largest_batch", 9}, {"safe_batch", 5}}};
    return advice_from(StepModel({file, memory}), {.batch = 4});
  };
  const Advice much = advice_at(50);
  EXPECT_EQ(much.bottleneck, Bottleneck::vram);
  EXPECT_THAT(much.reason,
              HasSubstr("Batch 8 seems to take 20 % less time a sample (noise leaves it open), and 5 fit"));
  EXPECT_EQ(advice_at(43).bottleneck, Bottleneck::none);
}

TEST(MeasuredAdvice, WhatSeveralCardsExchangeIsSaidNotToBeCounted) {
  AdviceFile file = fixed_cost_file();
  file.document.context.device.kind = "cuda";
  EXPECT_THAT(advice_from(StepModel({file}), {.batch = 4, .cards = 4}).warnings,
              ::testing::Contains(HasSubstr("What 4 cards exchange")));
  EXPECT_THAT(advice_from(StepModel({file}), {.batch = 4}).warnings,
              ::testing::Not(::testing::Contains(HasSubstr("exchange"))));
}

StepModel joined(const char* link) {
  AdviceFile file = batch_file();
  for (MeasuredPoint& point : file.document.benchmarks) {
    point.timeline = even_timeline(point.stats.median_ns, 1, 200e6);
  }
  StepModel model({file});
  const LinkCatalogue links = links_from_json(testing::json_of("links.json"));
  model.join_cards({.link = CardLinks{.inside = links.get("--link", link)}}, links);
  return model;
}

TEST(MeasuredAdvice, MoreCardsPayByTheirLink) {
  const Advice advice = advice_from(joined("nvlink3"), {.batch = 8}, {2, 4});
  const Change* const four = change_named(advice, "cards 1 → 4");
  ASSERT_NE(four, nullptr);
  EXPECT_GT(four->speedup, 3);
  EXPECT_LT(four->speedup, 4);
  EXPECT_LT(four->speedup90->low, four->speedup);
  EXPECT_THAT(four->setting, HasSubstr("torchrun --nproc_per_node=4"));
  EXPECT_THAT(four->costs, ::testing::Contains(HasSubstr("effective batch 8 → 32")));
  EXPECT_THAT(four->evidence, ::testing::Contains(HasSubstr("predicted over ")));
  // 80 ms a step of 200 MB: 320 ms over the wire for both directions.
  const Advice slow = advice_from(joined("eth-10g"), {.batch = 8}, {2});
  EXPECT_EQ(change_named(slow, "cards 1 → 2"), nullptr);
}

TEST(MeasuredAdvice, WhatCardsExchangeIsAPartOfTheStepAndOnceForAllAccumulations) {
  const StepModel model = joined("eth-10g");
  const double one = model.at({.batch = 8}).parts.step_ns;
  const ModelledStep two = model.at({.batch = 8, .cards = 2});
  EXPECT_NEAR(two.parts.step_ns, one + two.exchanging_ns, 1);
  EXPECT_GT(two.exchanging_ns, 80e6);
  EXPECT_LT(model.at({.batch = 8, .accumulate = 8, .cards = 2}).exchanging_ns, 0.3 * two.exchanging_ns);
  const Advice advice = advice_from(model, {.batch = 8, .cards = 2});
  EXPECT_GT(part_named(advice, "exchanging gradients"), 80e6);
  EXPECT_EQ(name_of(advice.bottleneck), "link");
  EXPECT_THAT(advice.reason, HasSubstr("between 2 cards takes"));
  EXPECT_THAT(advice.warnings, ::testing::Not(::testing::Contains(HasSubstr("is not counted"))));
  // Fewer accumulations keep the effective batch.
  EXPECT_NE(change_named(advice_from(joined("nvlink3"), {.batch = 8, .accumulate = 4}, {2}),
                         "cards 1 → 2, accumulate 4 → 2"),
            nullptr);
}

// Of one CPU: 80 ms a step at batch 8, its gradients within it.
StepModel joined_cpus(CardsLink link) {
  AdviceFile file = fixed_cost_file();
  for (MeasuredPoint& point : file.document.benchmarks) {
    point.timeline = even_timeline(point.stats.median_ns, 1, 1e6);
  }
  StepModel model({file});
  model.join_cards(std::move(link), links_from_json(testing::json_of("links.json")));
  return model;
}

TEST(MeasuredAdvice, HostsOfOneCpuEachAreConsideredToo) {
  const LinkCatalogue links = links_from_json(testing::json_of("links.json"));
  const StepModel model = joined_cpus({.link = CardLinks{.inside = links.get("--link", "eth-10g")}});
  const Advice advice = advice_from(model, {.batch = 4}, {2});
  EXPECT_EQ(change_named(advice, "cards 1 → 2"), nullptr) << "nobody measured that it pays";
  const auto two = std::ranges::find(advice.tried, "cards 1 → 2", &Change::what);
  ASSERT_NE(two, advice.tried.end());
  EXPECT_TRUE(two->at_most);
  EXPECT_GT(two->speedup, 1.5);
  EXPECT_FALSE(two->speedup90);
  EXPECT_FALSE(two->step90_ns);
  EXPECT_THAT(advice.tables.front().table.rows.back(),
              ::testing::AllOf(::testing::Contains(::testing::StartsWith("at most ")),
                               ::testing::Contains("not known")));
  EXPECT_THAT(advice.missing, ::testing::Contains(HasSubstr("what 2 cards lose")));
  EXPECT_THAT(two->setting, HasSubstr("torchrun --nnodes=2 --nproc_per_node=1"));
  EXPECT_THAT(two->evidence, ::testing::Contains(HasSubstr("Nobody measured")));
  EXPECT_THAT(advice.warnings, ::testing::Contains(HasSubstr("another host like this one")));
  EXPECT_NO_THROW(advice_from(model, {.batch = 4}, {64})) << "hosts of one card each are no limit";
}

TEST(MeasuredAdvice, AMeasuredLinkIsOfTheStepsKindOfDevice) {
  const CardsLink gpus{.link = MeasuredAllReduce{.ranks = 2, .points = {{0, 1e3}, {1e9, 1e9}}},
                       .path = "collectives.json",
                       .device_kind = "cuda"};
  EXPECT_THAT([&] { joined_cpus(gpus); },
              ::testing::ThrowsMessage<UsageError>(
                  HasSubstr("'collectives.json' was measured on a device of kind cuda, the step on one of "
                            "kind cpu")));
  CardsLink cpus = gpus;
  cpus.device_kind = "cpu";
  EXPECT_THAT(advice_from(joined_cpus(cpus), {.batch = 4}, {2}).warnings,
              ::testing::Contains(HasSubstr("share its cores")));
}

TEST(MeasuredAdvice, ALinkNeedsTheTimesOfGradients) {
  StepModel model({batch_file()});
  model.join_cards({.link = CardLinks{}}, {});
  EXPECT_THROW(advice_from(model, {.batch = 8}, {2}), UsageError);
}

TEST(MeasuredAdvice, SettingsBeyondAHostAreRefused) {
  const StepModel model({batch_file(), workers_file(5)});
  EXPECT_THROW(advice_from(model, {.batch = 8, .workers = 10'000}), UsageError);
  EXPECT_THROW(advice_from(model, {.batch = 8, .workers = 4, .prefetch = 1'000'000}), UsageError);
  EXPECT_THROW(advice_from(model, {.batch = 8, .cards = 1000}), UsageError);
  // A processor is one device.
  EXPECT_THROW(advice_from(StepModel({fixed_cost_file()}), {.batch = 4, .cards = 2}), UsageError);
}

TEST(MeasuredAdvice, MoreWorkersThanWereMeasuredAreSaidToBeExtrapolated) {
  const StepModel model({batch_file(), workers_file(5)});
  EXPECT_THAT(advice_from(model, {.batch = 8, .workers = 64}).warnings,
              ::testing::Contains("64 workers are extrapolated from at most 8 measured ones."));
  EXPECT_THAT(advice_from(model, {.batch = 8, .workers = 8}).warnings,
              ::testing::Not(::testing::Contains(HasSubstr("extrapolated"))));
}

TEST(MeasuredAdvice, NoPrefetchIsTriedThatCurrentWouldRefuse) {
  const Advice advice =
      advice_from(StepModel({batch_file(), workers_file(5)}), {.batch = 8, .workers = 1, .prefetch = 200});
  for (const Change& change : advice.tried) {
    EXPECT_LE(change.after.prefetch, 256) << change.what;
  }
}

TEST(MeasuredAdvice, InferenceAccumulatesNothing) {
  AdviceFile file = batch_file();
  file.document.sweep.mode = "infer";
  EXPECT_THAT(refusal({file}, {.batch = 8, .accumulate = 8}), HasSubstr("accumulates nothing"));
}

TEST(MeasuredAdvice, ABatchThatWasNotGivenIsAssumedAndSaid) {
  const Advice advice = advice_from(StepModel({batch_file(), workers_file(5)}), {});
  EXPECT_EQ(advice.current.batch, 8);
  EXPECT_THAT(advice.warnings, ::testing::Contains(HasSubstr("8 is assumed")));
}

TEST(MeasuredAdvice, ABatchBetweenMeasuredOnesLiesOnTheirLine) {
  const Advice advice = advice_from(StepModel({batch_file()}), {.batch = 12});
  EXPECT_NEAR(advice.step_ns, 120e6, 1);
}

TEST(MeasuredAdvice, RefusesWhatDoesNotBelongTogether) {
  EXPECT_THAT(refusal({batch_file(), batch_file()}), HasSubstr("a second result of the batch sweep"));
  AdviceFile other = workers_file(5);
  other.document.context.host.cpu = "other";
  EXPECT_THAT(refusal({batch_file(), other}), HasSubstr("give results of one machine"));
  AdviceFile memory = batch_file();
  memory.document.sweep.name = "memory";
  EXPECT_THAT(refusal({memory}), HasSubstr("run bench --sweep batch --mode train"));
  memory.document.sweep.workload = "vgg16";
  EXPECT_THAT(refusal({batch_file(), memory}), HasSubstr("give results of one network"));
  EXPECT_THAT(refusal({batch_file()}, {.batch = 64}), HasSubstr("measure it with --batch 64"));
  EXPECT_THAT(refusal({batch_file()}, {.batch = 8, .dtype = "fp16"}),
              HasSubstr("measure it with --dtype fp16"));
  EXPECT_THAT(refusal({workers_file(5)}, {.batch = 9}), HasSubstr("no result of the batch sweep is given"));
}

}  // namespace
}  // namespace bench
