// Which device a name opens, on kinds of devices of the tests.
#include "bench/commands/setup.h"

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "tests/bench/run/fake_device.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string opened;  // the id that the last one was opened by

DeviceKind kind_of(const char* name, int preference, std::vector<DeviceKind::Listing> listed) {
  return {.name = name,
          .preference = preference,
          .list = [listed = std::move(listed)] { return listed; },
          .open = [](const std::string& id) -> std::unique_ptr<Device> {
            opened = id;
            return std::make_unique<testing::FakeDevice>();
          }};
}

const Registration<DeviceKind> plain_kind{kind_of("plain", 0, {{"plain", "a processor", ""}})};
const Registration<DeviceKind> fast_kind{kind_of(
    "fast", 10,
    {{"fast:0", "", "nothing was compiled for it"}, {"fast:1", "a card", ""}, {"fast:2", "a card", ""}})};
const Registration<DeviceKind> absent_kind{kind_of("absent", 20, {{"absent", "", "no driver"}})};

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
                AllOf(HasSubstr("'fats:1'"), HasSubstr("accepted are auto, fast:1, fast:2, plain;"),
                      HasSubstr("absent cannot be used here: no driver")));
  }
}

}  // namespace
}  // namespace bench
