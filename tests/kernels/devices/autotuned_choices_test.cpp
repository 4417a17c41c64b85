// The file of autotuning's choices: what is found again, and what damage does to it.
#include "kernels/devices/cuda/autotuned_choices.h"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "kernels/devices/cuda/device.h"
#include "tests/bench/support/mutants.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/kernels/devices/fake_runtime.h"

namespace bench::kernels::cuda {
namespace {

using bench::testing::mutate;
using bench::testing::read_file;
using bench::testing::TemporaryFolder;
using bench::testing::write_file;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;

const std::vector<std::string> kNames{"plan a", "plan b", "plan c"};

std::optional<std::size_t> found(const AutotunedChoices& file, const std::string& work) {
  return file.find(work, kNames.size(), [](std::size_t candidate) { return kNames[candidate]; });
}

class AutotunedChoicesTest : public ::testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "bench" / "autotune.json"; }
  AutotunedChoices open(const std::string& machine = "card 1") const { return {path(), machine}; }
  // With a choice of two machines.
  std::string whole() const {
    open().add("product", "plan b");
    open("card 2").add("product", "plan c");
    return read_file(path());
  }

  TemporaryFolder folder_;
};

TEST_F(AutotunedChoicesTest, ALaterOneFindsTheChoice) {
  AutotunedChoices first = open();
  EXPECT_EQ(found(first, "product"), std::nullopt);
  first.add("product", "plan b");
  EXPECT_THAT(found(first, "product"), Optional(1));
  EXPECT_THAT(found(open(), "product"), Optional(1));
  EXPECT_EQ(found(open(), "other product"), std::nullopt);
  EXPECT_EQ(found(open("card 2"), "product"), std::nullopt);
}

TEST_F(AutotunedChoicesTest, TheLastChoiceCounts) {
  open().add("product", "plan b");
  open().add("product", "plan c");
  EXPECT_THAT(found(open(), "product"), Optional(2));
}

TEST_F(AutotunedChoicesTest, AChoiceThatNoCandidateHasIsNone) {
  open().add("product", "plan z");
  EXPECT_EQ(found(open(), "product"), std::nullopt);
}

TEST_F(AutotunedChoicesTest, NothingElseIsLeftInTheFolder) {
  whole();
  EXPECT_THAT(folder_.names(), ElementsAre("bench"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path().parent_path()), {}), 1);
}

TEST_F(AutotunedChoicesTest, WithoutAFileTheChoiceIsTheProcessesOwn) {
  AutotunedChoices none;
  none.add("product", "plan b");
  EXPECT_THAT(found(none, "product"), Optional(1));
  EXPECT_EQ(found(AutotunedChoices(), "product"), std::nullopt);
  none.forget("product");
  EXPECT_EQ(found(none, "product"), std::nullopt);
  EXPECT_THAT(folder_.names(), IsEmpty());
}

// Of this machine alone, and nothing else of it.
TEST_F(AutotunedChoicesTest, AForgottenChoiceIsGoneFromTheFile) {
  whole();
  open().add("other product", "plan a");
  AutotunedChoices file = open();
  file.forget("product");
  file.forget("never chosen");
  for (const AutotunedChoices& read : {file, open()}) {
    EXPECT_EQ(found(read, "product"), std::nullopt);
    EXPECT_THAT(found(read, "other product"), Optional(0));
  }
  EXPECT_THAT(found(open("card 2"), "product"), Optional(2));
  open().add("product", "plan c");
  EXPECT_THAT(found(open(), "product"), Optional(2));
}

// Each adds to what the other has written meanwhile.
TEST_F(AutotunedChoicesTest, TwoProcessesKeepBothTheirChoices) {
  AutotunedChoices one = open();
  AutotunedChoices two = open("card 2");
  one.add("product", "plan a");
  two.add("product", "plan b");
  one.add("other product", "plan c");
  EXPECT_THAT(found(open(), "product"), Optional(0));
  EXPECT_THAT(found(open(), "other product"), Optional(2));
  EXPECT_THAT(found(open("card 2"), "product"), Optional(1));
}

// Writers at the same moment may lose each other's choices, never those of before, and no reader sees a part.
TEST_F(AutotunedChoicesTest, TheFileIsWholeWhileOthersWrite) {
  open().add("product", "plan b");
  std::vector<std::thread> writers;
  std::atomic<int> writing = 2;
  for (const char* const machine : {"card 2", "card 3"}) {
    writers.emplace_back([this, machine, &writing] {
      for (int i = 0; i < 50; ++i) {
        open(machine).add("product " + std::to_string(i), "plan a");
      }
      --writing;
    });
  }
  int lost = 0;
  while (writing > 0) {
    lost += found(open(), "product") == 1U ? 0 : 1;
  }
  for (std::thread& writer : writers) {
    writer.join();
  }
  EXPECT_EQ(lost, 0);
  EXPECT_THAT(found(open(), "product"), Optional(1));
}

TEST_F(AutotunedChoicesTest, ACutFileIsEmptyAndIsReplaced) {
  const std::string text = whole();
  for (std::size_t bytes = 0; bytes + 1 < text.size(); ++bytes) {
    write_file(path(), text.substr(0, bytes));
    ASSERT_EQ(found(open(), "product"), std::nullopt) << bytes;
  }
  open().add("product", "plan a");
  EXPECT_THAT(found(open(), "product"), Optional(0));
}

TEST_F(AutotunedChoicesTest, NoDamageIsAnError) {
  const std::string text = whole();
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    write_file(path(), mutate(text, random));
    AutotunedChoices damaged = open();
    found(damaged, "product");
    damaged.add("product", "plan a");
    ASSERT_THAT(found(open(), "product"), Optional(0));
  }
  for (const std::string& garbage :
       {std::string(200'000, '['), std::string(100, '\0'), std::string("\xff\xfe{}"), std::string("7"),
        std::string(R"({"format": 1e999})"), std::string(R"({"format": 1})"),
        std::string(R"({"format": 1, "choices": 7})"),
        std::string(R"({"format": 1, "choices": [[1, 2, 3], "x", ["a", "b"], null]})"),
        std::string(R"({"choices": [["card 1", "product", "plan b"]]})"),
        std::string(R"({"format": "1", "choices": [["card 1", "product", "plan b"]]})")}) {
    write_file(path(), garbage);
    EXPECT_EQ(found(open(), "product"), std::nullopt) << garbage.substr(0, 80);
  }
}

TEST_F(AutotunedChoicesTest, EntriesOfAnotherKindAreLeftOut) {
  write_file(path(),
             R"({"format": 1, "choices": [null, ["card 1", "product", "plan b"], ["card 1", 7, "plan a"]]})");
  EXPECT_THAT(found(open(), "product"), Optional(1));
}

TEST_F(AutotunedChoicesTest, AnotherFormatIsEmpty) {
  std::string text = whole();
  const std::string format = fmt::format(R"("format":{})", AutotunedChoices::kFormat);
  ASSERT_NE(text.find(format), std::string::npos) << text;
  text.replace(text.find(format), format.size(),
               fmt::format(R"("format":{})", AutotunedChoices::kFormat + 1));
  write_file(path(), text);
  EXPECT_EQ(found(open(), "product"), std::nullopt);
}

TEST_F(AutotunedChoicesTest, WhereItCannotBeWrittenTheChoiceIsTheProcessesOwn) {
  write_file(folder_.path() / "bench", "a file in the folder's place");
  AutotunedChoices file = open();
  file.add("product", "plan b");
  EXPECT_THAT(found(file, "product"), Optional(1));
  EXPECT_EQ(found(open(), "product"), std::nullopt);
  EXPECT_THAT(folder_.names(), ElementsAre("bench"));
}

TEST_F(AutotunedChoicesTest, AFolderInItsPlaceIsLeft) {
  std::filesystem::create_directories(path() / "kept");
  open().add("product", "plan b");
  EXPECT_EQ(found(open(), "product"), std::nullopt);
  EXPECT_TRUE(std::filesystem::exists(path() / "kept"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path().parent_path()), {}), 1);
}

TEST_F(AutotunedChoicesTest, TheOldestChoicesMakeRoom) {
  std::string text = R"({"format": 1, "choices": [)";
  for (std::size_t i = 0; i < AutotunedChoices::kMostChoices; ++i) {
    text += fmt::format(R"(["card 1", "product {}", "plan a"],)", i);
  }
  text.back() = ']';
  write_file(path(), text + "}");
  open().add("product 0", "plan b");  // the oldest one becomes the newest
  open().add("another", "plan c");
  EXPECT_THAT(found(open(), "product 0"), Optional(1));
  EXPECT_EQ(found(open(), "product 1"), std::nullopt);
  EXPECT_THAT(found(open(), "product 2"), Optional(0));
  EXPECT_THAT(found(open(), "another"), Optional(2));
}

TEST_F(AutotunedChoicesTest, AFileThatIsFarTooLargeIsNotRead) {
  write_file(path(), whole() + std::string(9 << 20, ' '));
  EXPECT_EQ(found(open(), "product"), std::nullopt);
}

// A choice holds for what the times depend on.
TEST_F(AutotunedChoicesTest, ADeviceFindsTheChoicesOfItsOwnKind) {
  testing::FakeRuntime runtime;
  std::map<std::string, std::string> versions{{"cublas", "13.1.0"}, {"cudnn", "9.19.0"}};
  Backend backend = testing::fake_backend(runtime);
  backend.versions = [&] { return versions; };
  const auto remembers = [&] {
    CudaDevice device(backend, 0);
    device.keep_choices(path());
    return found(device.card().choices(), "product").has_value();
  };
  {
    CudaDevice device(backend, 0);
    device.keep_choices(path());
    device.card().choices().add("product", "plan a");
  }
  EXPECT_TRUE(remembers());
  runtime.cards[0].uuid = "GPU-1";
  EXPECT_TRUE(remembers()) << "another card of the same kind";
  const CardProperties card = runtime.cards[0];
  runtime.cards[0].name = "Other Card";
  EXPECT_FALSE(remembers());
  runtime.cards[0] = card;
  runtime.cards[0].minor = 9;
  EXPECT_FALSE(remembers());
  runtime.cards[0] = card;
  runtime.cards[0].multiprocessors = 30;
  EXPECT_FALSE(remembers());
  runtime.cards[0] = card;
  versions["cudnn"] = "9.20.0";
  EXPECT_FALSE(remembers());
  versions["cudnn"] = "9.19.0";
  versions["cublas"] = "13.2.0";
  EXPECT_FALSE(remembers());
  versions["cublas"] = "13.1.0";
  runtime.driver_serves = 13010;
  backend.monitor = [](const std::string&) { return nullptr; };  // which told the driver's own version
  EXPECT_FALSE(remembers());
}

}  // namespace
}  // namespace bench::kernels::cuda
