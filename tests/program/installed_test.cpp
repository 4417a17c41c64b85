// The program moves: it answers the same from anywhere, for another user and without a home, and names no
// folder of its build.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include <gmock/gmock.h>

#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Arguments kQuestion{"predict", "--gpu", "t4,rtx3060-12gb", "--workload", "resnet50"};

// `program` by env, which sets variables and the current folder.
Ended run_by_env(const Arguments& before, const std::string& program, const Arguments& arguments) {
  return Process(before + Arguments{program} + arguments, std::nullopt, "/usr/bin/env").wait();
}

Arguments without_out(const fs::path& unused) {
  Arguments arguments = small_run(unused);
  const auto out = std::ranges::find(arguments, "--out");
  arguments.erase(out, out + 2);
  return arguments;
}

TEST(Installed, ACopyAnswersTheSameFromTheRootAndThroughALink) {
  const Ended here = run_bench(kQuestion);
  ASSERT_EQ(here.code, 0) << here.err;
  const TemporaryFolder folder;
  const fs::path copy = folder.path() / "elsewhere" / "bench";
  const fs::path link = folder.path() / "link to bench";
  fs::create_directories(copy.parent_path());
  fs::copy_file(BENCH_PROGRAM, copy);
  fs::create_symlink(copy, link);
  for (const fs::path& program : {copy, link}) {
    const Ended there =
        run_by_env({"-C", "/", "-u", "HOME", "-u", "XDG_CACHE_HOME"}, program.string(), kQuestion);
    EXPECT_EQ(there.code, 0) << there.err;
    EXPECT_EQ(there.out, here.out);
  }
  for (const Arguments& arguments : {Arguments{"predict", "--how"}, Arguments{"--list", "--gpus"}}) {
    EXPECT_EQ(run_by_env({"-C", "/"}, copy.string(), arguments).out, run_bench(arguments).out);
  }
}

// The loader would end the process by a signal.
TEST(Installed, AModuleOfMpiThatWasCutShortIsNotOpened) {
  const TemporaryFolder folder;
  const fs::path program = folder.path() / "libexec" / "bench";
  const fs::path built = fs::path(BENCH_PROGRAM).parent_path() / "bench_ranks_openmpi.so";
  if (!fs::exists(built)) {
    GTEST_SKIP() << "this program was built without Open MPI";
  }
  fs::create_directories(program.parent_path());
  fs::create_directories(folder.path() / "lib");
  fs::copy_file(BENCH_PROGRAM, program);
  fs::copy_file(built, folder.path() / "lib" / built.filename());
  fs::resize_file(folder.path() / "lib" / built.filename(), 5000);
  const Ended ended =
      run_by_env({"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2"}, program.string(),
                 {"--sweep", "collectives", "--device", "cpu", "--out", folder.path().string()});
  EXPECT_EQ(ended.code, 2) << ended.err;
  EXPECT_THAT(ended.err, AllOf(HasSubstr("the MPI module cannot be opened: "),
                               HasSubstr("bench_ranks_openmpi.so: the file is cut short; install it again")));
}

// Cut out of the file as `strings` does: whatever holds them, a debugger's table or a message.
TEST(Installed, NamesNoFolderOfItsBuild) {
#ifndef NDEBUG
  GTEST_SKIP() << "a debugger looks for the sources where they were";
#endif
  const std::string program = read_file(BENCH_PROGRAM);
  ASSERT_GT(program.size(), 1'000'000U);
  const std::string source = BENCH_TEST_SOURCE_DIR "/";
  for (std::size_t at = program.find(source); at != std::string::npos; at = program.find(source, at + 1)) {
    ADD_FAILURE() << program.c_str() + at;
  }
  EXPECT_NE(program.find("results/gpus.json"), std::string::npos) << "its own data is found in this way";
}

TEST(Installed, BringsTheSchemasOfItsFiles) {
  for (const auto& [name, file] :
       {std::pair{"result", "schema.json"}, std::pair{"compare", "compare-schema.json"},
        std::pair{"evaluate", "evaluate-schema.json"}}) {
    EXPECT_EQ(run_bench({"--schema", name}).out,
              read_file(BENCH_TEST_SOURCE_DIR "/results/" + std::string(file)));
  }
}

TEST(Installed, InTheRootResultsGoToTheUsersDataFolder) {
  const TemporaryFolder folder;
  const Arguments arguments = without_out(folder.path());
  const Ended by_home = run_by_env({"-C", "/", "-u", "XDG_DATA_HOME", "HOME=" + folder.path().string()},
                                   BENCH_PROGRAM, arguments);
  EXPECT_EQ(by_home.code, 0) << by_home.err;
  const fs::path results = folder.path() / ".local/share/bench/results";
  EXPECT_TRUE(fs::exists(results / kSmallFile));
  EXPECT_THAT(by_home.err, HasSubstr("results go to " + results.string() + ": the current folder is /"));
  const Ended by_xdg =
      run_by_env({"-C", "/", "XDG_DATA_HOME=" + (folder.path() / "data").string()}, BENCH_PROGRAM, arguments);
  EXPECT_EQ(by_xdg.code, 0) << by_xdg.err;
  EXPECT_TRUE(fs::exists(folder.path() / "data/bench/results" / kSmallFile));
}

TEST(Installed, AFolderThatCanBeWrittenTakesResultsItself) {
  const TemporaryFolder folder;
  const Ended ended =
      run_by_env({"-C", folder.path().string(), "XDG_DATA_HOME=" + (folder.path() / "data").string()},
                 BENCH_PROGRAM, without_out(folder.path()));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(fs::exists(folder.path() / "results/local" / kSmallFile));
  EXPECT_THAT(ended.err, Not(HasSubstr("results go to")));
}

// As another user where root runs the test: root can write everywhere.
TEST(Installed, InAReadOnlyFolderAnotherUserGetsResultsInTheDataFolder) {
  const TemporaryFolder folder;
  const fs::path copy = folder.path() / "bin" / "bench";
  const fs::path home = folder.path() / "home";
  fs::create_directories(copy.parent_path());
  fs::create_directories(home);
  fs::copy_file(BENCH_PROGRAM, copy);
  Arguments as_user;
  if (::geteuid() == 0) {
    constexpr uid_t kNobody = 65534;
    ASSERT_EQ(::chown(home.c_str(), kNobody, kNobody), 0);
    as_user = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  ASSERT_EQ(::chmod(copy.parent_path().c_str(), 0555), 0);
  const Arguments before{"-C",
                         copy.parent_path().string(),
                         "-u",
                         "XDG_DATA_HOME",
                         "-u",
                         "XDG_CACHE_HOME",
                         "HOME=" + home.string()};
  const Ended ended = Process(before + as_user + Arguments{copy.string()} + without_out(folder.path()),
                              std::nullopt, "/usr/bin/env")
                          .wait();
  ASSERT_EQ(::chmod(copy.parent_path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("the current folder cannot be written"));
  EXPECT_TRUE(fs::exists(home / ".local/share/bench/results" / kSmallFile));
}

// Measured and printed all the same.
TEST(Installed, WithoutAHomeNothingIsWrittenInTheRoot) {
  const Arguments homeless{"-C", "/", "-u", "HOME", "-u", "XDG_DATA_HOME"};
  const Ended ended = run_by_env(homeless, BENCH_PROGRAM, without_out("unused"));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.out, AllOf(Not(HasSubstr("result   ")), Not(HasSubstr("picture"))));
  EXPECT_FALSE(fs::exists("/results"));
  const Ended resumed = run_by_env(homeless, BENCH_PROGRAM, without_out("unused") + Arguments{"--resume"});
  EXPECT_EQ(resumed.code, 2) << resumed.err;
  expect_words(resumed.err);
  const Ended evaluated =
      run_by_env(homeless, BENCH_PROGRAM, {"evaluate", "--gpu", "t4,rtx3060-12gb", "--workload", "resnet18"});
  EXPECT_EQ(evaluated.code, 0) << evaluated.err;
  expect_words(evaluated.err);
  EXPECT_FALSE(fs::exists("/results"));
}

TEST(Installed, WithoutAHomeNothingIsKeptWhichIsSaidOnce) {
  const TemporaryFolder folder;
  const std::string note = "nothing is kept from run to run";
  const Ended homeless =
      run_by_env({"-u", "HOME", "-u", "XDG_CACHE_HOME"}, BENCH_PROGRAM, small_run(folder.path()));
  EXPECT_EQ(homeless.code, 0) << homeless.err;
  const std::size_t said = homeless.err.find(note);
  EXPECT_NE(said, std::string::npos);
  EXPECT_EQ(homeless.err.find(note, said + 1), std::string::npos);
  EXPECT_THAT(run_by_env({}, BENCH_PROGRAM, small_run(folder.path())).err, Not(HasSubstr(note)));
  const fs::path absent = folder.path() / "absent";  // which root could make
  const Ended astray = run_by_env({"-u", "XDG_CACHE_HOME", "HOME=" + absent.string()}, BENCH_PROGRAM,
                                  small_run(folder.path()));
  EXPECT_EQ(astray.code, 0) << astray.err;
  EXPECT_THAT(astray.err, HasSubstr(note));
  EXPECT_FALSE(fs::exists(absent));
}

}  // namespace
}  // namespace bench::testing
