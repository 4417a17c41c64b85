// How a process finds its ranks, and ends where they are lost.
#include <gmock/gmock.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "bench/error.h"
#include "bench/ranks.h"
#include "bench/registry.h"
#include "bench/run/rank_pulse.h"
#include "bench/run/rank_watch.h"
#include "tests/bench/run/fake_device.h"
#include "tests/bench/support/passing_ranks.h"
#include "tests/bench/support/thread_ranks.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""h;
using std::chrono_literals::operator""s;

class OneRank : public RankGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<RankGroup> first(int) override { return std::make_unique<OneRank>(); }
  void run(const Collective&) override {}
  std::unique_ptr<PendingCollective> start(const Collective&) override { return nullptr; }
  void barrier() override {}
};

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
      .join = [](std::chrono::nanoseconds) { return std::make_unique<OneRank>(); }};
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
  EXPECT_THAT(stale({{"HERE_RANK", "5"}, {"HERE_SIZE", "2"}}),
              AllOf(HasSubstr("HERE_RANK: '5' was given with HERE_SIZE '2'"), HasSubstr("run.here")));
  EXPECT_THAT(stale({{"HERE_RANK", "x"}, {"HERE_SIZE", "2"}}), HasSubstr("HERE_RANK: 'x'"));
  EXPECT_THAT(stale({{"HERE_SIZE", "2"}}), HasSubstr("HERE_SIZE: '2' was given without HERE_RANK"));
  EXPECT_THAT(stale({{"HERE_RANK", "1"}}), HasSubstr("HERE_RANK: '1' was given without HERE_SIZE"));
  EXPECT_EQ(stale({{"HERE_SIZE", "9"}, {"ABSENT_RANK", "0"}, {"ABSENT_SIZE", "2"}}), "")
      << "a launcher started several";
}

TEST(RankLaunch, AnotherNumberOfRanksIsNamed) {
  EXPECT_EQ(join_launched({.launcher = "mpirun", .engine = "here"}, 1h)->size(), 1);
  EXPECT_THAT(
      join_refusal({.launcher = "the mpirun of X", .engine = "here", .rank = 0, .size = 4}),
      AllOf(HasSubstr("the mpirun of X started 4 ranks, but MPI of here sees 1"), HasSubstr("use run.here")));
  EXPECT_THAT(join_refusal({.launcher = "srun", .engine = "", .rank = 0, .size = 4}),
              HasSubstr("--mpi=pmi2"));
}

TEST(RankLaunch, AnEngineThatIsMissingIsNamedWithAWayOut) {
  EXPECT_THAT(join_refusal({.launcher = "run.absent", .engine = "absent", .rank = 0, .size = 2}),
              AllOf(HasSubstr("it is missing"), HasSubstr("use run.here")));
  EXPECT_EQ(launch_advice().command, "run.here -n 2");
  here_is_missing = true;
  EXPECT_THAT(join_refusal({.launcher = "run.absent", .engine = "absent", .rank = 0, .size = 2}),
              HasSubstr("apt-get install libhere"));
  EXPECT_THAT(launch_advice().reason, HasSubstr("without MPI"));
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
class ControlOnly final : public OneRank {
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
  OneRank mpi;
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

TEST(RankWatch, KnowsWhetherAProcessRuns) {
  EXPECT_EQ(process_state(::getpid()), ProcessState::running);
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  ::kill(child, SIGSTOP);
  ::waitpid(child, nullptr, WUNTRACED);
  EXPECT_EQ(process_state(child), ProcessState::stopped);
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(process_state(child), ProcessState::gone) << "a zombie";
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(process_state(child), ProcessState::gone);
}

// Rank 0 of three: rank 1 on this host, rank 2 on another.
class StuckGroup final : public OneRank {
 public:
  explicit StuckGroup(int rank = 0) : rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return 3; }
  void barrier() override {
    while (!ended) {
      std::this_thread::sleep_for(1ms);
    }
  }
  std::atomic<bool> ended{false};

 private:
  int rank_;
};

// A watched group whose barrier returns when the watch ends the process.
struct StuckRanks {
  explicit StuckRanks(std::vector<RankPlace> places, RankWatchSettings settings,
                      std::unique_ptr<RankPulse> pulse = nullptr, int rank = 0) {
    auto made = std::make_unique<StuckGroup>(rank);
    group = made.get();
    settings.end = [this](const std::string& said) {
      sentence = said;
      group->ended = true;
    };
    watched = std::make_unique<WatchedRanks>(std::move(made), std::move(places), std::move(settings),
                                             std::vector<std::int64_t>{}, std::move(pulse));
  }

  StuckGroup* group = nullptr;
  std::string sentence;
  std::unique_ptr<WatchedRanks> watched;
};

const std::vector<RankPlace> kTwoHosts{{.host = "a", .process = 10}, {.host = "b"}, {.host = "b"}};
const RankWatchSettings kShort{.timeout = 50ms, .pace = 5ms, .end = {}};

// What the watch says while a barrier does not return.
std::string sentence_of(ProcessState state, std::chrono::nanoseconds timeout, bool ends_expected = false) {
  StuckRanks stuck({{.host = "a", .process = 10}, {.host = "a", .process = 11}, {.host = "b", .process = 12}},
                   {.timeout = timeout,
                    .pace = 20ms,
                    .state =
                        [&](std::int64_t process) {
                          EXPECT_EQ(process, 11);
                          return state;
                        },
                    .end = {}});
  if (ends_expected) {
    stuck.watched->expect_ends();
  }
  stuck.watched->barrier();
  return stuck.sentence;
}

TEST(RankWatch, ARankThatIsGoneIsNamedAtOnce) {
  EXPECT_THAT(sentence_of(ProcessState::gone, 1h),
              AllOf(HasSubstr("rank 1 (process 11 on "), HasSubstr("is gone")));
}

TEST(RankWatch, ARankThatIsStoppedIsNamedAfterTheTimeout) {
  EXPECT_THAT(sentence_of(ProcessState::stopped, 100ms),
              AllOf(HasSubstr("rank 1 (process 11 on "), HasSubstr("is stopped and did not answer for")));
}

// Where the first rank may be long at work, others wait ten times as long; not for one that is stopped.
TEST(RankWatch, ALongWaitThatIsExpectedTakesLonger) {
  StuckRanks stuck(kTwoHosts, kShort);
  stuck.watched->expect_long_wait(true);
  const auto start = std::chrono::steady_clock::now();
  stuck.watched->barrier();
  EXPECT_GT(std::chrono::steady_clock::now() - start, 450ms);
  EXPECT_THAT(stuck.sentence, HasSubstr("did not answer"));
}

// A rank that computes for longer than the timeout is no rank that is lost.
TEST(RankWatch, RanksOfThisHostThatRunAreWaitedForLonger) {
  RankWatchSettings settings = kShort;
  settings.state = [](std::int64_t) { return ProcessState::running; };
  StuckRanks stuck({{.host = "a", .process = 10}, {.host = "a", .process = 11}, {.host = "a", .process = 12}},
                   settings);
  const auto start = std::chrono::steady_clock::now();
  stuck.watched->barrier();
  EXPECT_GT(std::chrono::steady_clock::now() - start, 450ms);
  EXPECT_THAT(stuck.sentence, HasSubstr("another rank on this host did not answer"));
}

// As MPICH over some links: its end does not return, though all ranks run.
TEST(RankWatch, ALibraryThatDoesNotEndIsNotWaitedForLonger) {
  struct Endless final : OneRank {
    explicit Endless(std::atomic<bool>& ended) : ended_(ended) {}
    ~Endless() override {
      while (!ended_) {
        std::this_thread::sleep_for(1ms);
      }
    }
    std::atomic<bool>& ended_;
  };
  std::atomic<bool> ended{false};
  std::string sentence;
  const auto start = std::chrono::steady_clock::now();
  {
    RankWatchSettings settings = kShort;
    settings.patience = 1000;
    settings.state = [](std::int64_t) { return ProcessState::running; };
    settings.end = [&](const std::string& said) {
      sentence = said;
      ended = true;
    };
    WatchedRanks watched(std::make_unique<Endless>(ended),
                         {{.host = "a", .process = 10}, {.host = "a", .process = 11}}, settings);
    watched.note_saved("results/cards.json");
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  EXPECT_THAT(sentence, AllOf(HasSubstr("the library of the ranks did not end for"),
                              HasSubstr("what was measured before is in results/cards.json")));
}

TEST(RankWatch, ALongCallThatWasAnsweredRaisesTheLimit) {
  StuckRanks stuck(kTwoHosts, kShort);
  stuck.watched->expect_long_wait(true);
  std::thread answer([&] {
    std::this_thread::sleep_for(200ms);
    stuck.group->ended = true;
  });
  stuck.watched->barrier();
  answer.join();
  EXPECT_EQ(stuck.sentence, "");
  stuck.watched->expect_long_wait(false);
  stuck.group->ended = false;
  const auto start = std::chrono::steady_clock::now();
  stuck.watched->barrier();
  EXPECT_GT(std::chrono::steady_clock::now() - start, 500ms)
      << "three times 200 ms, less what the watch sees late";
  EXPECT_THAT(stuck.sentence, HasSubstr("did not answer"));
}

TEST(RankWatch, WhatWasMeasuredIsNamedWhereThereIsAFile) {
  for (const std::string file : {"", "results/cards.json"}) {
    StuckRanks stuck(kTwoHosts, {.timeout = 20ms, .pace = 5ms, .end = {}});
    if (!file.empty()) {
      stuck.watched->note_saved(file);
    }
    stuck.watched->barrier();
    EXPECT_EQ(stuck.sentence.find("what was measured before is in results/cards.json") != std::string::npos,
              !file.empty())
        << stuck.sentence;
  }
}

// As MPICH may where the ranks that it reaches over a network are gone.
TEST(RankWatch, ALibraryThatCrashesOnALostRankDoesNotChangeTheExitCode) {
  class Crashing final : public OneRank {
   public:
    int size() const override { return 2; }
    void barrier() override {
      while (!abandoned_) {
        std::this_thread::sleep_for(1ms);
      }
      std::this_thread::sleep_for(200ms);
      ::raise(SIGSEGV);
    }
    void abandon() noexcept override { abandoned_ = true; }

   private:
    std::atomic<bool> abandoned_{false};
  };
  const pid_t child = ::fork();
  if (child == 0) {
    WatchedRanks watched(std::make_unique<Crashing>(),
                         {{.host = "a", .process = 10}, {.host = "a", .process = 11}},
                         {.pace = 5ms, .state = [](std::int64_t) { return ProcessState::gone; }, .end = {}});
    watched.barrier();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), static_cast<int>(ExitCode::inconclusive));
}

// Three ranks on three hosts, as they say.
void on_three_hosts(const std::function<void(RankGroup& group, RankPulse& pulse)>& body) {
  testing::run_ranks(3, [&](RankGroup& group) {
    const std::vector<RankPlace> places{
        {.host = "a", .process = 1}, {.host = "b", .process = 2}, {.host = "c", .process = 3}};
    const auto pulse = RankPulse::connect(group, places);
    ASSERT_NE(pulse, nullptr);
    body(group, *pulse);
    group.barrier();
  });
}

void beat_until(RankPulse& pulse, const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done() && std::chrono::steady_clock::now() < end) {
    pulse.beat();
    std::this_thread::sleep_for(10ms);
  }
  EXPECT_TRUE(done());
}

TEST(RankPulse, OneHostNeedsNone) {
  testing::run_ranks(2, [](RankGroup& group) {
    EXPECT_EQ(RankPulse::connect(group, {{.host = "a"}, {.host = "a"}}), nullptr);
  });
}

TEST(RankPulse, ARankThatGivesSignsIsHeardAndOneThatIsStoppedIsNot) {
  std::atomic<bool> over = false;
  on_three_hosts([&](RankGroup& group, RankPulse& pulse) {
    if (group.rank() == 0) {
      // The second gives no signs, and the third does: after 2.5 s their silences differ.
      const auto until = std::chrono::steady_clock::now() + 2500ms;
      beat_until(pulse, [&] { return std::chrono::steady_clock::now() > until; });
      EXPECT_GT(pulse.silent_for(1).value(), 2s);
      EXPECT_LT(pulse.silent_for(2).value(), 2s);
      EXPECT_FALSE(pulse.is_gone(1));
      over = true;
    } else if (group.rank() == 2) {
      beat_until(pulse, [&] { return over.load(); });
      EXPECT_FALSE(pulse.silent_for(1)) << "the first rank hears it";
      EXPECT_LT(pulse.silent_for(0).value(), 2s);
    }
  });
}

TEST(RankPulse, WhatOneRankTellsAllAreTold) {
  on_three_hosts([](RankGroup& group, RankPulse& pulse) {
    if (group.rank() == 1) {
      pulse.tell("rank 7 (process 9 on b) is gone");
    }
    beat_until(pulse, [&] { return pulse.told() == "rank 7 (process 9 on b) is gone"; });
  });
}

// As after a kill: its connection ends. The others name it, on whatever host.
TEST(RankWatch, ARankOnAnotherHostThatDiesIsNamed) {
  testing::run_ranks(3, [](RankGroup& group) {
    const std::vector<RankPlace> places{
        {.host = "a", .process = 1}, {.host = "b", .process = 2}, {.host = "c", .process = 3}};
    auto pulse = RankPulse::connect(group, places);
    ASSERT_NE(pulse, nullptr);
    if (group.rank() == 2) {
      pulse.reset();
      return;
    }
    const auto start = std::chrono::steady_clock::now();
    StuckRanks stuck(places, {.timeout = 1h, .pace = 20ms, .end = {}}, std::move(pulse), group.rank());
    stuck.watched->barrier();
    EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
    EXPECT_THAT(stuck.sentence, HasSubstr("rank 2 (process 3 on c) is gone; rank "));
  });
}

// Their calls are watched as the whole group's are, and an all_reduce may be in place.
TEST(RankWatch, TheFirstRanksAreAGroup) {
  testing::run_ranks(4, [](RankGroup& group) {
    WatchedRanks watched(std::make_unique<testing::PassingRanks>(group), places_of(group), {});
    const auto part = watched.first(3);
    ASSERT_EQ(part != nullptr, group.rank() < 3);
    if (part == nullptr) {
      return;
    }
    EXPECT_EQ(part->size(), 3);
    float sum = static_cast<float>(part->rank()) + 1;
    const auto pending = part->start({.from = &sum, .to = &sum, .bytes = sizeof(sum)});
    pending->poll();
    pending->wait();
    EXPECT_EQ(sum, 6);
    part->barrier();
  });
}

TEST(RankWatch, OfOtherHostsTheRanksAreNamed) {
  EXPECT_THAT(sentence_of(ProcessState::running, 100ms),
              AllOf(HasSubstr("one of the ranks 2 on other hosts"), HasSubstr("--rank-timeout")));
  EXPECT_THAT(sentence_of(ProcessState::gone, 100ms, true), HasSubstr("did not answer"))
      << "ends are expected";
}

// As NCCL: its calls can be given up, from another thread.
TEST(RankWatch, CallsThatCanBeGivenUpAreAbandoned) {
  class RankOfCard final : public OneRank {
   public:
    int size() const override { return 2; }
    void finish() override {
      while (!abandoned_) {
        std::this_thread::sleep_for(1ms);
      }
      throw RanksLost("given up");
    }
    void abandon() noexcept override { abandoned_ = true; }

   private:
    std::atomic<bool> abandoned_{false};
  };
  std::string sentence;
  WatchedRanks watched(
      std::make_unique<RankOfCard>(), {{.host = "a", .process = 10}, {.host = "b"}},
      {.timeout = 50ms, .pace = 5ms, .state = process_state, .end = [&](const std::string& said) {
         sentence = said;
       }});
  EXPECT_THROW(watched.finish(), RanksLost);
  EXPECT_THAT(sentence, HasSubstr("did not answer"));
}

TEST(RankWatch, ACallThatFailsEndsTheRank) {
  struct Failing final : OneRank {
    void barrier() override { throw RanksLost("MPI_Barrier failed: no process"); }
  };
  std::vector<std::string> said;
  WatchedRanks watched(
      std::make_unique<Failing>(), {{.host = "a", .process = 10}},
      {.timeout = 1h, .pace = 1ms, .state = process_state, .end = [&](const std::string& one) {
         said.push_back(one);
       }});
  EXPECT_THROW(watched.barrier(), RanksLost);
  EXPECT_THAT(said, ElementsAre(HasSubstr("MPI_Barrier failed: no process; rank 0 ends here")));
}

TEST(RankWatch, CallsThatReturnAreNotTimedOut) {
  testing::run_ranks(2, [](RankGroup& group) {
    std::atomic<int> ends = 0;
    WatchedRanks watched(
        std::make_unique<testing::PassingRanks>(group), places_of(group),
        {.timeout = 100ms, .pace = 1ms, .state = process_state, .end = [&](const std::string&) { ++ends; }});
    const auto until = std::chrono::steady_clock::now() + 300ms;
    float last = 0;
    while (last == 0) {  // both leave in the same turn
      const float over = group.rank() == 0 && std::chrono::steady_clock::now() > until ? 1 : 0;
      watched.run({.from = &over, .to = &last, .bytes = sizeof(float)});
    }
    EXPECT_EQ(ends, 0);
  });
}

}  // namespace
}  // namespace bench
