#include "bench/cli/options.h"

#include <algorithm>
#include <ostream>
#include <sstream>

#include <gmock/gmock.h>

#include "bench/cli/text.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/workload.h"
#include "tests/bench/cli/parse.h"

namespace bench {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;
using testing::parse;
using ::testing::ThrowsMessage;

SweepType named_sweep(const std::string& name) {
  SweepType sweep;
  sweep.name = name;
  sweep.question = "Does it pay?";
  sweep.default_workload = "net50";
  sweep.takes_lists = name == "memory";
  if (name == "transfer") {
    sweep.options = {{"sizes", "1KiB", "of the copies"}, {"both", "no", "both ways", "", {}, true}};
  }
  return sweep;
}

WorkloadType named_workload(const std::string& name, std::vector<std::string> modes,
                            std::vector<CommandOption> options) {
  WorkloadType type;
  type.name = name;
  type.modes = std::move(modes);
  type.options = std::move(options);
  return type;
}

const Registration<SweepType> kBatch{named_sweep("batch")};
const Registration<SweepType> kMemory{named_sweep("memory")};
const Registration<SweepType> kTransfer{named_sweep("transfer")};
const Registration<WorkloadType> kNet50{
    named_workload("net50", {"infer", "train"}, {{"image-size", "224", "pixels a side"}})};
const Registration<WorkloadType> kNet18{
    named_workload("net18", {"infer"}, {{"image-size", "96", "pixels a side"}})};
const Registration<WorkloadType> kConv{
    named_workload("conv", {"forward", "backward-data"},
                   {{"height", "56", "of the input"}, {"width", "56", "of the input"}})};

TEST(OptionsTest, Defaults) {
  const Options options = parse({"--sweep", "batch"});
  EXPECT_EQ(options.text, "");
  EXPECT_EQ(options.sweep, "batch");
  EXPECT_EQ(options.workload, "");
  EXPECT_EQ(options.device, "auto");
  EXPECT_THAT(options.modes, IsEmpty());
  EXPECT_THAT(options.dtypes, IsEmpty());
  EXPECT_THAT(options.batches, IsEmpty());
  EXPECT_THAT(options.workload_options, IsEmpty());
  EXPECT_THAT(options.memory_caps, IsEmpty());
  EXPECT_EQ(options.time_budget, std::chrono::seconds(100));
  EXPECT_EQ(options.seed, 1U);
  EXPECT_EQ(options.out, "");
  EXPECT_TRUE(options.plot);
  EXPECT_TRUE(options.cache);
  EXPECT_FALSE(options.dry_run);
  EXPECT_FALSE(options.resume);
  EXPECT_FALSE(options.verbose);
  EXPECT_FALSE(options.list);
  EXPECT_EQ(options.benchmark.filter, "");
  EXPECT_EQ(options.benchmark.out_format, "json");
}

TEST(OptionsTest, Everything) {
  const Options options = parse({"--sweep=batch",
                                 "--workload",
                                 "conv",
                                 "--mode",
                                 "backward-data",
                                 "--device",
                                 "cpu",
                                 "--dtype",
                                 "fp32,bf16",
                                 "--batch",
                                 "1:8:x2",
                                 "--height",
                                 "7",
                                 "--memory-cap",
                                 "1.5GiB",
                                 "--seed",
                                 "9",
                                 "--time-budget",
                                 "90s",
                                 "--out",
                                 "here",
                                 "--no-plot",
                                 "--no-cache",
                                 "--dry-run",
                                 "--resume",
                                 "--verbose"});
  EXPECT_EQ(options.workload, "conv");
  EXPECT_THAT(options.modes, ElementsAre("backward-data"));
  EXPECT_EQ(options.device, "cpu");
  EXPECT_THAT(options.dtypes, ElementsAre(Dtype::fp32, Dtype::bf16));
  EXPECT_THAT(options.batches, ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(options.workload_options, ElementsAre(Pair("height", ElementsAre("7"))));
  EXPECT_THAT(options.memory_caps, ElementsAre(3LL << 29));
  EXPECT_EQ(options.seed, 9U);
  EXPECT_EQ(options.time_budget, std::chrono::seconds(90));
  EXPECT_EQ(options.out, "here");
  EXPECT_FALSE(options.plot);
  EXPECT_FALSE(options.cache);
  EXPECT_TRUE(options.dry_run);
  EXPECT_TRUE(options.resume);
  EXPECT_TRUE(options.verbose);
}

TEST(OptionsTest, HalfIsFp16OfAModelCastWhole) {
  const Options half = parse({"--sweep", "batch", "--dtype", "fp32,half", "--framework", "pytorch-compiled"});
  EXPECT_THAT(half.dtypes, ElementsAre(Dtype::fp32, Dtype::fp16));
  EXPECT_TRUE(half.cast_whole);
  EXPECT_EQ(half.framework, Framework::pytorch_compiled);
  EXPECT_FALSE(parse({"--sweep", "batch", "--dtype", "fp16"}).cast_whole);
  EXPECT_EQ(parse({"--sweep", "batch"}).framework, std::nullopt);
  for (const auto& [option, value, message] :
       {std::tuple("--dtype", "half,fp16", "one of them"),
        std::tuple("--framework", "bench", "bench predict"),
        std::tuple("--framework", "pytroch", "did you mean pytorch?")}) {
    EXPECT_THAT(([&] {
                  parse({"--sweep", "batch", option, value});
                }),
                ThrowsMessage<UsageError>(HasSubstr(message)));
  }
}

TEST(OptionsTest, HelpFitsOneScreen) {
  const std::string help = parse({"--help"}).text;
  for (const char* part :
       {"Usage: bench --sweep NAME", "batch", "transfer", "Does it pay?", "--workload NAME", "--device ID",
        "default: auto", "--dtype LIST", "--batch AXIS", "1:256:x2", "--quick", "in 10 s",
        "Example: ", "bench --sweep NAME --help", "bench --workload NAME --help"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
  EXPECT_LE(std::ranges::count(help, '\n'), 24);
  EXPECT_EQ(parse({"-h"}).text, help);
  EXPECT_EQ(parse({"junk", "--batch", "--help"}).text, help) << "who asks for help gets it";
  EXPECT_EQ(parse({"--sweep", "--help"}).text, help);
}

TEST(OptionsTest, HelpOfAnUnknownNameNamesTheKnownOnes) {
  EXPECT_THAT(
      [] {
        parse({"--sweep", "nope", "--help"});
      },
      ThrowsMessage<UsageError>("--sweep: 'nope' is not known; accepted: batch, memory, transfer"));
  EXPECT_THAT(
      [] {
        parse({"--help", "--workload", "nope"});
      },
      ThrowsMessage<UsageError>("--workload: 'nope' is not known; accepted: conv, net18, net50"));
}

TEST(OptionsTest, HelpOfASweepHasItsOptionsAndNamesTheCommonOnes) {
  const std::string help = parse({"--sweep", "transfer", "--help"}).text;
  for (const char* part : {"bench --sweep transfer: Does it pay?", "net50", "--sizes SIZE", "default: 1KiB",
                           "--both ", "--mode", "--seed", "--out", "--no-plot", "--no-cache", "--verbose",
                           "--dry-run", "--resume", "bench --help --verbose"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
  const std::string without = parse({"--sweep", "batch", "--help"}).text;
  EXPECT_THAT(without, Not(HasSubstr("--sizes")));
  for (const std::string& text : {help, without}) {
    EXPECT_THAT(text, AllOf(Not(HasSubstr("results/local")), Not(HasSubstr("--sweep NAME")),
                            Not(HasSubstr("--list"))));
  }
}

TEST(OptionsTest, VerboseHelpOfASweepLeavesOutWhatNamesOrRunsNoSweep) {
  const std::string help = parse({"--sweep", "transfer", "--help", "--verbose"}).text;
  EXPECT_THAT(help, HasSubstr("--out DIR"));
  EXPECT_THAT(help, AllOf(Not(HasSubstr("--sweep NAME")), Not(HasSubstr("  --list  ")),
                          Not(HasSubstr("--version")), Not(HasSubstr("--help  "))));
}

TEST(OptionsTest, HelpOfAWorkloadNamesTheDefaultMode) {
  const std::string several = parse({"--workload", "net50", "--help"}).text;
  EXPECT_THAT(several, HasSubstr("--mode infer|train (default: infer; with --sweep memory: all)\n"));
  EXPECT_THAT(parse({"--workload", "net18", "--help"}).text, HasSubstr("--mode infer\n"));
}

TEST(OptionsTest, VerboseHelpHasEveryOptionInFull) {
  for (const std::string& help :
       {parse({"--help", "--verbose"}).text, parse({"--sweep", "transfer", "--verbose", "--help"}).text}) {
    for (const char* part :
         {"--mode NAME", "--seed N", "--out DIR", "results/local", "--no-plot", "--no-cache ", "--verbose ",
          "--dry-run ", "--resume ", "--benchmark_filter", "Exit codes: 0 done; 1 a comparison",
          "2 wrong usage", "interrupted, what was"}) {
      EXPECT_THAT(help, HasSubstr(part));
    }
  }
  EXPECT_THAT(parse({"--help"}).text, AllOf(HasSubstr("bench compare BASE"), HasSubstr("bench ab BASE")));
}

TEST(OptionsTest, HelpOfAWorkloadHasItsModesAndOptions) {
  const std::string help = parse({"--workload", "conv", "--help"}).text;
  for (const char* part :
       {"bench --workload conv", "--mode forward|backward-data", "--height N", "default: 56"}) {
    EXPECT_THAT(help, HasSubstr(part));
  }
  EXPECT_THAT(help, Not(HasSubstr("--image-size")));
  const std::string both = parse({"--sweep", "batch", "--workload", "conv", "--help"}).text;
  EXPECT_THAT(both, AllOf(HasSubstr("bench --sweep batch"), HasSubstr("--height N")));
}

TEST(OptionsTest, HelpHasLinesOf100Columns) {
  for (const std::string& text :
       {parse({"--help"}).text, parse({"--help", "--verbose"}).text,
        parse({"--sweep", "transfer", "--help"}).text, parse({"--workload", "conv", "--help"}).text}) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(columns(line), 100U) << line;
    }
  }
}

TEST(OptionsTest, Version) {
  EXPECT_THAT(parse({"--version"}).text, ::testing::MatchesRegex("bench [0-9.]+( \\([^ ]+\\))?\n"));
  EXPECT_EQ(parse({"-V"}).text, parse({"--version"}).text);
}

TEST(OptionsTest, DtypesAreTakenAsOthersSpellThem) {
  EXPECT_EQ(parse({"--sweep", "batch", "--dtype", "float32,float16,bfloat16,tfloat32"}).dtypes,
            parse({"--sweep", "batch", "--dtype", "fp32,fp16,bf16,tf32"}).dtypes);
}

TEST(OptionsTest, QuickIsATimeBudget) {
  EXPECT_EQ(parse({"--sweep", "batch", "--quick"}).time_budget, std::chrono::seconds(8));
  EXPECT_THAT(
      [] {
        parse({"--sweep", "batch", "--quick", "--time-budget", "5s"});
      },
      ThrowsMessage<UsageError>("--quick: it was given, and --time-budget 5s as well; give one of them"));
}

TEST(OptionsTest, FormatIsThatOfStandardOutput) {
  EXPECT_EQ(parse({"--sweep", "batch"}).format, "");
  EXPECT_EQ(parse({"--sweep", "batch", "--format", "text"}).format, "");
  EXPECT_EQ(parse({"--list", "--format", "csv"}).format, "csv");
  EXPECT_THAT(
      [] {
        parse({"--sweep", "batch", "--format", "cvs"});
      },
      ThrowsMessage<UsageError>("--format: 'cvs' is not known; accepted: text, json, csv, markdown (did "
                                "you mean csv?)"));
  EXPECT_THAT(
      [] {
        parse({"--sweep", "batch", "--format", "csv", "--benchmark_format=json"});
      },
      ThrowsMessage<UsageError>(
          "--format: csv was given, and --benchmark_format=json as well; give one of them"));
}

TEST(OptionsTest, ListNeedsNoSweep) {
  EXPECT_TRUE(parse({"--list"}).list);
}

TEST(OptionsTest, NoArgumentsGetOneSentenceAndTheUsage) {
  EXPECT_THAT([] { parse({}); },
              ThrowsMessage<UsageError>(
                  "--sweep: a name is missing; accepted: batch, memory, transfer; see bench --help\n"
                  "\n"
                  "Usage: bench --sweep NAME [options]   measure; print the answer; write JSON"));
  EXPECT_THROW(parse_options(0, nullptr), UsageError);
}

TEST(OptionsTest, GoogleBenchmarksFlags) {
  const BenchmarkFlags flags =
      parse({"--benchmark_filter=fp32|bf16", "--sweep", "batch", "--benchmark_list_tests",
             "--benchmark_out=o.json", "--benchmark_out_format=csv", "--benchmark_format=console",
             "--benchmark_repetitions=5", "--benchmark_color=false"})
          .benchmark;
  EXPECT_EQ(flags.filter, "fp32|bf16");
  EXPECT_TRUE(flags.list_tests);
  EXPECT_EQ(flags.out, "o.json");
  EXPECT_EQ(flags.out_format, "csv");
  EXPECT_EQ(flags.format, "console");
  EXPECT_EQ(flags.repetitions, 5);
  EXPECT_THAT(flags.other_flags, ElementsAre("--benchmark_color=false"));
  EXPECT_FALSE(parse({"--sweep", "batch", "--benchmark_list_tests=false"}).benchmark.list_tests);
}

struct Wrong {
  std::vector<std::string> arguments;
  std::vector<std::string> parts;  // of the message
};

void PrintTo(const Wrong& wrong, std::ostream* out) {
  *out << ::testing::PrintToString(wrong.arguments);
}

class WrongOption : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongOption, IsOneSentence) {
  std::string message = "nothing thrown";
  try {
    parse(GetParam().arguments);
  } catch (const UsageError& error) {
    message = error.what();
  }
  for (const std::string& part : GetParam().parts) {
    EXPECT_THAT(message, HasSubstr(part));
  }
  EXPECT_THAT(message, Not(HasSubstr("\n")));
}

Wrong with_sweep(std::vector<std::string> arguments, std::vector<std::string> parts) {
  arguments.insert(arguments.begin(), {"--sweep", "batch"});
  return {std::move(arguments), std::move(parts)};
}

INSTANTIATE_TEST_SUITE_P(
    OptionsTest, WrongOption,
    ::testing::Values(
        Wrong{{"--sweep", "bath"},
              {"--sweep: 'bath'", "accepted: batch, memory, transfer", "did you mean batch?"}},
        Wrong{{"--sweep", "xyzzy"}, {"--sweep: 'xyzzy' is not known; accepted: batch, memory, transfer"}},
        Wrong{{"--sweep"}, {"--sweep: a value is missing"}}, Wrong{{"--sweep", ""}, {"--sweep: ''", "batch"}},
        Wrong{{"--sweep", "--dry-run"}, {"--sweep: a value is missing"}},
        Wrong{{"--dry-run"}, {"--sweep: a name is missing; accepted: batch, memory, transfer"}},
        with_sweep({"--workload", "net5"},
                   {"--workload: 'net5'", "conv, net18, net50", "did you mean net50?"}),
        with_sweep({"--mode", "trian"}, {"--mode: 'trian'", "infer, train", "did you mean train?", "net50"}),
        with_sweep({"--mode", "forward"}, {"--mode: 'forward'", "accepted: infer, train"}),
        with_sweep({"--dtype", "fp23"}, {"--dtype: 'fp23'", "fp32, tf32, fp16, bf16", "did you mean fp32?"}),
        with_sweep({"--dtype", ""}, {"--dtype: ''", "accepted: fp32"}),
        with_sweep({"--dtype", "fp32,"}, {"--dtype: ''", "accepted: fp32"}),
        with_sweep({"--batch", "0"}, {"--batch: '0'"}), with_sweep({"--batch", "-1"}, {"--batch: '-1'"}),
        with_sweep({"--batch", "1:10:x1"}, {"--batch: '1:10:x1'"}),
        with_sweep({"--batch", "abc"}, {"--batch: 'abc'"}), with_sweep({"--batch", ""}, {"--batch: ''"}),
        with_sweep({"--batch"}, {"--batch: a value is missing"}),
        with_sweep({"--batch="}, {"--batch: a value is missing"}),
        with_sweep({"--batch=", "7"}, {"--batch: a value is missing"}),
        with_sweep({"--batch= 7"}, {"--batch: ' 7'"}),
        with_sweep({"--seed", "--batch", "7"}, {"--seed: a value is missing"}),
        with_sweep({"--out", "-x"}, {"--out: a value is missing"}),

        with_sweep({"--seed", "1", "--", "junk"}, {"'junk' is not an option"}),
        with_sweep({"=x"}, {"'=x' is not an option"}),
        with_sweep({"--memory-cap", "12"}, {"--memory-cap: '12'", "GiB"}),
        with_sweep({"--memory-cap", "-1GiB"}, {"--memory-cap: '-1GiB'"}),
        with_sweep({"--time-budget", "60"}, {"--time-budget: '60'", "min"}),
        with_sweep({"--seed", "-1"}, {"--seed: '-1' is not a whole number from 0 to"}),
        with_sweep({"--seed", "1.5"}, {"--seed: '1.5'"}),
        with_sweep({"--seed", "9223372036854775808"}, {"--seed: '9223372036854775808'"}),
        with_sweep({"--out", ""}, {"--out: ''"}),
        with_sweep({"--height", "7"},
                   {"--height: '7' was given, but net50 has no such option; it has --image-size"}),
        with_sweep({"--workload", "conv", "--image-size", "7"},
                   {"--image-size: '7' was given, but conv has no such option; it has --height, --width"}),
        with_sweep({"--wrokload", "conv"}, {"--wrokload", "no such option", "did you mean --workload?"}),
        with_sweep({"--dryrun"}, {"--dryrun", "did you mean --dry-run?"}),
        with_sweep({"--model", "net50"}, {"--model", "did you mean --workload?"}),
        with_sweep({"--precision=fp16"}, {"--precision", "did you mean --dtype?"}),
        with_sweep({"--json"}, {"--json", "did you mean --format json?"}),
        with_sweep({"--bs", "8"}, {"--bs", "did you mean --batch?"}),
        with_sweep({"--iterations", "8"}, {"--iterations", "did you mean --benchmark_repetitions?"}),
        Wrong{{"--help", "--bogus"}, {"--bogus: there is no such option"}},
        Wrong{{"--bogus=1", "--sweep", "batch", "--help"}, {"--bogus=1: there is no such option"}},
        Wrong{{"--version", "--vrebose"}, {"--vrebose", "did you mean --verbose?"}},
        Wrong{{"--list", "--bogus"}, {"--bogus: there is no such option"}},
        Wrong{{"--list", "--sweep", "bath"}, {"--sweep: 'bath'", "did you mean batch?"}},
        Wrong{{"--list", "--workload", "net5"}, {"--workload: 'net5'", "did you mean net50?"}},
        with_sweep({"-x"}, {"-x: there is no such option"}),
        with_sweep({"junk"}, {"'junk' is not an option"}), with_sweep({"--dry-run=maybe"}, {"dry-run"}),
        with_sweep({"--dry-run=yes"}, {"--dry-run: 'yes' was given, but it takes no value"}),
        with_sweep({"--dry-run=true"}, {"--dry-run: 'true' was given, but it takes no value"}),
        with_sweep({"--dry-run="}, {"--dry-run: '' was given, but it takes no value"}),
        with_sweep({"--dry-run", "yes"}, {"'yes' is not an option"}),
        with_sweep({"--seed", "1", "--seed", "2"}, {"--seed: given 2 times (1, 2)"}),
        with_sweep({"--sweep", "batch"}, {"--sweep: given 2 times"}),
        with_sweep({"--benchmark_format=xml"}, {"--benchmark_format: 'xml'", "console, json, csv"}),
        with_sweep({"--benchmark_out_format=jsn"}, {"--benchmark_out_format: 'jsn'", "did you mean json?"}),
        with_sweep({"--benchmark_min_time=0.5"}, {"--benchmark_min_time=0.5:", "give --time-budget"}),
        with_sweep({"--benchmark_min_warmup_time=1"},
                   {"--benchmark_min_warmup_time=1:", "give --time-budget"}),
        with_sweep({"--benchmark_out"}, {"--benchmark_out: a value is missing"}),
        with_sweep({"--benchmark_repetitions=0"}, {"--benchmark_repetitions: '0'"}),
        with_sweep({"--benchmark_repetitions=2"}, {"--benchmark_repetitions: '2'", "from 3 to"}),
        with_sweep({"--benchmark_repetitions=3x"}, {"--benchmark_repetitions: '3x'"}),
        with_sweep({"--benchmark_list_tests=perhaps"}, {"--benchmark_list_tests: 'perhaps'", "true, false"}),
        with_sweep({"--benchmark_fliter=x"}, {"--benchmark_fliter=x", "did you mean --benchmark_filter?"})));

// The dashes that all options share make none of them near.
TEST(OptionsTest, NothingFarFetchedIsSuggested) {
  for (const char* option : {"--nice", "--mood", "--benchmark_nice", "--benchmark_filters_of_mine"}) {
    EXPECT_THAT(
        [&] {
          parse({"--sweep", "batch", option});
        },
        ThrowsMessage<UsageError>(Not(HasSubstr("did you mean"))))
        << option;
  }
}

// Whatever a value holds, the message stays one short line that a terminal shows as it is.
TEST(OptionsTest, ValuesAreRepeatedShortAndInOneLine) {
  const std::string long_value(100'000, 'x');
  const std::string wild = "a\nb\x1b[31m\xff";
  for (const char* option :
       {"--sweep", "--workload", "--mode", "--dtype", "--batch", "--memory-cap", "--time-budget", "--seed",
        "--height", "--benchmark_format", "--benchmark_repetitions", "--benchmark_list_tests", "--unknown",
        "", "--benchmark_unknown", "--benchmark_min_time"}) {
    for (const std::string& value : {long_value, wild, "1 " + long_value, "--" + long_value}) {
      std::vector<std::string> arguments{std::string(option) + (*option == '\0' ? "" : "=") + value};
      if (std::string_view(option) != "--sweep") {
        arguments.insert(arguments.begin(), {"--sweep", "batch"});
      }
      std::string message = "nothing thrown";
      try {
        parse(arguments);
      } catch (const UsageError& error) {
        message = error.what();
      }
      EXPECT_THAT(message, AllOf(Not(HasSubstr("nothing thrown")), Not(HasSubstr("\n")),
                                 Not(HasSubstr("\x1b")), Not(HasSubstr("\xff"))))
          << option;
      EXPECT_LT(message.size(), 500U) << option;
    }
  }
}

}  // namespace
}  // namespace bench
