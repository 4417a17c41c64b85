// Pictures are drawn by the program's own scripts and no others.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

Arguments drawn_run(const fs::path& out) {
  Arguments arguments = small_run(out);
  std::erase(arguments, "--no-plot");
  return arguments;
}

// A copy of the program, with scripts where an attacker could put them: in its folder, in what would be its
// checkout, and in the current folder.
TEST(Picture, AScriptPlantedNextToTheProgramIsNotRun) {
  const TemporaryFolder folder;
  const fs::path program = folder.path() / "build" / "release" / "bench";
  const fs::path marker = folder.path() / "marker";
  const fs::path current = fs::current_path();
  fs::create_directories(program.parent_path());
  fs::copy_file(BENCH_PROGRAM, program);
  for (const fs::path& place : {program.parent_path(), folder.path(), folder.path() / "current"}) {
    fs::create_directories(place / "plots");
    write_file(place / "plots" / "batch.gp", "system('touch " + marker.string() + "')\n");
    write_file(place / "gnuplot", "#!/bin/sh\ntouch " + marker.string() + "\n");
    fs::permissions(place / "gnuplot", fs::perms::owner_all);
  }
  fs::current_path(folder.path() / "current");
  Process process(drawn_run(folder.path() / "out"), std::nullopt, program.string());
  const Ended ended = process.wait();
  fs::current_path(current);
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_FALSE(fs::exists(marker));
  EXPECT_TRUE(fs::exists(folder.path() / "out" / "batch-conv2d-cpu.png")) << "drawn by its own script";
}

// gnuplot reads scripts from a folder of its own, which is gone afterwards.
TEST(Picture, LeavesNothingBehind) {
  const TemporaryFolder folder;
  const fs::path temporary = folder.path() / "temporary files of 'o'";
  fs::create_directories(temporary);
  const Arguments in_folder{"TMPDIR=" + temporary.string(), BENCH_PROGRAM};
  const Ended ended =
      Process(in_folder + drawn_run(folder.path() / "out"), std::nullopt, "/usr/bin/env").wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(fs::exists(folder.path() / "out" / "batch-conv2d-cpu.png")) << ended.err;
  EXPECT_TRUE(fs::is_empty(temporary));
}

// Drawn elsewhere and moved: a link that another user planted at the name it was drawn under leads nowhere.
TEST(Picture, APlantedLinkIsNotFollowed) {
  const TemporaryFolder folder;
  write_file(folder.path() / "precious", "mine");
  fs::create_symlink("precious", folder.path() / ".batch-conv2d-cpu.new.png");
  const Ended ended = run_bench(drawn_run(folder.path()));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(fs::is_regular_file(folder.path() / "batch-conv2d-cpu.png")) << ended.err;
  EXPECT_EQ(read_file(folder.path() / "precious"), "mine");
  EXPECT_TRUE(fs::is_symlink(folder.path() / ".batch-conv2d-cpu.new.png"));
}

// As where its name is another user's.
TEST(Picture, ThatCannotBePutInItsPlaceIsNamedWithTheReason) {
  const TemporaryFolder folder;
  for (const char* const extension : {".png", ".svg"}) {
    fs::create_directory(folder.path() / (std::string("batch-conv2d-cpu") + extension));
  }
  const Ended ended = run_bench(drawn_run(folder.path()));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("no picture: " + (folder.path() / "batch-conv2d-cpu.svg").string() +
                                   " cannot be written (Is a directory)\n"));
  EXPECT_THAT(folder.names(), SizeIs(3));
}

TEST(Picture, WithoutAFolderForTheScriptsTheResultIsSafe) {
  const TemporaryFolder folder;
  const Arguments nowhere{"TMPDIR=" + (folder.path() / "absent").string(), BENCH_PROGRAM};
  const Ended ended =
      Process(nowhere + drawn_run(folder.path() / "out"), std::nullopt, "/usr/bin/env").wait();
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_TRUE(fs::exists(folder.path() / "out" / kSmallFile));
  EXPECT_THAT(ended.err,
              HasSubstr("no picture: its script needs a temporary folder (TMPDIR names no folder: "));
}

// The script is the program's own, and PATH names the current folder: by "." and by an empty entry, also
// alone.
TEST(Picture, AGnuplotInTheCurrentFolderIsNotRun) {
  const TemporaryFolder folder;
  const fs::path marker = folder.path() / "marker";
  write_file(folder.path() / "gnuplot", "#!/bin/sh\ntouch " + marker.string() + "\n");
  fs::permissions(folder.path() / "gnuplot", fs::perms::owner_all);
  const char* const given = std::getenv("PATH");
  const std::string usual = given == nullptr ? "/usr/bin:/bin" : given;
  for (const std::string& path : {".::" + usual, std::string("."), std::string()}) {
    const fs::path out = folder.path() / ("out" + std::to_string(path.size()));
    const Arguments in_folder{"-C", folder.path().string(), "PATH=" + path, BENCH_PROGRAM};
    const Ended ended = Process(in_folder + drawn_run(out), std::nullopt, "/usr/bin/env").wait();
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_FALSE(fs::exists(marker)) << path;
    EXPECT_TRUE(path.size() < 2 || fs::exists(out / "batch-conv2d-cpu.png")) << ended.err;
  }
}

TEST(Picture, ASweepThatMeasuredNothingHasNoneAndIsInconclusive) {
  const TemporaryFolder folder;
  const Ended ended = run_bench({"--sweep", "batch", "--workload", "gemm", "--batch", "1", "--dtype", "fp16",
                                 "--device", "cpu", "--out", folder.path().string()});
  EXPECT_EQ(ended.code, 3) << ended.err;
  EXPECT_THAT(folder.names(), ::testing::ElementsAre("batch-gemm-cpu.json"));
  EXPECT_THAT(ended.out, AllOf(HasSubstr("fp16"), Not(HasSubstr("picture"))));
}

}  // namespace
}  // namespace bench::testing
