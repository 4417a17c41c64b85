#include "sweeps/workers/loader/synthetic.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "sweeps/workers/loader/file_range.h"
#include "temporary_folder.h"
#include "tests/bench/support/file_size_limit.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/idle_clock.h"
#include "tests/bench/support/without_path.h"

namespace bench::loader {
namespace {

namespace fs = std::filesystem;

constexpr int kFew = 3;

TEST(SyntheticPicture, IsTheSameForTheSameSeed) {
  const SyntheticImage first = synthetic_image(5);
  EXPECT_EQ(first.rgb, synthetic_image(5).rgb);
  EXPECT_NE(first.rgb, synthetic_image(6).rgb);
  EXPECT_EQ(first.rgb.size(), static_cast<std::size_t>(3 * first.width * first.height));
}

// A decoder's work goes with both.
TEST(SyntheticPicture, IsAsLargeAsAPhotographInPixelsAndBytes) {
  double bytes = 0;
  double pixels = 0;
  constexpr int kCount = 24;
  for (int i = 0; i < kCount; ++i) {
    const SyntheticImage picture = synthetic_image(static_cast<std::uint64_t>(i));
    pixels += static_cast<double>(picture.width) * picture.height / kCount;
    bytes += static_cast<double>(encoded_jpeg(picture, 95).size()) / kCount;
  }
  EXPECT_NEAR(pixels, 500 * 375, 20'000);
  EXPECT_NEAR(bytes, 110'000, 15'000);
}

TEST(SyntheticFolder, IsMadeOnceAndKept) {
  const TemporaryFolder cache;
  std::vector<double> fractions;
  const fs::path folder =
      synthetic_folder(cache.path() / "bench", kFew, [&](const std::string& what, double fraction) {
        EXPECT_THAT(what, ::testing::HasSubstr("synthetic images"));
        fractions.push_back(fraction);
      });
  EXPECT_TRUE(std::ranges::is_sorted(fractions));
  EXPECT_EQ(std::ranges::count(fractions, 1), 1);
  EXPECT_EQ(fractions.back(), 1);
  std::vector<std::byte> bytes;
  read_file(folder / "0000.jpg", bytes);
  EXPECT_GT(bytes.size(), 20'000U);
  const auto made = fs::last_write_time(folder / "0002.jpg");
  EXPECT_EQ(
      synthetic_folder(cache.path() / "bench", kFew, [](const auto&, double) { FAIL() << "made again"; }),
      folder);
  EXPECT_EQ(fs::last_write_time(folder / "0002.jpg"), made);
  EXPECT_FALSE(fs::exists(cache.path() / "bench" / "synthetic.lock"));
}

TEST(SyntheticFolder, IsMadeAgainWhereAnImageIsMissingOrARunWasKilled) {
  const TemporaryFolder cache;
  const fs::path folder = synthetic_folder(cache.path(), kFew, {});
  fs::remove(folder / "0001.jpg");
  fs::create_directory(fs::path(folder) += ".partial");
  cache.write(fs::path(folder.filename()) += ".partial/0000.jpg", {});
  EXPECT_EQ(synthetic_folder(cache.path(), kFew, {}), folder);
  EXPECT_TRUE(fs::exists(folder / "0001.jpg"));
  EXPECT_FALSE(fs::exists(fs::path(folder) += ".partial"));
}

TEST(SyntheticFolder, WhatOtherRunsLeftGoesWhateverItsSize) {
  const TemporaryFolder cache;
  cache.write("synthetic-heavy-v0-9.partial/0000.jpg", {});
  cache.write("other.partial/mine", {});
  synthetic_folder(cache.path(), kFew, {});
  EXPECT_FALSE(fs::exists(cache.path() / "synthetic-heavy-v0-9.partial"));
  EXPECT_TRUE(fs::exists(cache.path() / "other.partial" / "mine"));
}

TEST(SyntheticFolder, AFullDiskLeavesNothing) {
  const TemporaryFolder cache;
  std::signal(SIGXFSZ, SIG_IGN);
  {
    const bench::testing::FileSizeLimit limit(4096);
    EXPECT_THROW(synthetic_folder(cache.path(), kFew, {}), UsageError);
  }
  EXPECT_TRUE(fs::is_empty(cache.path()));
}

TEST(SyntheticFolder, IsMadeByOneOfManyAtOnce) {
  const TemporaryFolder cache;
  const bench::testing::IdleClock clock;
  std::vector<int> made(6);
  std::vector<std::thread> threads;
  for (int& one : made) {
    threads.emplace_back([&cache, &clock, &one] {
      const auto count = [&one](const std::string& what, double fraction) {
        one += what.starts_with("making") && fraction == 1 ? 1 : 0;
      };
      synthetic_folder(cache.path(), kFew, count, SyntheticSizes::alike, clock);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::ranges::count(made, 1), 1);
}

TEST(SyntheticFolder, LeavesNothingHalfDoneWhenKilled) {
  const TemporaryFolder cache;
  const pid_t child = fork();
  if (child == 0) {
    synthetic_folder(cache.path(), kFew, [](const std::string&, double fraction) {
      if (fraction > 0.5) {
        _exit(9);
      }
    });
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 9);
  const fs::path folder = synthetic_folder(cache.path(), kFew, {});
  EXPECT_TRUE(fs::exists(folder / "0002.jpg"));
}

TEST(SyntheticSizes, HeavyOnesAreLogNormal) {
  constexpr int kCount = 256;
  double sum = 0;
  double squares = 0;
  double largest = 0;
  for (int i = 0; i < kCount; ++i) {
    const double area = heavy_area(i, kCount);
    sum += area;
    squares += area * area;
    largest = std::max(largest, area);
  }
  const double mean = sum / kCount;
  EXPECT_NEAR(mean, 1, 0.03);
  EXPECT_NEAR(std::sqrt(squares / kCount - mean * mean) / mean, 1.3, 0.15);
  EXPECT_NEAR(largest, std::exp(2.885 - 0.5), 0.1);  // the normal distribution's quantile of 511/512
}

TEST(SyntheticFolder, HeavyImagesHaveAFolderOfTheirOwn) {
  const TemporaryFolder cache;
  const fs::path alike = synthetic_folder(cache.path(), kFew, {});
  const fs::path heavy = synthetic_folder(cache.path(), kFew, {}, SyntheticSizes::heavy);
  EXPECT_NE(alike, heavy);
  EXPECT_TRUE(fs::exists(alike / "0000.jpg"));
  std::vector<std::uintmax_t> bytes;
  for (const char* const name : {"0000.jpg", "0001.jpg", "0002.jpg"}) {
    bytes.push_back(fs::file_size(heavy / name));
  }
  std::ranges::sort(bytes);
  EXPECT_GT(bytes[2], 3 * bytes[0]);  // quantiles at 1/6 and 5/6: 6.9 times the pixels
}

TEST(SyntheticFolder, SaysWhereItCannotWrite) {
  const TemporaryFolder cache;
  const fs::path file = cache.write("file", {});
  expect_words(without_path(message_of<UsageError>([&] { synthetic_folder(file / "bench", kFew, {}); }),
                            cache.path()));
}

}  // namespace
}  // namespace bench::loader
