// bench predict and bench --list --gpus, run as a user would.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include "bench/cli/text.h"
#include "bench/json.h"
#include "tests/bench/support/schema.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Predict, PutsCardsNextToEachOther) {
  const Ended run =
      run_bench({"predict", "--gpu", "t4,rtx3060-12gb", "--workload", "resnet18", "--mode", "train"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, AllOf(HasSubstr("resnet18 (train) on t4 and rtx3060-12gb, predicted: eager PyTorch"),
                             HasSubstr("\nt4            fp32 "), HasSubstr("\nrtx3060-12gb  fp16 "),
                             HasSubstr("Calibration: fp32 by ")));
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns(line), 100U) << line;
  }
}

TEST(Predict, TheWholeCatalogueAsJson) {
  const Ended run = run_bench({"predict", "--gpu", "all", "--workload", "resnet18", "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_GE(json["gpus"].size(), 49U);
  EXPECT_EQ(json["predictions"].size(), json["gpus"].size()) << "in fp16";
}

Json card_of_ones_own() {
  return {{"id", "mine"},           {"chip", "X1"},
          {"process_nm", 5},        {"compute_capability", 89},
          {"multiprocessors", 50},  {"memory_bytes", 16LL << 30},
          {"memory_kind", "gddr6"}, {"bytes_per_s", 400e9},
          {"power_w", 150},         {"flops_per_s", {{"fp32", 20e12}, {"fp16", 80e12}}}};
}

TEST(Predict, ACardOfOnesOwn) {
  const TemporaryFolder folder;
  const auto file = folder.path() / "card.json";
  Json card = card_of_ones_own();
  std::ofstream(file) << card;
  const Arguments predict{"predict", "--workload", "resnet18", "--gpu", file.string()};
  EXPECT_THAT(run_bench(predict).out, HasSubstr("\nmine  fp16 "));
  card["check"] = {{"hz", 1.5e9}, {"flops_per_clock", {{"fp32", 128}, {"fp16", 1024}}}};
  std::ofstream(file) << card;
  const Ended refused = run_bench(predict);
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("--gpu: "), HasSubstr("describes no card: flops_per_s.fp32 is ")));
  card.erase("check");
  card["id"] = "T4";
  std::ofstream(file) << card;
  EXPECT_THAT(run_bench(predict).err,
              HasSubstr("has the id T4 of a card of bench --list --gpus; give it another"));
}

TEST(Predict, ACatalogueOfOnesOwnReplacesTheProgramsEverywhere) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "catalogue.json";
  std::ofstream(file) << run_bench({"--list", "--gpus", "--format", "json"}).out;
  EXPECT_EQ(run_bench({"--list", "--gpus", file}).out, run_bench({"--list", "--gpus"}).out);
  std::ofstream(file) << Json{{"gpus", Json::array({card_of_ones_own()})}};
  for (const Arguments& list : {Arguments{"--list", "--gpus", file}, Arguments{"--gpus", file}}) {
    EXPECT_THAT(run_bench(list).out, AllOf(HasSubstr("\nmine "), Not(HasSubstr("\nt4 "))));
  }
  const Arguments workload{"--workload", "resnet18", "--gpus", file};
  EXPECT_THAT(run_bench(Arguments{"predict", "--gpu", "all"} + workload).out, HasSubstr("\nmine  fp16 "));
  EXPECT_THAT(
      run_bench(Arguments{"evaluate", "--gpu", "mine", "--out", folder.path().string()} + workload).out,
      HasSubstr("mine"));
  const Ended swept = run_bench(Arguments{"--sweep", "batch", "--device", "mine", "--dry-run"} + workload);
  EXPECT_EQ(swept.code, 0) << swept.err;
  const Ended unknown = run_bench(Arguments{"predict", "--gpu", "t4"} + workload);
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--gpu: there is no card 't4'; the closest are mine"));
}

TEST(Predict, WhatIsNoCatalogueIsRefused) {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "catalogue.json";
  const Json card = card_of_ones_own();
  const auto refusal = [&](const Json& json) {
    std::ofstream(file) << json;
    const Ended run = run_bench({"predict", "--gpu", "mine", "--workload", "resnet18", "--gpus", file});
    EXPECT_EQ(run.code, 2);
    return run.err;
  };
  EXPECT_THAT(refusal(card), HasSubstr("describes one card; give it as --gpu or --device"));
  EXPECT_THAT(refusal(Json{{"gpus", Json::array()}}), HasSubstr("is no catalogue of GPUs: gpus is empty"));
  EXPECT_THAT(refusal(Json{{"gpus", Json::array({card, card})}}),
              HasSubstr("gpus[1].id is mine, which another card has"));
  EXPECT_THAT(refusal(Json{{"cards", 1}}), HasSubstr("is no catalogue of GPUs: "));
  std::ofstream(file) << Json{{"gpus", Json::array({card})}};
  EXPECT_THAT(run_bench({"predict", "--gpu", file, "--workload", "resnet18"}).err,
              HasSubstr("is a catalogue of GPUs; give it as --gpus, and ids of it here"));
  EXPECT_THAT(run_bench({"--list", "--gpus", "2"}).err,
              HasSubstr("--gpus: '2' is no catalogue of GPUs; give a JSON"));
}

TEST(Predict, TheBatchesAskedForHaveARowEach) {
  const Ended run = run_bench(
      {"predict", "--gpu", "t4", "--workload", "resnet18", "--dtype", "fp16", "--batch", "8,64,100000"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out,
              AllOf(HasSubstr("      8  "), HasSubstr("     64  "), HasSubstr(" 100000  out of memory")));
}

TEST(Predict, RefusesInOneSentence) {
  const Arguments resnet{"predict", "--workload", "resnet18"};
  const std::pair<Arguments, const char*> cases[] = {
      {{}, "--gpu: a card is missing"},
      {{"--gpu", "t44"}, "--gpu: there is no card 't44'; the closest are t4"},
      {{"--gpu", "t4,t4"}, "names t4 twice"},
      {{"--gpu", "none.json"}, "--gpu: none.json cannot be read"},
      {{"--gpu", "t4", "--dtype", "fp8"}, "--dtype: 'fp8' is not known"},
      {{"--gpu", "t4", "--mode", "rest"}, "--mode: 'rest' is not known"},
      {{"--gpu", "t4", "--format", "xml"}, "--format: 'xml' is not known"},
      {{"--gpu", "t4", "--framework", "bench"}, "give a result with --from"},
      {{"--gpu", "t4", "--from", "none.json"}, "none.json cannot be read"},
      {{"--gpu", "t4", "--from", "none.json", "--framework", "pytorch"}, "leave --from out"},
      {{"--gpu", "t4", "--optimizer", "adam"}, "belongs to --mode train"},
      {{"--gpu", "t4", "--launch", "graph"}, "bench predict has no such option"},
      {{"--gpu", "t4", "stray"}, "'stray' is no option"},
      {{"--gpu", "t4", "--batch", "100000"},
       "no step can be predicted; t4 in fp32: out of memory: batch 100000"},
      {{"--gpu", "t4", "--dtype", "tf32"}, "no units for tf32"},
  };
  for (const auto& [more, message] : cases) {
    const Ended run = run_bench(resnet + more);
    EXPECT_EQ(run.code, 2) << message;
    EXPECT_EQ(run.out, "") << message;
    EXPECT_THAT(run.err, HasSubstr(message));
  }
  EXPECT_THAT(run_bench({"predict", "--gpu", "t4"}).err, HasSubstr("--workload: a network is missing"));
  EXPECT_THAT(run_bench({"predict", "--gpu", "t4", "--workload", "gemm"}).err,
              HasSubstr("--workload: 'gemm' is a single operation"));
}

// One card's result, by the program itself.
const std::string& training_result() {
  static const TemporaryFolder folder;
  static const std::string path = [] {
    const Ended run = run_bench(Arguments{"--sweep", "batch", "--device", "cpu", "--workload", "resnet18",
                                          "--image-size", "32", "--mode", "train", "--dtype", "fp32",
                                          "--batch", "4,8", "--no-plot", "--out", folder.path().string()} +
                                rounds(3));
    EXPECT_EQ(run.code, 0) << run.err;
    return (folder.path() / "batch-resnet18-cpu.json").string();
  }();
  return path;
}

TEST(PredictCards, FromOneCardsResult) {
  const Arguments predict{"predict", "--from", training_result(), "--cards", "2,4", "--link", "eth-10g"};
  const Ended run = run_bench(predict);
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, AllOf(HasSubstr("resnet18 on several of "), HasSubstr("predicted from one"),
                             HasSubstr("planned, never run"), HasSubstr("Link: 10 Gbit/s Ethernet")));
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns(line), 100U) << line;
  }
  const std::string text = run_bench(predict + Arguments{"--format", "json"}).out;
  EXPECT_EQ(schema_errors(text, kPredictCardsSchema), "");
  const Json json = Json::parse(text);
  ASSERT_EQ(json["steps"].size(), 6U);
  EXPECT_EQ(json["steps"][0]["is_measured"], true);
  // 11.7 M parameters in fp32.
  EXPECT_NEAR(json["steps"][1]["gradient_bytes"].get<double>(), 46.8e6, 0.5e6);
  EXPECT_LT(json["steps"][2]["efficiency"].get<double>(), json["steps"][1]["efficiency"].get<double>());
}

// The result among others of its folder, and two of them.
TEST(PredictCards, TakesAFolder) {
  const TemporaryFolder folder;
  std::filesystem::copy(training_result(), folder.path());
  ASSERT_EQ(run_bench(small_run(folder.path())).code, 0);
  const Arguments predict{"predict", "--from", folder.path().string(), "--cards", "2", "--link", "eth-10g"};
  const Ended one = run_bench(predict);
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("resnet18 on several of "));
  std::filesystem::copy(training_result(), folder.path() / "other.json");
  const Ended two = run_bench(predict);
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err,
              AllOf(HasSubstr("--from: 2 results were given, "), HasSubstr("other.json'; accepted: one of")));
  const Ended link =
      run_bench({"predict", "--from", training_result(), "--cards", "2", "--link", folder.path().string()});
  EXPECT_THAT(link.err, HasSubstr("--link: none was given; give one result of bench --sweep collectives"));
}

// A CPU's result, from a folder that holds a result of another sweep too.
TEST(PredictCards, AdviseAndEvaluateTakeTheSameResult) {
  const TemporaryFolder folder;
  std::filesystem::copy(training_result(), folder.path());
  Json json = Json::parse(read_file(training_result()));
  json["sweep"]["name"] = "cards";
  write_file(folder.path() / "cards.json", json.dump());
  const Arguments cards{"--cards", "2", "--link", "eth-10g", "--format", "json"};
  const Ended advise = run_bench(Arguments{"advise", folder.path().string(), "--current", "batch=8"} + cards);
  ASSERT_EQ(advise.code, 0) << advise.err;
  EXPECT_THAT(advise.out,
              AllOf(HasSubstr("cards 1 → 2"), HasSubstr("torchrun --nnodes=2"), HasSubstr("Nobody measured"),
                    HasSubstr("cards.json is left out; give it alone")));
  const Ended evaluate = run_bench(
      Arguments{"evaluate", folder.path().string(), "--no-plot", "--out", (folder.path() / "out").string()} +
      cards);
  ASSERT_EQ(evaluate.code, 0) << evaluate.err;
  EXPECT_EQ(schema_errors(evaluate.out, kEvaluateSchema), "");
  EXPECT_THAT(evaluate.out, AllOf(HasSubstr("Nobody measured"), HasSubstr("left out (cards)")));
  const Ended none = run_bench({"advise", training_result(), "--cards", "2"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--link: what joins the cards is missing"));
}

// Of 4 ranks that took turns on cores.
TEST(PredictCards, RepeatsWhatAMeasuredLinkWarnsOf) {
  const TemporaryFolder folder;
  Json json = Json::parse(read_file(training_result()));
  json["sweep"]["name"] = "collectives";
  std::int64_t bytes = 64;
  for (Json& point : json["benchmarks"]) {
    point["params"] = {{"operation", "all-reduce"}, {"bytes", bytes}, {"ranks", 4}, {"hosts", 1}};
    bytes *= 1024;
  }
  json["findings"] = {{{"name", "ranks"},
                       {"unit", "ranks"},
                       {"claim", "Warning: 4 ranks take turns on the 2 cores of one host."},
                       {"details", {{"takes_turns", true}}},
                       {"evidence", Json::array()}}};
  const auto path = folder.path() / "collectives.json";
  write_file(path, json.dump());
  const auto predict = [&](const char* cards) {
    return run_bench({"predict", "--from", training_result(), "--cards", cards, "--link", path.string()});
  };
  const Ended two = predict("2");
  ASSERT_EQ(two.code, 0) << two.err;
  EXPECT_THAT(two.out, AllOf(HasSubstr("collectives.json: Warning: 4 ranks take turns on"),
                             HasSubstr("All-reduces were measured with 4 ranks; for other numbers")));
  EXPECT_THAT(predict("4").out, ::testing::Not(HasSubstr("for other numbers")));
  const Arguments more{training_result(), "--cards", "2", "--link", path.string(), "--format", "json"};
  for (const char* const command : {"advise", "evaluate"}) {
    EXPECT_THAT(run_bench(Arguments{command} + more).out, HasSubstr("4 ranks take turns")) << command;
  }
}

TEST(PredictCards, TakesLinksOfTheUsersOwn) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "rack.json";
  const Json link{
      {"id", "rack"},        {"name", "the rack's switch"},         {"hop_ns", 1000},
      {"bytes_per_s", 1e10}, {"bytes_per_s_range", {0.9e10, 1e10}}, {"source", "measured by hand"}};
  Json json{{"schema", "bench-links/2"}, {"links", {link}}};
  write_file(path, json.dump());
  const auto predict = [&](const std::string& links) {
    return run_bench({"predict", "--from", training_result(), "--cards", "2", "--link", links});
  };
  EXPECT_THAT(predict(path.string()).out,
              AllOf(HasSubstr("Link: the rack's switch: 10.0 GB/s"), HasSubstr("measured by hand")));
  json["links"].push_back(link);
  json["links"][1]["id"] = "slow";
  write_file(path, json.dump());
  EXPECT_THAT(predict(path.string()).err, HasSubstr("has 2 links; name one: "));
  EXPECT_EQ(predict(path.string() + ":slow").code, 0);
  EXPECT_THAT(predict(path.string() + ":slaw").err, HasSubstr("did you mean slow?"));
  EXPECT_THAT(predict("pcie4," + path.string() + ":slow").err,
              HasSubstr("one between hosts were given, and the step was measured on a CPU"));
  json["links"][1].erase("bytes_per_s");
  write_file(path, json.dump());
  const Ended damaged = predict(path.string() + ":slow");
  EXPECT_EQ(damaged.code, 2);
  EXPECT_THAT(damaged.err, AllOf(HasSubstr("rack.json"), HasSubstr("links[1].bytes_per_s")));
  EXPECT_EQ(std::ranges::count(damaged.err, '\n'), 1) << damaged.err;
}

// One result a machine, of one device, is a fleet.
TEST(PredictCards, SeveralMachinesAreOneRow) {
  const TemporaryFolder folder;
  std::filesystem::copy(training_result(), folder.path() / "a.json");
  Json json = Json::parse(read_file(training_result()));
  json["context"]["machine"] = "another";
  json["context"]["host_name"] = "another";
  write_file(folder.path() / "b.json", json.dump());
  const Ended run = run_bench(
      {"predict", "--from", folder.path().string(), "--cards", "2", "--link", "eth-10g", "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(schema_errors(run.out, kPredictCardsSchema), "");
  EXPECT_THAT(run.out, HasSubstr("2 machines: the figures are the median machine's"));
}

TEST(PredictCards, RefusesInOneSentence) {
  const std::string& from = training_result();
  const TemporaryFolder folder;
  ASSERT_EQ(run_bench(small_run(folder.path())).code, 0);
  const std::string other = (folder.path() / kSmallFile).string();
  const std::pair<Arguments, const char*> cases[] = {
      {{"--from", from, "--cards", "2"}, "--link: what joins the cards is missing; accepted: nvlink3"},
      {{"--from", from, "--cards", "2", "--link", "nvlnk3"}, "did you mean nvlink3?"},
      {{"--from", from, "--cards", "2", "--link", "nvlink3"},
       "--link: nvlink3 joins GPUs of a host, and the step was measured on a CPU; give what joins hosts"},
      {{"--from", from, "--cards", "16", "--link", "nvlink3,eth-10g", "--per-host", "8"},
       "--link: one link within a host and one between hosts were given, and the step was measured on a CPU"},
      {{"--from", from, "--cards", "2", "--link", "none.json"}, "--link: none.json cannot be read"},
      {{"--from", from, "--cards", "2", "--link", other}, "holds no all-reduces of two sizes"},
      {{"--from", from, "--cards", "1", "--link", "eth-10g"}, "--cards: '1' was given; accepted: 2 to 65536"},
      {{"--from", from, "--cards", "0", "--link", "eth-10g"}, "--cards: "},
      {{"--from", from, "--cards", "2", "--link", "a,b,c"}, "accepted: one link, or two"},
      {{"--from", from, "--cards", "2", "--link", "eth-10g", "--per-host", "4"},
       "what joins the hosts is missing"},
      {{"--from", from, "--cards", "2", "--link", "eth-10g", "--bucket", "0"}, "--bucket: "},
      {{"--from", from, "--cards", "2", "--link", "eth-10g", "--batch", "64"}, "it has fp32 at batch 4, 8"},
      {{"--from", from, "--cards", "2", "--link", "eth-10g", "--dtype", "fp16"}, "it has fp32 at batch 4, 8"},
      {{"--from", from, "--cards", "2", "--link", "eth-10g", "--gpu", "t4"},
       "--gpu: it does not go with --cards"},
      {{"--from", other, "--cards", "2", "--link", "eth-10g"}, "holds no training step"},
      {{"--from", "none.json", "--cards", "2", "--link", "eth-10g"}, "--from: none.json cannot be read"},
      {{"--cards", "2", "--link", "eth-10g"},
       "--from: none was given; give one result of bench --sweep batch --mode train"},
      {{"--gpu", "t4", "--link", "eth-10g"}, "--link: it goes with --cards"},
  };
  for (const auto& [more, message] : cases) {
    const Ended run = run_bench(Arguments{"predict"} + more);
    EXPECT_EQ(run.code, 2) << message;
    EXPECT_EQ(run.out, "") << message;
    EXPECT_THAT(run.err, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
}

TEST(Predict, HowFitsTheScreen) {
  const Ended run = run_bench({"predict", "--how"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("host = launches"), HasSubstr("fp32 inference, host unknown"),
                             HasSubstr("≤ 14 %")));
  EXPECT_LE(std::ranges::count(run.out, '\n'), 70);
  std::istringstream lines(run.out);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(columns(line), 100U) << line;
  }
}

TEST(ListGpus, ALineForEachCard) {
  const Ended run = run_bench({"--list", "--gpus"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("\nt4 "), HasSubstr("GeForce RTX 3060 Ti")));
  const Json json = Json::parse(run_bench({"--list", "--gpus", "--benchmark_format=json"}).out);
  EXPECT_GE(json["gpus"].size(), 49U);
  EXPECT_EQ(std::ranges::count(run.out, '\n'), static_cast<std::ptrdiff_t>(json["gpus"].size()) + 7);
  EXPECT_EQ(run_bench({"--gpus"}).out, run.out);
}

}  // namespace
}  // namespace bench::testing
