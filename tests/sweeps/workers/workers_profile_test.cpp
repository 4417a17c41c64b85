// From a result document to what the simulator needs, into the file and back.
#include "sweeps/workers/profile.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <numeric>
#include <string>

#include "bench/error.h"
#include "bench/stats/statistics.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using testing::LoaderMachine;

Json file_with(const Json& profile) {
  return {{"schema", kResultSchema}, {"sweep", {{"name", "workers"}, {"profile", profile}}}};
}

std::optional<Profile> profile_of(const LoaderMachine& machine, std::optional<std::int64_t> left_out = {}) {
  return measure_profile(loader_points(machine.measured(), machine.setup()), machine.setup(), left_out);
}

std::string refusal(const Json& document) {
  try {
    read_profile(document);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(WorkersProfile, KnowsTheMachine) {
  const auto profile = profile_of(LoaderMachine());
  ASSERT_TRUE(profile);
  EXPECT_NEAR(profile->law.law.one, 200, 3);
  EXPECT_NEAR(profile->law.law.at(4), 200 * 4 / 1.12, 15);
  EXPECT_NEAR(mean(profile->pipeline.batch_work_ns), 16 * 5e6, 1.5e6);
  EXPECT_NEAR(mean(profile->pipeline.sample_work_ns), 5e6, 0.1e6);
  EXPECT_NEAR(mean(profile->pipeline.compute_ns), 36e6, 0.2e6);
  EXPECT_NEAR(profile->pipeline.copy_ns, 1e6, 1e3);
  EXPECT_NEAR(profile->pipeline.gap_ns, 0.1e6, 0.02e6);
  EXPECT_EQ(profile->law.from, "the loader alone");
  EXPECT_NEAR(profile->scratch_bytes_per_worker, 3e6, 10);
}

TEST(WorkersProfile, LeavesTheWaitForStorageOutOfTheWork) {
  LoaderMachine machine;
  machine.storage = loader::Storage{.bytes_per_s = 200e6, .latency_ns = 5e6};
  const auto profile = profile_of(machine);
  ASSERT_TRUE(profile);
  EXPECT_NEAR(1e9 / profile->law.law.one, 5e6, 0.35e6);  // reading takes 2 % of it, and is left out too
  EXPECT_NEAR(profile->pipeline.sample_bytes_read, 110e3, 1);
}

// As on a mount whose reads no page cache holds; a quick storage leaves none.
TEST(WorkersProfile, ReadsThatWaitAreAStorageThatNobodyNamed) {
  LoaderMachine machine;
  machine.storage = loader::Storage{.bytes_per_s = 200e6, .latency_ns = 5e6};
  LoaderSetup setup = machine.setup();
  setup.storage.reset();
  const auto slow = measure_profile(loader_points(machine.measured(), setup), setup);
  ASSERT_TRUE(slow);
  ASSERT_TRUE(slow->pipeline.storage);
  EXPECT_NEAR(slow->pipeline.storage->latency_ns, 5e6 + 110e3 / 200e6 * 1e9, 1e6);
  EXPECT_FALSE(profile_of(LoaderMachine())->pipeline.storage);
}

TEST(WorkersProfile, KnowsAConsumerOnTheSameCores) {
  // With w workers it computes with 4 - w threads, one at least, at that part of its speed.
  LoaderMachine machine;
  machine.shared_cores = {{.active = 0, .consumer_speed = 0.25, .worker_speed = 1},
                          {.active = 3, .consumer_speed = 0.25, .worker_speed = 1},
                          {.active = 4, .consumer_speed = 0.20, .worker_speed = 0.80},
                          {.active = 8, .consumer_speed = 0.11, .worker_speed = 0.89}};
  machine.workers = {4, 6, 8};
  const auto profile = profile_of(machine);
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->sharing.size(), 2U);  // 4 is both the fewest and as many as cores
  for (const MeasuredSharing& sharing : profile->sharing) {
    EXPECT_NEAR(sharing.consumer_speed, 0.25, 0.03) << sharing.workers;  // sharing explains the rest
    EXPECT_NEAR(sharing.worker_speed, 1, 0.1) << sharing.workers;
  }
  const simulator::Pipeline four = pipeline_of(*profile, 4);
  ASSERT_EQ(four.shared_cores.size(), 5U);
  EXPECT_NEAR(four.shared_cores[0].consumer_speed, 0.25, 0.03);
  EXPECT_NEAR(four.shared_cores[4].consumer_speed, 0.20, 0.03);
  EXPECT_NEAR(four.shared_cores[4].worker_speed, 0.80, 0.08);
  EXPECT_TRUE(pipeline_of(*profile, 0).shared_cores.empty());
}

TEST(WorkersProfile, KnowsHowLateTheConsumerThreadIsScheduled) {
  LoaderMachine machine;
  machine.late_ns = 2e6;
  const auto profile = profile_of(machine);
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->pipeline.scheduling_latency.size(),
            2U);  // 1 to 4 workers on 4 cores, each on its own; 6 and 8
  for (const simulator::SchedulingLatency& latency : profile->pipeline.scheduling_latency) {
    EXPECT_NEAR(mean(latency.late_ns), 2e6, 0.2e6) << latency.workers;  // less what a timer takes
  }
  EXPECT_NEAR(profile->pipeline.scheduling_latency[1].workers, 7, 0.1);
  EXPECT_EQ(pipeline_of(*profile, 4).scheduling_latency[1].workers,
            profile->pipeline.scheduling_latency[1].workers);
  EXPECT_EQ(pipeline_of(*profile, 4, 16).scheduling_latency[1].workers,
            4 * profile->pipeline.scheduling_latency[1].workers);  // as many to a core
  EXPECT_TRUE(profile_of(LoaderMachine())->pipeline.scheduling_latency.empty());
  EXPECT_EQ(profile_of(machine, 6)->pipeline.scheduling_latency[1].workers, 8);
}

TEST(WorkersProfile, TakesWhatTheLoaderAloneNotesWhereNoConsumerSlept) {
  LoaderMachine machine;
  machine.late_ns = 2e6;
  auto measured = machine.measured();
  testing::change_windows(
      measured, [](const Point& point) { return point.params.at("loader") != "capacity"; },
      [](Window& window) { window.late_ns.clear(); });
  const auto profile = measure_profile(loader_points(measured, machine.setup()), machine.setup());
  ASSERT_EQ(profile->pipeline.scheduling_latency.size(), 2U);
  EXPECT_EQ(profile->pipeline.scheduling_latency[1].workers, 8);
  EXPECT_NEAR(mean(profile->pipeline.scheduling_latency[1].late_ns), 2e6, 0.1e6);
}

TEST(WorkersProfile, DoesWithoutTheLoaderAlone) {
  LoaderMachine machine;
  machine.capacities = {};
  machine.compute_ns = 10e6;
  const auto starved = profile_of(machine);
  ASSERT_TRUE(starved);
  EXPECT_EQ(starved->law.from, "starved consumers");
  EXPECT_NEAR(starved->law.law.one, 200, 8);

  machine.workers = {0};
  const auto alone = profile_of(machine);
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->law.from, "the consumer's thread");
  EXPECT_NEAR(alone->law.law.one, 200, 8);
}

TEST(WorkersProfile, WhatIsLeftOutHasNoPart) {
  const LoaderMachine machine;
  auto measured = machine.measured();
  testing::change_windows(
      measured, [](const Point& point) { return point.params.at("workers") == 4; },
      [](Window& window) {
        for (auto* const times : {&window.step_ns, &window.batch_ns}) {
          for (double& time : *times) {
            time *= 3;
          }
        }
      });
  const LoaderPoints points = loader_points(measured, machine.setup());
  EXPECT_NEAR(measure_profile(points, machine.setup(), 4)->law.law.at(4), 200 * 4 / 1.12, 25);
  EXPECT_LT(measure_profile(points, machine.setup())->law.law.at(4), 650);
}

TEST(WorkersProfile, ThinsToTheSameMean) {
  std::vector<double> values(10'007);
  std::iota(values.begin(), values.end(), 1.0);
  values.back() = 1e9;
  const auto thin = thinned(values);
  EXPECT_EQ(thin.size(), 512U);
  EXPECT_NEAR(mean(thin) / mean(values), 1, 1e-12);
  EXPECT_EQ(thinned({3, 1, 2}), (std::vector<double>{3, 1, 2}));
}

TEST(WorkersProfile, ReadsBackWhatItWrote) {
  LoaderMachine machine;
  machine.shared_cores = {{.active = 2, .consumer_speed = 0.7, .worker_speed = 0.9}};
  machine.late_ns = 2e6;
  machine.storage = loader::Storage{.bytes_per_s = 200e6, .latency_ns = 5e6};
  const Json written = to_json(*profile_of(machine));
  EXPECT_EQ(to_json(read_profile(file_with(written))), written);
  EXPECT_EQ(to_json(read_profile(Json::parse(file_with(written).dump()))), written);
}

// A whole file of a program that had --nice: with its fields, and with windows of workers that were not.
TEST(WorkersProfile, OfAnEarlierProgramWithNiceIsRead) {
  std::ifstream file(std::string(BENCH_TEST_SOURCE_DIR) + "/tests/golden/workers.json");
  const Json earlier = Json::parse(file);
  ASSERT_TRUE(earlier.at("sweep").at("loader").contains("nice"));
  const Profile profile = read_profile(earlier);
  EXPECT_FALSE(simulate(profile, {}).points.empty());
  for (const Json& point : earlier.at("benchmarks")) {
    for (const Json& note : point.at("notes")) {
      EXPECT_EQ(read_window(note)->step_ns.size(), note.at("step_ns").size());
    }
  }
}

TEST(WorkersProfile, IsSmall) {
  EXPECT_LT(to_json(*profile_of(LoaderMachine())).dump().size(), 40'000U);
}

TEST(WorkersProfile, RefusesWhatIsNone) {
  expect_words(refusal(3));
  expect_words(refusal(Json::object()));
  expect_words(refusal({{"schema", 1}}));
  expect_words(refusal({{"schema", kResultSchema}}));
  expect_words(refusal({{"schema", "bench-result/1"}}));
  expect_words(refusal({{"schema", kResultSchema}, {"sweep", {{"name", "batch"}}}}));
  expect_words(refusal({{"schema", kResultSchema}, {"sweep", {{"name", "workers"}}}}));

  const Json good = to_json(*profile_of(LoaderMachine()));
  EXPECT_EQ(refusal(file_with(good)), "accepted");
  const auto changed = [&](const std::function<void(Json&)>& change) {
    Json bad = good;
    change(bad);
    return refusal(file_with(bad));
  };
  for (const auto& [key, value] : good.items()) {
    if (key != "storage" && key != "host" && key != "software") {
      expect_words(changed([&](Json& bad) { bad.erase(key); }));
      expect_words(changed([&](Json& bad) { bad[key] = nullptr; }));
    }
  }
  expect_words(changed([](Json& bad) { bad["version"] = 4; }));
  expect_words(changed([](Json& bad) { bad["version"] = 2; }));
  LoaderMachine late;
  late.late_ns = 2e6;
  const Json waits = to_json(*profile_of(late));
  const auto changed_latencies = [&](const std::function<void(Json&)>& change) {
    Json bad = waits;
    change(bad["wake"]);
    return refusal(file_with(bad));
  };
  EXPECT_EQ(refusal(file_with(waits)), "accepted");
  expect_words(changed_latencies([](Json& bad) { bad[1]["late_ns"].erase(0); }));
  expect_words(changed_latencies([](Json& bad) { bad[0]["late_ns"][3] = 1e9; }));
  expect_words(changed_latencies([](Json& bad) { bad[1]["workers"] = 1; }));
  expect_words(changed([](Json& bad) { bad["order"] = "random"; }));
  expect_words(changed([](Json& bad) { bad["batch"] = 0; }));
  expect_words(changed([](Json& bad) { bad["law"]["sigma"] = -1; }));
  expect_words(changed([](Json& bad) { bad["law"]["cores"] = 0; }));
  for (const auto& [at, absurd] :
       {std::pair{"/law/kappa", 9e15}, std::pair{"/law/sigma", 1e4}, std::pair{"/law/crowding", 1e4},
        std::pair{"/law/cores", 1e300}, std::pair{"/law/images_per_s_one", 1e12},
        std::pair{"/scratch_bytes_per_worker", 1e18}, std::pair{"/slot_bytes", 1e14},
        std::pair{"/copy_ns", 1e17}, std::pair{"/batch_work_ns/0", 1e17}}) {
    expect_words(changed([&](Json& bad) { bad[Json::json_pointer(at)] = absurd; }));
  }
  expect_words(changed([](Json& bad) { bad["compute_ns"] = Json::array(); }));
  expect_words(changed([](Json& bad) { bad["compute_ns"] = {0, 0}; }));
  expect_words(changed([](Json& bad) { bad["batch_work_ns"][3] = -5; }));
}

TEST(Simulated, FromAProfileAlone) {
  const Profile profile = read_profile(file_with(to_json(*profile_of(LoaderMachine()))));
  const Evidence evidence = testing::simulated_from(
      profile,
      {.workers = {0, 1, 2, 4, 8}, .required = {{.name = "t4", .samples_per_s = 500, .source = "given"}}});
  EXPECT_EQ(evidence.simulated->points.size(), 5U);
  for (const Finding& finding : workers_findings(evidence)) {
    EXPECT_TRUE(finding.claim.starts_with("Simulated") || finding.name == "stages" ||
                finding.name == "scaling")
        << finding.name << ": " << finding.claim;
    EXPECT_TRUE(finding.evidence.empty()) << finding.name;
  }
  const auto tables = workers_tables(evidence);
  ASSERT_EQ(tables.size(), 2U);
  expect_words(tables[0].title);
  expect_words(tables[1].title);
}

TEST(Simulated, MoreCoresFeedMoreAndAreCalledAnExtrapolation) {
  const Profile profile = *profile_of(LoaderMachine());
  SimulationRequest request{.required = {{.name = "h200", .samples_per_s = 1500, .source = "given"}}};
  EXPECT_FALSE(simulate(profile, request).requirements[0].workers);
  request.cores = 32;
  const Evidence many = testing::simulated_from(profile, request);
  ASSERT_TRUE(many.simulated->requirements[0].workers);
  // 1425 / 200 workers and what σ takes: W / (1 + 0.04 (W - 1)) = 7.1 gives 10, and their times vary.
  EXPECT_NEAR(static_cast<double>(*many.simulated->requirements[0].workers), 11, 1);
  expect_words(testing::claim(many, "knee_simulated"));
}

TEST(Simulated, TheSameSeedGivesTheSameFile) {
  const Profile profile = *profile_of(LoaderMachine());
  EXPECT_EQ(to_json(simulate(profile, {})), to_json(simulate(profile, {})));
}

}  // namespace
}  // namespace bench::sweeps
