// How a process finds its ranks, and what they tell each other of themselves.
#include "bench/ranks.h"

#include <gmock/gmock.h>

#include <unistd.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/error.h"
#include "bench/registry.h"
#include "tests/bench/run/fake_device.h"
#include "tests/bench/run/one_rank.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/thread_ranks.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::chrono_literals::operator""h;

bool here_is_missing = false;

RankEngine fake_engine(const std::string& name, const std::string& variables, bool is_missing) {
  return {
      .name = name,
      .title = "MPI of " + name,
      .launcher = "run." + name,
      .packages = "lib" + name,
      .rank_variable = variables + "_RANK",
      .size_variable = variables + "_SIZE",
      .manager_variable = variables + "_MANAGED",
      .missing = [is_missing] { return is_missing || here_is_missing ? std::string("it is missing") : ""; },
      .join = [](std::chrono::nanoseconds) { return std::make_unique<testing::OneRank>(); }};
}
const Registration<RankEngine> absent{fake_engine("absent", "ABSENT", true)};
const Registration<RankEngine> here{fake_engine("here", "HERE", false)};

std::optional<RankLaunch> launch_in(const std::map<std::string, std::string>& variables) {
  return launch_of([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string join_refusal(const RankLaunch& launch) {
  try {
    join_launched(launch, 1h);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(RankLaunch, IsReadFromTheEnvironment) {
  EXPECT_FALSE(launch_in({}));
  const auto found = launch_in({{"HERE_RANK", "2"}, {"HERE_SIZE", "4"}});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->engine, "here");
  EXPECT_EQ(found->rank, 2);
  EXPECT_EQ(found->size, 4);
  // A batch job of one task that starts mpirun: the launcher of several ranks counts.
  EXPECT_EQ(
      launch_in(
          {{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}, {"HERE_RANK", "1"}, {"HERE_SIZE", "2"}})
          ->engine,
      "here");
  EXPECT_EQ(launch_in({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}})->launcher, "srun");
  EXPECT_EQ(launch_in({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}})->engine, "") << "any";
  EXPECT_EQ(launch_in({{"SLURM_PROCID", "0"}, {"SLURM_STEP_NUM_TASKS", "8"}, {"HERE_MANAGED", "0"}})->engine,
            "here")
      << "srun --mpi=pmix sets a variable for Open MPI";
  EXPECT_EQ(launch_in({{"RANK", "1"}, {"WORLD_SIZE", "2"}})->launcher, "torchrun");
  for (const auto& [rank, size] : {std::pair{"4", "4"}, {"-1", "2"}, {"x", "2"}, {"0", ""}, {"1", "2x"}}) {
    EXPECT_FALSE(launch_in({{"HERE_RANK", rank}, {"HERE_SIZE", size}})) << rank << " " << size;
  }
}

std::string stale(const std::map<std::string, std::string>& variables) {
  try {
    require_whole_launch([&](const char* name) {
      const auto found = variables.find(name);
      return found == variables.end() ? nullptr : found->second.c_str();
    });
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(RankLaunch, VariablesThatAnotherRunLeftAreNamed) {
  EXPECT_EQ(stale({}), "");
  EXPECT_EQ(stale({{"HERE_RANK", "0"}, {"HERE_SIZE", "1"}}), "");
  expect_words(stale({{"HERE_RANK", "5"}, {"HERE_SIZE", "2"}}));
  expect_words(stale({{"HERE_RANK", "x"}, {"HERE_SIZE", "2"}}));
  expect_words(stale({{"HERE_SIZE", "2"}}));
  expect_words(stale({{"HERE_RANK", "1"}}));
  EXPECT_EQ(stale({{"HERE_SIZE", "9"}, {"ABSENT_RANK", "0"}, {"ABSENT_SIZE", "2"}}), "")
      << "a launcher started several";
}

TEST(RankLaunch, AnotherNumberOfRanksIsNamed) {
  EXPECT_EQ(join_launched({.launcher = "mpirun", .engine = "here"}, 1h)->size(), 1);
  expect_words(join_refusal({.launcher = "the mpirun of X", .engine = "here", .rank = 0, .size = 4}));
  expect_words(join_refusal({.launcher = "srun", .engine = "", .rank = 0, .size = 4}));
}

TEST(RankLaunch, AnEngineThatIsMissingIsNamedWithAWayOut) {
  expect_words(join_refusal({.launcher = "run.absent", .engine = "absent", .rank = 0, .size = 2}));
  EXPECT_EQ(launch_advice().command, "run.here -n 2");
  here_is_missing = true;
  expect_words(join_refusal({.launcher = "run.absent", .engine = "absent", .rank = 0, .size = 2}));
  expect_words(launch_advice().reason);
  here_is_missing = false;
}

class DeviceOfKind final : public testing::FakeDevice {
 public:
  explicit DeviceOfKind(const std::string& kind) { own_.kind = kind; }
  const DeviceInfo& info() const override { return own_; }
  bool host_accessible() const override { return own_.kind == "host"; }

 private:
  DeviceInfo own_;
};

// As the rendezvous that torchrun's ranks meet at.
class ControlOnly final : public testing::OneRank {
 public:
  bool carries_host_memory() const override { return false; }
};

std::vector<std::string> connected_kinds;
const Registration<DeviceCollectives> of_cards{{.name = "card", .connect = [](RankGroup&, Device& device) {
                                                  connected_kinds.push_back(device.info().kind);
                                                  return std::make_unique<ControlOnly>();
                                                }}};

std::string device_refusal(RankGroup& control, Device& device) {
  try {
    device_group(control, device);
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

TEST(RankDevices, HaveTheLibraryOfTheirKind) {
  testing::OneRank mpi;
  ControlOnly control;
  DeviceOfKind host("host");
  DeviceOfKind card("card");
  DeviceOfKind other("other");
  EXPECT_EQ(device_group(mpi, host), nullptr) << "MPI reads it";
  EXPECT_NE(device_group(mpi, card), nullptr);
  EXPECT_NE(device_group(control, card), nullptr);
  EXPECT_THAT(connected_kinds, ElementsAre("card", "card"));
  EXPECT_THAT(device_refusal(control, host), AllOf(HasSubstr("needs an MPI"), HasSubstr("run.here -n 2")));
  EXPECT_THAT(device_refusal(mpi, other), AllOf(HasSubstr("NCCL"), HasSubstr("pip install")));
}

TEST(RankTexts, AreThoseOfEveryRank) {
  testing::run_ranks(3, [](RankGroup& group) {
    const std::string own(static_cast<std::size_t>(100 * group.rank()), 'x');  // the first is empty
    EXPECT_THAT(texts_of(group, own), ElementsAre("", std::string(100, 'x'), std::string(200, 'x')));
    EXPECT_THAT(texts_of(group, ""), ElementsAre("", "", ""));
  });
}

TEST(RankPlaces, TellHostsApart) {
  testing::run_ranks(3, [](RankGroup& group) {
    const auto places = places_of(group);
    ASSERT_EQ(places.size(), 3U);
    EXPECT_EQ(places.front().process, ::getpid());
    EXPECT_EQ(places.front().cores, places.back().cores);
    EXPECT_FALSE(places.front().cores.empty());
    EXPECT_EQ(hosts_of(places).size(), 1U);
  });
  const std::vector<RankPlace> places{{.host = "b"}, {.host = "a"}, {.host = "b"}};
  EXPECT_THAT(hosts_of(places), ElementsAre("b", "a"));
  EXPECT_EQ(local_rank(places, 1), 0);
  EXPECT_EQ(local_rank(places, 2), 1);
}

}  // namespace
}  // namespace bench
