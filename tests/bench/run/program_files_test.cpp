// Where the program takes its own files from, and where not.
#include "bench/run/program_files.h"

#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class ProgramFiles : public ::testing::Test {
 protected:
  ProgramFiles() {
    for (const char* const place :
         {"checkout", "checkout/build/release", "prefix/share/bench", "prefix/bin"}) {
      plant(root_ / place);
    }
  }
  static void plant(const fs::path& folder) {
    fs::create_directories(folder / "plots");
    testing::write_file(folder / kScript, "");
    testing::write_file(folder / "bench", "");
  }
  ProgramFile of(const fs::path& executable) const {
    return program_file(kScript, root_ / executable, root_ / "checkout/build/release", root_ / "checkout");
  }

  static constexpr const char* kScript = "plots/batch.gp";
  testing::TemporaryFolder folder_;
  fs::path root_ = fs::canonical(folder_.path());
};

TEST_F(ProgramFiles, AreThoseOfTheCheckoutInItsOwnBuildFolder) {
  EXPECT_EQ(of("checkout/build/release/bench").path, root_ / "checkout" / kScript);
  EXPECT_EQ(of("checkout/build/release/tests/fragile").path, root_ / "checkout" / kScript);
}

TEST_F(ProgramFiles, AreThoseOfTheShareFolderWhereInstalled) {
  EXPECT_EQ(of("prefix/bin/bench").path, root_ / "prefix/share/bench" / kScript);
}

// The compiled-in checkout is there, and so is a script beside the program: both may be anybody's.
TEST_F(ProgramFiles, AreNowhereElse) {
  plant(root_ / "elsewhere");
  for (const char* const place : {"elsewhere/bench", "bench", "elsewhere/build/release/bench",
                                  "checkout/build/debug/bench", "checkout/build/releases/bench"}) {
    EXPECT_EQ(of(place).path, "") << place;
    EXPECT_THAT(of(place).problem,
                HasSubstr("plots/batch.gp was not found; run bench from its build folder"));
  }
}

TEST_F(ProgramFiles, AreNotTakenFromAFolderThatEveryoneCanWriteTo) {
  fs::permissions(root_ / "checkout/plots", fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(of("checkout/build/release/bench").path, "");
  EXPECT_THAT(of("checkout/build/release/bench").problem, HasSubstr("written by everyone"));
}

// Where a user's umask is 002 and the group is shared.
TEST_F(ProgramFiles, AreNotTakenFromAFolderThatAnotherGroupCanWriteTo) {
  const fs::path plots = root_ / "checkout/plots";
  fs::permissions(plots, fs::perms::group_write, fs::perm_options::add);
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give folders to another group";
  }
  EXPECT_NE(of("checkout/build/release/bench").path, "") << "root's own group";
  ASSERT_EQ(::chown(plots.c_str(), 0, 12345), 0);
  EXPECT_EQ(of("checkout/build/release/bench").path, "");
  EXPECT_THAT(of("checkout/build/release/bench").problem, HasSubstr("written by its group; chmod g-w"));
  fs::permissions(plots, fs::perms::group_write, fs::perm_options::remove);
  EXPECT_NE(of("checkout/build/release/bench").path, "");
}

TEST_F(ProgramFiles, AreNotTakenThroughALinkOutOfTheCheckout) {
  plant(root_ / "foreign");
  fs::remove(root_ / "checkout" / kScript);
  fs::create_symlink(root_ / "foreign" / kScript, root_ / "checkout" / kScript);
  EXPECT_EQ(of("checkout/build/release/bench").path, "");
}

// A script loads plots/common.gp and reads its .jq files: they are held to the same rule.
TEST_F(ProgramFiles, AreNotTakenNextToALinkOutOfTheCheckout) {
  const fs::path loaded = root_ / "checkout/plots/common.gp";
  testing::write_file(root_ / "checkout/plots/other.gp", "");
  fs::create_symlink("other.gp", loaded);
  EXPECT_EQ(of("checkout/build/release/bench").path, root_ / "checkout" / kScript);
  testing::write_file(root_ / "elsewhere.gp", "");
  fs::remove(loaded);
  fs::create_symlink(root_ / "elsewhere.gp", loaded);
  EXPECT_EQ(of("checkout/build/release/bench").path, "");
  EXPECT_THAT(of("checkout/build/release/bench").problem, HasSubstr("common.gp is a link to elsewhere"));
}

TEST_F(ProgramFiles, AreNotTakenNextToAFileThatEveryoneCanWriteTo) {
  const fs::path loaded = root_ / "checkout/plots/common.gp";
  testing::write_file(loaded, "");
  fs::permissions(loaded, fs::perms::others_write, fs::perm_options::add);
  EXPECT_EQ(of("checkout/build/release/bench").path, "");
  EXPECT_THAT(of("checkout/build/release/bench").problem, HasSubstr("common.gp can be written by everyone"));
}

TEST_F(ProgramFiles, AreNotTakenFromAnotherUser) {
  if (::geteuid() != 0) {
    GTEST_SKIP() << "only root can give files to another user";
  }
  const fs::path loaded = root_ / "checkout/plots/format.jq";
  testing::write_file(loaded, "");
  EXPECT_NE(of("checkout/build/release/bench").path, "");
  ASSERT_EQ(::chown(loaded.c_str(), 12345, 12345), 0);
  EXPECT_EQ(of("checkout/build/release/bench").path, "");
  ASSERT_EQ(::chown(loaded.c_str(), 0, 0), 0);
  ASSERT_EQ(::chown((root_ / "checkout" / kScript).c_str(), 12345, 12345), 0);
  EXPECT_EQ(of("checkout/build/release/bench").path, "");
  EXPECT_THAT(of("checkout/build/release/bench").problem, HasSubstr("another user"));
}

}  // namespace
}  // namespace bench
