#include "bench/run/result_file.h"

#include <sys/stat.h>

#include <limits>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/result/result_json.h"
#include "bench/stats/statistics.h"
#include "tests/bench/support/child.h"
#include "tests/bench/support/file_size_limit.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/sample_document.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/bench/support/without_path.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::FileSizeLimit;
using ::testing::HasSubstr;
using testing::read_file;
using testing::sample_document;
using testing::TemporaryFolder;
using ::testing::ThrowsMessage;
using testing::write_file;

constexpr const char* kName = "batch-resnet18-cuda-0.json";

ResultFile file_in(const fs::path& folder) {
  return {folder, "batch", "resnet18", "cuda:0"};
}

ResultDocument dated(const std::string& date) {
  ResultDocument document = sample_document();
  document.context.google_benchmark["date"] = date;
  return document;
}

TEST(ResultFile, MakesItsFolderAndWritesWhatIsReadBack) {
  const TemporaryFolder folder;
  ResultFile file = file_in(folder.path() / "a" / "b");
  file.check_writable();
  EXPECT_EQ(file.path(), folder.path() / "a" / "b" / kName);
  EXPECT_FALSE(fs::exists(file.path())) << "checking writes no result";
  file.write(sample_document());
  EXPECT_EQ(to_json(read_result(file.path())), to_json(sample_document()));
  EXPECT_EQ(testing::schema_errors(read_file(file.path())), "");
}

TEST(ResultFile, SaysWhereTheOlderResultWent) {
  const TemporaryFolder folder;
  {
    ResultFile first = file_in(folder.path());
    first.write(dated("2026-01-02"));
    EXPECT_EQ(first.earlier(), "");
  }
  ResultFile second = file_in(folder.path());
  second.write(dated("2026-01-03"));
  EXPECT_EQ(second.earlier(), folder.path() / "batch-resnet18-cuda-0.2026-01-02.json");
  EXPECT_TRUE(fs::exists(second.earlier()));
}

TEST(ResultFile, LeavesNothingElseBehind) {
  const TemporaryFolder folder;
  {
    ResultFile file = file_in(folder.path());
    file.check_writable();
    file.write(sample_document());
    file.write(sample_document());
  }
  EXPECT_THAT(folder.names(), ElementsAre(kName));
}

TEST(ResultFile, KeepsAnOlderResultUnderItsDate) {
  const TemporaryFolder folder;
  const auto run = [&](const std::string& date) {
    ResultFile file = file_in(folder.path());
    file.check_writable();
    file.write(dated(date));
    file.write(dated(date));
  };
  run("2026-03-01T10:00:00+01:00");
  run("2026-03-02T10:00:00+01:00");
  run("2026-03-02T10:00:00+01:00");
  run("2026-03-03T10:00:00+01:00");
  EXPECT_THAT(folder.names(), ElementsAre("batch-resnet18-cuda-0.2026-03-01T10-00-00-01-00.json",
                                          "batch-resnet18-cuda-0.2026-03-02T10-00-00-01-00-2.json",
                                          "batch-resnet18-cuda-0.2026-03-02T10-00-00-01-00.json", kName));
  EXPECT_EQ(read_result(folder.path() / "batch-resnet18-cuda-0.2026-03-01T10-00-00-01-00.json")
                .context.google_benchmark["date"],
            "2026-03-01T10:00:00+01:00");
  EXPECT_EQ(read_result(folder.path() / kName).context.google_benchmark["date"], "2026-03-03T10:00:00+01:00");
}

TEST(ResultFile, KeepsAnUnreadableOlderFileToo) {
  const TemporaryFolder folder;
  write_file(folder.path() / kName, "not JSON at all");
  {
    ResultFile file = file_in(folder.path());
    file.check_writable();
    EXPECT_EQ(read_file(folder.path() / kName), "not JSON at all");
    file.write(sample_document());
  }
  std::vector<std::string> names = folder.names();
  ASSERT_EQ(names.size(), 2U);
  std::erase(names, kName);
  EXPECT_EQ(read_file(folder.path() / names.front()), "not JSON at all");
}

TEST(ResultFile, AResumedResultGrowsInPlace) {
  const TemporaryFolder folder;
  write_file(folder.path() / kName, to_text(to_json(dated("2026-03-01T10:00:00+01:00"))));
  {
    ResultFile file = file_in(folder.path());
    file.continue_previous();
    file.check_writable();
    file.write(dated("2026-03-02T10:00:00+01:00"));
  }
  EXPECT_THAT(folder.names(), ElementsAre(kName));
}

TEST(ResultFile, TwoWritersOfOneFile) {
  const TemporaryFolder folder;
  {
    ResultFile first = file_in(folder.path());
    first.check_writable();
    ResultFile second = file_in(folder.path());
    expect_words(without_path(message_of<UsageError>([&] { second.check_writable(); }), folder.path()));
    ResultFile other(folder.path(), "batch", "vgg16", "cuda:0");
    other.check_writable();
  }
  ResultFile third = file_in(folder.path());
  third.check_writable();
  third.write(sample_document());
  EXPECT_TRUE(fs::exists(third.path()));
}

TEST(ResultFile, ALockFileLeftByAKilledProcessDoesNotMatter) {
  const TemporaryFolder folder;
  write_file(folder.path() / (std::string(".") + kName + ".lock"), "");
  write_file(folder.path() / (std::string(".") + kName + ".new"), "half a res");
  {
    ResultFile file = file_in(folder.path());
    file.check_writable();
    file.write(sample_document());
  }
  EXPECT_THAT(folder.names(), ElementsAre(kName));
}

TEST(ResultFile, AFileInPlaceOfTheFolder) {
  const TemporaryFolder folder;
  write_file(folder.path() / "taken", "mine");
  ResultFile file = file_in(folder.path() / "taken");
  expect_words(without_path(message_of<UsageError>([&] { file.check_writable(); }), folder.path()));
  EXPECT_EQ(read_file(folder.path() / "taken"), "mine");
}

TEST(ResultFile, AFolderInPlaceOfTheFile) {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / kName);
  ResultFile file = file_in(folder.path());
  expect_words(without_path(message_of<UsageError>([&] { file.check_writable(); }), folder.path()));
}

TEST(ResultFile, AFolderThatNobodyCanWriteTo) {
  // /proc takes no folders from anyone, root included.
  ResultFile file = file_in("/proc/bench-results");
  EXPECT_THAT(message_of<UsageError>([&] { file.check_writable(); }),
              ::testing::StartsWith("--out: /proc/bench-results"));
}

TEST(ResultFile, WhenTheDiskIsFullTheLastResultStands) {
  const TemporaryFolder folder;
  ResultFile file = file_in(folder.path());
  file.check_writable();
  file.write(sample_document());
  const std::string before = read_file(file.path());
  ResultDocument large = sample_document();
  large.points[0].samples_ns.assign(10'000, 123'456);
  large.points[0].rounds = rounds_of({10'000});
  large.points[0].stats.median_ns = 123'456;
  {
    const FileSizeLimit limit(8192);
    expect_words(without_path(message_of<UsageError>([&] { file.write(large); }), folder.path()));
  }
  EXPECT_EQ(read_file(file.path()), before);
  EXPECT_THAT(folder.names(), ::testing::UnorderedElementsAre(kName, std::string(".") + kName + ".lock"));
  file.write(large);
  EXPECT_EQ(read_result(file.path()).points[0].samples_ns.size(), 10'000U);
}

TEST(ResultFile, AFullDiskIsSeenBeforeMeasuring) {
  const TemporaryFolder folder;
  ResultFile file = file_in(folder.path());
  const FileSizeLimit limit(100);
  expect_words(without_path(message_of<UsageError>([&] { file.check_writable(); }), folder.path()));
}

TEST(ResultFile, ANumberThatIsNotOneLeavesTheLastResult) {
  const TemporaryFolder folder;
  ResultFile file = file_in(folder.path());
  file.write(sample_document());
  ResultDocument broken = sample_document();
  broken.points[0].stats.cv = std::numeric_limits<double>::infinity();
  EXPECT_THROW(file.write(broken), std::domain_error);
  EXPECT_EQ(to_json(read_result(file.path())), to_json(sample_document()));
}

// At the names that a result's temporary file, lock and picture had once, or have.
TEST(ResultFileLinks, HiddenNamesAreNotFollowed) {
  const TemporaryFolder folder;
  const fs::path elsewhere = folder.path() / "elsewhere";
  write_file(elsewhere, "precious");
  const std::string hidden = std::string(".") + kName;
  for (const std::string& name : {hidden + ".new", hidden + ".lock"}) {
    fs::create_symlink("elsewhere", folder.path() / name);
  }
  {
    ResultFile file = file_in(folder.path());
    EXPECT_THAT(message_of<UsageError>([&] { file.check_writable(); }),
                HasSubstr("is no file, in the place of a lock"));
  }
  fs::remove(folder.path() / (hidden + ".lock"));
  ResultFile file = file_in(folder.path());
  file.check_writable();
  file.write(sample_document());
  EXPECT_EQ(read_file(elsewhere), "precious");
  EXPECT_EQ(to_json(read_result(file.path())), to_json(sample_document()));
}

TEST(ResultFileLinks, APipeAtAHiddenNameIsNotWaitedFor) {
  const TemporaryFolder folder;
  const std::string hidden = (folder.path() / (std::string(".") + kName)).string();
  ASSERT_EQ(::mkfifo((hidden + ".new").c_str(), 0666), 0);
  {
    ResultFile file = file_in(folder.path());
    file.check_writable();
    file.write(sample_document());
  }
  ASSERT_EQ(::mkfifo((hidden + ".lock").c_str(), 0666), 0);
  ResultFile file = file_in(folder.path());
  EXPECT_THAT(message_of<UsageError>([&] { file.check_writable(); }),
              HasSubstr("is no file, in the place of a lock"));
}

// A folder of several users: as /tmp, or one of a group.
class SharedFolder : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!testing::can_be_another_user()) {
      GTEST_SKIP() << "only root can be another user";
    }
    share(fs::perms::sticky_bit);
  }
  void share(fs::perms more) { fs::permissions(folder_.path(), fs::perms::all | more); }
  // What check_writable() tells the other user.
  std::string answer() const {
    return testing::answer_as(testing::kOtherUser, [&] {
      ResultFile file = file_in(folder_.path());
      file.check_writable();
      file.write(sample_document());
      return std::string("written");
    });
  }
  fs::path path() const { return folder_.path() / kName; }
  fs::path lock() const { return folder_.path() / (std::string(".") + kName + ".lock"); }

  const TemporaryFolder folder_;
};

TEST_F(SharedFolder, AnotherUsersResultIsRefusedBeforeAnythingIsMeasured) {
  write_file(path(), "theirs");
  EXPECT_EQ(testing::answer_as(testing::kOtherUser,
                               [&] {
                                 file_in(folder_.path()).check_writable();
                                 return std::string("accepted");
                               }),
            "--out: " + path().string() +
                " belongs to the user root, and its folder lets nobody else replace it; give another folder");
  share(fs::perms::none);
  EXPECT_EQ(answer(), "written") << "in a folder of a group it is kept under another name";
  write_file(path(), "theirs");
  fs::permissions(path(), fs::perms::owner_all);
  EXPECT_EQ(::lchown(path().c_str(), 0, 0), 0);
  expect_words(without_path(answer(), folder_.path()));
}

TEST_F(SharedFolder, AKilledUsersLockDoesNotBlock) {
  write_file(lock(), "");
  fs::permissions(lock(), fs::perms(0644));
  EXPECT_EQ(answer(), "written");
}

TEST_F(SharedFolder, AnUnreadableLockIsNamedWithItsOwner) {
  write_file(lock(), "");
  fs::permissions(lock(), fs::perms(0600));
  expect_words(without_path(answer(), folder_.path()));
}

TEST_F(SharedFolder, ALockCanBeReadWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  ResultFile file = file_in(folder_.path());
  file.check_writable();
  ::umask(before);
  expect_words(without_path(answer(), folder_.path()));
}

TEST_F(SharedFolder, AnotherUsersLinkIsNotFollowed) {
  fs::create_symlink("elsewhere", path());
  ASSERT_EQ(::lchown(path().c_str(), testing::kOtherUser, testing::kOtherUser), 0);
  expect_words(without_path(message_of<UsageError>([&] { file_in(folder_.path()); }), folder_.path()));
}

TEST(ReadResult, ATooLargeFileIsRefusedAtOnce) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "large.json";
  write_file(path, "[");
  fs::resize_file(path, std::uintmax_t{1} << 40U);  // takes no space
  EXPECT_THAT([&] { read_result(path); },
              ThrowsMessage<UsageError>(
                  path.string() + " is larger than 64.0 MiB, the most that a JSON file of this program has"));
}

TEST(ReadResult, APipeIsNoFile) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "pipe.json";
  ASSERT_EQ(::mkfifo(path.c_str(), 0666), 0);
  EXPECT_THAT([&] { read_result(path); }, ThrowsMessage<UsageError>(path.string() + " is not a file"));
}

TEST(ReadResult, EveryPrefixOfAFileIsRefusedInOneSentence) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "cut.json";
  const std::string whole = to_text(to_json(sample_document()));
  for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
    write_file(path, whole.substr(0, length));
    EXPECT_EQ(message_of<UsageError>([&] { read_result(path); }),
              fmt::format("{} is truncated: the JSON ends too early, after {} bytes", path.string(), length));
  }
}

TEST(ReadResult, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x.json";
  const auto message_for = [&](const std::string& text) {
    write_file(path, text);
    try {
      read_result(path);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("nothing thrown");
  };
  const std::string place = path.string();
  EXPECT_EQ(message_for("# hello"), place + " is not JSON: the error is at byte 1");
  EXPECT_EQ(message_for("{\"schema\": NaN}"), place + " is not JSON: the error is at byte 12");
  EXPECT_EQ(message_for("{\"schema\": \"bench-result/3\"}"),
            place +
                " is not a result this program can read: schema is bench-result/3; this program reads "
                "bench-result/2");
  EXPECT_EQ(
      message_for("[]"),
      place + " is not a result this program can read: a result is a JSON object, and this is an array");
  fs::remove(path);
  EXPECT_THAT([&] { read_result(path); },
              ThrowsMessage<UsageError>(place + " cannot be read (No such file or directory)"));
  EXPECT_THAT([&] { read_result(folder.path()); },
              ThrowsMessage<UsageError>(folder.path().string() + " is not a file"));
}

TEST(ReadResult, AnswersInOneLineWhateverTheNameOrTheContent) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a\nb\x1b.json";
  write_file(path, "{\"schema\": \"" + std::string(100'000, 'x') + "\"}");
  expect_words(without_path(message_of<UsageError>([&] { read_result(path); }), folder.path()));
}

// Never rewritten: every later program of its version must read it.
TEST(ReadResult, TheGoldenFileStaysReadable) {
  const fs::path golden = BENCH_TEST_SOURCE_DIR "/tests/bench/run/golden/bench-result-2.json";
  EXPECT_EQ(testing::schema_errors(read_file(golden)), "");
  ResultDocument expected = sample_document();
  expected.findings[0].interval_kind = kNoInterval;  // the file does not say what the interval counts
  EXPECT_EQ(to_json(read_result(golden)), to_json(expected));
}

TEST(ReadResult, TheFileOfAWorkloadIsKept) {
  ResultDocument document = sample_document();
  document.context.workload_file =
      WorkloadFile{.format = "onnx",
                   .path = "nets/my net.onnx",
                   .name = "my-net",
                   .hash = "0123abcd",
                   .inputs = {{.name = "x", .shape = "batch x 8", .content = "seeded values"}},
                   .assumptions = {"Dropout is off."}};
  const Json json = to_json(document);
  EXPECT_EQ(testing::schema_errors(to_text(json)), "");
  EXPECT_EQ(document_from_json(json).context.workload_file, document.context.workload_file);
  EXPECT_EQ(to_json(document_from_json(json)), json);
}

TEST(ResultFileLinks, ResultsGoToWhereALinkLeads) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "real");
  std::filesystem::create_symlink("real/kept.json", folder.path() / "batch-net-cpu.json");
  for (int run = 0; run < 2; ++run) {  // at first the link leads nowhere
    ResultFile file(folder.path(), "batch", "net", "cpu");
    EXPECT_EQ(file.path(), folder.path() / "real" / "kept.json");
    file.check_writable();
    file.write(ResultDocument{});
    EXPECT_TRUE(std::filesystem::is_symlink(folder.path() / "batch-net-cpu.json"));
    EXPECT_TRUE(std::filesystem::is_regular_file(folder.path() / "real" / "kept.json"));
  }
  std::filesystem::create_symlink("batch-loop-cpu.json", folder.path() / "batch-loop-cpu.json");
  ResultFile loop(folder.path(), "batch", "loop", "cpu");
  EXPECT_FALSE(loop.path().empty());
}

// File systems take 255 bytes.
TEST(ResultFile, ALongNameIsCutAndStaysUnlikeOthers) {
  const TemporaryFolder folder;
  std::set<std::string> names;
  for (const char* const end : {"a", "b"}) {
    ResultFile file(folder.path(), "batch", std::string(300, 'w') + end, "cpu");
    file.write(sample_document());
    ASSERT_TRUE(fs::exists(file.path()));
    names.insert(file.path().filename().string());
    EXPECT_LT(file.path().filename().string().size(), 230U);
  }
  EXPECT_EQ(names.size(), 2U);
}

}  // namespace
}  // namespace bench
