// Autotuning by given times: which candidates run, how often, which one wins, and which are left out; and
// what of it a card remembers, for all libraries that choose so.
#include "kernels/backends/cuda/autotune.h"

#include <gmock/gmock.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/error.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/devices/cuda/handles.h"
#include "tests/bench/support/interruption.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::ElementsAre;

constexpr float kFails = -1;
constexpr float kFull = -2;
constexpr float kLost = -3;

// Milliseconds of each candidate's attempts, the warm-up first; the last one repeats. They move the clock on.
class Candidates {
 public:
  explicit Candidates(std::vector<std::vector<float>> times)
      : times_(std::move(times)), runs_(times_.size()) {}

  std::size_t best() {
    const auto attempt = [this](std::size_t candidate, Repeats repeats) {
      const std::vector<float>& all = times_[candidate];
      const float time = all[std::min(runs_[candidate]++, all.size() - 1)];
      several_ += repeats.ahead > 0 && repeats.timed > 1 ? 1 : 0;
      clock_.advance(static_cast<std::int64_t>(std::max(time, 0.0F) * 1e6F));
      if (time == kFull) {
        throw OutOfMemory("the card is full", 0);
      }
      if (time == kLost) {
        throw DeviceLost("an illegal address");
      }
      if (time == kFails) {
        throw std::runtime_error("refused");
      }
      return time;
    };
    return autotune(times_.size(), attempt, clock_);
  }
  const std::vector<std::size_t>& runs() const { return runs_; }
  int several() const { return several_; }  // attempts of several runs

 private:
  std::vector<std::vector<float>> times_;
  std::vector<std::size_t> runs_;
  bench::testing::ManualClock clock_;
  int several_ = 0;
};

TEST(Autotune, ComparesTheShortestRunsAndNotTheWarmUps) {
  Candidates candidates({{1, 5, 4, 6}, {90, 5, 3, 6}, {0.5F, 4}});
  EXPECT_EQ(candidates.best(), 1U);
  EXPECT_THAT(candidates.runs(), ElementsAre(6, 6, 6));
  EXPECT_EQ(candidates.several(), 0);
}

// Wherever the best one is in the list.
TEST(Autotune, DropsWhatTakesMoreThanTwiceTheBestSingleRun) {
  Candidates candidates({{9, 5}, {9, 2}, {9, 3.9F}, {9, 1.9F}, {9, 3.7F}});
  EXPECT_EQ(candidates.best(), 3U);
  EXPECT_THAT(candidates.runs(), ElementsAre(2, 6, 2, 6, 6));
}

TEST(Autotune, RepeatsNothingWhereOneIsFarAhead) {
  Candidates candidates({{9, 5}, {9, 2}, {9, 4.1F}});
  EXPECT_EQ(candidates.best(), 1U);
  EXPECT_THAT(candidates.runs(), ElementsAre(2, 2, 2));
}

TEST(Autotune, TakesWhatIsFarBehindWhereTheOthersAreRefused) {
  Candidates candidates({{9, 1, kFails}, {9, 9}, {9, 1, kFails}, {9, 8}});
  EXPECT_EQ(candidates.best(), 3U);
}

TEST(Autotune, StartsNoRunAfterASecond) {
  Candidates candidates({{9, 300}, {300, 250}, {300, 1}, {1, 1}});
  EXPECT_EQ(candidates.best(), 1U);
  EXPECT_THAT(candidates.runs(), ElementsAre(2, 2, 1, 0));
}

TEST(Autotune, ASecondLimitsTheRepetitionsToo) {
  Candidates candidates({{9, 150}, {150, 150, 149}});
  EXPECT_EQ(candidates.best(), 1U);
  EXPECT_THAT(candidates.runs(), ElementsAre(4, 4));
}

// Whatever opens the library is in the first warm-up.
TEST(Autotune, TheFirstWarmUpIsNotLimited) {
  Candidates candidates({{20'000, 2}, {9, 1}});
  EXPECT_EQ(candidates.best(), 1U);
  EXPECT_THAT(candidates.runs(), ElementsAre(6, 6));
}

TEST(Autotune, TimesOneCandidateHoweverLongItTakes) {
  Candidates candidates({{kFails}, {5'000, kFails}, {9'000, 9'000}, {1, 1}});
  EXPECT_EQ(candidates.best(), 2U);
  EXPECT_THAT(candidates.runs(), ElementsAre(1, 2, 2, 0));
}

// Single runs of some microseconds tell how fast the host queues: they do not count, however short.
TEST(Autotune, ComparesShortCandidatesBySeveralRunsAtOnce) {
  Candidates candidates({{9, 0.010F, 0.006F}, {9, 0.008F, 0.007F}, {9, 0.020F, 0.020F}});
  EXPECT_EQ(candidates.best(), 0U);
  EXPECT_THAT(candidates.runs(), ElementsAre(5, 5, 2));
  EXPECT_EQ(candidates.several(), 3 + 3);
}

// As many as make half a millisecond, eight at most: a first step that tries hundreds of candidates must not
// take long.
TEST(Autotune, TimesNoMoreRunsThanItTakes) {
  const auto timed = [](float once) {
    std::vector<int> runs;
    autotune(2, [&](std::size_t candidate, Repeats repeats) {
      if (candidate == 0) {
        runs.push_back(repeats.timed);
      }
      return once;
    });
    return runs;
  };
  EXPECT_THAT(timed(0), ElementsAre(1, 1, 8, 8, 8));
  EXPECT_THAT(timed(0.01F), ElementsAre(1, 1, 8, 8, 8));
  EXPECT_THAT(timed(0.0625F), ElementsAre(1, 1, 8, 8, 8));
  EXPECT_THAT(timed(0.125F), ElementsAre(1, 1, 4, 4, 4));
  EXPECT_THAT(timed(0.2F), ElementsAre(1, 1, 3, 3, 3));
  EXPECT_THAT(timed(0.25F), ElementsAre(1, 1, 1, 1, 1, 1));
  EXPECT_THAT(timed(0.9F), ElementsAre(1, 1, 1, 1, 1, 1));
}

TEST(Autotune, LeavesOutWhatFailsInItsWarmUpOrLater) {
  Candidates candidates({{kFails}, {9, 1, 1, kFails}, {kFull}, {9, 1.5F}, {9, 1.7F}});
  EXPECT_EQ(candidates.best(), 3U);
  EXPECT_THAT(candidates.runs(), ElementsAre(1, 4, 1, 6, 6));
}

// A full card is a result, not an error, whatever else was refused.
TEST(Autotune, ThrowsWhyNoneRan) {
  EXPECT_THROW(Candidates({{kFull}, {1, kFails}}).best(), OutOfMemory);
  EXPECT_THROW(Candidates({{kFails}, {1, kFull}}).best(), OutOfMemory);
  try {
    Candidates({{kFails}, {1, kFails}}).best();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "refused");
  }
  EXPECT_THROW(Candidates({}).best(), std::logic_error);
}

TEST(Autotune, GivesUpAtOnceWhereTheDeviceIsLost) {
  Candidates candidates({{9, 2}, {kLost}, {9, 1}});
  EXPECT_THROW(candidates.best(), DeviceLost);
  EXPECT_THAT(candidates.runs(), ElementsAre(2, 1, 0));
}

TEST(Autotune, TimesNothingOnceTheRunIsInterrupted) {
  Candidates candidates({{9, 2}, {9, 1}});
  const bench::testing::Interruption ctrl_c;
  EXPECT_THROW(candidates.best(), Interrupted);
  EXPECT_THAT(candidates.runs(), ElementsAre(0, 0));
}

// One run ahead of the first event, so that the card is at work when it comes to it.
TEST(Autotune, TimesShortCandidatesAfterARunThatIsNotTimed) {
  testing::FakeRuntime runtime;
  runtime.step_ms = 0.05F;
  const CudaStream stream(runtime);
  const std::int64_t handles = runtime.handles;
  EXPECT_EQ(autotune(runtime, stream.get(), 2, [&](std::size_t) { runtime.calls.emplace_back("run"); }), 0U);
  EXPECT_EQ(runtime.handles, handles);
  const std::vector<std::string> calls(runtime.calls.end() - 15,
                                       runtime.calls.end() - 2);  // then two events go
  EXPECT_THAT(calls, ElementsAre("run", "record", "run", "run", "run", "run", "run", "run", "run", "run",
                                 "record", "wait", "elapsed_ms"));
}

TEST(Autotune, DividesByTheRuns) {
  testing::FakeRuntime runtime;
  const CudaStream stream(runtime);
  int runs = 0;  // of the second candidate: 0.2 ms by itself, 0.16 ms at a time in three
  EXPECT_EQ(autotune(runtime, stream.get(), 2,
                     [&](std::size_t candidate) {
                       runs += candidate == 1 ? 1 : 0;
                       runtime.step_ms = candidate == 0 ? 0.3F : runs <= 2 ? 0.2F : 0.48F;
                     }),
            1U);
  EXPECT_EQ(runs, 2 + 3 * 4);
}

TEST(Autotune, ADeviceThatIsLostMeanwhileIsNoRefusal) {
  testing::FakeRuntime runtime;
  const CudaStream stream(runtime);
  runtime.fail("wait", status::kIllegalAddress, 2);
  EXPECT_THROW(autotune(runtime, stream.get(), 2, [](std::size_t) {}), DeviceLost);
}

enum class Failure { refused, no_memory, device_lost, later };

// Three candidates, of which the last is fastest, as a library's operations run them.
class AutotunedChoiceTest : public ::testing::Test {
 protected:
  // A device of its own is what a later process has.
  void start_process() {
    choice_.reset();
    device_ = std::make_unique<CudaDevice>(testing::fake_backend(runtime_), 0);
    if (keeps_) {
      device_->keep_choices(folder_.path() / "autotune.json");
    }
    choice_ = std::make_unique<AutotunedChoice>(device_->card(), "product");
    if (const auto remembered = choice_->remembered(3, name_)) {
      choice_->take(*remembered);
    }
    queued_.clear();
    tuned_ = 0;
  }
  void run() {
    choice_->run({.queue = [&](std::size_t candidate) { queue(candidate); },
                  .choose = [&]() -> std::optional<std::size_t> {
                    ++tuned_;
                    return can_time_ ? std::optional(choose()) : std::nullopt;
                  },
                  .name = name_});
  }
  // Two processes, the second with what is to fail then.
  void fail_in_the_second(const std::map<std::size_t, Failure>& failures) {
    start_process();
    run();
    start_process();
    failures_ = failures;
  }
  bool is_remembered() const {
    return AutotunedChoice(device_->card(), "product").remembered(3, name_).has_value();
  }

  testing::FakeRuntime runtime_;
  bench::testing::TemporaryFolder folder_;
  bool keeps_ = true;
  bool can_time_ = true;
  std::unique_ptr<CudaDevice> device_;
  std::unique_ptr<AutotunedChoice> choice_;
  std::map<std::size_t, Failure> failures_;  // by candidate
  std::vector<std::size_t> queued_;          // of the process
  int tuned_ = 0;                            // times in the process

 private:
  void queue(std::size_t candidate) {
    queued_.push_back(candidate);
    runtime_.step_ms = candidate == 2 ? 1.0F : 1.5F;
    const auto failure = failures_.find(candidate);
    if (failure == failures_.end()) {
      return;
    }
    switch (failure->second) {
      case Failure::refused:
        throw std::runtime_error("the library refuses");
      case Failure::no_memory:
        throw OutOfMemory("the library finds no memory", 0);
      case Failure::device_lost:
        throw DeviceLost("an illegal address");
      case Failure::later:
        runtime_.fail("synchronize", status::kIllegalAddress);
    }
  }
  std::size_t choose() {
    return autotune(runtime_, device_->stream(), 3, [&](std::size_t candidate) { queue(candidate); });
  }

  AutotunedChoice::Name name_ = [](std::size_t candidate) {
    return "algorithm " + std::to_string(candidate);
  };
};

TEST_F(AutotunedChoiceTest, IsTheFastestOfTheFirstRun) {
  start_process();
  EXPECT_EQ(choice_->candidate(), 0U) << "the library's favourite";
  EXPECT_FALSE(choice_->is_settled());
  run();
  EXPECT_TRUE(choice_->is_settled());
  EXPECT_EQ(choice_->candidate(), 2U);
  queued_.clear();
  run();
  EXPECT_THAT(queued_, ElementsAre(2));
  EXPECT_EQ(tuned_, 1);
}

TEST_F(AutotunedChoiceTest, IsRememberedByALaterProcess) {
  start_process();
  run();
  start_process();
  EXPECT_EQ(choice_->candidate(), 2U);
  run();
  EXPECT_TRUE(choice_->is_settled());
  EXPECT_THAT(queued_, ElementsAre(2));
  EXPECT_EQ(tuned_, 0);
}

TEST_F(AutotunedChoiceTest, WithoutAFileIsRememberedByItsProcessAlone) {
  keeps_ = false;
  start_process();
  run();
  EXPECT_TRUE(is_remembered());
  start_process();
  EXPECT_FALSE(is_remembered());
}

TEST_F(AutotunedChoiceTest, OnADeviceThatTakesFirstAlgorithmsIsTheFavouriteUntimed) {
  start_process();
  device_->take_first_algorithms();
  run();
  run();
  EXPECT_THAT(queued_, ElementsAre(0, 0));
  EXPECT_EQ(tuned_, 0);
  EXPECT_FALSE(is_remembered()) << "it was not chosen";
}

// A recorded step does not wait, and times nothing.
TEST_F(AutotunedChoiceTest, InARecordingIsTheFavouriteOrTheRememberedOne) {
  runtime_.capturing = true;
  start_process();
  run();
  EXPECT_THAT(queued_, ElementsAre(0));
  runtime_.capturing = false;
  run();
  runtime_.capturing = true;
  start_process();
  runtime_.calls.clear();
  run();
  EXPECT_THAT(queued_, ElementsAre(2));
  EXPECT_EQ(runtime_.times("synchronize"), 0);
  EXPECT_FALSE(choice_->is_settled()) << "it has not run yet";
}

TEST_F(AutotunedChoiceTest, IsNotRememberedWhereNothingCouldBeTimed) {
  can_time_ = false;
  start_process();
  run();
  EXPECT_THAT(queued_, ElementsAre(0));
  EXPECT_FALSE(is_remembered());
}

TEST_F(AutotunedChoiceTest, ThatFailsIsForgottenAndTunedAgain) {
  fail_in_the_second({{2, Failure::refused}});
  run();
  EXPECT_EQ(tuned_, 1);
  EXPECT_EQ(choice_->candidate(), 0U);
  EXPECT_EQ(queued_.front(), 2U);
  EXPECT_EQ(queued_.back(), 0U);
  start_process();
  EXPECT_EQ(choice_->candidate(), 0U) << "the new choice replaces the old one";
}

// It is no worse for that: a later process may have the memory.
TEST_F(AutotunedChoiceTest, ThatFindsNoMemoryStaysRememberedWhileAnotherRuns) {
  fail_in_the_second({{2, Failure::no_memory}});
  run();
  EXPECT_EQ(tuned_, 1);
  EXPECT_EQ(choice_->candidate(), 0U);
  EXPECT_EQ(queued_.front(), 2U);
  EXPECT_EQ(queued_.back(), 0U);
  queued_.clear();
  run();
  EXPECT_THAT(queued_, ElementsAre(0)) << "it is chosen for this process";
  failures_.clear();
  start_process();
  run();
  EXPECT_THAT(queued_, ElementsAre(2));
  EXPECT_EQ(tuned_, 0);
}

TEST_F(AutotunedChoiceTest, FailsOnlyWhereEveryOtherOneDoes) {
  fail_in_the_second({{0, Failure::refused}, {1, Failure::no_memory}, {2, Failure::refused}});
  EXPECT_THROW(run(), OutOfMemory);
  EXPECT_EQ(tuned_, 1);
  EXPECT_FALSE(is_remembered());
  failures_.clear();
  run();
  EXPECT_EQ(choice_->candidate(), 2U) << "a later run tunes once more";
}

// Nothing runs on the card any more, but the next process has to take another one.
TEST_F(AutotunedChoiceTest, ThatTheCardDoesNotSurviveIsForgotten) {
  for (const Failure failure : {Failure::device_lost, Failure::later}) {
    fail_in_the_second({{2, failure}});
    EXPECT_THROW(run(), DeviceLost);
    EXPECT_EQ(tuned_, 0);
    EXPECT_FALSE(is_remembered());
    failures_.clear();
  }
}

TEST_F(AutotunedChoiceTest, ThatFailsInARecordingIsForgotten) {
  fail_in_the_second({{2, Failure::refused}});
  runtime_.capturing = true;
  EXPECT_THROW(run(), std::runtime_error);
  EXPECT_EQ(tuned_, 0);
  EXPECT_FALSE(is_remembered());
  runtime_.capturing = false;
  run();
  EXPECT_EQ(choice_->candidate(), 0U);
}

}  // namespace
}  // namespace bench::kernels::cuda
