// Load times of a loader of the user's: their file, the profile and the answers.
#include "sweeps/workers/load_times.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "bench/error.h"
#include "bench/stats/random.h"
#include "bench/stats/statistics.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

using testing::claim;
using testing::found;
using testing::simulated_from;

// 16 samples in 50 ms by one worker, σ = 0.04: with w workers a batch each 50 (1 + 0.04 (w - 1)) / w ms.
double load_ms(std::int64_t workers, double sigma = 0.04) {
  const auto w = static_cast<double>(workers);
  return 50 * (1 + sigma * (w - 1)) / w;
}

Json file_of(const std::vector<std::int64_t>& counts, double sigma = 0.04) {
  Json file = {{"schema", "bench-samples/1"}, {"loader", "a test"},         {"cores", 8}, {"batch", 16},
               {"batch_bytes", 1'000'000},    {"worker_bytes", 50'000'000}, {"times", {}}};
  for (const std::int64_t workers : counts) {
    file["times"].push_back(
        {{"workers", workers}, {"load_ms", Json(std::vector<double>(64, load_ms(workers, sigma)))}});
  }
  return file;
}

SimulationRequest consumer_of(double step_ms) {
  return {.workers = {0, 1, 2, 3, 4, 8}, .step_ns = std::llround(step_ms * 1e6), .consumer = "a step"};
}

Evidence evidence_for(const Json& file, double step_ms) {
  return simulated_from(profile_of(read_load_times(file)), consumer_of(step_ms));
}

TEST(WorkersLoadTimes, GiveTheLawAndAWorkersTimes) {
  const Profile profile = profile_of(read_load_times(file_of({4, 1, 2})));
  EXPECT_NEAR(profile.law.law.one, 320, 1e-6);
  EXPECT_NEAR(profile.law.law.sigma, 0.04, 1e-6);
  EXPECT_EQ(profile.law.law.kappa, 0);
  EXPECT_EQ(profile.law.law.cores, 8);
  EXPECT_EQ(profile.law.workers, (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_NEAR(mean(profile.pipeline.batch_work_ns), 50e6, 1);
  EXPECT_EQ(profile.pipeline.prefetch, 2);
  EXPECT_EQ(profile.host_bytes(3, 2), 3 * (2 * 1e6 + 50e6));
  EXPECT_EQ(profile.host_bytes(0, 2), 1e6);
}

TEST(WorkersLoadTimes, GiveKneeAuAndHostMemory) {
  // A step of 40 ms: one worker needs 50 ms a batch, two 26. Without workers a step takes both.
  const Evidence evidence = evidence_for(file_of({1, 2, 4}), 40);
  EXPECT_NEAR(evidence.simulated_at(0)->au, 40.0 / 90, 1e-3);
  EXPECT_NEAR(evidence.simulated_at(1)->au, 40.0 / 50, 1e-3);
  EXPECT_NEAR(evidence.simulated_at(2)->au, 1, 1e-3);
  EXPECT_EQ(found(evidence, "knee_simulated")->value, 2);
  const auto recommended = found(evidence, "recommended_workers");
  EXPECT_EQ(recommended->details["host_bytes"], 2 * (2 * 1e6 + 50e6));
  expect_words(recommended->claim);
  const std::vector<TextTable> tables = workers_tables(evidence);
  expect_words(tables.front().title);
  EXPECT_EQ(tables.front().rows[3][5], "99.2 MiB");  // 2 workers
  // A consumer that the host does not feed is limited by the workers.
  EXPECT_NEAR(evidence_for(file_of({1, 2, 4}), 10).simulated_at(4)->au, 10 / load_ms(4), 2e-3);
}

// σ = 0.6: with four workers each loads at 36 % of its rate alone, with eight at 19 %, and each has a core.
TEST(WorkersLoadTimes, WorkersThatWaitForEachOtherAreNotShortOfCores) {
  const Evidence evidence = evidence_for(file_of({1, 2, 4, 6}, 0.6), 1);
  EXPECT_EQ(evidence.simulated_at(1)->limited_by, "workers");
  EXPECT_EQ(evidence.simulated_at(8)->limited_by, kSharedByWorkers);
  expect_words(claim(evidence, "plateau"));
  EXPECT_EQ(evidence_for(file_of({1, 2, 4, 6}), 1).simulated_at(8)->limited_by, "cores");
}

TEST(WorkersLoadTimes, AtOneCountScalePerfectlyAndSaySo) {
  const Evidence one = evidence_for(file_of({1}), 10);
  const Evidence three = evidence_for(file_of({1, 2, 4}), 10);
  EXPECT_NEAR(one.simulated_at(4)->au, 10 / (50.0 / 4), 2e-3) << "no contention";
  expect_words(claim(one, "recommended_workers"));
  const auto width = [](const Evidence& evidence) {
    const Interval interval = *evidence.simulated_at(4)->au_ci95;
    return interval.high - interval.low;
  };
  EXPECT_GT(width(one), 2 * width(three));
  // Down to half of the scaling at 8 workers: 1 / (1 + 3/7) at 4.
  EXPECT_NEAR(one.simulated_at(4)->au_ci95->low, 0.7 * 0.8, 0.06);
  const auto recommended = found(one, "recommended_workers");
  ASSERT_TRUE(recommended->ci95);
  EXPECT_LE(recommended->ci95->low, *recommended->value);
  EXPECT_GT(recommended->ci95->high, recommended->ci95->low);
  EXPECT_EQ(recommended->interval_kind, kOfSizes);
}

TEST(WorkersLoadTimes, CoverTheTrueAuByTheirInterval) {
  constexpr int kTrials = 40;
  int covered = 0;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::mt19937_64 engine(static_cast<std::uint64_t>(trial));
    Json file = file_of({1, 2, 4});
    for (Json& times : file["times"]) {
      const double round = 1 + 0.04 * (unit_draw(engine) - 0.5);
      for (Json& time : times["load_ms"]) {
        time = time.get<double>() * round * (0.6 + 0.8 * unit_draw(engine));
      }
    }
    SimulationRequest request = consumer_of(10);
    request.workers = {3};
    const Evidence evidence = simulated_from(profile_of(read_load_times(file)), request);
    const Interval interval = *evidence.simulated_at(3)->au_ci95;
    const double truth = 10 / load_ms(3);
    covered += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  EXPECT_GE(covered, 34);  // of 40: fewer than one in a hundred sets of 95 % intervals
}

TEST(WorkersLoadTimes, ReadyBatchesShowTakingAndLateness) {
  Json file = file_of({1, 2, 4});
  for (Json& times : file["times"]) {
    times["ready_ms"] = std::vector<double>(64, times["workers"] == 4 ? 5.0 : 2.0);
  }
  const Profile profile = profile_of(read_load_times(file));
  EXPECT_NEAR(profile.pipeline.take_ns, 2e6, 1);
  ASSERT_EQ(profile.pipeline.scheduling_latency.size(), 1U);  // up to as many as cores
  // A loop that is fed takes each batch in turn with its step.
  EXPECT_NEAR(evidence_for(file, 40).simulated_at(2)->au, 40.0 / 42, 0.01);
}

TEST(WorkersLoadTimes, AreSimulatedAgainFromTheirResult) {
  const Profile profile = profile_of(read_load_times(file_of({1, 2, 4})));
  const Profile fed = changed_for(profile, consumer_of(40));
  const Json document = {{"schema", kResultSchema},
                         {"sweep", {{"name", "workers"}, {"profile", to_json(fed)}}}};
  const Profile read = read_profile(document);
  EXPECT_EQ(read.loader, "a test");
  EXPECT_NEAR(simulate(read, {.workers = {1, 2}}).points[0].au, 0.8, 1e-3);
  EXPECT_FALSE(to_json(*testing::measured_by({}).profile).contains("loader")) << "this program's own";
}

TEST(WorkersLoadTimes, BadFilesGetOneSentence) {
  const auto times = [](Json& file) -> Json& { return file["times"][1]; };
  const std::vector<std::function<void(Json&)>> changes{
      [](Json& file) {
        file = {1, 2};
      },
      [](Json& file) { file.erase("schema"); },
      [](Json& file) { file["schema"] = "bench-samples/9"; },
      [](Json& file) { file.erase("batch_bytes"); },
      [](Json& file) { file.erase("worker_bytes"); },
      [](Json& file) { file["cores"] = 0; },
      [](Json& file) { file["batch"] = -16; },
      [](Json& file) { file["batch_bytes"] = 0; },
      [](Json& file) { file["worker_bytes"] = -1; },
      [](Json& file) { file["prefetch"] = 1000; },
      [](Json& file) { file["loader"] = std::string(200, 'x'); },
      [](Json& file) { file["prefech"] = 2; },
      [](Json& file) { file["worker_mib"] = 50; },
      [](Json& file) { file["batch_mb"] = 1; },
      [&](Json& file) { times(file)["load"] = {1}; },
      [&](Json& file) { times(file)["load_s"] = {1}; },
      [&](Json& file) { times(file).erase("load_ms"); },
      [&](Json& file) { times(file)["load_ms"] = Json::array(); },
      [&](Json& file) { times(file)["load_ms"][1] = -3; },
      [&](Json& file) { times(file)["load_ms"][0] = 0; },
      [&](Json& file) { times(file)["load_ms"][0] = 1e9; },
      [&](Json& file) { times(file)["load_ms"][0] = "26"; },
      [&](Json& file) { times(file)["load_ms"] = 26; },
      [&](Json& file) { times(file)["workers"] = 0; },
      [&](Json& file) { times(file)["workers"] = 100'000; },
      [&](Json& file) { times(file)["workers"] = 1; },
      [](Json& file) { file["times"].erase(0); },
      [](Json& file) { file["times"] = Json::array(); },
      [](Json& file) { file["times"][0]["ready_ms"] = {60}; },
      [&](Json& file) { times(file)["ready_ms"] = {1}; },
      [&](Json& file) { times(file)["load_ms"] = {1e-5}; },
  };
  for (const auto& change : changes) {
    Json file = file_of({1, 2, 4});
    change(file);
    try {
      read_load_times(file);
      ADD_FAILURE() << "accepted: " << file.dump();
    } catch (const UsageError& error) {
      expect_words(error.what());
      EXPECT_LT(std::string(error.what()).size(), 250U);
    }
  }
}

}  // namespace
}  // namespace bench::sweeps
