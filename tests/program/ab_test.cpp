// `bench ab` with programs that answer at once: scripts that put a made result where they are told to.
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// Answers "… --out DIR/base-01 --no-plot" with the file base-01.json of the folder $FILES.
constexpr const char* kScript = R"(#!/bin/sh
while [ "$1" != --out ]; do shift; done
cp "$FILES/$(basename "$2").json" "$2/batch.json"
)";

std::string made_script(const TemporaryFolder& folder, const std::string& name,
                        const std::string& text = kScript) {
  const fs::path path = folder.path() / name;
  write_file(path, text);
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

// Results of `pairs` pairs; NEW takes `factor` times as long at the first point.
void made_pairs(const fs::path& folder, int pairs, double factor) {
  for (int pair = 1; pair <= pairs; ++pair) {
    for (const std::string side : {"base", "new"}) {
      ResultDocument document = sample_document();
      document.context.run_id = side + std::to_string(pair);
      document.points.clear();
      for (int point = 0; point < 5; ++point) {
        Point measured = sample_point(point + 1, 10'000'000);
        const int salt = side == "base" ? 3 : 11;
        const double noise = 1 + 0.0005 * ((pair * 7 + point * salt) % 5);
        const double level = noise * (point == 0 && side == "new" ? factor : 1);
        measured.samples_ns.assign(3, static_cast<std::int64_t>(1e7 * level));
        measured.rounds = rounds_of({1, 1, 1});
        measured.stats = {};
        measured.stats.median_ns = static_cast<double>(measured.samples_ns.front());
        measured.stats.p05_ns = measured.stats.p95_ns = measured.stats.median_ns;
        measured.stats.rounds = 3;
        measured.validity.flags.clear();
        document.points.push_back(measured);
      }
      write_file(folder / (side + (pair < 10 ? "-0" : "-") + std::to_string(pair) + ".json"),
                 to_text(to_json(document)));
    }
  }
}

Ended run_ab(const TemporaryFolder& folder, const Arguments& options, const std::string& out = "runs") {
  const std::string files = "FILES=" + (folder.path() / "files").string();
  return run_bench(Arguments{"ab", "--base-env", files, "--new-env", files, "--out", folder.path() / out} +
                   options + Arguments{"--", "--sweep", "batch"});
}

TEST(Ab, EndsWhenEveryPointIsSettled) {
  const TemporaryFolder folder;
  made_pairs(folder.path() / "files", 20, 1);
  const std::string program = made_script(folder, "program");
  const Ended ended = run_ab(folder, {program, program});
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  const auto runs = TemporaryFolder::names_in(folder.path() / "runs");
  EXPECT_THAT(runs, IsSupersetOf({"base-01", "new-01", "base-05", "new-05"}));
  EXPECT_THAT(runs, ::testing::Not(::testing::Contains("base-20")));
}

// As a shell finds them; and none of the runs chooses by itself how its threads wait.
TEST(Ab, FindsProgramsOnPathAndSettlesHowTheirThreadsWait) {
  const TemporaryFolder folder;
  made_pairs(folder.path() / "files", 20, 1);
  made_script(folder, "measures",
              std::string(kScript) + "echo \"$BENCH_WAIT_POLICY_IS_SETTLED\" >> \"$FILES/settled\"\n");
  const std::string before = std::getenv("PATH");
  setenv("PATH", (folder.path().string() + ":" + before).c_str(), 1);
  const Ended ended = run_ab(folder, {"measures", "measures"});
  setenv("PATH", before.c_str(), 1);
  EXPECT_EQ(ended.code, 0) << ended.out << ended.err;
  EXPECT_THAT(read_file(folder.path() / "files" / "settled"), ::testing::StartsWith("1\n1\n1\n"));
}

TEST(Ab, ASlowerPointIsNamed) {
  const TemporaryFolder folder;
  made_pairs(folder.path() / "files", 20, 1.05);
  const std::string program = made_script(folder, "program");
  const Ended json = run_ab(folder, {"--format", "json", program, program}, "json");
  EXPECT_EQ(json.code, 1) << json.err;
  EXPECT_EQ(schema_errors(json.out, kCompareSchema), "");
  const Json outcome = Json::parse(json.out);
  EXPECT_EQ(outcome.at("counts").at("slower"), 1);
  for (const Json& point : outcome.at("points")) {
    const bool is_slower = point.at("name").get<std::string>().ends_with("batch:1");
    EXPECT_EQ(point.at("verdict"), is_slower ? "slower" : "same") << point;
  }
  const Ended compared = run_bench(
      {"compare", folder.path() / "json/base-01/batch.json", "--", folder.path() / "json/new-01/batch.json"});
  EXPECT_EQ(compared.code, 3) << "the files are there for bench compare";
}

TEST(Ab, EndsAfterTheFirstPairThatCannotBeCompared) {
  const TemporaryFolder folder;
  made_pairs(folder.path() / "files", 20, 1);
  for (int pair = 1; pair <= 20; ++pair) {
    const fs::path file = folder.path() / "files" / fmt::format("new-{:02}.json", pair);
    Json document = Json::parse(read_file(file));
    document["context"]["device"]["name"] = "Other CPU";
    write_file(file, document.dump());
  }
  const std::string program = made_script(folder, "program");
  const Ended ended = run_ab(folder, {program, program});
  EXPECT_EQ(ended.code, 4) << ended.out << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("'Other CPU'"));
  EXPECT_FALSE(fs::exists(folder.path() / "runs/base-02"));
}

TEST(Ab, CtrlCKeepsWhatWasRun) {
  const TemporaryFolder folder;
  made_pairs(folder.path() / "files", 20, 1);
  const std::string waits = std::string(kScript) + "[ $(basename \"$2\") != new-02 ] || exec sleep 1000\n";
  const std::string program = made_script(folder, "program", waits);
  const std::string files = "FILES=" + (folder.path() / "files").string();
  Process process({"ab", "--base-env", files, "--new-env", files, "--out", folder.path() / "runs", program,
                   program, "--", "--sweep", "batch"});
  while (!fs::exists(folder.path() / "runs/new-02/batch.json") && !process.ended()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.send(SIGINT);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  const std::string runs = (folder.path() / "runs").string();
  EXPECT_TRUE(ended.err.ends_with("interrupted after 1 whole pair; what was measured is saved\nResults: " +
                                  runs + "/{base,new}-*/*.json\n"))
      << ended.err;
  EXPECT_TRUE(fs::exists(folder.path() / "runs/new-01/batch.json"));
}

TEST(Ab, CtrlCBeforeAResultSavesNothing) {
  const TemporaryFolder folder;
  const fs::path begun = folder.path() / "begun";
  const std::string program =
      made_script(folder, "program", "#!/bin/sh\ntouch '" + begun.string() + "'\nexec sleep 1000\n");
  Process process({"ab", "--out", folder.path() / "runs", program, program, "--", "--sweep", "batch"});
  while (!fs::exists(begun) && !process.ended()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  process.send(SIGINT);
  const Ended ended = process.wait();
  EXPECT_EQ(ended.code, 130) << ended.err;
  EXPECT_TRUE(ended.err.ends_with("interrupted after 0 whole pairs; nothing was measured\n")) << ended.err;
}

}  // namespace
}  // namespace bench::testing
