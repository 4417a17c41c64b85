// Every wrong input: exit 2, one line that names option, value and what is accepted, no file damaged.
#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "bench/result/result_json.h"
#include "bench/run/result_file.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

void expect_refused(const Ended& ended, const std::vector<std::string>& parts) {
  EXPECT_EQ(ended.code, 2);
  EXPECT_EQ(ended.out, "");
  EXPECT_EQ(ended.err.substr(0, 7), "bench: ");
  EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
  for (const std::string& part : parts) {
    EXPECT_THAT(ended.err, HasSubstr(part));
  }
}

// The message names the devices of this machine, which no page can.
TEST(BadInput, UnknownDevices) {
  for (const char* const device : {"cuda:77", "npu"}) {
    expect_refused(run_bench({"--sweep", "batch", "--device", device}),
                   {"--device", fmt::format("'{}'", device), "auto", "cpu"});
  }
}

// The launcher differs from machine to machine.
TEST(BadInput, TheCommandThatStartsRanksIsQuotedForAShell) {
  expect_refused(run_bench({"--sweep", "collectives", "--out", "my $HOME;x"}),
                 {"start it with: ", "--sweep collectives --out 'my $HOME;x'"});
}

TEST(BadOutput, AFullDiskFromTheStart) {
  const TemporaryFolder folder;
  expect_refused(run_bench(small_run(folder.path()), 2048),
                 {"--out", folder.path().string(), "File too large"});
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(BadOutput, ADiskThatFillsUpMeanwhile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / kSmallFile;
  write_file(path, "an older result");
  // Enough for the check at the start, too little for a point with all its samples.
  const Ended ended = run_bench(endless_run(folder.path()), 4096);
  EXPECT_EQ(ended.code, 2);
  const std::size_t last_line = ended.err.rfind("bench: ");
  ASSERT_NE(last_line, std::string::npos) << ended.err;
  EXPECT_THAT(ended.err.substr(last_line),
              ::testing::MatchesRegex("bench: --out: [^\n]*File too large[^\n]*\n"));
  // Either no write succeeded, or those before the last did: then the older file was put aside first.
  if (read_file(path) != "an older result") {
    EXPECT_NO_THROW(read_result(path));
    EXPECT_EQ(folder.names().size(), 2U);
  }
}

class BadResume : public ::testing::Test {
 protected:
  BadResume() {
    const Ended ended = run_bench(small_run(folder_.path()));
    if (ended.code != 0) {
      throw std::runtime_error(ended.err);
    }
  }
  fs::path path() const { return folder_.path() / kSmallFile; }
  Json result() const { return Json::parse(read_file(path())); }

  void expect_refused_and_kept(const std::string& text, const std::vector<std::string>& parts,
                               const Arguments& more = {}) {
    write_file(path(), text);
    expect_refused(run_bench(small_run(folder_.path()) + Arguments{"--resume"} + more), parts);
    EXPECT_EQ(read_file(path()), text);
    EXPECT_THAT(folder_.names(), ElementsAre(kSmallFile));
  }
  void expect_changed_refused(const char* pointer, const Json& value, const std::vector<std::string>& parts) {
    Json json = result();
    json[Json::json_pointer(pointer)] = value;
    expect_refused_and_kept(to_text(json), parts);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(BadResume, ATruncatedFile) {
  const std::string whole = read_file(path());
  expect_refused_and_kept(whole.substr(0, whole.size() / 2), {kSmallFile, "truncated"});
}

TEST_F(BadResume, AFieldOfTheWrongType) {
  expect_changed_refused("/benchmarks/0/samples_ns/0", "fast", {kSmallFile, "benchmarks[0].samples_ns[0]"});
}

TEST_F(BadResume, AnotherMachine) {
  expect_changed_refused("/context/host/cpu", "Other CPU 1", {"--resume", "machine", "Other CPU 1"});
}

TEST_F(BadResume, BracketsThatOpenTooDeep) {
  std::string text = read_file(path());
  const std::size_t at = text.find("\"context\": {") + 12;
  text.insert(at, "\"deep\": " + std::string(100'000, '[') + std::string(100'000, ']') + ", ");
  expect_refused_and_kept(text, {"--resume", kSmallFile, "100 deep"});
}

TEST_F(BadResume, AParamThatTheNameContradicts) {
  const auto batch = result()["benchmarks"][0]["params"]["batch"].get<int>();  // the one measured first
  expect_changed_refused("/benchmarks/0/params/batch", 4096,
                         {"--resume", kSmallFile, "batch:" + std::to_string(batch) + "'",
                          "batch 4096 in its params", "means " + std::to_string(batch)});
}

TEST_F(BadResume, ADtypeThatTheNameContradicts) {
  expect_changed_refused("/benchmarks/0/params/dtype", "bf16", {"--resume", "dtype bf16", "means fp32"});
}

TEST_F(BadResume, AParamThatIsMissing) {
  Json json = result();
  json["benchmarks"][0]["params"].erase("mode");
  expect_refused_and_kept(to_text(json), {"--resume", "mode nothing in its params"});
}

// A point that this run would not measure is checked by its name alone.
TEST_F(BadResume, ANameThatItsParamsContradict) {
  const std::string name = result()["benchmarks"][0]["name"];
  const auto batch = result()["benchmarks"][0]["params"]["batch"].get<int>();
  expect_changed_refused(
      "/benchmarks/0/name", name.substr(0, name.rfind(':')) + ":64",
      {"--resume", "batch:64'", "batch " + std::to_string(batch) + " in its params", "means 64"});
}

TEST_F(BadResume, AnotherSeed) {
  expect_refused_and_kept(read_file(path()), {"--resume", "seed", "77"}, {"--seed", "77"});
}

TEST(BadKernelsResume, AFieldThatTheFindingsCannotUse) {
  const TemporaryFolder folder;
  // 40 rounds of one product of a few microseconds: the run ends by itself on any machine.
  const Arguments run = {"--sweep",
                         "kernels",
                         "--workload",
                         "gemm",
                         "--batch",
                         "16",
                         "--dtype",
                         "fp32",
                         "--device",
                         "cpu",
                         "--benchmark_filter=/hot/",
                         "--no-plot",
                         "--out",
                         folder.path().string(),
                         "--time-budget",
                         "60min"};
  const Ended measured = run_bench(run);
  ASSERT_EQ(measured.code, 0) << measured.err;
  const fs::path path = folder.path() / "kernels-gemm-cpu.json";
  Json json = Json::parse(read_file(path));
  Json other = json["benchmarks"][0];
  other["name"] = "kernels/another";
  other["params"]["mode"] = 3;
  json["benchmarks"].push_back(other);
  const std::string text = to_text(json);
  write_file(path, text);
  expect_refused(run_bench(run + Arguments{"--resume"}), {"--resume", "kernels-gemm-cpu.json", "cannot use"});
  EXPECT_EQ(read_file(path), text);
}

}  // namespace
}  // namespace bench::testing
