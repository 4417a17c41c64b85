#include "bench/host/temporary_file.h"

#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <functional>

#include <gmock/gmock.h>

#include "bench/host/private_folder.h"
#include "tests/bench/support/child.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using testing::read_file;
using ::testing::SizeIs;
using testing::status_of;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;
using testing::write_file;

// A process that is killed before it ends what `body` begins.
void killed(const std::function<void()>& body) {
  status_of([&] {
    body();
    ::raise(SIGKILL);
  });
}

TEST(TemporaryFile, TakesTheOldOnesPlaceAsAWhole) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "kept.json";
  write_file(path, "old");
  {
    TemporaryFile made(path);
    made.write("n");
    made.write("ew");
    EXPECT_EQ(read_file(path), "old");
    EXPECT_THAT(folder.names(), ElementsAre(MatchesRegex(R"(\.kept\.json\.[a-z0-9]{6}\.new)"), "kept.json"));
    made.take_place();
    EXPECT_FALSE(made.error());
  }
  EXPECT_EQ(read_file(path), "new");
  EXPECT_THAT(folder.names(), ElementsAre("kept.json"));
}

TEST(TemporaryFile, IsGoneWhereItDidNotTakeAPlace) {
  const TemporaryFolder folder;
  TemporaryFile(folder.path() / "x").write("text");
  EXPECT_THAT(folder.names(), IsEmpty());
}

TEST(TemporaryFile, SaysWhyItCannotBe) {
  const TemporaryFolder folder;
  TemporaryFile made(folder.path() / "absent" / "x");
  EXPECT_EQ(made.error(), std::errc::no_such_file_or_directory);
  made.write("text");
  made.take_place();
  EXPECT_EQ(made.error(), std::errc::no_such_file_or_directory);
}

TEST(TemporaryFile, ALongNameStillHasRoom) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / std::string(255, 'x');
  TemporaryFile made(path);
  made.write("text");
  made.take_place();
  EXPECT_FALSE(made.error());
  EXPECT_EQ(read_file(path), "text");
}

TEST(LeftOver, FilesOfKilledProcessesAreRemovedAndNoOthers) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "kept.json";
  killed([&] { new TemporaryFile(path); });
  ASSERT_THAT(folder.names(), SizeIs(1));
  for (const char* const other : {".kept.json.lock", ".kept.json.my.new", ".other.json.abcdef.new"}) {
    write_file(folder.path() / other, "");
  }
  fs::create_symlink("elsewhere", folder.path() / ".kept.json.aaaaaa.new");
  write_file(folder.path() / ".kept.json.new", "of an earlier version");
  TemporaryFile in_use(path);
  remove_left_over(path);
  EXPECT_THAT(
      folder.names(),
      UnorderedElementsAre(".kept.json.aaaaaa.new", ".kept.json.lock", ".kept.json.my.new",
                           MatchesRegex(R"(\.kept\.json\.[a-z0-9]{6}\.new)"), ".other.json.abcdef.new"));
  in_use.write("text");
  in_use.take_place();
  EXPECT_FALSE(in_use.error());
}

TEST(LeftOver, FilesOfAnotherUserStay) {
  if (!testing::can_be_another_user()) {
    GTEST_SKIP() << "only root can be another user";
  }
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "kept.json";
  fs::permissions(folder.path(), fs::perms::all);
  killed([&] { new TemporaryFile(path); });
  testing::answer_as(testing::kOtherUser, [&] {
    remove_left_over(path);
    return std::string();
  });
  EXPECT_THAT(folder.names(), SizeIs(1));
}

TEST(LeftOver, FoldersOfKilledProcessesAreRemoved) {
  const TemporaryFolder folder;
  killed([&] {
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    write_file((new PrivateFolder)->path() / "drawn.png", "half");
  });
  ASSERT_THAT(folder.names(), SizeIs(1));
  const std::string left = folder.names().front();
  const int status = status_of([&] {
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    const PrivateFolder first;
    const PrivateFolder second;
    const bool as_expected = folder.names().size() == 2 && !fs::exists(folder.path() / left);
    ::_exit(as_expected ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

TEST(LeftOver, FoldersThatUsersNamedStay) {
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "bench-private-results");
  const int status = status_of([&] {
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    const PrivateFolder made;
    ::_exit(folder.names().size() == 2 ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
}

TEST(Lock, AKilledUsersIsOpenedAndWhatIsNoFileIsNot) {
  const TemporaryFolder folder;
  write_file(folder.path() / "elsewhere", "");
  fs::create_symlink("elsewhere", folder.path() / "link");
  fs::create_directory(folder.path() / "folder");
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0666), 0);
  const auto error_at = [&](const char* name) {
    const FileDescriptor opened = open_lock(folder.path() / name);
    return opened.is_open() ? 0 : errno;
  };
  EXPECT_EQ(error_at("new"), 0);
  EXPECT_EQ(error_at("elsewhere"), 0);
  EXPECT_EQ(error_at("link"), ELOOP);
  EXPECT_EQ(error_at("folder"), EISDIR);
  EXPECT_EQ(error_at("pipe"), EINVAL);
}

TEST(OpenOrdinary, WaitsForNoPipe) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo((folder.path() / "pipe").c_str(), 0666), 0);
  EXPECT_FALSE(open_ordinary(folder.path() / "pipe").is_open());
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace bench
