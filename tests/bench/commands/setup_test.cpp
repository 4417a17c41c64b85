// Which device a name opens, on kinds of devices of the tests, and how many rounds a run has.
#include "bench/commands/setup.h"

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "tests/bench/run/fake_device.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/manual_clock.h"

namespace bench {
namespace {

std::string opened;                            // the id that the last one was opened by
std::optional<std::filesystem::path> kept_in;  // where the last one keeps its choices

class TuningDevice final : public testing::FakeDevice {
 public:
  TuningDevice() { kept_in.reset(); }
  void keep_choices(const std::string& file) override { kept_in = file; }
};

DeviceKind kind_of(const char* name, int preference, std::vector<DeviceKind::Listing> listed) {
  return {.name = name,
          .preference = preference,
          .list = [listed = std::move(listed)] { return listed; },
          .open = [](const std::string& id) -> std::unique_ptr<Device> {
            opened = id;
            return std::make_unique<TuningDevice>();
          }};
}

const Registration<DeviceKind> plain_kind{kind_of("plain", 0, {{"plain", "a processor", ""}})};
const Registration<DeviceKind> fast_kind{kind_of(
    "fast", 10,
    {{"fast:0", "", "nothing was compiled for it"}, {"fast:1", "a card", ""}, {"fast:2", "a card", ""}})};
const Registration<DeviceKind> absent_kind{kind_of("absent", 20, {{"cuda", "", "no driver"}})};

TEST(OpenDevice, AutoTakesTheFirstUsableOneOfTheMostPreferredKind) {
  open_device("auto");
  EXPECT_EQ(opened, "fast:1");
}

TEST(OpenDevice, ANameOpensThatOne) {
  open_device("plain");
  EXPECT_EQ(opened, "plain");
  open_device("fast:2");
  EXPECT_EQ(opened, "fast:2");
}

TEST(OpenDevice, KeepsChoicesInTheFileThatIsGiven) {
  open_device("plain", "/cache/autotune.json");
  EXPECT_EQ(kept_in, "/cache/autotune.json");
  open_device("plain");
  EXPECT_EQ(kept_in, std::nullopt);
}

// As PyTorch and others call them.
TEST(OpenDevice, TakesOtherNamesOfGpus) {
  for (const std::string name : {"gpu", "cuda", "gpu:0"}) {
    try {
      open_device(name);
      ADD_FAILURE() << "it was opened";
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), "--device: '" + name + "' cannot be used here: no driver");
    }
  }
}

TEST(OpenDevice, AnUnusableOneGivesItsReason) {
  try {
    open_device("fast:0");
    ADD_FAILURE() << "it was opened";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--device: 'fast:0' cannot be used here: nothing was compiled for it");
  }
}

TEST(OpenDevice, AWrongNameIsAnsweredWithAllThatAreAccepted) {
  try {
    open_device("fats:1");
    ADD_FAILURE() << "it was opened";
  } catch (const UsageError& error) {
    expect_words(error.what());
  }
}

class HostDevice final : public testing::FakeDevice {
 public:
  explicit HostDevice(bool is_host) : is_host_(is_host) {}
  bool host_accessible() const override { return is_host_; }

 private:
  bool is_host_;
};

// The third of three ranks, whose launcher put two on host a.
class ThirdRank final : public RankGroup {
 public:
  explicit ThirdRank(int rank) : rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return 3; }
  std::unique_ptr<RankGroup> first(int /*ranks*/) override { return nullptr; }
  void run(const Collective& /*collective*/) override {}
  std::unique_ptr<PendingCollective> start(const Collective& /*collective*/) override { return nullptr; }
  void barrier() override {}
  std::map<std::string, std::string> software() const override { return {{"mpi", "An MPI 1.2"}}; }

 private:
  int rank_;
};

std::unique_ptr<WatchedRanks> rank_of_three(int rank) {
  const std::vector<RankPlace> places{{.host = "a"}, {.host = "a"}, {.host = "b"}};
  return std::make_unique<WatchedRanks>(std::make_unique<ThirdRank>(rank), places, RankWatchSettings{});
}

SweepRequest request_of(WatchedRanks* ranks, std::vector<std::int64_t> caps, bool is_host = true,
                        bool dry_run = false) {
  static const SweepType sweep{.name = "over ranks",
                               .question = "",
                               .default_workload = "",
                               .serve = [](const SweepRequest&, Device&) {},
                               .make = {}};
  static const testing::ManualClock clock;
  static const auto workload = std::make_shared<WorkloadType>(WorkloadType{
      .name = "w", .kind = "", .description = "", .modes = {"train"}, .options = {}, .configure = {}});
  const HostDevice device(is_host);
  Options options;
  options.file_workload = workload;
  options.memory_caps = std::move(caps);
  options.dry_run = dry_run;
  return make_request(options, sweep, device, clock, ranks);
}

TEST(RankRequests, RanksThatShareAHostsMemoryShareTheCap) {
  const auto first = rank_of_three(0);
  const auto third = rank_of_three(2);
  EXPECT_THAT(request_of(first.get(), {1000}).memory_caps, ::testing::ElementsAre(500));
  EXPECT_THAT(request_of(third.get(), {1000}).memory_caps, ::testing::ElementsAre(1000)) << "alone on b";
  EXPECT_THAT(request_of(first.get(), {1000}, false).memory_caps, ::testing::ElementsAre(1000))
      << "of its card";
  const std::int64_t whole = request_of(third.get(), {}).largest_cap();
  EXPECT_EQ(request_of(first.get(), {}).largest_cap(), whole / 2) << "the default is shared too";
  EXPECT_THAT(request_of(nullptr, {1000}, true, true).memory_caps, ::testing::ElementsAre(500))
      << "two are planned";
}

TEST(RankRequests, ADryRunKnowsThePlacesAndAsksNoRank) {
  const auto ranks = rank_of_three(0);
  EXPECT_EQ(request_of(ranks.get(), {1000}).ranks, ranks.get());
  const SweepRequest planned = request_of(ranks.get(), {1000}, true, true);
  EXPECT_EQ(planned.ranks, nullptr);
  EXPECT_EQ(planned.places.size(), 3U);
  EXPECT_EQ(request_of(nullptr, {1000}, true, true).places.size(), 2U);
}

TEST(RankRequests, TheResultNamesTheLibraryOfTheRanks) {
  const auto ranks = rank_of_three(0);
  const SweepRequest request = request_of(ranks.get(), {1000});
  const SweepType sweep{.name = "over ranks", .question = "", .default_workload = "", .make = {}};
  const ResultDocument document = start_document(sweep, request, {}, HostDevice(true), {}, {"bench"});
  EXPECT_EQ(document.context.software.at("mpi"), "An MPI 1.2");
}

RunSettings settings_with(std::int64_t repetitions) {
  Options options;
  options.benchmark.repetitions = repetitions;
  const testing::ManualClock clock;
  SweepRequest request(clock);
  request.memory_caps = {1};
  return run_settings(options, request, {}, clock.now());
}

TEST(RunSettings, RepetitionsAreTheRoundsButAtLeastThree) {
  EXPECT_EQ(settings_with(0).rounds.at_most, RoundPolicy().at_most);
  for (const auto& [repetitions, rounds] : {std::pair(1, 3), std::pair(5, 5), std::pair(100, 100)}) {
    const RunSettings settings = settings_with(repetitions);
    EXPECT_EQ(settings.least_rounds, rounds);
    EXPECT_EQ(settings.rounds.at_most, rounds);
  }
}

}  // namespace
}  // namespace bench
