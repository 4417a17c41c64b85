// Which device a name opens, on kinds of devices of the tests, and how many rounds a run has.
#include "bench/commands/setup.h"

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "tests/bench/run/fake_device.h"
#include "tests/bench/support/manual_clock.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

// As PyTorch and others call it.
TEST(OpenDevice, GpuAndCudaAreTheFirstOne) {
  for (const std::string name : {"gpu", "cuda"}) {
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
    EXPECT_THAT(error.what(),
                AllOf(HasSubstr("'fats:1'"), HasSubstr("accepted: auto, fast:1, fast:2, plain;"),
                      HasSubstr("cuda cannot be used here: no driver")));
  }
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
