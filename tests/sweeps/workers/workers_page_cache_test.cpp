// Whether images come from storage or from memory: what is asked of the system, and what is said of it.
#include "sweeps/workers/record.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bench/error.h"
#include "sweeps/workers/session.h"
#include "tests/bench/support/golden_words.h"
#include "tests/sweeps/workers/loader/jpegs.h"
#include "tests/sweeps/workers/loader/temporary_folder.h"
#include "tests/sweeps/workers/loader_findings.h"

namespace bench::sweeps {
namespace {

std::vector<Point> with_notes(const std::vector<Json>& notes) {
  std::vector<Point> points(1);
  for (const Json& note : notes) {
    points.front().notes.push_back(read_window(note));
  }
  return points;
}

TEST(PageCache, IsWarmWhereNextToNothingCameFromStorage) {
  const Json none = {{"images", 100}, {"storage_bytes", 0}};
  const Json half = {{"images", 100}, {"storage_bytes", 500'000}};
  EXPECT_EQ(part_from_storage(with_notes({none, none}), 10'000), 0);
  EXPECT_EQ(part_from_storage(with_notes({none, half}), 10'000), 0.25);
  EXPECT_FALSE(part_from_storage(with_notes({none, {{"images", 100}}}), 10'000));
  EXPECT_FALSE(part_from_storage(with_notes({}), 10'000));

  LoaderSetup setup;
  EXPECT_STREQ(setup.page_cache(), "as found");
  setup.found = DataFound{.from_storage = 0.009};
  EXPECT_STREQ(setup.page_cache(), "warm");
  setup.found->from_storage = 0.25;
  EXPECT_EQ(to_json(setup).at("page_cache"), "as found");
  EXPECT_EQ(to_json(setup).at("read_from_storage"), 0.25);
}

TEST(PageCache, TheTableSaysWhatWasFound) {
  Evidence evidence = testing::measured_by({});
  evidence.setup.found->from_storage = 0.34;
  expect_words(workers_tables(evidence).front().title);
  evidence.setup.cold = true;
  evidence.setup.found->still_cached = 3;
  evidence.setup.found->evicted = 40;
  evidence.setup.found->still_cached_reason = "it lies in memory";
  expect_words(workers_tables(evidence).front().title);
}

class SessionData : public ::testing::Test {
 protected:
  SessionData() {
    for (int i = 0; i < 16; ++i) {
      folder_.write(file(i), loader::make_jpeg({}, static_cast<std::uint64_t>(i)));
    }
    session_.data_name = folder_.path().string();
  }
  static std::string file(int number) { return "image" + std::to_string(100 + number) + ".jpg"; }
  // Moves the image to where no storage is.
  void put_in_memory(int number) {
    const auto here = folder_.path() / file(number);
    const auto there = in_memory_ / file(number);
    std::filesystem::create_directories(in_memory_);
    std::filesystem::copy_file(here, there, std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove(here);
    std::filesystem::create_symlink(there, here);
  }
  ~SessionData() override {
    std::error_code error;
    std::filesystem::remove_all(in_memory_, error);
  }

  loader::TemporaryFolder folder_;
  std::filesystem::path in_memory_ = std::filesystem::path("/dev/shm") / folder_.path().filename();
  LoaderSession session_{steady_clock()};
};

TEST_F(SessionData, IsReadOnceBeforehand) {
  int read = 0;
  session_.progress = [&](const std::string& what, double) { read += what == "reading the images once"; };
  session_.warm();
  EXPECT_EQ(read, 16);
  read = 0;
  session_.cold = true;  // what is already open stays as it is
  session_.warm();
  EXPECT_EQ(read, 0);
}

TEST_F(SessionData, ThatPartlyLiesInMemoryIsNotCold) {
  session_.cold = true;
  try {
    session_.data();
  } catch (const Unsupported& error) {
    GTEST_SKIP() << "nothing can be evicted here: " << error.what();
  }
  std::vector<std::byte> bytes;
  session_.data().read(3, bytes);
  put_in_memory(4);
  session_.data().read(4, bytes);
  EXPECT_EQ(session_.found().evicted, 2);
  EXPECT_EQ(session_.found().still_cached, 1);
  EXPECT_THAT(session_.found().still_cached_reason, ::testing::HasSubstr("lies in memory"));

  for (int i = 1; i < 16; ++i) {  // all but the first
    if (i != 4) {
      put_in_memory(i);
    }
  }
  LoaderSession again(steady_clock());
  again.data_name = session_.data_name;
  again.cold = true;
  EXPECT_THROW(again.data(), Unsupported);
}

}  // namespace
}  // namespace bench::sweeps
