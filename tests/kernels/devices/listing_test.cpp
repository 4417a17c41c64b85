#include "kernels/devices/cuda/listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/error.h"
#include "bench/host/shared_library.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/devices/cuda/errors.h"
#include "tests/bench/support/golden_words.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::cuda {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// The one entry of a machine without a usable card.
DeviceKind::Listing only(testing::FakeRuntime& runtime) {
  const auto cards = list_cards(testing::fake_backend(runtime));
  EXPECT_THAT(cards, SizeIs(1));
  return cards.at(0);
}

TEST(Listing, WithoutADriverItSaysSo) {
  testing::FakeRuntime runtime;
  runtime.driver_serves = 0;
  runtime.fail("device_count", status::kInsufficientDriver);
  const auto listing = only(runtime);
  EXPECT_EQ(listing.id, "cuda");
  expect_words(listing.missing);
  EXPECT_EQ(runtime.last_error(), status::kSuccess);
}

TEST(Listing, AnOldDriverIsToldApartFromNone) {
  testing::FakeRuntime runtime;
  runtime.driver_serves = 12020;
  runtime.fail("device_count", status::kInsufficientDriver);
  EXPECT_THAT(only(runtime).missing, AllOf(HasSubstr("CUDA 12.2 at most"), HasSubstr("CUDA 13.0")));
}

TEST(Listing, ADriverWithoutACardSaysSo) {
  testing::FakeRuntime runtime;
  runtime.fail("device_count", status::kNoDevice);
  expect_words(only(runtime).missing);
}

TEST(Listing, AnyOtherAnswerIsNamed) {
  testing::FakeRuntime runtime;
  runtime.fail("device_count", 3);
  expect_words(only(runtime).missing);
}

TEST(Listing, ACountIsNotBelievedWhereTheCallFailed) {
  testing::FakeRuntime runtime;  // it has a card
  runtime.fail("device_count", status::kNoDevice);
  EXPECT_FALSE(only(runtime).missing.empty());
}

TEST(Listing, EveryCardHasALine) {
  testing::FakeRuntime runtime;
  runtime.cards.push_back(runtime.cards[0]);
  runtime.cards.push_back(runtime.cards[0]);
  runtime.cards[1].name = "Old Card";
  runtime.cards[1].major = 6;
  runtime.cards[1].minor = 1;
  const auto cards = list_cards(testing::fake_backend(runtime));
  ASSERT_THAT(cards, SizeIs(3));
  EXPECT_EQ(cards[0].id, "cuda:0");
  EXPECT_EQ(cards[0].description, "Test Card, 28 SMs, 1.0 GiB, compute capability 8.6");
  EXPECT_EQ(cards[0].missing, "");
  EXPECT_EQ(cards[1].missing, "Old Card has compute capability 6.1, and this program needs 7.5 or later");
  EXPECT_EQ(cards[2].id, "cuda:2");
}

// A program for one architecture on a machine with two cards: it takes the one that it has code for.
TEST(Listing, ACardThatNothingWasCompiledForIsNotUsable) {
  testing::FakeRuntime runtime;
  runtime.cards.push_back(runtime.cards[0]);
  runtime.cards[0].name = "Newer Card";
  runtime.cards[0].major = 9;
  runtime.cards[0].minor = 0;
  Backend backend = testing::fake_backend(runtime);
  backend.compiled_for = architectures_of("75-real,86-real");
  const auto cards = list_cards(backend);
  ASSERT_THAT(cards, SizeIs(2));
  EXPECT_EQ(
      cards[0].missing,
      "Newer Card has compute capability 9.0, and this program was compiled for 7.5, 8.6; rebuild it with: "
      "make build ARCH=90");
  EXPECT_EQ(cards[1].missing, "");
  EXPECT_THROW(open_card(backend, "cuda:0"), UsageError);
  EXPECT_EQ(open_card(backend, "cuda:1")->info().name, "Test Card");
}

TEST(Listing, WhereTheBuildDoesNotKnowNoCardIsRefusedForIt) {
  testing::FakeRuntime runtime;
  Backend backend = testing::fake_backend(runtime);
  backend.compiled_for.clear();
  EXPECT_EQ(list_cards(backend).at(0).missing, "");
}

TEST(Listing, ACardThatDoesNotAnswerHidesNoOther) {
  testing::FakeRuntime runtime;
  runtime.cards.push_back(runtime.cards[0]);
  runtime.fail("properties", 46, 1);
  const auto cards = list_cards(testing::fake_backend(runtime));
  ASSERT_THAT(cards, SizeIs(2));
  expect_words(cards[0].missing);
  EXPECT_EQ(cards[1].missing, "");
}

TEST(OpenCard, TakesTheCardOfItsNumber) {
  testing::FakeRuntime runtime;
  runtime.cards.push_back(runtime.cards[0]);
  runtime.cards[1].name = "Second Card";
  const auto device = open_card(testing::fake_backend(runtime), "cuda:1");
  EXPECT_EQ(device->info().name, "Second Card");
  EXPECT_EQ(runtime.current, 1);
}

TEST(OpenCard, NamesWhatIsAccepted) {
  testing::FakeRuntime runtime;
  const Backend backend = testing::fake_backend(runtime);
  for (const char* id : {"cuda", "cuda:1", "cuda:-1", "cuda:00", "cuda:x", "cpu"}) {
    try {
      open_card(backend, id);
      FAIL() << id;
    } catch (const UsageError& error) {
      expect_words(error.what());
    }
  }
}

TEST(OpenCard, WithoutADriverTheReasonIsTheMessage) {
  testing::FakeRuntime runtime;
  runtime.driver_serves = 0;
  runtime.fail("device_count", status::kInsufficientDriver);
  try {
    open_card(testing::fake_backend(runtime), "cuda:0");
    FAIL();
  } catch (const UsageError& error) {
    expect_words(error.what());
  }
}

TEST(Listing, ACardWithoutALibraryNamesTheLibrary) {
  testing::FakeRuntime runtime;
  Backend backend = testing::fake_backend(runtime);
  backend.why_missing = [] { return SharedLibrary("libcudnn.so.0").why_missing(); };
  for (const DeviceKind::Listing& card : list_cards(backend)) {
    EXPECT_THAT(card.missing,
                AllOf(HasSubstr("a library it needs does not open"), HasSubstr("libcudnn.so.0")));
  }
  EXPECT_THROW(open_card(backend, "cuda:0"), UsageError);
}

TEST(Listing, WithoutACardNoLibraryIsOpened) {
  testing::FakeRuntime runtime;
  runtime.fail("device_count", status::kNoDevice);
  Backend backend = testing::fake_backend(runtime);
  backend.why_missing = []() -> std::string { throw std::logic_error("opened"); };
  EXPECT_THAT(list_cards(backend), SizeIs(1));
}

}  // namespace
}  // namespace bench::kernels::cuda
