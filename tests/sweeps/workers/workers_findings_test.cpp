// The findings of the workers sweep on machines that are known.
#include "sweeps/workers/answer.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sweeps/workers/record.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using testing::claim;
using testing::found;
using ::testing::IsEmpty;
using testing::LoaderMachine;
using testing::measured_by;
using ::testing::Not;

TEST(WorkersFindings, FindsTheKneeMeasuredAndSimulated) {
  // A batch takes 80 ms of one worker, a step 36 ms: two workers lack 13 %, three are enough.
  const Evidence evidence = measured_by({});
  ASSERT_TRUE(found(evidence, "knee"));
  EXPECT_EQ(found(evidence, "knee")->value, 3);
  EXPECT_EQ(found(evidence, "knee")->details["error_workers"], 0);
  EXPECT_EQ(found(evidence, "knee_simulated")->value, 3);
  expect_words(claim(evidence, "knee_simulated"));
  expect_words(claim(evidence, "starvation"));
  EXPECT_NEAR(*found(evidence, "starvation")->value, 1 - 36.1 / 117.1, 0.02);
  EXPECT_EQ(found(evidence, "plateau")->details["limited_by"], "consumer");
}

TEST(WorkersFindings, PredictsHeldOutCountsWithinThreePoints) {
  LoaderMachine heavy;
  heavy.cv = 0.8;
  LoaderMachine stored;
  stored.storage = loader::Storage{.bytes_per_s = 40e6, .latency_ns = 3e6};
  stored.image_ns = 2e6;
  LoaderMachine slow;
  slow.compute_ns = 10e6;
  LoaderMachine any;
  any.any_order = true;
  LoaderMachine late;
  late.compute_ns = 22e6;  // just what four workers make: they keep all cores busy
  late.late_ns = 2e6;
  for (const LoaderMachine& machine : {LoaderMachine(), heavy, stored, slow, any, late}) {
    const Evidence evidence = measured_by(machine);
    ASSERT_TRUE(found(evidence, "simulation_error"));
    EXPECT_LT(*found(evidence, "simulation_error")->value, 3) << claim(evidence, "simulation_error");
    EXPECT_EQ(found(evidence, "simulation_error")->details["points"].size(),
              6U);  // all but 1, where the law starts
    EXPECT_LE(std::abs(found(evidence, "knee")->details["error_workers"].get<int>()), 1);
  }
}

TEST(WorkersFindings, MissesWhatItDoesNotKnowOfWaitingForACore) {
  LoaderMachine machine;
  machine.compute_ns = 22e6;
  machine.late_ns = 2e6;
  auto measured = machine.measured();
  testing::change_windows(
      measured, [](const Point&) { return true; }, [](Window& window) { window.late_ns.clear(); });
  EXPECT_GT(*found(testing::evidence_of(measured, machine.setup()), "simulation_error")->value, 3);
}

TEST(WorkersFindings, NamesTheStageThatFillsTheCores) {
  LoaderMachine machine;
  machine.compute_ns = 5e6;
  const Evidence evidence = measured_by(machine);
  EXPECT_EQ(found(evidence, "plateau")->details["limited_by"], "decode");
  expect_words(claim(evidence, "plateau"));
  EXPECT_EQ(found(evidence, "stages")->details["largest"], "decode");
}

TEST(WorkersFindings, NamesStorageWhereItIsTheLimit) {
  LoaderMachine machine;
  machine.storage = loader::Storage{.bytes_per_s = 11e6, .latency_ns = 0};  // 100 images a second
  machine.compute_ns = 50e6;                                                // 320 wanted
  const Evidence evidence = measured_by(machine);
  EXPECT_EQ(found(evidence, "plateau")->details["limited_by"], "storage");
  EXPECT_NEAR(*found(evidence, "plateau")->value, 100, 3);
}

TEST(WorkersFindings, SaysFromWhereMoreWorkersHarm) {
  LoaderMachine machine;
  machine.compute_ns = 5e6;
  machine.oversubscription = 0.3;
  const Evidence evidence = measured_by(machine);
  ASSERT_TRUE(found(evidence, "harm"));
  EXPECT_EQ(found(evidence, "harm")->value, 6);
  expect_words(claim(evidence, "harm"));
  EXPECT_FALSE(found(measured_by({}), "harm"));
}

TEST(WorkersFindings, WithReadyDataAloneItSaysWhatIsKnown) {
  const LoaderMachine machine;
  const auto measured = machine.measured();
  const Evidence evidence =
      testing::evidence_of({*std::ranges::find_if(measured, testing::of_loader("ready"))}, machine.setup());
  EXPECT_EQ(found(evidence, "ready_data")->headline, 1);
  expect_words(claim(evidence, "ready_data"));
  EXPECT_FALSE(found(measured_by(machine), "ready_data"));
}

TEST(WorkersFindings, AnswersRequiredThroughputs) {
  LoaderMachine machine;
  machine.required = {{.name = "t4", .samples_per_s = 500, .source = "given"},
                      {.name = "h200", .samples_per_s = 5000, .source = "given"}};
  const Evidence evidence = measured_by(machine);
  // One worker makes 200 a second, four 4 / 1.12 times that.
  EXPECT_EQ(found(evidence, "demand/t4")->value, 3);
  expect_words(claim(evidence, "demand/t4"));
  EXPECT_FALSE(found(evidence, "demand/h200")->value);
  expect_words(claim(evidence, "demand/h200"));
  EXPECT_NEAR(found(evidence, "demand/h200")->details["tops_out_images_per_s"].get<double>(), 714, 15);

  machine.gpus = 2;
  const Evidence two = measured_by(machine);
  EXPECT_FALSE(found(two, "demand/t4")->value);
  expect_words(claim(two, "demand/t4"));
}

// The loader makes 714 a second on four cores: 5 % more than 680 · 0.95, and 5 % less than 790 · 0.95.
TEST(WorkersFindings, ARequiredThroughputIsAnsweredByOneNumber) {
  const auto answer = [](double samples_per_s, double noise) {
    LoaderMachine machine;
    machine.noise = noise;
    machine.required = {{.name = "800/s", .samples_per_s = samples_per_s, .source = "given"}};
    return *found(measured_by(machine), "demand/800/s");
  };
  const Finding fed = answer(680, 0.003);
  EXPECT_EQ(fed.details["verdict"], "fed");
  EXPECT_EQ(fed.value, 4);
  expect_words(fed.claim);
  const Finding not_fed = answer(800, 0.003);
  EXPECT_EQ(not_fed.details["verdict"], "not_fed");
  EXPECT_LT(not_fed.details["tops_out_ci95"][1].get<double>(), 0.95 * 800);
  expect_words(not_fed.claim);
  for (const double required : {680.0, 800.0}) {  // 646 and 760 lie within the interval
    const Finding undecided = answer(required, 0.4);
    EXPECT_EQ(undecided.details["verdict"], "undecided");
    EXPECT_FALSE(undecided.value);
    EXPECT_LT(undecided.details["tops_out_ci95"][0].get<double>(), 0.95 * required);
    EXPECT_GT(undecided.details["tops_out_ci95"][1].get<double>(), 0.95 * required);
    expect_words(undecided.claim);
  }
}

// The consumer of the run is the one that the throughput was given for: 444 a second, with three workers.
TEST(WorkersFindings, ARequiredThroughputThatWasMeasuredIsNotSimulated) {
  LoaderMachine machine;
  machine.required = {{.name = "t4", .samples_per_s = 444, .source = "given"}};
  LoaderSetup setup = machine.setup();
  Evidence evidence = testing::evidence_of(machine.measured(), setup);
  EXPECT_GT(found(evidence, "recommended_workers")->headline, 0);
  evidence.setup.consumer = "t4 (444 samples/s)";
  evidence.profile->consumer = evidence.setup.consumer;
  EXPECT_EQ(found(evidence, "demand/t4")->value, 3);
  EXPECT_EQ(found(evidence, "demand/t4")->headline, 1);
  expect_words(claim(evidence, "demand/t4"));
  EXPECT_EQ(found(evidence, "recommended_workers")->headline, 0) << "it says the same";
}

// It takes 730 samples a second, of which this host loads 712.
TEST(WorkersFindings, AConsumerThatIsFedWithLessSaysHowMuchItGets) {
  LoaderMachine machine;
  machine.required = {{.name = "t4", .samples_per_s = 730, .source = "given"}};
  const Evidence evidence = testing::evidence_of(machine.measured(), machine.setup());
  EXPECT_EQ(found(evidence, "demand/t4")->details["verdict"], "fed");
  expect_words(claim(evidence, "demand/t4"));
}

// As of four cores, of which other processes took one and a half all along.
TEST(WorkersFindings, ABusyMachineIsNotCalledIncapable) {
  LoaderMachine machine;
  machine.required = {{.name = "t4", .samples_per_s = 1000, .source = "given"},
                      {.name = "h200", .samples_per_s = 5000, .source = "given"}};
  const auto with_others = [&](double cores) {
    auto measured = machine.measured();
    testing::change_windows(measured, testing::of_loader("capacity"),
                            [](Window& window) { window.cpu_ns = window.cpu_ns * 7 / 10; });
    for (Point& point : measured) {
      for (MeasuredRound& round : point.rounds) {
        round.other_cores = cores;
      }
    }
    return testing::evidence_of(measured, machine.setup());
  };
  const Evidence busy = with_others(1.5);  // 2.5 cores' 714 are four cores' 1140
  EXPECT_EQ(found(busy, "demand/t4")->details["verdict"], "undecided");
  EXPECT_NEAR(found(busy, "demand/t4")->details["on_idle_images_per_s"].get<double>(), 1140, 40);
  expect_words(claim(busy, "demand/t4"));
  EXPECT_EQ(found(busy, "demand/h200")->details["verdict"], "not_fed");
  expect_words(claim(busy, "demand/h200"));
  EXPECT_EQ(found(with_others(0), "demand/t4")->details["verdict"], "not_fed");
}

TEST(WorkersFindings, ARequiredThroughputWithoutAProfileIsUndecided) {
  LoaderMachine machine;
  machine.required = {{.name = "800/s", .samples_per_s = 800, .source = "given"}};
  const auto measured = machine.measured();
  const Evidence evidence = testing::evidence_of(
      {*std::ranges::find_if(measured, testing::of_loader("capacity"))}, machine.setup());
  EXPECT_EQ(found(evidence, "demand/800/s")->headline, 1);
  expect_words(claim(evidence, "demand/800/s"));
}

TEST(WorkersFindings, TellsHowMuchTheConsumerSlowsDown) {
  LoaderMachine machine;
  machine.shared_cores = {{.active = 1, .consumer_speed = 0.7, .worker_speed = 0.9},
                          {.active = 4, .consumer_speed = 0.3, .worker_speed = 0.5},
                          {.active = 8, .consumer_speed = 0.15, .worker_speed = 0.4}};
  const Evidence evidence = measured_by(machine);
  EXPECT_GT(*found(evidence, "consumer_slowdown")->value, 0.3);
  expect_words(claim(evidence, "consumer_slowdown"));
  expect_words(claim(evidence, "recommended_workers"));
  expect_words(claim(measured_by({}), "consumer_slowdown"));
}

TEST(WorkersFindings, FewRoundsProveNothingOfTheConsumer) {
  const LoaderMachine machine;
  auto measured = machine.measured();
  EXPECT_TRUE(found(testing::evidence_of(measured, machine.setup()), "consumer_slowdown"));
  measured.front().validity.flags = {"few_rounds"};  // ready data
  EXPECT_FALSE(found(testing::evidence_of(measured, machine.setup()), "consumer_slowdown"));
}

TEST(WorkersFindings, AConsumerThatGainsByWorkersWasDisturbed) {
  const LoaderMachine machine;
  auto measured = machine.measured();
  testing::change_windows(measured, testing::of_loader("ready"), [](Window& window) {
    for (double& time : window.compute_ns) {
      time *= 2;
    }
  });
  expect_words(claim(testing::evidence_of(measured, machine.setup()), "consumer_slowdown"));
}

// Printed are at most five, numbered without a gap, what was asked first and how sure last.
TEST(WorkersFindings, AtMostFiveAreHeadlinesAndRequiredThroughputsAreFirst) {
  LoaderMachine machine;
  machine.oversubscription = 0.3;
  machine.compute_ns = 5e6;
  machine.required = {{.name = "t4", .samples_per_s = 500, .source = "given"},
                      {.name = "h200", .samples_per_s = 5000, .source = "given"},
                      {.name = "a100", .samples_per_s = 2500, .source = "given"}};
  std::map<int, std::string> printed;
  for (const Finding& finding : workers_findings(measured_by(machine))) {
    if (finding.headline > 0) {
      EXPECT_TRUE(printed.emplace(finding.headline, finding.name).second);
    }
  }
  ASSERT_EQ(printed.size(), 5U);
  EXPECT_EQ(printed.begin()->first, 1);
  EXPECT_EQ(printed[1], "demand/t4");
  EXPECT_EQ(printed[4], "recommended_workers");
  EXPECT_EQ(printed.rbegin()->first, 5);
  EXPECT_EQ(printed.rbegin()->second, "simulation_error");
}

TEST(WorkersFindings, ALawThatMeetsEveryCountSaysNothingOfItsError) {
  LoaderMachine machine;
  expect_words(claim(measured_by(machine), "scaling"));
  machine.capacities = {1, 2, 3, 4, 8};
  expect_words(claim(measured_by(machine), "scaling"));
  machine.capacities = {1, 4, 8, 16};
  expect_words(claim(measured_by(machine), "scaling"));
}

TEST(WorkersFindings, CopesWithFewPoints) {
  const LoaderMachine machine;
  const auto whole = machine.measured();
  std::vector<Point> some;
  EXPECT_THAT(workers_findings(testing::evidence_of(some, machine.setup())), IsEmpty());
  EXPECT_THAT(workers_tables(testing::evidence_of(some, machine.setup())), IsEmpty());
  for (const Point& point : whole) {
    some.push_back(point);
    const Evidence evidence = testing::evidence_of(some, machine.setup());
    for (const Finding& finding : workers_findings(evidence)) {
      EXPECT_THAT(finding.claim, Not(IsEmpty())) << finding.name;
    }
    workers_tables(evidence);
  }
  // And in the other order: the pool first, without the ready data that it is compared with.
  some.assign(whole.rbegin(), whole.rbegin() + 3);
  const Evidence evidence = testing::evidence_of(some, machine.setup());
  EXPECT_FALSE(workers_tables(evidence).empty());
  workers_findings(evidence);
}

TEST(WorkersFindings, AUIsSpelledOutOnceInTheFirstClaimThatIsPrinted) {
  int spelled_out = 0;
  for (const Finding& finding : workers_findings(measured_by({}))) {
    if (finding.claim.find("accelerator utilisation (AU)") != std::string::npos) {
      ++spelled_out;
      EXPECT_EQ(finding.headline, 1) << finding.claim;
    }
    expect_words(finding.claim);
    EXPECT_EQ(finding.claim.back(), '.');
  }
  EXPECT_EQ(spelled_out, 1);
}

}  // namespace
}  // namespace bench::sweeps
