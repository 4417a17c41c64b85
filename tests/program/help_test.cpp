// The help of every sweep and workload fits one screen, and its examples run.
#include <algorithm>
#include <iterator>
#include <sstream>

#include <gmock/gmock.h>

#include "bench/json.h"
#include "bench/text/lines.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/golden_page.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> help_lines(const Arguments& of) {
  const Ended help = run_bench(of + Arguments{"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_EQ(help.err, "");
  return lines_of(help.out);
}

TEST(Help, IsAWordToo) {
  EXPECT_EQ(run_bench({"help"}).out, run_bench({"--help"}).out);
  EXPECT_EQ(run_bench({"help", "compare"}).out, run_bench({"compare", "--help"}).out);
  EXPECT_EQ(run_bench({"help", "batch"}).out, run_bench({"--sweep", "batch", "--help"}).out);
  EXPECT_EQ(run_bench({"help", "resnet18"}).out, run_bench({"--workload", "resnet18", "--help"}).out);
  const Ended unknown = run_bench({"help", "nothing"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, ::testing::StartsWith("bench: help: 'nothing' is no command, sweep or workload"));
}

TEST(Help, AWordThatIsNoCommandIsAnsweredWithWhatToType) {
  for (const auto& [word, said] :
       {std::pair{"batch", "a sweep: type bench --sweep batch"},
        std::pair{"resnet18", "a workload: type bench --sweep batch --workload resnet18"},
        std::pair{"my/net.onnx", "a file: type bench --sweep batch --onnx my/net.onnx"},
        std::pair{"list", "an option: type bench --list"},
        std::pair{"sweep", "an option: type bench --sweep NAME"},
        std::pair{"gpus", "an option: type bench --list --gpus"}}) {
    const Ended ended = run_bench({word});
    EXPECT_EQ(ended.code, 2) << word;
    EXPECT_EQ(ended.err, "bench: '" + std::string(word) + "' is " + said + "\n");
  }
  EXPECT_EQ(run_bench({"--gpus"}).out, run_bench({"--list", "--gpus"}).out);
}

TEST(Help, FitsOneScreen) {
  const Json list = Json::parse(run_bench({"--list", "--benchmark_format=json"}).out);
  std::vector<Arguments> pages{{}};
  for (const char* const kind : {"sweep", "workload"}) {
    for (const Json& entry : list[std::string(kind) + "s"]) {
      pages.push_back({std::string("--") + kind, entry["name"]});
    }
  }
  for (const char* const command : {"compare", "ab", "advise", "evaluate", "inspect", "predict", "report"}) {
    pages.push_back({command});
  }
  pages.push_back({"predict", "--workload", "llama3.1_8b"});
  ASSERT_GT(pages.size(), 20U);
  for (const int width : {80, 100}) {
    const Surroundings terminal(width);
    for (const Arguments& page : pages) {
      const std::vector<std::string> lines = help_lines(page);
      EXPECT_LE(lines.size(), 40U) << ::testing::PrintToString(page) << " in " << width << " columns";
      for (const std::string& line : lines) {
        EXPECT_LE(columns(line), static_cast<std::size_t>(width)) << line;
      }
    }
  }
}

TEST(Help, NetworksAreCalledAsPeopleCallThem) {
  for (const auto& [called, name] :
       {std::pair{"gpt2", "gpt_small"}, std::pair{"GPT-2", "gpt_small"}, std::pair{"ResNet-50", "resnet50"},
        std::pair{"bert-base-uncased", "bert_base"}, std::pair{"ViT-B/16", "vit_base_16"}}) {
    EXPECT_EQ(run_bench({"--workload", called, "--help"}).out, run_bench({"--workload", name, "--help"}).out)
        << called;
  }
}

TEST(Help, ListHasALineForEachSweepAndWorkload) {
  const std::vector<std::string> lines = lines_of(run_bench({"--list"}).out);
  const Json list = Json::parse(run_bench({"--list", "--benchmark_format=json"}).out);
  for (const auto& [kind, text] : {std::pair{"sweeps", "question"}, std::pair{"workloads", "description"}}) {
    for (const Json& entry : list[kind]) {
      EXPECT_THAT(lines, ::testing::Contains(
                             ::testing::AllOf(::testing::StartsWith(entry["name"].get<std::string>() + " "),
                                              ::testing::EndsWith(" " + entry[text].get<std::string>()))));
    }
  }
  for (const std::string& line : lines) {
    if (!line.starts_with("Autotuned choices") && !line.starts_with("Compiled plans")) {  // unbroken paths
      EXPECT_LE(columns(line), 100U) << line;
    }
  }
}

// What a help says is accepted.
TEST(Help, SizesTakeTheUnitsThatHelpUses) {
  const TemporaryFolder folder;
  const Arguments run{"--sweep", "batch", "--workload", "copy", "--dry-run", "--out", folder.path() / "out"};
  EXPECT_EQ(run_bench(run + Arguments{"--bytes", "0.001TiB", "--batch", "1"}).code, 0);
}

TEST(Help, ExamplesRun) {
  const Surroundings here(100);
  int examples = 0;
  for (const std::string& line : help_lines({})) {
    const std::size_t start = line.starts_with("Examples: bench ") ? 10 : 2;
    if (!line.starts_with("Examples: bench ") && !line.starts_with("  bench ")) {
      continue;
    }
    // In brackets: what the example is for.
    std::istringstream words(line.substr(start, line.find(" (") - start));
    Arguments arguments{std::istream_iterator<std::string>(words), {}};
    arguments.erase(arguments.begin());  // "bench"
    if (arguments.front() == "--sweep") {
      arguments = arguments + Arguments{"--out", here.out()};
      if (std::ranges::count(arguments, "--dry-run") == 0) {
        arguments.push_back("--dry-run");
      }
    }
    const Ended run = run_bench(arguments);
    EXPECT_EQ(run.code, 0) << line << "\n" << run.err;
    ++examples;
  }
  EXPECT_EQ(examples, 3);
}

}  // namespace
}  // namespace bench::testing
