// The files of compiled plans: what is found again, once, by several processes too, and what damage and
// writes that fail do to it.
#include "kernels/devices/cuda/compiled_plans.h"

#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/bench/support/child.h"
#include "tests/bench/support/file_size_limit.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/temporary_folder.h"

namespace bench::kernels::cuda {
namespace {

namespace fs = std::filesystem;
using bench::testing::FileSizeLimit;
using bench::testing::mutate;
using bench::testing::read_file;
using bench::testing::TemporaryFolder;
using bench::testing::write_file;

// How each of so many processes ended, which begin their `body` at the same time; it returns an exit code.
std::vector<int> codes_of(int processes, const std::function<int(int)>& body) {
  int ends[2];
  if (::pipe(ends) != 0) {
    throw std::runtime_error("no pipe");
  }
  std::vector<pid_t> children;
  for (int i = 0; i < processes; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      char none = 0;
      ::close(ends[1]);
      [[maybe_unused]] const ssize_t closed = ::read(ends[0], &none, 1);  // by all others
      ::_exit(body(i));
    }
  }
  ::close(ends[0]);
  ::close(ends[1]);
  std::vector<int> codes;
  for (const pid_t child : children) {
    int status = -1;
    ::waitpid(child, &status, 0);
    codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  }
  return codes;
}

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

// The day begins when a plan is taken, not when it was kept.
TEST_F(CompiledPlansTest, AnOldPlanIsLeftAloneToo) {
  open().put("convolution", "eng7", "kernel");
  fs::last_write_time(only_file(), fs::file_time_type::clock::now() - std::chrono::hours(100));
  CompiledPlans one = open();
  EXPECT_EQ(one.take("convolution", "eng7"), "kernel");
  CompiledPlans other = open();
  EXPECT_EQ(other.take("convolution", "eng7"), std::nullopt);
  other.put("convolution", "eng7", "compiled meanwhile");
  EXPECT_TRUE(one.put_back("convolution", "eng7"));
  EXPECT_EQ(other.take("convolution", "eng7"), "kernel");
}

TEST_F(CompiledPlansTest, OneOfTheProcessesThatTakeAPlanAtOnceHasIt) {
  for (int round = 0; round < 20; ++round) {
    const std::string work = "convolution " + std::to_string(round);
    open().put(work, "eng7", "kernel");
    // Those that have none compile it, and want to keep it.
    const std::vector<int> took = codes_of(4, [&](int) {
      CompiledPlans plans = open();
      if (const auto plan = plans.take(work, "eng7")) {
        return plan == "kernel" ? 1 : 2;
      }
      plans.put(work, "eng7", "compiled meanwhile");
      return 0;
    });
    EXPECT_THAT(took, ::testing::UnorderedElementsAre(0, 0, 0, 1)) << round;
    EXPECT_EQ(open().take(work, "eng7"), std::nullopt) << "the one that has it has not put it back";
  }
}

TEST_F(CompiledPlansTest, ProcessesThatPutAndTakeAtOnceFindWholePlans) {
  constexpr int kProcesses = 4;
  const auto text_of = [](int process) {
    return std::string(50'000 + 1000 * static_cast<std::size_t>(process), static_cast<char>('a' + process));
  };
  const auto is_whole = [&](const std::string& text) {
    return !text.empty() && text.front() >= 'a' && text.front() < 'a' + kProcesses &&
           text == text_of(text.front() - 'a');
  };
  const std::vector<int> codes = codes_of(kProcesses, [&](int process) {
    for (int i = 0; i < 200; ++i) {
      CompiledPlans plans = open();
      if (const auto plan = plans.take("convolution", "eng7")) {
        if (!is_whole(*plan)) {
          return 1;
        }
        plans.put_back("convolution", "eng7");
      } else {
        plans.put("convolution", "eng7", text_of(process));
      }
    }
    return 0;
  });
  EXPECT_THAT(codes, ::testing::Each(0));
  EXPECT_EQ(files(), 1) << "no temporary file, and none set aside";
  const auto left = open().take("convolution", "eng7");
  EXPECT_TRUE(left && is_whole(*left));
}

TEST_F(CompiledPlansTest, AFullDiskKeepsTheEarlierPlan) {
  open().put("convolution", "eng7", "kernel");
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  {
    const FileSizeLimit limit(4096);
    open().put("convolution", "eng7", std::string(10'000, 'k'));
    open().put("convolution", "eng8", std::string(10'000, 'k'));
  }
  std::signal(SIGXFSZ, before);
  EXPECT_EQ(files(), 1) << "no half file, and no temporary one";
  EXPECT_EQ(open().take("convolution", "eng7"), "kernel");
}

TEST_F(CompiledPlansTest, AFolderThatCannotBeWrittenIsLeftAsItIs) {
  CompiledPlans nowhere(card_);
  nowhere.keep_in("/proc/bench/plans", "card 1");  // takes no folders from anyone, root included
  nowhere.put("convolution", "eng7", "kernel");
  EXPECT_EQ(nowhere.take("convolution", "eng7"), std::nullopt);

  // Its plans cannot be set aside, so that one that ends the process would do so each time: none is taken.
  const auto in_a_read_only_folder = [&]() -> std::string {
    open().put("convolution", "eng7", "kernel");
    fs::permissions(plans_in(), fs::perms::owner_read | fs::perms::owner_exec);
    CompiledPlans plans = open();
    const bool taken = plans.take("convolution", "eng7").has_value();
    plans.put("convolution", "eng7", "compiled again");
    plans.put("convolution", "eng8", "kernel");
    const std::ptrdiff_t left = files();
    fs::permissions(plans_in(), fs::perms::owner_all);
    return taken ? "taken"
                 : std::to_string(left) + " left: " + open().take("convolution", "eng7").value_or("none");
  };
  fs::permissions(folder_.path(), fs::perms::all);
  const std::string seen = bench::testing::can_be_another_user()
                               ? bench::testing::answer_as(bench::testing::kOtherUser, in_a_read_only_folder)
                               : in_a_read_only_folder();
  EXPECT_EQ(seen, "1 left: kernel");
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
