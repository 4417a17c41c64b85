// The files of compiled plans: what is found again, once, and what damage does to it.
#include "kernels/devices/cuda/compiled_plans.h"

#include <unistd.h>

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <optional>
#include <random>
#include <string>

#include "tests/bench/support/mutants.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench::kernels::cuda {
namespace {

namespace fs = std::filesystem;
using bench::testing::mutate;
using bench::testing::read_file;
using bench::testing::TemporaryFolder;
using bench::testing::write_file;

class CompiledPlansTest : public ::testing::Test {
 protected:
  CompiledPlans open(const std::string& machine = "card 1") const {
    CompiledPlans plans(card_);
    plans.keep_in(plans_in(), machine);
    return plans;
  }
  fs::path plans_in() const { return folder_.path() / "bench" / "plans"; }
  std::ptrdiff_t files() const {
    return fs::exists(plans_in())
               ? std::distance(fs::directory_iterator(plans_in()), fs::directory_iterator())
               : 0;
  }
  fs::path only_file() const { return fs::directory_iterator(plans_in())->path(); }

  Card card_{90, 132, "{}"};
  TemporaryFolder folder_;
};

TEST_F(CompiledPlansTest, ALaterOneTakesThePlanOnce) {
  open().put("convolution", "eng7", "kernel\n{}\n");
  EXPECT_EQ(open("card 2").take("convolution", "eng7"), std::nullopt);
  EXPECT_EQ(open().take("convolution", "eng8"), std::nullopt);
  EXPECT_EQ(open().take("other convolution", "eng7"), std::nullopt);
  CompiledPlans one = open();
  EXPECT_EQ(one.take("convolution", "eng7"), "kernel\n{}\n");
  CompiledPlans other = open();
  EXPECT_EQ(other.take("convolution", "eng7"), std::nullopt) << "its run has not ended well yet";
  other.put("convolution", "eng7", "kernel 2");
  EXPECT_EQ(other.take("convolution", "eng7"), std::nullopt) << "compiled meanwhile, and not kept";
  EXPECT_FALSE(other.put_back("convolution", "eng7")) << "it has taken nothing";
  EXPECT_TRUE(one.put_back("convolution", "eng7"));
  EXPECT_EQ(other.take("convolution", "eng7"), "kernel\n{}\n") << "as it was";
  other.drop("convolution", "eng7");
  EXPECT_EQ(files(), 0) << "it could not be used";
  other.put("convolution", "eng7", "kernel 2");
  EXPECT_EQ(open().take("convolution", "eng7"), "kernel 2");
}

// It loaded the plan and was never seen again.
TEST_F(CompiledPlansTest, APlanThatEndsTheProcessIsLeftAloneForADay) {
  open().put("convolution", "eng7", "kernel");
  EXPECT_EQ(open().take("convolution", "eng7"), "kernel");
  for (int run = 0; run < 3; ++run) {
    CompiledPlans next = open();
    EXPECT_EQ(next.take("convolution", "eng7"), std::nullopt);
    next.put("convolution", "eng7", "kernel");
  }
  fs::last_write_time(only_file(), fs::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_EQ(open().take("convolution", "eng7"), std::nullopt);
  open().put("convolution", "eng7", "kernel again");
  EXPECT_EQ(open().take("convolution", "eng7"), "kernel again");
}

// It holds code.
TEST_F(CompiledPlansTest, AFileThatOthersCanWriteIsNoPlan) {
  for (const fs::perms others : {fs::perms::group_write, fs::perms::others_write}) {
    open().put("convolution", "eng7", "kernel");
    fs::permissions(only_file(), others, fs::perm_options::add);
    EXPECT_EQ(open().take("convolution", "eng7"), std::nullopt);
    EXPECT_EQ(files(), 0);
  }
  EXPECT_EQ(fs::status(plans_in()).permissions(), fs::perms::owner_all);
  if (::geteuid() == 0) {
    open().put("convolution", "eng7", "kernel");
    ASSERT_EQ(::chown(only_file().c_str(), 65534, 65534), 0);
    EXPECT_EQ(open().take("convolution", "eng7"), std::nullopt) << "another user's";
  }
}

TEST_F(CompiledPlansTest, NothingIsKeptWithoutAFolder) {
  CompiledPlans plans(card_);
  EXPECT_FALSE(plans.is_kept());
  plans.put("convolution", "eng7", "kernel");
  EXPECT_EQ(plans.take("convolution", "eng7"), std::nullopt);
}

TEST_F(CompiledPlansTest, ADamagedFileIsNoPlanAndGoes) {
  open().put("convolution", "eng7", std::string(200, 'k'));
  const fs::path file = only_file();
  const std::string whole = read_file(file);
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::string damaged = mutate(whole, random);
    if (damaged == whole) {
      continue;
    }
    write_file(file, damaged);
    EXPECT_EQ(open().take("convolution", "eng7"), std::nullopt) << damaged;
    EXPECT_FALSE(fs::exists(file));
  }
}

TEST_F(CompiledPlansTest, AFolderOrALinkInItsPlaceIsNoPlan) {
  open().put("convolution", "eng7", "kernel");
  const fs::path file = only_file();
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  EXPECT_EQ(open().take("convolution", "eng7"), std::nullopt);
  EXPECT_FALSE(fs::exists(fs::symlink_status(file)));
  EXPECT_TRUE(fs::exists(elsewhere));
  fs::create_directories(file / "full");
  EXPECT_EQ(open().take("convolution", "eng7"), std::nullopt);
  open().put("convolution", "eng7", "kernel");
  EXPECT_TRUE(fs::is_directory(file));
}

TEST_F(CompiledPlansTest, TheOldestMakeRoom) {
  const std::string large(CompiledPlans::kMostBytes, 'k');
  open().put("too large", "eng7", large + "k");
  EXPECT_EQ(files(), 0);
  constexpr int kFit = CompiledPlans::kMostInAll / CompiledPlans::kMostBytes - 1;  // with their headings
  for (int i = 0; i < kFit; ++i) {
    open().put("work " + std::to_string(i), "eng7", large);
    for (const auto& entry : fs::directory_iterator(plans_in())) {
      fs::last_write_time(entry, fs::last_write_time(entry) - std::chrono::hours(1));
    }
  }
  EXPECT_EQ(files(), kFit);
  open().put("one more", "eng7", large);
  EXPECT_EQ(files(), kFit);
  EXPECT_EQ(open().take("work 0", "eng7"), std::nullopt);
  EXPECT_EQ(open().take("work 1", "eng7"), large);
  EXPECT_EQ(open().take("one more", "eng7"), large);
}

}  // namespace
}  // namespace bench::kernels::cuda
