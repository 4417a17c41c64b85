// What the program answers to a shell that asks how a command line may go on.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/json.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> completed(const Arguments& words) {
  const Ended ended = run_bench(Arguments{"--complete"} + words);
  EXPECT_EQ(ended.code, 0) << ended.err;
  std::istringstream in(ended.out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

// Those that begin a line of a help.
std::vector<std::string> listed_options(const Arguments& words) {
  std::istringstream in(run_bench(words).out);
  std::vector<std::string> options;
  for (std::string line; std::getline(in, line);) {
    constexpr std::size_t kDeep = 8;  // a line that goes on with an option's words
    if (line.find_first_not_of(' ') >= kDeep) {
      continue;
    }
    std::istringstream parts(line);
    std::string option;
    parts >> option;
    if (option == "-o,") {  // -o, --output
      parts >> option;
    }
    if (option.starts_with("--") &&
        option.find_first_not_of("abcdefghijklmnopqrstuvwxyz-") == std::string::npos) {
      options.push_back(option);
    }
  }
  return options;
}

TEST(Completion, OfTheFirstWordIsACommandOrAnOption) {
  EXPECT_THAT(completed({""}), IsSupersetOf({"compare", "predict", "help", "--sweep"}));
  EXPECT_THAT(completed({"pre"}), ElementsAre("predict"));
  EXPECT_THAT(completed({"--sw"}), ElementsAre("--sweep"));
  EXPECT_THAT(completed({"help", "comp"}), ElementsAre("compare"));
}

// Whatever --list shows.
TEST(Completion, KnowsEverySweepWorkloadAndGpu) {
  const Json list = Json::parse(run_bench({"--list", "--benchmark_format=json"}).out);
  const auto names = [&](const char* key, const char* name) {
    std::vector<std::string> all;
    for (const Json& entry : list.at(key)) {
      all.push_back(entry.at(name));
    }
    EXPECT_THAT(all, Not(IsEmpty())) << key;
    return all;
  };
  EXPECT_THAT(completed({"--sweep", ""}), ::testing::UnorderedElementsAreArray(names("sweeps", "name")));
  EXPECT_THAT(completed({"--workload", ""}),
              ::testing::UnorderedElementsAreArray(names("workloads", "name")));
  const auto gpus = names("modelled_devices", "id");
  EXPECT_THAT(completed({"--device", ""}), IsSupersetOf(gpus));
  EXPECT_THAT(completed({"predict", "--gpu", ""}), IsSupersetOf(gpus));
  for (const std::string& sweep : names("sweeps", "name")) {
    const auto options = listed_options({"--sweep", sweep, "--help", "--verbose"});
    EXPECT_THAT(options, Contains("--out")) << sweep;
    EXPECT_THAT(completed({"--sweep", sweep, "--"}), IsSupersetOf(options)) << sweep;
  }
  for (const char* const command : {"compare", "ab", "advise", "predict", "evaluate", "report", "inspect"}) {
    const auto options = listed_options({command, "--help"});
    EXPECT_THAT(options, Not(IsEmpty())) << command;
    EXPECT_THAT(completed({command, "--"}), IsSupersetOf(options)) << command;
  }
}

TEST(Completion, OfAnOptionsValueIsWhatItAccepts) {
  EXPECT_THAT(completed({"--sweep", "batch", "--mode", ""}), IsSupersetOf({"infer", "train"}));
  EXPECT_THAT(completed({"--sweep", "batch", "--workload", "resnet50", "--optimizer", ""}),
              ElementsAre("adam", "momentum", "sgd"));
  EXPECT_THAT(completed({"compare", "--format", ""}),
              ElementsAre("csv", "github", "json", "junit", "markdown", "text"));
  EXPECT_THAT(completed({"predict", "--link", "nvl"}), AllOf(Not(IsEmpty()), Each(StartsWith("nvl"))));
  EXPECT_THAT(completed({"--sweep", "batch", "--benchmark_li"}), ElementsAre("--benchmark_list_tests"));
  EXPECT_THAT(completed({"--sweep", "batch", "--benchmark_fi"}), ElementsAre("--benchmark_filter="))
      << "the value follows at once";
  EXPECT_THAT(completed({"--benchmark_format="}),
              ElementsAre("--benchmark_format=console", "--benchmark_format=csv", "--benchmark_format=json"));
  EXPECT_THAT(completed({"--completion", ""}), ElementsAre("bash", "fish", "zsh"));
  EXPECT_THAT(completed({"--schema", "res"}), ElementsAre("result"));
  EXPECT_THAT(completed({"--sweep", "workers", "--layout", ""}), ElementsAre("nchw", "nhwc"));
  EXPECT_THAT(completed({"--sweep", "workers", "--storage", ""}), IsEmpty());  // RATE,TIME
}

TEST(Completion, OfAListIsOfItsLastPart) {
  EXPECT_THAT(completed({"predict", "--gpu", "t4,rtx3060-1"}), ElementsAre("t4,rtx3060-12gb"));
  EXPECT_THAT(completed({"--dtype", "fp32,b"}), ElementsAre("fp32,bf16"));
  EXPECT_THAT(completed({"--dtype", "fp32,f"}), ElementsAre("fp32,fp16"));
}

// bash takes the word apart at the sign.
TEST(Completion, ReadsAValueBehindAnEqualsSign) {
  EXPECT_THAT(completed({"--sweep=bat"}), ElementsAre("--sweep=batch"));
  EXPECT_THAT(completed({"--sweep", "=", "bat"}), ElementsAre("batch"));
  EXPECT_THAT(completed({"--sweep", "="}), Contains("batch"));
}

TEST(Completion, OfAnOptionKnowsItsSweepAndItsCommand) {
  EXPECT_THAT(completed({"--sweep", "memory", "--so"}), ElementsAre("--soak"));
  EXPECT_THAT(completed({"--sweep", "batch", "--so"}), IsEmpty());
  EXPECT_THAT(completed({"predict", "--fr"}), Contains("--from"));
  EXPECT_THAT(completed({"ab", "old", "new", "--", "--sweep", "mem"}), ElementsAre("memory"));
}

TEST(Completion, LeavesFilesToTheShell) {
  EXPECT_THAT(completed({"compare", "results/"}), IsEmpty());
  EXPECT_THAT(completed({"--sweep", "batch", "--onnx", ""}), IsEmpty());
}

TEST(Completion, TheStubsAreShellAndAnyOtherShellIsRefused) {
  const Ended stub = run_bench({"--completion", "bash"});
  EXPECT_EQ(stub.code, 0) << stub.err;
  // As bash calls it: the words, and the number of the one at the cursor.
  const std::string script =
      stub.out + "COMP_WORDS=(" BENCH_PROGRAM
                 " --sweep bat); COMP_CWORD=2; _bench; echo \"${COMPREPLY[@]}\"; complete -p bench";
  const Ended run = Process({"-c", script}, std::nullopt, "/bin/bash").wait();
  EXPECT_EQ(run.out, "batch\ncomplete -o default -F _bench bench\n") << run.err;
  const std::string with_colon =
      stub.out + "COMP_WORDS=(" BENCH_PROGRAM
                 " --sweep batch --device cuda :); COMP_CWORD=5; _bench; echo \"${COMPREPLY[@]}\"";
  EXPECT_EQ(Process({"-c", with_colon}, std::nullopt, "/bin/bash").wait().out, "0\n");
  const TemporaryFolder home;
  std::filesystem::create_symlink(BENCH_PROGRAM, home.path() / "bench");
  const std::string at_home =
      "HOME=" + home.path().string() + "; " + stub.out +
      "COMP_WORDS=('~/bench' --sweep bat); COMP_CWORD=2; _bench; echo ${COMPREPLY[@]}";
  EXPECT_EQ(Process({"-c", at_home}, std::nullopt, "/bin/bash").wait().out, "batch\n");
  for (const char* shell : {"zsh", "fish"}) {
    EXPECT_THAT(run_bench({"--completion", shell}).out, ::testing::HasSubstr("--complete"));
  }
}

TEST(Completion, FishAndZshShowWhatTheProgramAnswers) {
  if (std::filesystem::exists("/usr/bin/fish")) {
    const std::string asks =
        run_bench({"--completion", "fish"}).out + "complete -C '" BENCH_PROGRAM " --sweep bat'";
    EXPECT_EQ(Process({"--no-config", "-c", asks}, std::nullopt, "/usr/bin/fish").wait().out, "batch\n");
  }
  if (std::filesystem::exists("/usr/bin/zsh")) {  // its completion system is interactive: these stand for it
    const std::string asks = "compdef() {}; compadd() { shift; print -r -- $@ }; " +
                             run_bench({"--completion", "zsh"}).out +
                             "words=(" BENCH_PROGRAM " --sweep bat); CURRENT=3; _bench";
    EXPECT_EQ(Process({"-f", "-c", asks}, std::nullopt, "/usr/bin/zsh").wait().out, "batch\n");
  }
}

}  // namespace
}  // namespace bench::testing
