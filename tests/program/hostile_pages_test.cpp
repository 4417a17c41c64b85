// A page shows what stands in a foreign document as text, whatever it is. The stored documents are read again
// and again, each time with another of their strings or keys made hostile, in each format in turn.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "bench/cli/csv.h"
#include "bench/cli/report.h"
#include "bench/report/report_page.h"
#include "bench/result/result_json.h"
#include "bench/run/result_file.h"
#include "bench/text/quote.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kDocuments = BENCH_TEST_SOURCE_DIR "/tests/golden/documents";
// An escape of the terminal, one that turns the writing direction, markup, a table's bar, a line's end and a
// formula, which also begins a text.
const std::string kHostile = "\x1b[31m\u202E<script>|x\n=1+1";
const std::string kFormula = "=1+1|";

struct Place {
  Json::json_pointer at;  // of the string, or of the object whose key it is
  std::string key{};      // empty: a string
  bool begins = false;    // a string that begins with a formula
};

// Whether pages repeat what stands under the key.
bool is_shown(const std::string& key) {
  static const std::set<std::string> shown{"action", "claim", "framework", "host",   "id",
                                           "label",  "name",  "reason",    "status", "text",
                                           "title",  "value", "workload"};
  return shown.contains(key);
}

// The strings that pages repeat, their keys and those at the top. The first element of an array stands for
// all.
void add_places(const Json& json, const Json::json_pointer& at, std::vector<Place>& places) {
  if (json.is_string() &&
      (at.empty() || is_shown(at.back()) || at.to_string().find("/caveats/") != std::string::npos)) {
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
  return text.find("\u202E") == std::string::npos;
}

// Nothing that a browser runs, and no formula at the beginning of a cell.
bool is_markup_inert(const std::string& format, const std::string& text) {
  return format == "csv"
             ? ("\n" + text).find("\n=1") == std::string::npos && text.find(",=1") == std::string::npos
         : format == "html" || format == "markdown" ? text.find("<script") == std::string::npos
                                                    : true;
}

// Of the command.
std::vector<std::string> formats_of(const std::string& command) {
  return command == "compare"
             ? std::vector<std::string>{"table", "markdown", "junit", "github", "csv", "json"}
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
  const std::vector<Reader> readers{
      {"batch",
       {{"compare", "FILE", kDocuments / "batch-again.json", "--verbose"},
        {"evaluate", "--no-plot", "--out", out, "FILE"},
        {"report", "FILE"}}},
      {"batch-train",
       {{"advise", "FILE"}, {"predict", "--from", "FILE", "--gpu", "t4", "--workload", "resnet18"}}},
      {"batch-predicted", {{"evaluate", "--no-plot", "--out", out, "FILE"}}},
      {"cards", {{"advise", "FILE"}}},
      {"collectives", {{"predict", "--from", training, "--cards", "2", "--link", "FILE"}}},
      {"kernels", {{"report", "FILE"}}},
      {"memory", {{"advise", training, "FILE"}}},
      {"workers", {{"advise", training, "FILE", "--verbose"}}},
      {"readings", {{"advise", "--observed", "FILE"}}},
      {"readings-cards", {{"advise", "--observed", "FILE"}}},
      {"gpus", {{"predict", "--gpus", "FILE", "--gpu", "mine", "--workload", "resnet18"}}},
      {"links", {{"predict", "--from", training, "--cards", "2", "--link", "FILE:slow"}}}};
  std::size_t runs = 0;
  std::size_t shown = 0;
  for (const Reader& reader : readers) {
    const Json document = Json::parse(read_file(kDocuments / (reader.document + ".json")));
    std::vector<Place> places;
    add_places(document, Json::json_pointer(), places);
    for (const Place& place : places) {
      write_file(file, made_hostile(document, place).dump());
      for (Arguments arguments : reader.commands) {
        std::ranges::replace(arguments, std::string("FILE"), file);
        const std::vector<std::string> formats = formats_of(arguments.front());
        const std::string& format = formats[runs % formats.size()];
        arguments.insert(arguments.begin() + 1, {"--format", format});
        const Ended ended = run_bench(arguments);
        const std::string what = fmt::format("{} of {} as {}: {}/{}", arguments.front(), reader.document,
                                             format, place.at.to_string(), place.key);
        EXPECT_TRUE(ended.code >= 0 && ended.code <= 4) << what << ": " << ended.code;
        EXPECT_TRUE(is_inert(ended.out + ended.err)) << what << "\n" << ended.out << ended.err;
        EXPECT_TRUE(is_markup_inert(format, ended.out)) << what << "\n" << ended.out;
        ++runs;
        shown += (ended.out + ended.err).find("x1b[31m") != std::string::npos ||
                         ended.out.find("\\u001b[31m") != std::string::npos
                     ? 1
                     : 0;
      }
    }
  }
  EXPECT_GT(runs, 300U);
  EXPECT_GT(shown, 40U) << "pages show few of the hostile texts";
}

// A file has all points; a page that is read says how many there are.
TEST(HostilePages, OfTenThousandPointsAreCompleteOrSayWhatTheyLeaveOut) {
  constexpr std::size_t kPoints = 10'000;
  ResultDocument document = read_result(kDocuments / "batch.json");
  MeasuredPoint point = document.benchmarks.front();
  point.params["label"] = kHostile;
  document.benchmarks.clear();
  for (std::size_t i = 1; i <= kPoints; ++i) {
    point.params["batch"] = i;
    point.name = fmt::format("{}/{}", kHostile, i);
    document.benchmarks.push_back(point);
  }
  std::vector<report::ReportedResult> results{{.json = to_json(document), .document = document}};
  const report::Report report = report::report_of(results, std::nullopt);
  const std::map<std::string, std::string> pages{
      {"text", page_text(result_page(document, {}, true, false), 100)},
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
