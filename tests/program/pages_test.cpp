// What a user reads, whole: pages of stored documents, as every sweep and command prints them, held against
// files of tests/golden/pages. `make golden` writes these files again; a changed page is then read as a diff.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/cli/csv.h"
#include "bench/cli/options.h"
#include "bench/cli/report.h"
#include "bench/commands/setup.h"
#include "bench/host/host_info.h"
#include "bench/registry.h"
#include "bench/report/report_page.h"
#include "bench/result/result_json.h"
#include "bench/run/predicted_points.h"
#include "bench/run/result_file.h"
#include "bench/run/runner.h"
#include "bench/text/quote.h"
#include "tests/bench/support/interruption.h"
#include "tests/bench/support/manual_clock.h"
#include "tests/program/golden_page.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;

// Of a command that is run where the stored documents are. OUT among its arguments: an empty folder.
struct Page {
  std::string file;  // below tests/golden/pages
  Arguments arguments;
  int columns = 100;  // of the terminal
};

void PrintTo(const Page& page, std::ostream* out) {
  *out << page.file;
}

// Whether the device plans the memory as the one of the document did.
bool plans_alike(const RunContext& then, const Device& now) {
  const auto detail = [](const auto& details, const char* key) {
    const auto found = details.find(key);
    return found == details.end() ? std::string() : std::string(found->second);
  };
  return now.model() != nullptr || (then.detail("isa") == detail(now.info().details, "isa") &&
                                    detail(then.software, "onednn") == detail(now.info().details, "onednn") &&
                                    then.host.usable_cores == host_info().usable_cores);
}

// A list's page without what this machine has: its devices, and where it keeps files.
std::string as_of_any_machine(std::string page, const std::string& cache) {
  page = replaced(replaced(page, "\n  " + cache, " " + cache), cache, "CACHE");  // from a line of its own
  for (const auto& [device, shown] :
       {std::pair{R"((\n(cpu|cuda) +)[^\n]*(\n {6,}[^\n]*)*)", "$1DEVICE"},         // text
        std::pair{R"((\ndevice,(cpu|cuda),)[^\n]*)", "$1DEVICE"},                   // CSV
        std::pair{R"((\n[|] (device [|] )?(cpu|cuda) [|])[^\n]*)", "$1 DEVICE |"},  // Markdown
        std::pair{R"x(("id": "(cpu|cuda)",\n *"description": )[^\n]*(\n *"missing": )[^\n]*)x",
                  R"($1"DEVICE",$3"DEVICE")"}}) {  // JSON
    page = std::regex_replace(page, std::regex(device), shown);
  }
  return page;
}

class Pages : public ::testing::TestWithParam<Page> {};

// Standard output, and after it what else a user sees.
TEST_P(Pages, AreAsBefore) {
  const Surroundings here(GetParam().columns);
  Arguments arguments = GetParam().arguments;
  std::ranges::replace(arguments, std::string("OUT"), here.out());
  const Ended ended = run_bench(arguments);
  std::string page = ended.out;
  if (!ended.err.empty()) {
    page += "--- standard error\n" + ended.err;
  }
  if (ended.code != 0) {
    page += fmt::format("--- exit code {}\n", ended.code);
  }
  page = std::regex_replace(page, std::regex(R"(("date": ")20[^"]*)"), "$1NOW");
  // On this machine, by its memory's speed.
  page = std::regex_replace(page, std::regex(R"((A run takes about )[^\n]*)"), "$1TIME.");
  page = std::regex_replace(page, std::regex(R"(("expected_duration_ns": )\d+)"), "$1\"TIME\"");
  page = std::regex_replace(page, std::regex(R"( *\d+ %  \d+:\d+ (left|over) [^\n]*\n)"), "");  // progress
  page = replaced(page, "|implicit_gemm|", "|");  // a build without CUDA lacks this implementation
  if (GetParam().file.starts_with("list/all")) {
    page = as_of_any_machine(page, here.cache());
  }
  const bool on_cpu = std::ranges::count(arguments, "cpu") > 0 || arguments.front() == "inspect";
  page = replaced(page, "\n  " + here.out(), " " + here.out());  // where a long path has a line of its own
  expect_page(
      GetParam().file, replaced(page, here.out(), "OUT"),
      on_cpu && !plans_alike(read_result(kGolden / "documents/batch.json").context, *open_device("cpu")));
}

// Its text for terminals of 80 and 100 columns.
std::vector<Page> in_widths(const std::string& name, const Arguments& arguments) {
  return {{.file = name + ".txt", .arguments = arguments},
          {.file = name + ".80.txt", .arguments = arguments, .columns = 80}};
}

// One page in each of the formats; of the text one for each width.
std::vector<Page> in_formats(const std::string& name, const Arguments& arguments,
                             const std::vector<std::string>& formats) {
  const std::map<std::string, std::string> endings{
      {"markdown", "md"}, {"junit", "xml"}, {"github", "github.txt"}};
  std::vector<Page> pages;
  for (const std::string& format : formats) {
    Arguments with_format = arguments;
    with_format.insert(with_format.begin() + 1, {"--format", format});  // the first may be a command
    if (format == "text") {
      std::ranges::move(in_widths(name, with_format), std::back_inserter(pages));
      continue;
    }
    const auto ending = endings.find(format);
    pages.push_back(
        {.file = name + "." + (ending == endings.end() ? format : ending->second), .arguments = with_format});
  }
  return pages;
}

const std::vector<std::string> kFormats{"text", "markdown", "csv", "json"};
const std::vector<std::string> kOfCompare{"text", "markdown", "csv", "json", "junit", "github"};
const std::vector<std::string> kOfReport{"html", "markdown", "csv", "json"};

std::vector<Page> pages() {
  std::vector<Page> all;
  const auto add = [&](const std::vector<Page>& more) { all.insert(all.end(), more.begin(), more.end()); };
  const Arguments slower{"compare", "base-1.json", "base-2.json", "base-3.json",
                         "--",      "new-1.json",  "new-2.json",  "new-3.json"};
  add(in_formats("compare/slower", slower, kOfCompare));
  add(in_widths("compare/slower-verbose", slower + Arguments{"--verbose"}));
  add(in_formats("compare/one-run-a-side", {"compare", "batch.json", "batch-again.json"}, kOfCompare));
  const Arguments ab{"ab", "--pairs", "5", "--out", "OUT"};
  const Arguments stored{"./replay", "./replay", "--", "--sweep", "batch"};
  add(in_widths("ab/slower-verbose", ab + Arguments{"--verbose"} + stored));
  add(in_formats("ab/slower", ab + stored, kOfCompare));
  add(in_widths("ab/same", ab + Arguments{"--new-env", "SIDE=base"} + stored));
  add(in_widths("ab/out-of-time", ab + Arguments{"--time-budget", "1ms"} + stored));
  const Arguments training{"batch-train.json", "workers.json", "memory.json"};
  add(in_formats("advise/results",
                 Arguments{"advise"} + training + Arguments{"--current", "batch=8,workers=1"}, kFormats));
  add(in_widths("advise/batch-alone", {"advise", "batch-train.json"}));
  add(in_widths("advise/loader", {"advise", "workers.json"}));
  add(in_formats("advise/cards", {"advise", "cards.json"}, kFormats));
  add(in_formats("advise/readings", {"advise", "--observed", "readings.json"}, kFormats));
  add(in_formats("advise/readings-of-cards", {"advise", "--observed", "readings-cards.json"}, kFormats));
  add(in_widths("advise/readings-of-a-stand-in", {"advise", "--observed", "readings-stand-in.json"}));
  for (const std::string name : {"case-a", "case-b", "case-c", "case-d", "case-e"}) {
    add(in_widths("advise/" + name, {"advise", "--observed", "../../../results/observed/" + name + ".json"}));
  }
  const Arguments two_cards{"--cards", "2", "--link", "eth-10g"};
  const Arguments turns{"--cards", "2", "--link", "collectives-turns.json"};
  const Arguments advise_cards =
      Arguments{"advise", "batch-train.json", "cards.json", "--current", "batch=8"} + two_cards;
  add(in_formats("advise/more-cards", advise_cards, kFormats));
  add(in_widths("advise/more-cards-by-ranks-that-take-turns",
                Arguments{"advise", "batch-train.json"} + turns));
  const Arguments evaluate{"evaluate", "--no-plot", "--out", "OUT"};
  add(in_formats("evaluate/measured",
                 evaluate + Arguments{"batch.json", "batch-one-thread.json", "workers.json"}, kFormats));
  add(in_widths("evaluate/measured-and-predicted",
                evaluate + Arguments{"batch-train.json", "--gpu", "t4", "--workload", "resnet18",
                                     "--image-size", "64", "--mode", "train", "--price", "t4=0.35/h"}));
  add(in_formats("evaluate/more-cards", evaluate + Arguments{"batch-train.json"} + two_cards, kFormats));
  add(in_widths("evaluate/cards-of-gpus",
                evaluate + Arguments{"--gpu", "t4,rtx3060-12gb", "--workload", "bert_base", "--mode", "train",
                                     "--dtype", "fp16", "--cards", "2"}));
  add(in_widths("evaluate/more-cards-by-ranks-that-take-turns",
                evaluate + Arguments{"batch-train.json"} + turns));
  add(in_widths("evaluate/left-out",
                evaluate + Arguments{"--gpu", "gtx960,h200", "--workload", "resnet18", "--batch", "4096"}));
  add(in_widths("evaluate/own-gpu",
                evaluate + Arguments{"--gpu", "mine", "--gpus", "gpus.json", "--workload", "resnet18"}));
  add(in_formats("evaluate/gpus", evaluate + Arguments{"--gpu", "t4,rtx3060-12gb", "--workload", "resnet50"},
                 kFormats));
  const Arguments two_gpus{"--gpu", "t4,rtx3060-12gb", "--workload", "resnet50", "--mode", "train"};
  const Arguments hire_or_buy =
      two_gpus + Arguments{"--price", "t4=$0.35/hour,RTX3060=280", "--dtype", "fp16"};
  add(in_formats("evaluate/job", evaluate + hire_or_buy + Arguments{"--epochs", "90", "--images", "1.28M"},
                 kFormats));
  add(in_widths("evaluate/long-job", evaluate + hire_or_buy + Arguments{"--samples", "5G", "--kwh", "0.3"}));
  add(in_widths("evaluate/open-job", evaluate + hire_or_buy + Arguments{"--samples", "700M"}));
  add(in_widths("evaluate/hire-or-buy", evaluate + hire_or_buy));
  add(in_widths("evaluate/job-of-results",
                evaluate + Arguments{"batch.json", "batch-one-thread.json", "--samples", "1M"}));
  add(in_widths("evaluate/job-verbose",
                evaluate + hire_or_buy + Arguments{"--epochs", "90", "--images", "1.28M", "--verbose"}));
  const Arguments predict{"predict", "--workload", "resnet50", "--mode", "train"};
  add(in_formats("predict/gpus", predict + Arguments{"--gpu", "t4,rtx3060-12gb"}, kFormats));
  add(in_widths("predict/all-gpus", predict + Arguments{"--gpu", "all"}));
  add(in_widths("predict/verbose", predict + Arguments{"--gpu", "t4,rtx3060-12gb", "--verbose"}));
  add(in_formats("predict/batches", predict + Arguments{"--gpu", "t4", "--batch", "1:64:x4"}, kFormats));
  add(in_widths("predict/how", predict + Arguments{"--gpu", "t4", "--how"}));
  add(in_widths("predict/own-gpu", {"predict", "--gpu", "gpu.json", "--workload", "resnet18"}));
  add(in_widths("predict/own-clocks",
                {"predict", "--gpu", "gpu-t4-at-1200-mhz.json", "--workload", "resnet18"}));
  add(in_widths("predict/own-gpus",
                {"predict", "--gpu", "all", "--gpus", "gpus.json", "--workload", "resnet18"}));
  add(in_formats(
      "predict/out-of-memory",
      {"predict", "--gpu", "t4", "--workload", "resnet18", "--dtype", "fp16", "--batch", "8,64,100000"},
      kFormats));
  const Arguments more_cards{"predict", "--from", "batch-train.json", "--cards", "2,4", "--link"};
  add(in_widths("predict/own-link", more_cards + Arguments{"links.json:rack"}));
  add(in_widths("predict/measured-link", more_cards + Arguments{"collectives.json"}));
  add(in_widths("predict/measured-link-of-ranks-that-take-turns",
                more_cards + Arguments{"collectives-turns.json"}));
  const Arguments cards_of_one{"predict", "--gpu", "t4", "--workload", "resnet50", "--cards", "2"};
  add(in_formats("predict/cards-of-a-gpu", cards_of_one, kFormats));
  add(in_widths("predict/cards-of-a-gpu-verbose", cards_of_one + Arguments{"--verbose"}));
  add(in_widths("predict/cards-of-own-network", {"predict", "--gpu", "rtx3060-12gb", "--onnx", "net.onnx",
                                                 "--cards", "2,4", "--dtype", "fp16", "--batch", "8,64"}));
  const Arguments fleet_now{"compare", "fleet", "fleet-slower"};
  add(in_widths("fleet/compare-verbose", fleet_now + Arguments{"--verbose"}));
  add(in_formats("fleet/compare", fleet_now, kOfCompare));
  add(in_formats("fleet/advise", {"advise", "fleet"}, kFormats));
  add(in_formats("fleet/evaluate", evaluate + Arguments{"fleet"}, kFormats));
  const Arguments predict_fleet = Arguments{"predict", "--from", "fleet"} + two_cards;
  add(in_formats("fleet/predict", predict_fleet, kFormats));
  add(in_formats("fleet/report", {"report", "fleet"}, kOfReport));
  add(in_formats("predict/cards",
                 {"predict", "--from", "batch-train.json", "--cards", "2,4", "--link", "eth-10g"}, kFormats));
  add(in_formats("report/training", Arguments{"report"} + training, kOfReport));
  add(in_formats("report/training-as-it-is",
                 Arguments{"report"} + training + Arguments{"--current", "batch=8"}, {"markdown", "csv"}));
  add(in_formats("report/cards-and-collectives", {"report", "cards.json", "collectives.json"},
                 {"html", "json", "markdown", "csv"}));
  add(in_formats(
      "report/every-sweep",
      {"report", "batch-train.json", "memory.json", "kernels.json", "workers.json", "../transfer.json"},
      {"html", "markdown", "csv"}));
  add(in_formats("report/answers", {"report", "answers"}, kOfReport));
  add(in_formats("report/hire-or-buy", {"report", "evaluation-job.json"}, {"html", "markdown", "csv"}));
  add(in_formats("report/comparison-alone", {"report", "answers/comparison.json"},
                 {"html", "markdown", "csv"}));
  add(in_formats("report/predicted", {"report", "batch-predicted.json"}, {"html", "markdown", "csv"}));
  const std::string reference = "../../../results/reference/intel-xeon-2-cores/";
  add(in_formats("report/kernels-and-memory", {"report", reference + "kernels-all-cpu.json"},
                 {"markdown", "csv"}));
  add(in_formats("report/two-networks",
                 {"report", reference + "batch-resnet50-cpu.json", reference + "memory-resnet18-cpu.json"},
                 {"markdown", "csv"}));
  add(in_formats("predict/generation",
                 {"predict", "--gpu", "rtx3060-12gb,h100-sxm", "--workload", "llama3.1_8b", "--weights",
                  "int4,bf16", "--context", "8k", "--batch", "1,16", "--price", "H100 SXM=2.5/h"},
                 kFormats));
  add(in_widths("predict/generation-cards", {"predict", "--gpu", "rtx3090", "--cards", "2", "--workload",
                                             "llama3.1_70b", "--weights", "int4", "--context", "16384"}));
  add(in_widths("predict/generation-all-gpus",
                {"predict", "--gpu", "all", "--workload", "llama3.1_70b", "--weights", "bf16"}));
  add(in_widths("predict/generation-verbose",
                {"predict", "--gpu", "l4", "--framework", "vllm", "--workload", "qwen3_30b_a3b", "--weights",
                 "int4", "--context", "512,65536", "--verbose"}));
  add(in_formats("inspect/unknown-operators", {"inspect", "net-unknown.onnx"}, kFormats));
  add(in_formats("inspect/embedding_classifier", {"inspect", "embedding_classifier", "--batch", "1,8"},
                 kFormats));
  add(in_formats("list/all", {"--list"}, kFormats));
  add(in_formats("list/gpus", {"--list", "--gpus"}, kFormats));
  add(in_widths("inspect/on-a-gpu", {"inspect", "resnet50", "--device", "rtx3070", "--batch", "1,32"}));
  const Arguments dry{"--dry-run", "--device", "t4",      "--workload", "resnet50",
                      "--mode",    "train",    "--batch", "1:64:x4",    "--sweep"};
  add(in_formats("dry-run/batch", dry + Arguments{"batch"}, kFormats));
  const Arguments on_cpu{"--dry-run", "--device", "cpu", "--memory-cap", "8GiB", "--sweep"};
  add(in_formats("dry-run/cards", on_cpu + Arguments{"cards", "--workload", "embedding_classifier"},
                 kFormats));
  add(in_formats("dry-run/collectives", on_cpu + Arguments{"collectives", "--sizes", "64B,64MiB"}, kFormats));
  add(in_formats("dry-run/memory", dry + Arguments{"memory"}, kFormats));
  for (const std::string sweep : {"kernels", "transfer"}) {
    add(in_formats("dry-run/" + sweep, dry + Arguments{sweep}, kFormats));
  }
  add(in_formats("dry-run/workers",
                 on_cpu + Arguments{"workers", "--simulate", "--samples", "samples.json", "--workers",
                                    "0,1,2", "--demand", "t4=400/s"},
                 kFormats));
  add(in_formats("list/own-gpus", {"--list", "--gpus", "gpus.json"}, kFormats));
  const Arguments fits{"--sweep", "memory",       "--device", "rtx3070",  "--mode",
                       "train",   "--memory-cap", "8GB",      "--dry-run"};
  add(in_widths("dry-run/memory-fits", fits + Arguments{"--workload", "resnet50"}));
  add(in_widths("dry-run/memory-too-large",
                fits + Arguments{"--workload", "resnet50", "--optimizer", "adam", "--batch", "96"}));
  add(in_widths("dry-run/memory-of-a-language-model",
                {"--sweep", "memory", "--device", "t4", "--workload", "bert_base", "--mode", "train",
                 "--optimizer", "adam", "--dry-run"}));
  add(in_widths("dry-run/memory-of-a-file",
                fits + Arguments{"--onnx", "net.onnx", "--optimizer", "sgd", "--batch", "32"}));
  add(in_widths("dry-run/onnx",
                {"--sweep", "batch", "--device", "t4", "--onnx", "net.onnx", "--batch", "1,8", "--dry-run"}));
  add(in_widths("dry-run/own-gpu", {"--sweep", "batch", "--device", "mine", "--gpus", "gpus.json",
                                    "--workload", "resnet18", "--batch", "1,8", "--dry-run"}));
  add(in_widths("help/bench", {"--help"}));
  add(in_widths("help/onnx", {"--onnx", "net.onnx", "--help"}));
  add(in_widths("help/sweep-transfer-verbose", {"--sweep", "transfer", "--help", "--verbose"}));
  add(in_widths("help/sweep-batch-of-conv2d", {"--sweep", "batch", "--workload", "conv2d", "--help"}));
  for (const std::string workload : {"resnet18", "conv2d"}) {
    add(in_widths("help/workload-" + workload, {"--workload", workload, "--help"}));
  }
  add(in_widths("help/bench-verbose", {"--help", "--verbose"}));
  add(in_widths("help/explain", {"--explain"}));
  for (const std::string command : {"compare", "ab", "advise", "predict", "evaluate", "report", "inspect"}) {
    add(in_widths("help/" + command, {command, "--help"}));
  }
  add(in_widths("help/predict-generation", {"predict", "--workload", "llama3.1_8b", "--help"}));
  for (const std::string sweep :
       {"batch", "cards", "collectives", "kernels", "memory", "transfer", "workers"}) {
    add(in_widths("help/sweep-" + sweep, {"--sweep", sweep, "--help"}));
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Commands, Pages, ::testing::ValuesIn(pages()));

// What a sweep prints at its end, of its points alone.
struct End {
  std::string document;
  bool interrupted = false;
  bool with_flags = false;  // its points get those of batch-flags.json, in turn
};

const std::vector<End> kEnds{{.document = "batch"},
                             {.document = "batch-flags"},
                             {.document = "batch-capped"},
                             {.document = "batch-interrupted", .interrupted = true},
                             {.document = "batch-predicted"},
                             {.document = "cards"},
                             {.document = "cards-interrupted", .interrupted = true},
                             {.document = "collectives"},
                             {.document = "collectives-interrupted", .interrupted = true},
                             {.document = "collectives-turns"},
                             {.document = "kernels"},
                             {.document = "kernels-interrupted", .interrupted = true},
                             {.document = "kernels-predicted"},
                             {.document = "memory"},
                             {.document = "memory-interrupted", .interrupted = true},
                             {.document = "memory-predicted"},
                             {.document = "../transfer"},
                             {.document = "transfer-interrupted", .interrupted = true},
                             {.document = "transfer-predicted"},
                             {.document = "workers"},
                             {.document = "workers-demand"},
                             {.document = "workers-gpus"},
                             {.document = "workers-interrupted", .interrupted = true},
                             {.document = "workers-predicted"},
                             {.document = "workers-simulated"},
                             {.document = "cards-capped"},
                             {.document = "collectives-capped"},
                             {.document = "kernels-capped"},
                             {.document = "memory-capped"},
                             {.document = "transfer-capped"},
                             {.document = "workers-capped"},
                             {.document = "cards", .with_flags = true},
                             {.document = "collectives", .with_flags = true},
                             {.document = "kernels", .with_flags = true},
                             {.document = "memory", .with_flags = true},
                             {.document = "../transfer", .with_flags = true},
                             {.document = "workers", .with_flags = true}};

// A stored result with what its sweep makes of it.
struct Answered {
  ResultDocument document;
  std::vector<TextTable> tables;
  bool interrupted;
  bool other_figures;

  std::string text(bool verbose, std::size_t width) const {
    const auto interruption = interrupted ? std::make_unique<testing::Interruption>() : nullptr;
    return page_text(result_page(document, tables, verbose), width);
  }
};

Answered answered(const End& end) {
  ResultDocument document = read_result(kGolden / "documents" / (end.document + ".json"));
  if (end.with_flags) {
    const ResultDocument flagged = read_result(kGolden / "documents/batch-flags.json");
    for (std::size_t i = 0; i < document.points.size(); ++i) {
      document.points[i].validity.flags = flagged.points[i % flagged.points.size()].validity.flags;
    }
  }
  std::vector<const char*> words;
  for (const std::string& word : document.context.argv) {
    words.push_back(word.c_str());
  }
  Options options = parse_options(static_cast<int>(words.size()), words.data());
  options.memory_caps = {document.sweep.memory_cap_bytes.value()};  // as on the machine that measured it
  const auto device = open_asked_device(options);
  const ManualClock clock;
  const SweepType& type = *registry<SweepType>().find(document.sweep.name);
  const SweepRequest request = make_request(options, type, *device, clock);
  const auto sweep = type.make(request, *device);
  sweep->plan();
  sweep->predict([] { return std::nullopt; });
  sweep->restore(document);
  const auto interruption = end.interrupted ? std::make_unique<testing::Interruption>() : nullptr;
  document.findings = sweep->findings(document);
  if (device->model() != nullptr) {
    mark_as_predicted(document.findings);
  }
  std::vector<TextTable> tables = sweep->tables(document);
  const bool other_figures = !plans_alike(document.context, *device);
  return {std::move(document), std::move(tables), end.interrupted, other_figures};
}

// Whose JSON is a page too, of each sweep: those in which this machine's plans have no part.
const std::set<std::string> kAsJson{
    "batch-predicted",    "cards",           "cards-capped",   "collectives",
    "collectives-capped", "kernels",         "kernels-capped", "memory-predicted",
    "../transfer",        "transfer-capped", "workers",        "workers-capped"};

// Of the pages of an end.
std::vector<std::string> endings_of(const End& end) {
  std::vector<std::string> endings{".txt", ".80.txt", ".md", ".csv"};
  const bool is_of_a_part = end.with_flags || end.document.ends_with("-capped");
  if (!is_of_a_part || end.document == "batch-capped") {
    endings.insert(endings.end(), {"-verbose.txt", "-verbose.80.txt"});
  }
  if (kAsJson.contains(end.document)) {
    endings.emplace_back(".json");
  }
  return endings;
}

std::string file_of(const End& end, const std::string& ending) {
  return fmt::format("sweep/{}{}{}", fs::path(end.document).filename().string(),
                     end.with_flags ? "-flags" : "", ending);
}

std::string page_of(const Answered& end, const std::string& ending) {
  if (ending == ".csv") {
    return result_csv(end.document);
  }
  if (ending == ".json") {
    return inert_json(ResultText().of(end.document));
  }
  if (ending == ".md") {
    std::vector<report::ReportedResult> results{{.json = to_json(end.document), .document = end.document}};
    return report::report_markdown(report::report_of(results, std::nullopt));
  }
  return end.text(ending.starts_with("-verbose"), ending.ends_with(".80.txt") ? 80 : 100);
}

TEST(PagesOfSweeps, AreAsBefore) {
  const Surroundings here(100);
  for (const End& end : kEnds) {
    const Answered known = answered(end);
    for (const std::string& ending : endings_of(end)) {
      expect_page(file_of(end, ending), page_of(known, ending), known.other_figures);
    }
  }
}

// Wider than any terminal, narrower than any that pages are read in, and what lies between.
TEST(PagesOfAll, KeepToTheWidth) {
  for (const std::size_t width : {60U, 80U, 100U, 200U}) {
    const Surroundings here(static_cast<int>(width));
    for (const End& end : kEnds) {
      const Answered known = answered(end);
      for (const bool verbose : {false, true}) {
        expect_width(known.text(verbose, width), width, end.document);
      }
    }
    for (const Page& page : pages()) {
      const bool is_wide =
          page.columns == 100 && page.file.ends_with(".txt") && page.file.find("github") == std::string::npos;
      if (is_wide) {
        Arguments arguments = page.arguments;
        std::ranges::replace(arguments, std::string("OUT"), here.out());
        const Ended ended = run_bench(arguments);
        expect_width(ended.out + ended.err, width, page.file);
      }
    }
  }
}

// What a run prints: at most five findings of two lines at most, one table, one line of warnings.
TEST(PagesOfSweeps, AreReadInTenSeconds) {
  for (const auto& entry : fs::directory_iterator(kGolden / "pages/sweep")) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".txt") || file.ends_with(".80.txt") || file.find("-verbose") != std::string::npos) {
      continue;
    }
    std::istringstream page(read_file(entry.path()));
    std::size_t findings = 0;
    std::size_t warnings = 0;
    std::size_t left_out = 0;
    std::size_t tables = 0;
    std::size_t lines = 0;  // of a finding or of a warning
    std::string first;      // of these lines
    bool begins = true;     // a part of the page
    for (std::string line; std::getline(page, line);) {
      const bool is_sentence =
          line.starts_with("* ") || line.starts_with("Warning:") || line.starts_with("✕ ");
      tables += begins && !line.empty() && !is_sentence ? 1 : 0;
      begins = line.empty();
      findings += line.starts_with("* ") ? 1 : 0;
      warnings += line.starts_with("Warning:") ? 1 : 0;
      left_out += line.starts_with("✕ ") ? 1 : 0;
      lines = line.starts_with("  ") ? lines + 1 : 1;
      first = is_sentence ? line : lines == 1 ? "" : first;
      EXPECT_LE(lines, first.starts_with("* ") ? 2U : first.empty() ? lines : 1U) << file << ": " << first;
    }
    EXPECT_LE(findings, 5U) << file;
    EXPECT_LE(warnings, 1U) << file;
    EXPECT_LE(left_out, 2U) << file;
    EXPECT_LE(tables, 1U) << file;
  }
}

TEST(PagesOfAll, AreMadeByATest) {
  if (pages_are_written()) {
    GTEST_SKIP() << "some may not be there yet";
  }
  std::set<std::string> expected;
  for (const Page& page : pages()) {
    EXPECT_TRUE(expected.insert(page.file).second) << page.file << " is made twice";
  }
  for (const End& end : kEnds) {
    for (const std::string& ending : endings_of(end)) {
      expected.insert(file_of(end, ending));
    }
  }
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(kGolden / "pages")) {
    const bool is_refusal = entry.path().parent_path().filename() == "refusals";  // made of what it holds
    if (entry.is_regular_file() && !is_refusal) {
      found.insert(fs::relative(entry.path(), kGolden / "pages").string());
    }
  }
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace bench::testing
