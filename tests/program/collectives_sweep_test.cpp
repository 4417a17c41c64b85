// bench --sweep collectives under the launchers of both MPIs, on few small points. Skipped for an MPI that is
// not installed.
#include <algorithm>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <unistd.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/launchers.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Arguments collectives_run(const std::filesystem::path& out, int round_count = 3) {
  return rounds(round_count) + Arguments{"--sweep", "collectives",    "--device",  "cpu",
                                         "--sizes", "64B,4KiB,64KiB", "--no-plot", "--no-cache",
                                         "--out",   out.string()};
}

class CollectivesSweepProgram : public ::testing::TestWithParam<Mpi> {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not(GetParam()); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }
  std::string launch(int ranks) const { return launch_of(GetParam(), ranks); }

  const TemporaryFolder folder_;
};
INSTANTIATE_TEST_SUITE_P(Mpi, CollectivesSweepProgram, ::testing::Values(kOpenMpi, kMpich),
                         [](const auto& instance) { return instance.param.name; });

TEST_P(CollectivesSweepProgram, OneRankWritesEveryRanksFigures) {
  for (const int ranks : {2, 3}) {
    const Ended ended = run_script(launch(ranks) + "\"$@\"", collectives_run(folder_.path()));
    ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
    const auto file = folder_.path() / ("collectives-" + std::to_string(ranks) + "-ranks-cpu.json");
    EXPECT_EQ(schema_errors(read_file(file)), "");
    const ResultDocument document = read_result(file);
    EXPECT_EQ(document.points.size(), 12U);
    EXPECT_TRUE(document.unmeasured.empty());
    for (const Point& point : document.points) {
      EXPECT_TRUE(point.verification.value().passed) << point.name;
      const bool pair = point.params.at("operation") == "send-receive";
      EXPECT_EQ(point.params.at("ranks"), pair ? 2 : ranks);
      ASSERT_EQ(point.notes.size(), point.samples_ns.size());
      EXPECT_EQ(point.notes.front()->to_json().at("rank_ns").size(), static_cast<std::size_t>(ranks));
    }
    EXPECT_TRUE(std::ranges::count(document.findings, "ranks", &Finding::name) == 1);
    const std::string first = "result   ";
    EXPECT_THAT(ended.out, HasSubstr(first));
    EXPECT_EQ(ended.out.find(first), ended.out.rfind(first)) << "one rank prints\n" << ended.out;
  }
}

// Taking turns on few cores.
TEST_P(CollectivesSweepProgram, EightRanksSumRightly) {
  Arguments arguments = collectives_run(folder_.path()) + Arguments{"--operations", "all-reduce"};
  *std::ranges::find(arguments, "64B,4KiB,64KiB") = "4KiB";
  const Ended ended = run_script(launch(8) + "\"$@\"", arguments);
  ASSERT_EQ(ended.code, 0) << ended.err << ended.out;
  const ResultDocument document = read_result(folder_.path() / "collectives-8-ranks-cpu.json");
  ASSERT_EQ(document.points.size(), 1U);
  EXPECT_TRUE(document.points.front().verification.value().passed);
  EXPECT_EQ(document.points.front().notes.front()->to_json().at("rank_ns").size(), 8U);
}

TEST_P(CollectivesSweepProgram, WrongUsageIsOneSentenceFromOneRank) {
  const Ended ended = run_script(launch(3) + "\"$@\"",
                                 collectives_run(folder_.path()) + Arguments{"--operations", "all-to-all"});
  EXPECT_EQ(ended.code, 2) << ended.err;
  const std::string sentence = "--operations: 'all-to-all' was given";
  EXPECT_THAT(ended.err, HasSubstr(sentence));
  EXPECT_EQ(ended.err.find(sentence), ended.err.rfind(sentence)) << ended.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_P(CollectivesSweepProgram, ARankWithOtherOptionsIsNamed) {
  const Mpi& mpi = GetParam();
  for (const char* const other : {"--seed 2", "--seed none", "--sweep batch", "--rank-timeout 1"}) {
    const Ended ended =
        run_script(launch(3) + "sh -c 'if [ $" + mpi.rank_variable + " = 1 ]; then exec \"$@\" " + other +
                       "; fi; exec \"$@\" --seed 1' sh \"$@\"",
                   collectives_run(folder_.path()));
    EXPECT_EQ(ended.code, 2) << ended.err;
    const std::string sentence = "bench: ranks differ in their command line: ranks 0, 2 have '";
    EXPECT_THAT(ended.err, AllOf(HasSubstr(sentence), HasSubstr("rank 1 has '"), HasSubstr(other)));
    EXPECT_EQ(ended.err.find(sentence), ended.err.rfind(sentence)) << ended.err;
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

// Rank 1 of two runs another copy of the program, whose build id has one bit flipped.
TEST_P(CollectivesSweepProgram, ARankOfAnotherBuildIsNamed) {
  const auto other = folder_.path() / "other" / "bench";
  std::filesystem::create_directory(other.parent_path());
  std::string program = read_file(BENCH_PROGRAM);
  using namespace std::string_literals;
  const std::string note = "\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0"s;  // 20 bytes of the linker's digest
  const std::size_t at = program.find(note);
  ASSERT_NE(at, std::string::npos);
  program[at + note.size()] ^= 1;
  write_file(other, program);
  std::filesystem::permissions(other, std::filesystem::perms::owner_all);
  const std::string module = "bench_ranks_" + GetParam().name + ".so";
  std::filesystem::create_symlink(build_folder() / module, other.parent_path() / module);
  const Ended ended =
      run_script(launch(2) + "sh -c 'if [ $" + GetParam().rank_variable + " = 1 ]; then shift; exec " +
                     other.string() + " \"$@\"; fi; exec \"$@\"' sh \"$@\"",
                 collectives_run(folder_.path() / "out"));
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err, ::testing::ContainsRegex(
                             "bench: ranks differ in their build: rank 0 has '.*build id [0-9a-f]+', "
                             "rank 1 has '.*build id [0-9a-f]+'; start the same program"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "out"));
}

// As it would on an older processor.
TEST_P(CollectivesSweepProgram, ARankThatComputesWithOtherInstructionsIsNamed) {
  const Ended ended =
      run_script(launch(2) + "sh -c 'if [ $" + GetParam().rank_variable +
                     " = 1 ]; then export ONEDNN_MAX_CPU_ISA=SSE41; fi; exec \"$@\"' sh \"$@\"",
                 collectives_run(folder_.path()));
  EXPECT_EQ(ended.code, 2) << ended.err;
  const std::string sentence = "bench: ranks differ in their instruction set: rank 0 has '";
  EXPECT_THAT(ended.err, AllOf(HasSubstr(sentence), HasSubstr("', rank 1 has 'sse4.1'")));
  EXPECT_EQ(ended.err.find(sentence), ended.err.rfind(sentence)) << ended.err;
}

TEST_P(CollectivesSweepProgram, SeveralProcessesDoNotWriteOneFile) {
  const Ended ended = run_script(launch(2) + "\"$@\"", small_run(folder_.path()));
  EXPECT_EQ(ended.code, 2) << ended.err;
  const std::string sentence = "started 2 processes, which would write one file";
  EXPECT_THAT(ended.err, HasSubstr(sentence));
  EXPECT_EQ(ended.err.find(sentence), ended.err.rfind(sentence)) << ended.err;
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

// The launcher of another MPI starts single processes: the environment says three ranks, the library one.
TEST_P(CollectivesSweepProgram, ALauncherOfAnotherMpiIsNamed) {
  const Mpi& mpi = GetParam();
  const std::string size = mpi.name == "openmpi" ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE";
  for (const int rank : {0, 2}) {
    const Ended ended = run_script(
        "export " + size + "=3 " + mpi.rank_variable + "=" + std::to_string(rank) + "; exec \"$@\"",
        collectives_run(folder_.path()));
    EXPECT_EQ(ended.code, 2) << ended.err;
    EXPECT_EQ(ended.err.find("started 3 ranks, but") != std::string::npos, rank == 0) << ended.err;
  }
}

// MPICH's launcher kills all ranks when one that it started ends by a signal, so that a shell starts each: it
// lives on, and ignores the signal by which the launcher tells of the death. It ends well after its rank, for
// Open MPI 5 kills the others at the first exit code that is not 0.
TEST_P(CollectivesSweepProgram, ARankThatDiesIsNamedByEveryOtherAndWhatWasMeasuredIsKept) {
  const Mpi& mpi = GetParam();
  const std::filesystem::path file = folder_.path() / "collectives-3-ranks-cpu.json";
  const std::string script = mpi.launcher + " " + mpi.together + " " + mpi.survivors +
                             " -n 3 sh -c 'trap \"\" USR1; if [ $" + mpi.rank_variable +
                             " = 2 ]; then \"$@\" & rank=$!; until [ -s " + file.string() +
                             " ]; do sleep 1; done; kill -9 $rank; wait $rank; else \"$@\"; fi; "
                             "code=$?; [ $code -ge 128 ] || echo ended with exit code $code >&2; sleep 2; "
                             "exit "
                             "$((code < 128 ? code : 3))' sh "
                             "\"$@\"";
  const Ended ended = run_script(script, collectives_run(folder_.path(), kEndless));
  for (const char* const survivor : {"0", "1"}) {
    EXPECT_THAT(ended.err,
                ::testing::ContainsRegex("bench: rank 2 \\(process [0-9]+ on [^ ]+\\) is gone; rank " +
                                         std::string(survivor) + " ends here"));
  }
  EXPECT_THAT(ended.err, HasSubstr("rank 0 ends here; what was measured before is in " + file.string()));
  const std::string code = "ended with exit code 3";
  EXPECT_NE(ended.err.find(code), ended.err.rfind(code)) << "of both\n" << ended.err;
  EXPECT_FALSE(read_result(file).points.empty());
  if (mpi.name == kMpich.name) {  // Open MPI's launcher ends with 0 where it lets ranks live
    EXPECT_EQ(ended.code, 3);
  }
}

TEST_P(CollectivesSweepProgram, ARankThatStopsIsNamedAfterTheTimeout) {
  const Mpi& mpi = GetParam();
  // Stopped once a point is measured. It dies, for the launcher to end, well after the first rank named it.
  const std::string script =
      launch(2) + "sh -c 'if [ $" + mpi.rank_variable + " = 1 ]; then me=$$; (until [ -s " +
      (folder_.path() / "collectives-2-ranks-cpu.json").string() +
      " ]; do sleep 0.2; done; kill -STOP $me; sleep 20; kill -9 $me) >/dev/null 2>&1 & fi; "
      "exec \"$@\"' sh \"$@\"";
  const Ended ended =
      run_script(script, collectives_run(folder_.path(), kEndless) + Arguments{"--rank-timeout", "2s"});
  EXPECT_NE(ended.code, 0);
  EXPECT_THAT(ended.err,
              AllOf(HasSubstr("rank 1 (process "), HasSubstr("is stopped and did not answer for 2")));
}

// Two ranks meet without an MPI, and one says that the CPU device needs one; one rank waits for another.
TEST(CollectivesSweepAlone, TorchrunsRanksMeetAndOneOfThemSpeaks) {
  const TemporaryFolder folder;
  const std::string port = std::to_string(30'000 + ::getpid() % 2'000);
  const std::string ranks = "export WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port + "; ";
  const Ended met =
      run_script(ranks + "RANK=1 \"$@\" & " + ranks + "RANK=0 \"$@\"; code=$?; wait; exit $code",
                 collectives_run(folder.path()));
  EXPECT_EQ(met.code, 2) << met.err;
  const std::string sentence = "--device: cpu needs an MPI";
  EXPECT_THAT(met.err, HasSubstr(sentence));
  EXPECT_EQ(met.err.find("bench: "), met.err.rfind("bench: ")) << met.err;
  const Ended alone = run_script(ranks + "RANK=0 \"$@\"",
                                 collectives_run(folder.path()) + Arguments{"--rank-timeout", "500ms"});
  EXPECT_EQ(alone.code, 2) << alone.err;
  EXPECT_THAT(alone.err, HasSubstr("rank 1 of 2 did not come to 127.0.0.1:" + port));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CollectivesSweepAlone, PrintsTheCommandToType) {
  const Ended alone = run_bench({"--sweep", "collectives", "--device", "cpu"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, AllOf(HasSubstr("-n 2 "), HasSubstr("--sweep collectives --device cpu")));
}

}  // namespace
}  // namespace bench::testing
