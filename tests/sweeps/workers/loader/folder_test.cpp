#include "sweeps/workers/loader/dataset.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "jpegs.h"
#include "temporary_folder.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/without_path.h"

namespace bench::loader {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::ThrowsMessage;

std::vector<std::string> names(const Dataset& data) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < data.size(); ++i) {
    all.push_back(data.name(i));
  }
  return all;
}

const std::vector<std::byte> kSome(321, std::byte{7});

TEST(FolderData, FindsJpegFilesInAllFoldersInOrder) {
  const TemporaryFolder folder;
  folder.write("b/2.jpg", kSome);
  folder.write("b/1.JPEG", kSome);
  folder.write("a/x/3.Jpeg", kSome);
  folder.write("b-3.jpg", kSome);  // '-' comes before '/', but a folder's files stay together
  folder.write("c.JPG", kSome);
  folder.write("a/readme.txt", kSome);
  folder.write("a/jpg", kSome);
  const auto data = open_data(folder.path().string(), {});
  EXPECT_THAT(names(*data), ElementsAre("a/x/3.Jpeg", "b/1.JPEG", "b/2.jpg", "b-3.jpg", "c.JPG"));
  EXPECT_EQ(data->encoded_bytes(0), 321);
  std::vector<std::byte> bytes;
  data->read(4, bytes);
  EXPECT_EQ(bytes, kSome);
}

TEST(FolderData, FollowsLinksButNotInCircles) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  folder.write("a/1.jpg", kSome);
  elsewhere.write("2.jpg", kSome);
  fs::create_directory_symlink(folder.path(), folder.path() / "a" / "circle");
  fs::create_directory_symlink(elsewhere.path(), folder.path() / "link");
  fs::create_symlink("nowhere.jpg", folder.path() / "dangling.jpg");
  EXPECT_THAT(names(*open_data(folder.path().string(), {})), ElementsAre("a/1.jpg", "link/2.jpg"));
}

TEST(FolderData, WaitsForNoPipe) {
  const TemporaryFolder folder;
  const fs::path pipe = folder.path() / "images.tar";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0666), 0);
  expect_words(without_path(message_of<UsageError>([&] { open_data(pipe.string(), {}); }), folder.path()));
}

TEST(FolderData, RefusesWhatHoldsNothing) {
  const TemporaryFolder folder;
  expect_words(
      without_path(message_of<UsageError>([&] { open_data(folder.path().string(), {}); }), folder.path()));
  expect_words(
      without_path(message_of<UsageError>([&] { open_data("/nowhere/at/all", {}); }), folder.path()));
  EXPECT_THROW(open_data("", {}), UsageError);
}

TEST(FolderData, NamesABadFileWhenItIsRead) {
  const TemporaryFolder folder;
  const fs::path gone = folder.write("1.jpg", kSome);
  folder.write("2.jpg", {});
  folder.write("3.jpg", kSome);
  const auto data = open_data(folder.path().string(), {});
  fs::remove(gone);
  fs::remove(folder.path() / "3.jpg");
  fs::create_directory(folder.path() / "3.jpg");
  std::vector<std::byte> bytes;
  expect_words(without_path(message_of<BadImage>([&] { data->read(0, bytes); }), folder.path()));
  EXPECT_NO_THROW(data->read(1, bytes));
  EXPECT_TRUE(bytes.empty());
  expect_words(without_path(message_of<BadImage>([&] { data->read(2, bytes); }), folder.path()));
}

TEST(FolderData, OutlivesItsFolder) {
  auto folder = std::make_unique<TemporaryFolder>();
  folder->write("a/1.jpg", kSome);
  const auto data = open_data(folder->path().string(), {});
  folder.reset();
  std::vector<std::byte> bytes;
  EXPECT_THROW(data->read(0, bytes), BadImage);
  EXPECT_TRUE(data->evict(0).has_value());
}

TEST(FolderData, NamesWhatMayNotBeRead) {
  if (geteuid() == 0) {
    GTEST_SKIP() << "root may read everything";
  }
  const TemporaryFolder folder;
  chmod(folder.write("1.jpg", kSome).c_str(), 0);
  std::vector<std::byte> bytes;
  EXPECT_THAT([&] { open_data(folder.path().string(), {})->read(0, bytes); },
              ThrowsMessage<BadImage>(::testing::HasSubstr("Permission denied")));
}

TEST(FolderData, IsNotHungByAPipe) {
  const TemporaryFolder folder;
  const fs::path file = folder.write("1.jpg", kSome);
  const auto data = open_data(folder.path().string(), {});
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  std::vector<std::byte> bytes;
  EXPECT_THROW(data->read(0, bytes), BadImage);
}

// Whether pages leave is the file system's business; that the answer is one of the two, ours.
TEST(FolderData, EvictsOrSaysWhyNot) {
  const TemporaryFolder folder;
  folder.write("1.jpg", std::vector<std::byte>(100'000, std::byte{1}));
  const auto data = open_data(folder.path().string(), {});
  std::vector<std::byte> bytes;
  data->read(0, bytes);
  if (const auto reason = data->evict(0)) {
    EXPECT_THAT(*reason, ::testing::HasSubstr("1.jpg"));
  }
  data->read(0, bytes);
  EXPECT_EQ(bytes.size(), 100'000U);
}

TEST(FolderData, SaysThatFilesInMemoryCannotBeEvicted) {
  const fs::path shared = "/dev/shm";
  std::string name = (shared / "loader-test-XXXXXX").string();
  if (!fs::is_directory(shared) || mkdtemp(name.data()) == nullptr) {
    GTEST_SKIP() << "no tmpfs here";
  }
  std::ofstream(fs::path(name) / "1.jpg") << "something";
  const auto reason = open_data(name, {})->evict(0);
  fs::remove_all(name);
  ASSERT_TRUE(reason.has_value());
  expect_words(without_path(*reason, name));
}

}  // namespace
}  // namespace bench::loader
