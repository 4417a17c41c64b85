// A page shows what stands in a foreign document as text, whatever it is. The stored documents are read again
// and again, each time with another of their strings or keys made hostile, in each format in turn.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include "bench/cli/csv.h"
#include "bench/cli/report.h"
#include "bench/report/report_page.h"
#include "bench/result/result_json.h"
#include "bench/run/result_file.h"
#include "bench/text/quote.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/golden_page.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kDocuments = BENCH_TEST_SOURCE_DIR "/tests/golden/documents";
// An escape of the terminal, one that turns the writing direction, markup, a table's bar, the end of an
// attribute and of a cell, a line's end and a formula, which also begins a text.
const std::string kHostile = "\x1b[31m\u202E<script>|x\",\n=1+1";
const std::string kFormula = "=1+1|";

struct Place {
  Json::json_pointer at;  // of the string, or of the object whose key it is
  std::string key{};      // empty: a string
  bool begins = false;    // a string that begins with a formula
};

// Whether pages repeat what stands under the key.
bool is_shown(const std::string& key) {
  static const std::set<std::string> shown{
      "action", "chip",    "claim",      "framework", "host",  "id",          "label", "name",    "reason",
      "status", "subject", "model_type", "text",      "title", "torch_dtype", "value", "workload"};
  return shown.contains(key);
}

// Of whose elements pages repeat each.
bool is_list_shown(const Json::json_pointer& at) {
  const std::string place = at.to_string();
  return place.find("/caveats/") != std::string::npos || place.find("/names/") != std::string::npos;
}

// The strings that pages repeat, their keys and those at the top. The first element of an array stands for
// all.
void add_places(const Json& json, const Json::json_pointer& at, std::vector<Place>& places) {
  if (json.is_string() && (at.empty() || is_shown(at.back()) || is_list_shown(at))) {
    places.push_back({.at = at});
    places.push_back({.at = at, .begins = true});
  } else if (json.is_array() && !json.empty()) {
    add_places(json.front(), at / 0, places);
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      if (is_shown(key) || at.empty()) {
        places.push_back({.at = at, .key = key});
      }
      add_places(value, at / key, places);
    }
  }
}

Json made_hostile(Json document, const Place& place) {
  Json& json = document[place.at];
  if (place.key.empty()) {
    json = place.begins ? kFormula + json.get<std::string>() : json.get<std::string>() + kHostile;
  } else {
    json[place.key + kHostile] = json.at(place.key);
    json.erase(place.key);
  }
  return document;
}

bool is_inert(const std::string& text) {
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F) {
      return false;
    }
  }
  return text.find("\u202E") == std::string::npos && text.find('\xff') == std::string::npos;
}

// Of a line of CSV, or of a table's row in Markdown.
std::size_t cells_in(const std::string& line, char between) {
  std::size_t cells = 1;
  bool quoted = false;
  for (const char c : line) {
    quoted = quoted != (c == '"' && between == ',');
    cells += c == between && !quoted ? 1 : 0;
  }
  return cells;
}

// Each row of a table has as many cells as the one before.
bool has_whole_rows(const std::string& text, char between) {
  std::istringstream lines(text);
  std::size_t before = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool is_row = between == ',' || line.starts_with("| ");
    const std::size_t cells = is_row ? cells_in(line, between) : 0;
    if (before > 0 && cells > 0 && cells != before) {
      return false;
    }
    before = cells;
  }
  return true;
}

// Nothing that a browser runs, no end of an attribute, no formula at the beginning of a cell, whole rows.
bool is_markup_inert(const std::string& format, const std::string& text) {
  if (format == "csv") {
    return ("\n" + text).find("\n=1") == std::string::npos && text.find(",=1") == std::string::npos &&
           has_whole_rows(text, ',');
  }
  const bool is_markup = format == "html" || format == "markdown" || format == "junit";
  return !is_markup ||
         (text.find("<script") == std::string::npos &&
          (format == "markdown" ? has_whole_rows(text, '|') : text.find("x\",") == std::string::npos));
}

void expect_inert(const Ended& ended, const std::string& format, const std::string& what) {
  EXPECT_TRUE(ended.code >= 0 && ended.code <= 4) << what << ": " << ended.code;
  EXPECT_TRUE(is_inert(ended.out + ended.err)) << what << "\n" << ended.out << ended.err;
  EXPECT_TRUE(is_markup_inert(format, ended.out)) << what << "\n" << ended.out;
  EXPECT_TRUE(format != "json" || ended.out.empty() || Json::accept(ended.out)) << what << "\n" << ended.out;
}

// Of the command.
std::vector<std::string> formats_of(const std::string& command) {
  return command == "inspect" ? std::vector<std::string>{"table", "markdown", "json", "csv"}
         : command == "compare"
             ? std::vector<std::string>{"text", "markdown", "junit", "github", "csv", "json"}
         : command == "report" ? std::vector<std::string>{"html", "markdown", "json", "csv"}
                               : std::vector<std::string>{"text", "markdown", "json", "csv"};
}

struct Reader {
  std::string document;
  std::vector<Arguments> commands;  // FILE: the hostile document
};

TEST(HostilePages, AreTextOfTheirWriters) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "hostile.json").string();
  const std::string batch = kDocuments / "batch.json";
  const std::string training = kDocuments / "batch-train.json";
  const std::string out = folder.path() / "out";
  const std::string slow = (kDocuments / "links.json").string() + ":slow";
  const std::vector<Reader> readers{
      {"batch",
       {{"compare", "FILE", kDocuments / "batch-again.json", "--verbose"},
        {"evaluate", "--no-plot", "--out", out, "FILE"},
        {"report", "FILE"}}},
      {"batch-train", {{"advise", "FILE"}, {"predict", "--from", "FILE", "--cards", "2", "--link", slow}}},
      {"batch-predicted", {{"evaluate", "--no-plot", "--out", out, "FILE"}}},
      {"cards", {{"advise", "FILE"}}},
      {"collectives", {{"predict", "--from", training, "--cards", "2", "--link", "FILE"}}},
      {"kernels", {{"report", "FILE"}}},
      {"answers/evaluation", {{"report", "FILE"}}},
      {"answers/comparison", {{"report", "FILE"}}},
      {"answers/advice", {{"report", "FILE"}}},
      {"memory", {{"advise", training, "FILE"}}},
      {"workers", {{"advise", training, "FILE"}}},
      {"readings", {{"advise", "--observed", "FILE"}}},
      {"readings-cards", {{"advise", "--observed", "FILE"}}},
      {"gpus",
       {{"predict", "--gpus", "FILE", "--gpu", "mine", "--workload", "resnet18"},
        {"--list", "--gpus", "FILE"}}},
      {"gpu", {{"predict", "--gpu", "FILE", "--workload", "resnet18"}}},
      {"language-model", {{"predict", "--model", "FILE", "--gpu", "t4"}}},
      {"links", {{"predict", "--from", training, "--cards", "2", "--link", "FILE:rack"}}}};
  std::size_t runs = 0;
  std::size_t shown = 0;
  std::set<std::string> answered;  // "report of kernels", with " refused" where it was
  for (const Reader& reader : readers) {
    Json document = Json::parse(read_file(kDocuments / (reader.document + ".json")));
    if (std::ranges::count(reader.commands.front(), "--observed") > 0) {
      document["subject"] = "a run";  // what of readings a page repeats
    }
    std::vector<Place> places;
    add_places(document, Json::json_pointer(), places);
    for (const Place& place : places) {
      write_file(file, made_hostile(document, place).dump());
      for (Arguments arguments : reader.commands) {
        for (std::string& argument : arguments) {
          argument = replaced(argument, "FILE", file);
        }
        const std::vector<std::string> formats = formats_of(arguments.front());
        const std::string& format = formats[runs % formats.size()];
        arguments.insert(arguments.begin() + 1, {"--format", format});
        const Ended ended = run_bench(arguments);
        const std::string what = fmt::format("{} of {} as {}: {}/{}", arguments.front(), reader.document,
                                             format, place.at.to_string(), place.key);
        expect_inert(ended, format, what);
        constexpr int kRefused = 2;
        answered.insert(fmt::format("{} of {}{}", arguments.front(), reader.document,
                                    ended.code == kRefused ? " refused" : ""));
        ++runs;
        const std::string said = ended.out + ended.err;
        shown += said.find("1b[31m") != std::string::npos || said.find("1+1") != std::string::npos ? 1 : 0;
      }
    }
  }
  for (const Reader& reader : readers) {
    for (const Arguments& arguments : reader.commands) {
      const std::string command = fmt::format("{} of {}", arguments.front(), reader.document);
      EXPECT_TRUE(answered.contains(command)) << command << " showed no page";
    }
  }
  EXPECT_GT(runs, 300U);
  EXPECT_GT(shown, 40U) << "pages show few of the hostile texts";
}

// Hostile names of files, and of what stands in a network.
TEST(HostilePages, NamesAreText) {
  const TemporaryFolder folder;
  const Surroundings here(100);
  fs::current_path(folder.path());
  const auto stored = [](const char* document) { return read_file(kDocuments / document); };
  std::string network = stored("net-unknown.onnx");  // names of the same length
  for (const auto& [name, hostile] : {std::pair{"NoSuchOperator", "<script>|x\",\n\xff"},
                                      std::pair{"second", "=1+1|\xff"}, std::pair{"first", "\x1b[31m"}}) {
    network = replaced(network, name, hostile);
  }
  std::string inputs = replaced(stored("net.onnx"), "images", "=1|\"\x1b\xff");
  struct Case {
    std::string content;
    std::string ending;
    Arguments arguments;  // FILE: the name
  };
  const Arguments small{"--workload", "resnet18"};
  const std::vector<Case> cases{
      {stored("batch.json"), "json", {"compare", "FILE", kDocuments / "batch-again.json"}},
      {stored("batch.json"), "json", {"evaluate", "--no-plot", "--out", "out", "FILE"}},
      {stored("batch.json"), "json", {"report", "FILE"}},
      {stored("batch-train.json"), "json", {"advise", "FILE"}},
      {stored("readings.json"), "json", {"advise", "--observed", "FILE"}},
      {stored("collectives.json"),
       "json",
       {"predict", "--from", kDocuments / "batch-train.json", "--cards", "2", "--link", "FILE"}},
      {stored("gpu.json"), "json", Arguments{"predict", "--gpu", "FILE"} + small},
      {stored("gpus.json"), "json", Arguments{"predict", "--gpu", "mine", "--gpus", "FILE"} + small},
      {stored("gpus.json"), "json", {"--list", "--gpus", "FILE"}},
      {stored("language-model.json"), "json", {"predict", "--model", "FILE", "--gpu", "t4"}},
      {stored("net.onnx"), "onnx", {"inspect", "FILE"}},
      {inputs, "onnx", {"inspect", "FILE"}},
      {network, "onnx", {"inspect", "FILE"}},
      {inputs, "onnx", {"predict", "--gpu", "t4", "--onnx", "FILE"}},
      {inputs, "onnx", {"--sweep", "batch", "--device", "t4", "--dry-run", "--onnx", "FILE"}},
      {"no document", "json", {"report", "FILE"}}};
  for (const std::string& name :
       {kHostile, kFormula, std::string("-rf \"a\",b=c"), std::string("\xff"), std::string(200, '|')}) {
    for (const Case& one : cases) {
      const std::string file = fmt::format("{}{}.{}", name.starts_with('-') ? "./" : "", name, one.ending);
      write_file(folder.path() / file, one.content);
      Arguments arguments = one.arguments;
      std::ranges::replace(arguments, std::string("FILE"), file);
      for (const std::string& format : formats_of(arguments.front())) {
        Arguments asked = arguments;
        asked.push_back("--format=" + format);
        expect_inert(run_bench(asked), format,
                     fmt::format("{} as {} of '{}'", fmt::join(one.arguments, " "), format, printable(name)));
      }
    }
  }
}

TEST(HostilePages, PathsOfTheEnvironmentAreText) {
  const TemporaryFolder folder;
  const OtherVariable cache("XDG_CACHE_HOME", (folder.path() / kHostile).string());
  const OtherVariable data("XDG_DATA_HOME", (folder.path() / kHostile).string());
  for (const std::string format : {"text", "markdown", "csv", "json"}) {
    const Ended ended = run_bench({"--list", "--format", format});
    expect_inert(ended, format, "--list as " + format);
    EXPECT_EQ(ended.out.find("1b[31m") != std::string::npos, format == "text" || format == "json")
        << ended.out;
  }
}

// A file has all points; a page that is read says how many there are.
TEST(HostilePages, OfTenThousandPointsAreCompleteOrSayWhatTheyLeaveOut) {
  constexpr std::size_t kPoints = 10'000;
  ResultDocument document = read_result(kDocuments / "batch.json");
  Point point = document.points.front();
  point.params["label"] = kHostile;
  document.points.clear();
  for (std::size_t i = 1; i <= kPoints; ++i) {
    point.params["batch"] = i;
    point.name = fmt::format("{}/{}", kHostile, i);
    document.points.push_back(point);
  }
  std::vector<report::ReportedResult> results{{.json = to_json(document), .document = document}};
  const report::Report report = report::report_of(results, std::nullopt);
  const std::map<std::string, std::string> pages{{"text", page_text(result_page(document, {}, true), 100)},
                                                 {"markdown", report::report_markdown(report)},
                                                 {"html", report::report_html(report, results)},
                                                 {"csv", result_csv(document)},
                                                 {"json", inert_json(ResultText().of(document))}};
  for (const auto& [format, text] : pages) {
    EXPECT_TRUE(is_inert(text)) << format;
    EXPECT_TRUE(is_markup_inert(format, text)) << format;
  }
  const auto lines = [&](const char* format) {
    return static_cast<std::size_t>(std::ranges::count(pages.at(format), '\n'));
  };
  EXPECT_GE(lines("text"), kPoints);
  EXPECT_EQ(lines("csv"), 1 + kPoints + document.unmeasured.size());
  EXPECT_EQ(Json::parse(pages.at("json"))["benchmarks"].size(), kPoints);
  EXPECT_LE(pages.at("html").size(), report::page_limit(1));
  EXPECT_NE(pages.at("html").find("of 10000 rows; the result file has all"), std::string::npos);
  EXPECT_NE(pages.at("markdown").find("and 9900 more rows"), std::string::npos);
}

}  // namespace
}  // namespace bench::testing
