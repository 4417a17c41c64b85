// Options of a workload that a file describes. The sweeps and workloads are those of options_test.cpp.
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "bench/workload.h"
#include "bench/workload_reader.h"
#include "tests/bench/cli/parse.h"
#include "tests/bench/support/golden_words.h"

namespace bench {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::parse;

int files_read = 0;

// "no.file" cannot be read; of the others each has an input, and no gradient.
WorkloadType file_workload(const std::string& path, const std::map<std::string, std::string>& given) {
  ++files_read;
  if (path == "no.file") {
    throw UsageError("no.file cannot be read (No such file or directory)");
  }
  const auto input = given.find("input");
  WorkloadType type;
  type.name = "own-0123abcd";
  type.modes = {"infer"};
  type.options = {{"input", input == given.end() ? "x=1x8" : input->second, "sizes"},
                  {"image-size", "8", "pixels a side"}};
  type.kind = "network";
  type.description = "3 nodes";
  type.missing_modes = {{"train", "relu9 cannot be trained"}};
  type.file = {.format = "file", .path = path, .name = "own", .hash = "0123abcd"};
  return type;
}

const Registration<WorkloadReader> kReader{WorkloadReader{
    .name = "file",
    .description = "a network of your own",
    .options = {{"input", "", "sizes of inputs"}},
    .read = file_workload,
    .unsupported = [](const std::string& /*path*/, const auto& /*given*/) { return UnsupportedPart{}; }}};

TEST(FileWorkload, IsReadOnceAndKeepsWhatReadingItTook) {
  files_read = 0;
  const Options options =
      parse({"--sweep", "batch", "--file", "own.x", "--input", "x=1x9,y=1x7", "--image-size", "16"});
  EXPECT_EQ(files_read, 1);
  EXPECT_EQ(options.workload, "");
  ASSERT_NE(options.file_workload, nullptr);
  EXPECT_EQ(options.file_workload->file->path, "own.x");
  EXPECT_EQ(options.file_workload->options.front().default_value, "x=1x9,y=1x7");
  EXPECT_THAT(options.workload_options, ElementsAre(Pair("image-size", ElementsAre("16"))));
  // Of a sweep that takes lists too, it is no list of values.
  EXPECT_THAT(parse({"--sweep", "memory", "--file", "own.x", "--input", "x=1x9,y=1x7"}).workload_options,
              IsEmpty());
}

TEST(FileWorkload, IsHelpedAndListed) {
  const std::string page = parse({"--file", "own.x", "--help"}).text;
  expect_words(page);
}

TEST(FileWorkload, WrongUseIsAnsweredInASentence) {
  const auto refused = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"--sweep", "batch"});
    try {
      parse(more);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refused({"--file", "own.x", "--workload", "net50"}),
            "--file: 'own.x' was given, and --workload net50 as well; give one of them");
  EXPECT_EQ(refused({"--input", "x=1x9"}),
            "--input: 'x=1x9' was given, but belongs to --file; give that with it");
  EXPECT_EQ(refused({"--workload", "net50", "--input", "x=1x9"}),
            "--input: 'x=1x9' was given, but belongs to --file; give that with it");
  EXPECT_EQ(
      refused({"--file", "own.x", "--mode", "train"}),
      "--mode: 'train' was given, but own-0123abcd has no such mode: relu9 cannot be trained; accepted: "
      "infer");
  EXPECT_EQ(refused({"--file", "own.x", "--mode", "learn"}),
            "--mode: 'learn' is not known; accepted: infer for own-0123abcd");
  EXPECT_EQ(refused({"--file", "own.x", "--height", "7"}),
            "--height: '7' was given, but own-0123abcd has no such option; it has --input, --image-size");
  EXPECT_EQ(refused({"--file", "no.file"}), "no.file cannot be read (No such file or directory)");
  EXPECT_EQ(refused({"--list", "--file", "no.file"}), "no.file cannot be read (No such file or directory)");
  EXPECT_EQ(refused({"--file"}), "--file: a value is missing; see bench --help");
}

}  // namespace
}  // namespace bench
