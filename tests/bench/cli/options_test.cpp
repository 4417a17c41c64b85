#include "bench/cli/options.h"

#include <algorithm>

#include <gmock/gmock.h>

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
}

TEST(OptionsTest, HelpFitsOneScreen) {
  const std::string help = parse({"--help"}).text;
  EXPECT_LE(std::ranges::count(help, '\n'), 24);
  EXPECT_EQ(parse({"-h"}).text, help);
  EXPECT_EQ(parse({"junk", "--batch", "--help"}).text, help) << "who asks for help gets it";
  EXPECT_EQ(parse({"--sweep", "--help"}).text, help);
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
}

TEST(OptionsTest, FormatIsThatOfStandardOutput) {
  EXPECT_EQ(parse({"--sweep", "batch"}).format, "");
  EXPECT_EQ(parse({"--sweep", "batch", "--format", "text"}).format, "");
  EXPECT_EQ(parse({"--sweep", "batch", "--format", "table"}).format, "");
  EXPECT_EQ(parse({"--list", "--format", "csv"}).format, "csv");
}

TEST(OptionsTest, ListNeedsNoSweep) {
  EXPECT_TRUE(parse({"--list"}).list);
}

TEST(OptionsTest, NoProgramIsWrongUsage) {
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
