// From a result document to what the simulator needs, into the file and back.
#include "sweeps/workers/profile.h"

#include <gmock/gmock.h>

#include <functional>
#include <numeric>
#include <string>

#include "bench/error.h"
#include "sweeps/workers/findings.h"
#include "sweeps/workers/simulator/draws.h"
#include "sweeps/workers/tables.h"
#include "sweeps/workers/what_if.h"
#include "tests/sweeps/workers/loader_machine.h"

namespace bench::sweeps {
namespace {

using ::testing::HasSubstr;
using testing::LoaderMachine;

Json file_with(const Json& profile) {
  return {{"schema", kResultSchema}, {"sweep", {{"name", "workers"}, {"profile", profile}}}};
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
  const auto profile = measure_profile(LoaderMachine().document());
  ASSERT_TRUE(profile);
  EXPECT_NEAR(profile->law.law.one, 200, 3);
  EXPECT_NEAR(profile->law.law.at(4), 200 * 4 / 1.12, 15);
  EXPECT_NEAR(simulator::mean_of(profile->batch_work_ns), 16 * 5e6, 1.5e6);
  EXPECT_NEAR(simulator::mean_of(profile->sample_work_ns), 5e6, 0.1e6);
  EXPECT_NEAR(simulator::mean_of(profile->compute_ns), 36e6, 0.2e6);
  EXPECT_NEAR(profile->copy_ns, 1e6, 1e3);
  EXPECT_NEAR(profile->gap_ns, 0.1e6, 0.02e6);
  EXPECT_EQ(profile->law_from, "the loader alone");
  EXPECT_NEAR(profile->scratch_bytes_per_worker, 3e6, 10);
}

TEST(WorkersProfile, LeavesTheWaitForStorageOutOfTheWork) {
  LoaderMachine machine;
  machine.storage = simulator::Storage{.bytes_per_s = 200e6, .latency_ns = 5e6};
  const auto profile = measure_profile(machine.document());
  ASSERT_TRUE(profile);
  EXPECT_NEAR(1e9 / profile->law.law.one, 5e6, 0.35e6);  // reading takes 2 % of it, and is left out too
}

TEST(WorkersProfile, TellsTheBytesOfAnImageByTheirTime) {
  LoaderMachine machine;
  machine.storage = simulator::Storage{.bytes_per_s = 20e6, .latency_ns = 1e6};
  ResultDocument document = machine.document();
  EXPECT_NEAR(measure_profile(document)->bytes_read, 110e3, 1);
  document.sweep["loader"].erase("mean_encoded_bytes");
  EXPECT_NEAR(measure_profile(document)->bytes_read, 110e3, 3e3);
}

TEST(WorkersProfile, KnowsAConsumerOnTheSameCores) {
  // Beside w workers it computes with 4 - w threads, one at least, at that part of its speed.
  LoaderMachine machine;
  machine.beside = {{.active = 0, .consumer_speed = 0.25, .worker_speed = 1},
                    {.active = 3, .consumer_speed = 0.25, .worker_speed = 1},
                    {.active = 4, .consumer_speed = 0.20, .worker_speed = 0.80},
                    {.active = 8, .consumer_speed = 0.11, .worker_speed = 0.89}};
  machine.workers = {4, 6, 8};
  const auto profile = measure_profile(machine.document());
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->beside.size(), 2U);  // 4 is both the fewest and as many as cores
  for (const BesideWorkers& beside : profile->beside) {
    EXPECT_NEAR(beside.consumer_speed, 0.25, 0.03) << beside.workers;  // sharing explains the rest
    EXPECT_NEAR(beside.worker_speed, 1, 0.1) << beside.workers;
  }
  const simulator::Pipeline four = pipeline_of(*profile, 4);
  ASSERT_EQ(four.beside.size(), 5U);
  EXPECT_NEAR(four.beside[0].consumer_speed, 0.25, 0.03);
  EXPECT_NEAR(four.beside[4].consumer_speed, 0.20, 0.03);
  EXPECT_NEAR(four.beside[4].worker_speed, 0.80, 0.08);
  EXPECT_TRUE(pipeline_of(*profile, 0).beside.empty());
}

TEST(WorkersProfile, KnowsHowLongAThreadWaitsForACore) {
  LoaderMachine machine;
  machine.late_ns = 2e6;
  const auto profile = measure_profile(machine.document());
  ASSERT_TRUE(profile);
  ASSERT_EQ(profile->wake.size(), 2U);  // 1 to 4 workers on 4 cores, each on its own; 6 and 8
  for (const simulator::WakeDelay& wake : profile->wake) {
    EXPECT_NEAR(simulator::mean_of(wake.late_ns), 2e6, 0.2e6) << wake.workers;  // less what a timer takes
  }
  EXPECT_NEAR(profile->wake[1].workers, 7, 0.1);
  EXPECT_EQ(pipeline_of(*profile, 4).wake[1].workers, profile->wake[1].workers);
  EXPECT_EQ(pipeline_of(*profile, 4, 16).wake[1].workers, 4 * profile->wake[1].workers);  // as many to a core
  EXPECT_TRUE(measure_profile(LoaderMachine().document())->wake.empty());
  EXPECT_EQ(measure_profile(machine.document(), 6)->wake[1].workers, 8);
}

TEST(WorkersProfile, AsksAThreadBesideTheLoaderAloneWhereNoConsumerSlept) {
  LoaderMachine machine;
  machine.late_ns = 2e6;
  ResultDocument document = machine.document();
  for (MeasuredPoint& point : document.benchmarks) {
    for (Json& note : point.notes) {
      if (point.params["loader"] != "capacity") {
        note.erase("late_ns");
      }
    }
  }
  const auto profile = measure_profile(document);
  ASSERT_EQ(profile->wake.size(), 2U);
  EXPECT_EQ(profile->wake[1].workers, 8);
  EXPECT_NEAR(simulator::mean_of(profile->wake[1].late_ns), 2e6, 0.1e6);
}

TEST(WorkersProfile, DoesWithoutTheLoaderAlone) {
  LoaderMachine machine;
  machine.capacities = {};
  machine.compute_ns = 10e6;
  const auto starved = measure_profile(machine.document());
  ASSERT_TRUE(starved);
  EXPECT_EQ(starved->law_from, "starved consumers");
  EXPECT_NEAR(starved->law.law.one, 200, 8);

  machine.workers = {0};
  const auto alone = measure_profile(machine.document());
  ASSERT_TRUE(alone);
  EXPECT_EQ(alone->law_from, "the consumer's thread");
  EXPECT_NEAR(alone->law.law.one, 200, 8);
}

TEST(WorkersProfile, WhatIsLeftOutHasNoPart) {
  ResultDocument document = LoaderMachine().document();
  for (MeasuredPoint& point : document.benchmarks) {
    if (point.params["workers"] == 4) {
      for (Json& note : point.notes) {
        for (const char* times : {"step_ns", "batch_ns"}) {
          for (Json& time : note[times]) {
            time = time.get<std::int64_t>() * 3;
          }
        }
      }
    }
  }
  EXPECT_NEAR(measure_profile(document, 4)->law.law.at(4), 200 * 4 / 1.12, 25);
  EXPECT_LT(measure_profile(document)->law.law.at(4), 650);
}

TEST(WorkersProfile, ThinsToTheSameMean) {
  std::vector<double> values(10'007);
  std::iota(values.begin(), values.end(), 1.0);
  values.back() = 1e9;
  const auto thin = thinned(values);
  EXPECT_EQ(thin.size(), 512U);
  EXPECT_NEAR(simulator::mean_of(thin) / simulator::mean_of(values), 1, 1e-12);
  EXPECT_EQ(thinned({3, 1, 2}), (std::vector<double>{3, 1, 2}));
}

TEST(WorkersProfile, ReadsBackWhatItWrote) {
  LoaderMachine machine;
  machine.beside = {{.active = 2, .consumer_speed = 0.7, .worker_speed = 0.9}};
  machine.late_ns = 2e6;
  machine.storage = simulator::Storage{.bytes_per_s = 200e6, .latency_ns = 5e6};
  const Json written = make_profile(machine.document());
  EXPECT_EQ(to_json(read_profile(file_with(written))), written);
  EXPECT_EQ(to_json(read_profile(Json::parse(file_with(written).dump()))), written);
}

TEST(WorkersProfile, OfTheFirstVersionHasNoWaitsForACore) {
  LoaderMachine machine;
  machine.late_ns = 2e6;
  Json old = make_profile(machine.document());
  old["version"] = 1;
  old.erase("wake");
  EXPECT_TRUE(read_profile(file_with(old)).wake.empty());
  old.erase("sample_sizes");
  EXPECT_TRUE(read_profile(file_with(old)).wake.empty());
}

TEST(WorkersProfile, OfTheSecondVersionKnowsThemByWorkersAtWork) {
  LoaderMachine machine;
  machine.late_ns = 2e6;
  Json old = make_profile(machine.document());
  old["version"] = 2;
  for (Json& wake : old["wake"]) {
    wake["active"] = wake["workers"];
    wake.erase("workers");
  }
  EXPECT_EQ(read_profile(file_with(old)).wake.size(), 2U);
}

TEST(WorkersProfile, IsSmall) {
  EXPECT_LT(make_profile(LoaderMachine().document()).dump().size(), 40'000U);
}

TEST(WorkersProfile, RefusesWhatIsNone) {
  EXPECT_THAT(refusal(3), HasSubstr("not a result file of this program"));
  EXPECT_THAT(refusal(Json::object()), HasSubstr("bench-result/1"));
  EXPECT_THAT(refusal({{"schema", 1}}), HasSubstr("bench-result/1"));
  EXPECT_THAT(refusal({{"schema", kResultSchema}}), HasSubstr("sweep is missing"));
  EXPECT_THAT(refusal({{"schema", kResultSchema}, {"sweep", {{"name", "batch"}}}}),
              HasSubstr("a result of --sweep batch; accepted: one of --sweep workers"));
  EXPECT_THAT(refusal({{"schema", kResultSchema}, {"sweep", {{"name", "workers"}}}}),
              HasSubstr("no profile in it"));

  const Json good = make_profile(LoaderMachine().document());
  EXPECT_EQ(refusal(file_with(good)), "accepted");
  const auto changed = [&](const std::function<void(Json&)>& change) {
    Json bad = good;
    change(bad);
    return refusal(file_with(bad));
  };
  for (const auto& [key, value] : good.items()) {
    if (key != "storage" && key != "host" && key != "software") {
      EXPECT_THAT(changed([&](Json& bad) { bad.erase(key); }),
                  HasSubstr("sweep.profile." + key + " is missing"));
      EXPECT_THAT(changed([&](Json& bad) { bad[key] = nullptr; }), HasSubstr("sweep.profile." + key)) << key;
    }
  }
  EXPECT_THAT(changed([](Json& bad) { bad["version"] = 4; }), HasSubstr("accepted: 1 to 3"));
  LoaderMachine late;
  late.late_ns = 2e6;
  const Json waits = make_profile(late.document());
  const auto changed_wake = [&](const std::function<void(Json&)>& change) {
    Json bad = waits;
    change(bad["wake"]);
    return refusal(file_with(bad));
  };
  EXPECT_EQ(refusal(file_with(waits)), "accepted");
  EXPECT_THAT(changed_wake([](Json& bad) { bad[1]["late_ns"].erase(0); }), HasSubstr("wake[1].late_ns"));
  EXPECT_THAT(changed_wake([](Json& bad) { bad[0]["late_ns"][3] = 1e9; }), HasSubstr("wake[0].late_ns[4]"));
  EXPECT_THAT(changed_wake([](Json& bad) { bad[1]["workers"] = 1; }), HasSubstr("more than that"));
  EXPECT_THAT(changed([](Json& bad) { bad["order"] = "random"; }), HasSubstr("accepted: in-order, any"));
  EXPECT_THAT(changed([](Json& bad) { bad["batch"] = 0; }), HasSubstr("accepted: a whole number from 1"));
  EXPECT_THAT(changed([](Json& bad) { bad["law"]["sigma"] = -1; }), HasSubstr("sweep.profile.law.sigma"));
  EXPECT_THAT(changed([](Json& bad) { bad["law"]["cores"] = 0; }), HasSubstr("accepted: a number above 0"));
  EXPECT_THAT(changed([](Json& bad) { bad["compute_ns"] = Json::array(); }), HasSubstr("0 elements"));
  EXPECT_THAT(changed([](Json& bad) { bad["compute_ns"] = {0, 0}; }), HasSubstr("no time above 0"));
  EXPECT_THAT(changed([](Json& bad) { bad["batch_work_ns"][3] = -5; }), HasSubstr("batch_work_ns[3]"));
}

TEST(WhatIf, SimulatesFromAProfileAlone) {
  const Json earlier = file_with(make_profile(LoaderMachine().document()));
  WhatIf what_if;
  what_if.workers = {0, 1, 2, 4, 8};
  what_if.demands = {{.name = "t4", .images_per_s = 500, .source = "given"}};
  ResultDocument document;
  document.sweep = {{"name", "workers"}};
  simulate_profile(read_profile(earlier), what_if, document);
  const auto simulated = simulated_of(document);
  ASSERT_TRUE(simulated);
  EXPECT_EQ(simulated->points.size(), 5U);
  const auto findings = workers_findings(document);
  for (const Finding& finding : findings) {
    EXPECT_TRUE(finding.claim.starts_with("Simulated") || finding.name == "stages" ||
                finding.name == "scaling")
        << finding.name << ": " << finding.claim;
    EXPECT_TRUE(finding.evidence.empty()) << finding.name;
  }
  const auto tables = workers_tables(document);
  ASSERT_EQ(tables.size(), 2U);
  EXPECT_THAT(tables[0].title, HasSubstr("Simulated"));
  EXPECT_THAT(tables[1].title, HasSubstr("simulated"));
}

TEST(WhatIf, MoreCoresFeedMoreAndAreCalledAnExtrapolation) {
  const Json earlier = file_with(make_profile(LoaderMachine().document()));
  WhatIf what_if;
  what_if.demands = {{.name = "h200", .images_per_s = 1500, .source = "given"}};
  ResultDocument few;
  simulate_profile(read_profile(earlier), what_if, few);
  EXPECT_FALSE(simulated_of(few)->demands[0].workers);
  what_if.cores = 32;
  ResultDocument many;
  simulate_profile(read_profile(earlier), what_if, many);
  const auto simulated = simulated_of(many);
  ASSERT_TRUE(simulated->demands[0].workers);
  // 1425 / 200 workers and what σ takes: W / (1 + 0.04 (W - 1)) = 7.1 gives 10, and their times vary.
  EXPECT_NEAR(static_cast<double>(*simulated->demands[0].workers), 11, 1);
  bool said = false;
  for (const Finding& finding : workers_findings(many)) {
    said = said ||
           (finding.name == "knee_simulated" && finding.claim.find("extrapolation") != std::string::npos);
  }
  EXPECT_TRUE(said);
}

TEST(WhatIf, TheSameSeedGivesTheSameFile) {
  const Json earlier = file_with(make_profile(LoaderMachine().document()));
  ResultDocument one;
  ResultDocument two;
  simulate_profile(read_profile(earlier), {}, one);
  simulate_profile(read_profile(earlier), {}, two);
  EXPECT_EQ(one.sweep, two.sweep);
}

}  // namespace
}  // namespace bench::sweeps
