// The findings of the workers sweep on machines that are known.
#include "sweeps/workers/findings.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>

#include "bench/error.h"
#include "sweeps/workers/points.h"
#include "sweeps/workers/tables.h"
#include "sweeps/workers/what_if.h"
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
  const ResultDocument document = measured_by({});
  ASSERT_TRUE(found(document, "knee"));
  EXPECT_EQ(found(document, "knee")->value, 3);
  EXPECT_EQ(found(document, "knee")->details["error_workers"], 0);
  EXPECT_EQ(found(document, "knee_simulated")->value, 3);
  EXPECT_THAT(claim(document, "knee_simulated"), HasSubstr("Simulated: the knee is at 3 workers"));
  EXPECT_THAT(claim(document, "starvation"), HasSubstr("With no workers the consumer is starved"));
  EXPECT_NEAR(*found(document, "starvation")->value, 1 - 36.1 / 117.1, 0.02);
  EXPECT_EQ(found(document, "plateau")->details["limited_by"], "consumer");
}

TEST(WorkersFindings, PredictsHeldOutCountsWithinThreePoints) {
  LoaderMachine heavy;
  heavy.cv = 0.8;
  LoaderMachine stored;
  stored.storage = simulator::Storage{.bytes_per_s = 40e6, .latency_ns = 3e6};
  stored.image_ns = 2e6;
  LoaderMachine slow;
  slow.compute_ns = 10e6;
  LoaderMachine any;
  any.any_order = true;
  LoaderMachine late;
  late.compute_ns = 22e6;  // just what four workers make: they keep all cores busy
  late.late_ns = 2e6;
  for (const LoaderMachine& machine : {LoaderMachine(), heavy, stored, slow, any, late}) {
    const ResultDocument document = measured_by(machine);
    ASSERT_TRUE(found(document, "simulation_error"));
    EXPECT_LT(*found(document, "simulation_error")->value, 3) << claim(document, "simulation_error");
    EXPECT_EQ(found(document, "simulation_error")->details["points"].size(),
              6U);  // all but 1, where the law starts
    EXPECT_LE(std::abs(found(document, "knee")->details["error_workers"].get<int>()), 1);
  }
}

TEST(WorkersFindings, MissesWhatItDoesNotKnowOfWaitingForACore) {
  LoaderMachine machine;
  machine.compute_ns = 22e6;
  machine.late_ns = 2e6;
  ResultDocument document = machine.document();
  for (MeasuredPoint& point : document.benchmarks) {
    for (Json& note : point.notes) {
      note.erase("late_ns");
    }
  }
  note_simulation(document);
  document.findings = workers_findings(document);
  EXPECT_GT(*found(document, "simulation_error")->value, 3);
}

TEST(WorkersFindings, NamesTheStageThatFillsTheCores) {
  LoaderMachine machine;
  machine.compute_ns = 5e6;
  const ResultDocument document = measured_by(machine);
  EXPECT_EQ(found(document, "plateau")->details["limited_by"], "decode");
  EXPECT_THAT(claim(document, "plateau"), HasSubstr("all cores are busy, and decode takes 70 % of it"));
  EXPECT_EQ(found(document, "stages")->details["largest"], "decode");
}

TEST(WorkersFindings, NamesStorageWhereItIsTheLimit) {
  LoaderMachine machine;
  machine.storage = simulator::Storage{.bytes_per_s = 11e6, .latency_ns = 0};  // 100 images a second
  machine.compute_ns = 50e6;                                                   // 320 wanted
  const ResultDocument document = measured_by(machine);
  EXPECT_EQ(found(document, "plateau")->details["limited_by"], "storage");
  EXPECT_NEAR(*found(document, "plateau")->value, 100, 3);
}

TEST(WorkersFindings, SaysFromWhereMoreWorkersHarm) {
  LoaderMachine machine;
  machine.compute_ns = 5e6;
  machine.crowding = 0.3;
  const ResultDocument document = measured_by(machine);
  ASSERT_TRUE(found(document, "harm"));
  EXPECT_EQ(found(document, "harm")->value, 6);
  EXPECT_THAT(claim(document, "harm"), HasSubstr("From 6 workers on more workers do harm"));
  EXPECT_FALSE(found(measured_by({}), "harm"));
}

TEST(WorkersFindings, RecommendsWithTheHostMemoryItTakes) {
  const ResultDocument document = measured_by({});
  const Finding& finding = *found(document, "recommended_workers");
  EXPECT_EQ(finding.value, 3);
  const auto prefetch = finding.details["prefetch"].get<double>();
  EXPECT_NEAR(finding.details["host_bytes"].get<double>(), 3 * (prefetch * 16 * 602'112 + 3'000'000), 10);
  EXPECT_THAT(finding.claim, HasSubstr("pinned memory"));
}

TEST(WorkersFindings, RecommendsNoWorkersWhereTheyGainNothing) {
  LoaderMachine machine;
  machine.image_ns = 20e3;  // a step waits 0.32 ms of 36 ms
  const ResultDocument document = measured_by(machine);
  EXPECT_EQ(found(document, "recommended_workers")->value, 0);
  EXPECT_THAT(claim(document, "starvation"), HasSubstr("is not starved"));
}

TEST(WorkersFindings, AnswersDemands) {
  LoaderMachine machine;
  machine.demands = {{{"name", "t4"}, {"images_per_s", 500}, {"source", "given"}},
                     {{"name", "h200"}, {"images_per_s", 5000}, {"source", "given"}}};
  const ResultDocument document = measured_by(machine);
  // One worker makes 200 a second, four 4 / 1.12 times that.
  EXPECT_EQ(found(document, "demand/t4")->value, 3);
  EXPECT_THAT(claim(document, "demand/t4"),
              HasSubstr("Simulated: t4, which takes 500 images/s, needs 3 workers"));
  EXPECT_FALSE(found(document, "demand/h200")->value);
  EXPECT_THAT(claim(document, "demand/h200"), HasSubstr("this host cannot feed h200"));
  EXPECT_NEAR(found(document, "demand/h200")->details["tops_out_images_per_s"].get<double>(), 714, 15);

  machine.gpus = 2;
  const ResultDocument two = measured_by(machine);
  EXPECT_FALSE(found(two, "demand/t4")->value);
  EXPECT_THAT(claim(two, "demand/t4"), HasSubstr("cannot feed 2 of t4, each taking 500 images/s"));
}

TEST(WorkersFindings, TellsHowMuchTheConsumerSlowsDown) {
  LoaderMachine machine;
  machine.beside = {{.active = 1, .consumer_speed = 0.7, .worker_speed = 0.9},
                    {.active = 4, .consumer_speed = 0.3, .worker_speed = 0.5},
                    {.active = 8, .consumer_speed = 0.15, .worker_speed = 0.4}};
  const ResultDocument document = measured_by(machine);
  EXPECT_GT(*found(document, "consumer_slowdown")->value, 0.3);
  EXPECT_THAT(claim(document, "consumer_slowdown"), HasSubstr("both use the same cores"));
  EXPECT_THAT(claim(document, "recommended_workers"), HasSubstr("pinning buys nothing"));
  EXPECT_THAT(claim(measured_by({}), "consumer_slowdown"), HasSubstr("is not slowed down"));
}

TEST(WorkersFindings, FewRoundsProveNothingOfTheConsumer) {
  ResultDocument document = measured_by({});
  EXPECT_THAT(claim(document, "starvation"), Not(HasSubstr("too few rounds")));
  document.benchmarks.front().validity.flags = {"few_rounds"};  // ready data
  document.findings = workers_findings(document);
  EXPECT_THAT(claim(document, "starvation"), HasSubstr("too few rounds"));
  EXPECT_FALSE(found(document, "consumer_slowdown"));
}

TEST(WorkersFindings, AConsumerThatGainsByWorkersWasDisturbed) {
  ResultDocument document = LoaderMachine().document();
  for (Json& note : document.benchmarks.front().notes) {  // of ready data
    for (Json& time : note["compute_ns"]) {
      time = 2 * time.get<std::int64_t>();
    }
  }
  note_simulation(document);
  document.findings = workers_findings(document);
  EXPECT_THAT(claim(document, "consumer_slowdown"),
              AllOf(HasSubstr("was not found"), Not(HasSubstr("is not slowed down"))));
}

TEST(WorkersFindings, ALawThatMeetsEveryCountSaysNothingOfItsError) {
  LoaderMachine machine;
  EXPECT_THAT(claim(measured_by(machine), "scaling"), HasSubstr("how far off it is was not measured"));
  machine.capacities = {1, 2, 3, 4, 8};
  EXPECT_THAT(claim(measured_by(machine), "scaling"), HasSubstr("off by at most"));
  machine.capacities = {1, 4, 8, 16};
  EXPECT_THAT(claim(measured_by(machine), "scaling"), HasSubstr("off by at most"));
}

TEST(WorkersTables, ShowAsSimulatedOnlyWhatOtherCountsTell) {
  const auto tables = workers_tables(measured_by({}));
  const auto& rows = tables[1].rows;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    EXPECT_EQ(rows[i].back() == "-", rows[i].front() == "1") << rows[i].front();
  }
}

TEST(WorkersFindings, CopesWithFewPoints) {
  const ResultDocument whole = LoaderMachine().document();
  ResultDocument document = whole;
  document.benchmarks.clear();
  EXPECT_THAT(workers_findings(document), IsEmpty());
  EXPECT_THAT(workers_tables(document), IsEmpty());
  for (const MeasuredPoint& point : whole.benchmarks) {
    document.benchmarks.push_back(point);
    note_simulation(document);
    for (const Finding& finding : workers_findings(document)) {
      EXPECT_THAT(finding.claim, Not(IsEmpty())) << finding.name;
    }
    workers_tables(document);
  }
  // And in the other order: the pool first, without what it is to be set against.
  document.benchmarks.assign(whole.benchmarks.rbegin(), whole.benchmarks.rbegin() + 3);
  document.sweep.erase("profile");
  document.sweep.erase("simulated");
  note_simulation(document);
  EXPECT_FALSE(workers_tables(document).empty());
  workers_findings(document);
}

TEST(WorkersFindings, CopesWithNotesThatAreNone) {
  ResultDocument document = LoaderMachine().document();
  for (MeasuredPoint& point : document.benchmarks) {
    point.notes = {{"step_ns", "x"}};
  }
  document.sweep.erase("loader");
  note_simulation(document);
  EXPECT_THAT(workers_findings(document), IsEmpty());
  document = LoaderMachine().document();
  for (MeasuredPoint& point : document.benchmarks) {
    point.notes[0] = nullptr;
    point.notes[1]["step_ns"] = {-1, "x", nullptr};
    point.notes[2].erase("compute_ns");
  }
  note_simulation(document);
  EXPECT_FALSE(workers_findings(document).empty());
}

TEST(WorkersTables, ListEveryCount) {
  LoaderMachine machine;
  machine.demands = {{{"name", "t4"}, {"images_per_s", 500}, {"source", "given"}}};
  const ResultDocument document = measured_by(machine);
  const auto tables = workers_tables(document);
  ASSERT_EQ(tables.size(), 5U);
  EXPECT_THAT(tables[0].title, HasSubstr("usable cores"));
  EXPECT_EQ(tables[1].rows.size(), 8U);
  for (const TextTable& table : tables) {
    for (const auto& row : table.rows) {
      EXPECT_EQ(row.size(), table.rows[0].size()) << table.title;
      EXPECT_EQ(row.size(), table.right.size()) << table.title;
    }
  }
  const std::string text = text_of(tables);
  EXPECT_THAT(text, HasSubstr("What if (simulated)"));
  EXPECT_THAT(text, HasSubstr("t4 | 500 | 1 | 3"));
}

// Ready data from pinned memory, whose steps take that part of those from pageable memory.
ResultDocument staged(double part) {
  ResultDocument document = LoaderMachine{}.document();
  const auto ready = std::ranges::find_if(
      document.benchmarks, [](const MeasuredPoint& point) { return point.params.at("loader") == "ready"; });
  ready->params["staging"] = "pageable";
  MeasuredPoint pinned = *ready;
  pinned.name += "/staging:pinned";
  pinned.params["loader"] = "other-staging";
  pinned.params["staging"] = "pinned";
  for (Json& note : pinned.notes) {
    for (Json& step : note["step_ns"]) {
      step = static_cast<std::int64_t>(part * step.get<double>());
    }
  }
  document.benchmarks.push_back(pinned);
  note_simulation(document);
  document.findings = workers_findings(document);
  return document;
}

TEST(WorkersFindings, PinsWhereReadyDataArriveSoonerForIt) {
  const ResultDocument pays = staged(0.9);
  ASSERT_TRUE(found(pays, "pinning"));
  EXPECT_NEAR(*found(pays, "pinning")->value, 1 / 0.9, 0.01);
  EXPECT_THAT(claim(pays, "pinning"), HasSubstr(": pin."));
  EXPECT_THAT(claim(pays, "recommended_workers"), HasSubstr("pin them"));
  const ResultDocument does_not = staged(1);
  EXPECT_THAT(claim(does_not, "pinning"), HasSubstr("don't pin"));
  EXPECT_THAT(claim(does_not, "recommended_workers"), HasSubstr("buys nothing"));
  EXPECT_FALSE(found(measured_by({}), "pinning"));
}

}  // namespace
}  // namespace bench::sweeps
