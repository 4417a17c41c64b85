// The findings of the workers sweep on machines that are known.
#include "sweeps/workers/findings.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "bench/error.h"
#include "sweeps/workers/points.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using ::testing::AllOf;
using testing::claim;
using testing::found;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LoaderMachine;
using testing::measured_by;
using ::testing::Not;

std::string text_of(const std::vector<TextTable>& tables) {
  std::string text;
  for (const TextTable& table : tables) {
    text += table.title + "\n";
    for (const auto& row : table.rows) {
      for (const std::string& cell : row) {
        text += cell + " | ";
      }
      text += "\n";
    }
  }
  return text;
}

TEST(WorkersFindings, FindsTheKneeMeasuredAndSimulated) {
  // A batch takes 80 ms of one worker, a step 36 ms: two workers lack 13 %, three are enough.
  const Evidence evidence = measured_by({});
  ASSERT_TRUE(found(evidence, "knee"));
  EXPECT_EQ(found(evidence, "knee")->value, 3);
  EXPECT_EQ(found(evidence, "knee")->details["error_workers"], 0);
  EXPECT_EQ(found(evidence, "knee_simulated")->value, 3);
  EXPECT_THAT(claim(evidence, "knee_simulated"), HasSubstr("Simulated: the knee is at 3 workers"));
  EXPECT_THAT(claim(evidence, "starvation"), HasSubstr("With no workers the consumer is starved"));
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
      measured, [](const MeasuredPoint&) { return true; }, [](Window& window) { window.late_ns.clear(); });
  EXPECT_GT(*found(testing::evidence_of(measured, machine.setup()), "simulation_error")->value, 3);
}

TEST(WorkersFindings, NamesTheStageThatFillsTheCores) {
  LoaderMachine machine;
  machine.compute_ns = 5e6;
  const Evidence evidence = measured_by(machine);
  EXPECT_EQ(found(evidence, "plateau")->details["limited_by"], "decode");
  EXPECT_THAT(claim(evidence, "plateau"), HasSubstr("all cores are busy, and decode takes 70 % of loading"));
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
  EXPECT_THAT(claim(evidence, "harm"), HasSubstr("From 6 workers on more workers are slower"));
  EXPECT_FALSE(found(measured_by({}), "harm"));
}

TEST(WorkersFindings, NeverRecommendsACountThatMakesFewerSamples) {
  // Workers take the consumer's cores: it waits less and computes longer, so that AU rises where samples
  // fall.
  Evidence evidence;
  const auto point = [](std::int64_t workers, double au, double samples_per_s) {
    const auto known = [](double value) {
      return Estimate{.value = value, .ci95 = Interval{0.98 * value, 1.02 * value}};
    };
    LoaderPoint one;
    one.name = "workers/pool/workers:" + std::to_string(workers);
    one.workers = workers;
    one.au = known(au);
    one.samples_per_s = known(samples_per_s);
    return one;
  };
  evidence.points.pool = {point(0, 0.7, 84), point(1, 0.9, 56), point(2, 0.95, 57), point(4, 0.97, 57)};
  EXPECT_EQ(found(evidence, "harm")->value, 1);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 0);
  EXPECT_THAT(claim(evidence, "recommended_workers"),
              HasSubstr("and workers make it slower [PyTorch: num_workers=0]"));

  evidence.points.pool = {point(0, 0.5, 84), point(1, 0.7, 100), point(2, 0.9, 84), point(4, 0.99, 80)};
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 1);
  for (LoaderPoint& one : evidence.points.pool) {  // ready data were not measured, and nothing was simulated
    one.au.reset();
  }
  EXPECT_TRUE(found(evidence, "harm"));
  EXPECT_FALSE(found(evidence, "recommended_workers"));
}

TEST(WorkersFindings, NeverRecommendsAgainstTheOnlyMeasuredCount) {
  Evidence evidence = measured_by({});
  evidence.points.pool.resize(1);
  ASSERT_EQ(evidence.points.pool.front().workers, 0);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 3);  // measured 0.3, simulated 1
  for (SimulatedPoint& point : evidence.simulated->points) {
    point.au *= 0.17;
  }
  evidence.points.pool.front().au = Estimate{.value = 0.9465};
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 0);
  EXPECT_THAT(claim(evidence, "recommended_workers"),
              AllOf(HasSubstr("Inconclusive"), HasSubstr("with no workers (a single count was measured")));
  EXPECT_THAT(claim(evidence, "starvation"), HasSubstr("With no workers the consumer is nearly fed"));
  evidence.points.pool.front().au = Estimate{.value = 0.97};
  EXPECT_THAT(claim(evidence, "recommended_workers"),
              AllOf(HasSubstr("Use no workers (a single count"), HasSubstr("num_workers=0")));
}

TEST(WorkersFindings, WithReadyDataAloneItSaysWhatIsKnown) {
  const LoaderMachine machine;
  const auto measured = machine.measured();
  const Evidence evidence =
      testing::evidence_of({*std::ranges::find_if(measured, testing::of_loader("ready"))}, machine.setup());
  EXPECT_EQ(found(evidence, "ready_data")->headline, 1);
  EXPECT_THAT(claim(evidence, "ready_data"),
              AllOf(HasSubstr("Ready data: "), HasSubstr("no number of workers was measured")));
  EXPECT_FALSE(found(measured_by(machine), "ready_data"));
}

TEST(WorkersFindings, RecommendsWithTheHostMemoryItTakes) {
  const Evidence evidence = measured_by({});
  const Finding finding = *found(evidence, "recommended_workers");
  EXPECT_EQ(finding.value, 3);
  const auto prefetch = finding.details["prefetch"].get<double>();
  EXPECT_NEAR(finding.details["host_bytes"].get<double>(), 3 * (prefetch * 16 * 602'112 + 3'000'000), 10);
  EXPECT_THAT(finding.claim, HasSubstr("[PyTorch: num_workers=3, prefetch_factor=2, pin_memory=True]"));
}

TEST(WorkersFindings, RecommendsNoWorkersWhereTheyGainNothing) {
  LoaderMachine machine;
  machine.image_ns = 20e3;  // a step waits 0.32 ms of 36 ms
  const Evidence evidence = measured_by(machine);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 0);
  EXPECT_THAT(claim(evidence, "starvation"), HasSubstr("is not starved"));
}

TEST(WorkersFindings, AnswersRequiredThroughputs) {
  LoaderMachine machine;
  machine.required = {{.name = "t4", .samples_per_s = 500, .source = "given"},
                      {.name = "h200", .samples_per_s = 5000, .source = "given"}};
  const Evidence evidence = measured_by(machine);
  // One worker makes 200 a second, four 4 / 1.12 times that.
  EXPECT_EQ(found(evidence, "demand/t4")->value, 3);
  EXPECT_THAT(claim(evidence, "demand/t4"), HasSubstr("Simulated: t4 (500 samples/s) needs 3 workers"));
  EXPECT_FALSE(found(evidence, "demand/h200")->value);
  EXPECT_THAT(claim(evidence, "demand/h200"), HasSubstr("this host cannot feed h200"));
  EXPECT_NEAR(found(evidence, "demand/h200")->details["tops_out_images_per_s"].get<double>(), 714, 15);

  machine.gpus = 2;
  const Evidence two = measured_by(machine);
  EXPECT_FALSE(found(two, "demand/t4")->value);
  EXPECT_THAT(claim(two, "demand/t4"), HasSubstr("cannot feed 2 of t4 (500 samples/s each)"));
}

TEST(WorkersFindings, TellsHowMuchTheConsumerSlowsDown) {
  LoaderMachine machine;
  machine.shared_cores = {{.active = 1, .consumer_speed = 0.7, .worker_speed = 0.9},
                          {.active = 4, .consumer_speed = 0.3, .worker_speed = 0.5},
                          {.active = 8, .consumer_speed = 0.15, .worker_speed = 0.4}};
  const Evidence evidence = measured_by(machine);
  EXPECT_GT(*found(evidence, "consumer_slowdown")->value, 0.3);
  EXPECT_THAT(claim(evidence, "consumer_slowdown"), HasSubstr("both use the same cores"));
  EXPECT_THAT(claim(evidence, "recommended_workers"), HasSubstr("pin_memory=False"));
  EXPECT_THAT(claim(measured_by({}), "consumer_slowdown"), HasSubstr("do not slow the consumer down"));
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
  EXPECT_THAT(claim(testing::evidence_of(measured, machine.setup()), "consumer_slowdown"),
              AllOf(HasSubstr("Inconclusive"), Not(HasSubstr("do not slow"))));
}

// Printed are at most five, numbered without a gap, the recommendation first and how sure last.
TEST(WorkersFindings, AtMostFiveAreHeadlinesAndTheRecommendationIsFirst) {
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
  EXPECT_EQ(printed.begin()->second, "recommended_workers");
  EXPECT_EQ(printed.rbegin()->first, 5);
  EXPECT_EQ(printed.rbegin()->second, "simulation_error");
}

TEST(WorkersFindings, ALawThatMeetsEveryCountSaysNothingOfItsError) {
  LoaderMachine machine;
  EXPECT_THAT(claim(measured_by(machine), "scaling"), Not(HasSubstr("off by")));
  machine.capacities = {1, 2, 3, 4, 8};
  EXPECT_THAT(claim(measured_by(machine), "scaling"), HasSubstr("off by at most"));
  machine.capacities = {1, 4, 8, 16};
  EXPECT_THAT(claim(measured_by(machine), "scaling"), HasSubstr("off by at most"));
}

TEST(WorkersTables, ShowAsSimulatedOnlyWhatOtherCountsTell) {
  const auto tables = workers_tables(measured_by({}));
  const auto& rows = tables[0].rows;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].back() == "-", rows[i].front() == "1") << rows[i].front();
  }
}

TEST(WorkersFindings, CopesWithFewPoints) {
  const LoaderMachine machine;
  const auto whole = machine.measured();
  std::vector<MeasuredPoint> some;
  EXPECT_THAT(workers_findings(testing::evidence_of(some, machine.setup())), IsEmpty());
  EXPECT_THAT(workers_tables(testing::evidence_of(some, machine.setup())), IsEmpty());
  for (const MeasuredPoint& point : whole) {
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

// As after Ctrl-C, which ends the run before anything is simulated.
TEST(WorkersFindings, WithoutASimulationItRecommendsFromWhatWasMeasuredAndSaysSo) {
  Evidence evidence = measured_by({});
  evidence.profile.reset();
  evidence.simulated.reset();
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 3);
  EXPECT_THAT(claim(evidence, "recommended_workers"), Not(HasSubstr("not measured")));
  evidence.not_measured = {16, 32};
  EXPECT_THAT(claim(evidence, "recommended_workers"),
              HasSubstr("Use 3 workers (from the measured counts; 16, 32 not measured)"));
}

TEST(WorkersFindings, AUIsSpelledOutOnceInTheFirstClaimThatIsPrinted) {
  int spelled_out = 0;
  for (const Finding& finding : workers_findings(measured_by({}))) {
    if (finding.claim.find("accelerator utilisation (AU)") != std::string::npos) {
      ++spelled_out;
      EXPECT_EQ(finding.headline, 1) << finding.claim;
    }
    EXPECT_THAT(finding.claim, Not(HasSubstr("images/s")));
    EXPECT_EQ(finding.claim.back(), '.');
  }
  EXPECT_EQ(spelled_out, 1);
}

TEST(WorkersFindings, ANoisyRunStillRecommends) {
  Evidence evidence = measured_by({});
  for (LoaderPoint& point : evidence.points.pool) {
    point.au->ci95 = Interval{point.au->value - 0.3, point.au->value + 0.3};
  }
  evidence.simulated.reset();
  ASSERT_TRUE(evidence.measured_knee());
  EXPECT_FALSE(evidence.measured_knee()->batch);
  EXPECT_TRUE(found(evidence, "recommended_workers")->value);
  EXPECT_THAT(claim(evidence, "recommended_workers"), HasSubstr("within noise"));
}

TEST(WorkersFindings, WithinNoiseTheSimulationChoosesAndTheClaimSaysWhy) {
  Evidence evidence = measured_by({});
  EXPECT_THAT(claim(evidence, "recommended_workers"), Not(HasSubstr("imulated")));
  for (LoaderPoint& point : evidence.points.pool) {
    point.au->ci95 = Interval{point.au->value - 0.3, point.au->value + 0.3};
  }
  const Knee knee = *evidence.measured_knee();
  ASSERT_FALSE(knee.batch);
  ASSERT_LT(knee.low, knee.high);
  ASSERT_LE(3, knee.high);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 3);
  EXPECT_THAT(
      claim(evidence, "recommended_workers"),
      AllOf(HasSubstr("Use 3 workers ("), HasSubstr("are within noise; the simulation chose among them)")));
}

TEST(WorkersFindings, OneWideIntervalDoesNotMakeManyWorkersOfFew) {
  Evidence evidence = measured_by({});
  LoaderPoint& three = *std::ranges::find(evidence.points.pool, 3, &LoaderPoint::workers);
  three.au->ci95 = Interval{three.au->value - 0.1, three.au->value + 0.02};
  const Knee knee = *evidence.measured_knee();
  ASSERT_EQ(knee.batch, 4);
  ASSERT_LE(knee.low, 3);
  EXPECT_EQ(found(evidence, "recommended_workers")->value, 3);
  EXPECT_THAT(claim(evidence, "recommended_workers"),
              HasSubstr("to 4 are within noise; the simulation chose"));
}

TEST(WorkersFindings, CopesWithNotesThatAreNone) {
  EXPECT_FALSE(read_window(nullptr));
  EXPECT_FALSE(read_window({1, 2}));
  const LoaderMachine machine;
  auto measured = machine.measured();
  for (MeasuredPoint& point : measured) {
    point.notes = {read_window({{"step_ns", "x"}}), nullptr};
  }
  EXPECT_THAT(workers_findings(testing::evidence_of(measured, machine.setup())), IsEmpty());
  measured = machine.measured();
  for (MeasuredPoint& point : measured) {
    Json odd = point.notes[1]->to_json();
    odd["step_ns"] = {-1, "x", nullptr};
    Json poor = point.notes[2]->to_json();
    poor.erase("compute_ns");
    point.notes[0] = nullptr;
    point.notes[1] = read_window(odd);
    point.notes[2] = read_window(poor);
  }
  EXPECT_FALSE(workers_findings(testing::evidence_of(measured, machine.setup())).empty());
}

// A note that an earlier version wrote, with fields that are gone.
TEST(Window, ReadsBackWhatItWroteAndLeavesOutTheRest) {
  const auto window = testing::LoaderMachine().measured().back().notes.front();
  Json written = window->to_json();
  EXPECT_EQ(read_window(written)->to_json(), written);
  Json old = written;
  old["late_unyielding_ns"] = {1, 2, 3};
  EXPECT_EQ(read_window(old)->to_json(), written);
}

TEST(WorkersTables, ListEveryCount) {
  LoaderMachine machine;
  machine.required = {{.name = "t4", .samples_per_s = 500, .source = "given"}};
  const Evidence evidence = measured_by(machine);
  const auto tables = workers_tables(evidence);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_THAT(tables[0].title, HasSubstr("4 cores; data: synthetic"));
  EXPECT_EQ(tables[0].rows.size(), 8U);
  for (const TextTable& table : tables) {
    for (const auto& row : table.rows) {
      EXPECT_EQ(row.size(), table.rows[0].size()) << table.title;
      EXPECT_EQ(row.size(), table.right.size()) << table.title;
    }
  }
  const std::string text = text_of(tables);
  EXPECT_THAT(text, HasSubstr("Required throughput (simulated)"));
  EXPECT_THAT(text, HasSubstr("t4 | 500 | 1 | 3"));
}

// Ready data from pinned memory, whose steps take that part of those from pageable memory.
Evidence staged(double part) {
  const LoaderMachine machine;
  auto measured = machine.measured();
  std::vector<MeasuredPoint> pinned{*std::ranges::find_if(measured, testing::of_loader("ready"))};
  std::ranges::find_if(measured, testing::of_loader("ready"))->params["staging"] = "pageable";
  testing::change_windows(pinned, testing::of_loader("ready"), [part](Window& window) {
    for (double& step : window.step_ns) {
      step *= part;
    }
  });
  pinned.front().name += "/staging:pinned";
  pinned.front().params["loader"] = "other-staging";
  pinned.front().params["staging"] = "pinned";
  measured.push_back(pinned.front());
  return testing::evidence_of(measured, machine.setup());
}

TEST(WorkersFindings, PinsWhereReadyDataArriveSoonerForIt) {
  const Evidence pays = staged(0.9);
  ASSERT_TRUE(found(pays, "pinning"));
  EXPECT_NEAR(*found(pays, "pinning")->value, 1 / 0.9, 0.01);
  EXPECT_THAT(claim(pays, "pinning"), HasSubstr("[pin]"));
  EXPECT_THAT(claim(pays, "recommended_workers"), HasSubstr("pin_memory=True"));
  const Evidence does_not = staged(1);
  EXPECT_THAT(claim(does_not, "pinning"), HasSubstr("don't pin"));
  EXPECT_THAT(claim(does_not, "recommended_workers"), HasSubstr("pin_memory=False"));
  EXPECT_FALSE(found(measured_by({}), "pinning"));
}

TEST(WorkersFindings, OneWindowASideIsNoReasonToPin) {
  Evidence evidence = staged(0.9);
  evidence.points.ready->samples_per_s.ci95.reset();
  evidence.points.other_staging->samples_per_s.ci95.reset();
  EXPECT_FALSE(found(evidence, "pinning")->ci95);
  EXPECT_THAT(claim(evidence, "pinning"), HasSubstr("don't pin"));
  EXPECT_THAT(claim(evidence, "recommended_workers"), HasSubstr("pin_memory=False"));
}

}  // namespace
}  // namespace bench::sweeps
