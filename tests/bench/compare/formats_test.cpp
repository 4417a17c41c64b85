#include "bench/compare/formats.h"

#include <algorithm>

#include <gmock/gmock.h>

#include "bench/compare/wording.h"
#include "bench/text/escape.h"
#include "bench/text/lines.h"
#include "tests/bench/compare/runs.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/schema.h"

namespace bench::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

const std::string kHostile =
    "batch/<script>alert(1)</script>\n::error::|`*_[x](http://y)@someone #1 %0A\x1b[31m\"'&\xff";

// A slower point, a hungrier one, one that is gone, and names that mean harm.
Judgement hostile_judgement() {
  std::vector<ComparedRun> base = five_runs("a");
  std::vector<ComparedRun> next = five_runs("b", {{point_name(2), 1.08}});
  for (ComparedRun& run : next) {
    run.points[1].tracked_bytes *= 2;
    run.context.software["driver"] = kHostile;
  }
  for (std::vector<ComparedRun>* const side : {&base, &next}) {
    for (ComparedRun& run : *side) {
      run.points[2].name = kHostile;
      run.sweep.workload = kHostile;
      run.context.device.name = kHostile;
    }
  }
  for (ComparedRun& run : next) {
    run.points.erase(run.points.begin());
  }
  return judge(match_runs(base, next, {}), {});
}

std::vector<std::string> lines_in(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

bool has_controls(const std::string& text) {
  return std::ranges::any_of(text, [](char c) { return (c >= 0 && c < 0x20 && c != '\n') || c == 0x7F; });
}

TEST(CompareFormats, NoControlCharacterPasses) {
  const Judgement judgement = hostile_judgement();
  for (const std::string& text : {as_table(judgement, 100, true), as_markdown(judgement, true),
                                  as_junit(judgement), as_github(judgement, true), as_json(judgement)}) {
    EXPECT_FALSE(has_controls(text)) << text;
    EXPECT_NO_THROW(Json(text).dump()) << "UTF-8";
  }
}

TEST(CompareFormats, AChangeTooSmallForPercentAndOneTooLargeForAMultipleStayReadable) {
  MetricChange bytes{.metric = Metric::tracked, .verdict = Verdict::hungrier, .base = 4e8, .next = 4e8 + 64};
  EXPECT_EQ(change_in_words(bytes), "+64 B");
  bytes.next = 4e8 - 64;
  EXPECT_EQ(change_in_words(bytes), "-64 B");
  bytes.next = 4.4e8;
  EXPECT_EQ(change_in_words(bytes), "+10 %");
  bytes.next = bytes.base;
  EXPECT_EQ(change_in_words(bytes), "+0.0 %");
  EXPECT_EQ(signed_percent(12), "12×");
  EXPECT_EQ(signed_percent(6e10), "over 1000×");
}

TEST(CompareFormats, TableHasFivePointsUnlessAllAreAskedFor) {
  std::vector<ComparedRun> base;
  std::vector<ComparedRun> next;
  for (int run = 0; run < 5; ++run) {
    Medians medians;
    for (int point = 0; point < 20; ++point) {
      medians[point_name(point)] = 10 * (1 + 0.001 * ((run * 3 + point) % 4));
    }
    base.push_back(compared_run_of("a" + std::to_string(run), medians));
    next.push_back(compared_run_of("b" + std::to_string(run), medians));
  }
  const Judgement judgement = judge(match_runs(base, next, {}), {});
  const auto rows = [&](bool verbose) {
    const std::vector<std::string> lines = lines_in(as_table(judgement, 100, verbose));
    return std::ranges::count_if(lines, [](const std::string& line) { return line.starts_with("same"); });
  };
  EXPECT_EQ(rows(false), 5);
  EXPECT_EQ(rows(true), 20);
  expect_words(as_table(judgement, 100, false));
  for (const std::string& line : lines_in(as_table(judgement, 100, false))) {
    EXPECT_LE(columns(line), 100U) << line;
  }
}

TEST(CompareFormats, TableShowsTimeMemoryAndThroughput) {
  const std::string table = as_table(hostile_judgement(), 200, true);
  expect_words(table);
}

TEST(CompareFormats, NoSentenceAboutNoiseSpeaksOfThePointThatIsSlower) {
  Judgement judgement;
  judgement.code = ExitCode::regression;
  judgement.points = {{.name = "a", .verdict = Verdict::slower},
                      {.name = "b", .verdict = Verdict::inconclusive}};
  judgement.counts = {{Verdict::slower, 1}, {Verdict::inconclusive, 1}};
  judgement.smallest_change = judgement.smallest_change_of_half = 12;
  EXPECT_EQ(headlines(judgement).back(),
            "At 1 inconclusive point these runs are too few or too noisy to show even a tenfold slowdown");
  judgement.code = ExitCode::inconclusive;
  judgement.points.erase(judgement.points.begin());
  judgement.counts = {{Verdict::inconclusive, 1}};
  EXPECT_EQ(headlines(judgement).back(),
            "These runs are too few or too noisy to show even a tenfold slowdown");
}

TEST(CompareFormats, NamesOfAlgorithmsAreForThoseWhoAskForAll) {
  Judgement judgement;
  judgement.differences = {{"driver", "1", "2"}, {"algorithms of x", "3 jit", "1 wino", true}};
  EXPECT_EQ(headlines(judgement).back(), "Different: driver 1 → 2; 1 more");
  expect_words(as_table(judgement, 100, false));
  expect_words(as_table(judgement, 100, true));
  judgement.differences.erase(judgement.differences.begin());
  EXPECT_EQ(headlines(judgement).back(), "Different: algorithms (--verbose)");
}

// What the change leaves out, or what the numbers next to it are not, is said below them.
TEST(CompareFormats, AChangeThatIsNotOfTheNumbersShownSaysOfWhat) {
  Judgement judgement;
  MetricChange change{.verdict = Verdict::faster, .base = 100, .next = 66};
  change.estimate.ratio.value = 0.66;
  judgement.suites = {{.name = "batch", .device = "cpu"}};
  judgement.points = {{.name = "a", .verdict = Verdict::faster, .changes = {change}}};
  expect_words(as_table(judgement, 100, false));
  judgement.points[0].changes[0].estimate.ratio.value = 0.8;
  expect_words(as_table(judgement, 100, false));
  judgement.suites[0].common.emplace().ratio.value = 0.825;
  judgement.suites[0].common_share = 1;
  judgement.points[0].changes[0].shared = 0.825;
  expect_words(as_table(judgement, 100, false));
  expect_words(explanation(judgement.points[0]));
  judgement.points[0].changes[0].next = 80;  // nor of the medians
  expect_words(as_table(judgement, 100, false));
}

// -37 to +144 % beside "not even a tenfold slowdown".
TEST(CompareFormats, NoSentenceAboutNoiseContradictsAnInterval) {
  Judgement judgement;
  judgement.code = ExitCode::inconclusive;
  MetricChange change{.verdict = Verdict::inconclusive, .base = 100, .next = 124};
  change.estimate.ratio = {.value = 1.24, .interval = Interval{0.63, 2.44}};
  judgement.points = {{.name = "a", .verdict = Verdict::inconclusive, .changes = {change}}};
  judgement.counts = {{Verdict::inconclusive, 1}};
  judgement.smallest_change = judgement.smallest_change_of_half = 12;
  expect_words(headlines(judgement).back());
  judgement.smallest_change = judgement.smallest_change_of_half = 4;  // far beyond the interval
  expect_words(headlines(judgement).back());
  judgement.smallest_change = judgement.smallest_change_of_half = 1.8;
  expect_words(headlines(judgement).back());
  judgement.smallest_change = 12;
  expect_words(headlines(judgement).back());
}

TEST(CompareFormats, FurtherPairsSayHowLongTheyTake) {
  Judgement judgement;
  judgement.code = ExitCode::inconclusive;
  judgement.points = {{.name = "a", .verdict = Verdict::inconclusive}};
  judgement.counts = {{Verdict::inconclusive, 1}};
  judgement.further_runs = 12;
  judgement.settings.paired = true;
  judgement.settings.pair_ns = 20e9;
  expect_words(headlines(judgement).front());
}

TEST(CompareFormats, MarkdownHasNoMarkupOfOthers) {
  const std::string markdown = as_markdown(hostile_judgement(), false);
  EXPECT_THAT(markdown, StartsWith("### bench compare: regression\n"));
  for (const char* const harm : {"<script", "](", "@", "`", "*_", " #1", "&#64;s", "&#35;1", "http:"}) {
    EXPECT_THAT(markdown, Not(HasSubstr(harm)));
  }
  std::vector<std::string> rows;
  for (const std::string& line : lines_in(markdown)) {
    if (line.starts_with('|')) {
      EXPECT_EQ(std::ranges::count(line, '|'), 7) << line;
      rows.push_back(line);
    }
  }
  EXPECT_EQ(rows.size(), 2U + 4U);
}

TEST(CompareFormats, MarkdownStaysBelowACommentsLength) {
  Medians medians;
  for (int point = 0; point < 3000; ++point) {
    medians[std::string(100, '<') + std::to_string(point)] = 10;
  }
  const Judgement judgement =
      judge(match_runs({compared_run_of("a", medians)}, {compared_run_of("b", medians)}, {}), {});
  EXPECT_LT(as_markdown(judgement, true).size(), 65'536U);
}

TEST(CompareFormats, GithubCommandsAreALineEach) {
  const std::string text = as_github(hostile_judgement(), false);
  for (const std::string& line : lines_in(text)) {
    if (line.empty()) {
      continue;
    }
    EXPECT_THAT(line, ::testing::MatchesRegex("::(error|warning|notice) title=[^:,]*::.*"));
    EXPECT_THAT(line.substr(2), ::testing::Not(HasSubstr("\n")));
  }
  EXPECT_THAT(text, HasSubstr("%250A")) << "a percent sign of a name is encoded";
  EXPECT_THAT(text, StartsWith("::error title=bench compare%3A regression::"));
}

TEST(CompareFormats, JsonSaysWhatTheOthersSay) {
  const Json json = Json::parse(as_json(hostile_judgement()));
  EXPECT_EQ(json["schema"], "bench-compare/1");
  EXPECT_EQ(json["outcome"], "regression");
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["counts"]["slower"], 1);
  EXPECT_EQ(json["points"].size(), 4U);
  EXPECT_EQ(json["points"][1]["changes"][0]["metric"], "time");
  EXPECT_TRUE(json["points"][1]["changes"][0]["interval"].is_array());
  EXPECT_TRUE(json["suites"][0]["common"].is_null()) << "of three points nothing common is estimated";
}

TEST(CompareFormats, JsonFollowsItsSchema) {
  std::map<std::string, double> all;
  for (int point = 0; point < 4; ++point) {
    all[point_name(point)] = 1.1;
  }
  std::vector<ComparedRun> calibrated = five_runs("b", all);
  std::vector<ComparedRun> base = five_runs("a");
  for (std::vector<ComparedRun>* const side : {&base, &calibrated}) {
    for (ComparedRun& run : *side) {
      run.calibrations["host"] = side == &base ? 1.0 : 1.1;
      run.points[1].stall = 0.25;
    }
  }
  CompareSettings look;
  look.paired = true;
  look.look = 1;
  const std::vector<ComparedRun> other = five_runs("c", {{point_name(2), 1.08}, {point_name(1), 0.9}});
  for (const Judgement& judgement : {hostile_judgement(), judge(match_runs(base, calibrated, {}), {}),
                                     judge(match_runs(base, other, {}), look),
                                     judge(match_runs({base.front()}, {other.front()}, {}), {})}) {
    EXPECT_EQ(schema_errors(as_json(judgement), kCompareSchema), "") << as_json(judgement);
  }
}

// Two runs a side that differ a billionfold: the interval ends beyond all numbers.
TEST(CompareFormats, AnIntervalWithoutEndIsNull) {
  const auto runs = [](const std::string& id) {
    return std::vector<ComparedRun>{compared_run_of(id + "1", {{"x", 1e-3}}),
                                    compared_run_of(id + "2", {{"x", 1e6}})};
  };
  const std::string text = as_json(judge(match_runs(runs("a"), runs("b"), {}), {.alpha = 1e-4}));
  EXPECT_TRUE(Json::parse(text)["points"][0]["changes"][0]["interval"].is_null()) << text;
  EXPECT_EQ(schema_errors(text, kCompareSchema), "");
}

TEST(CompareSchema, RefusesWhatTheFormatForbids) {
  const Json sound = Json::parse(as_json(hostile_judgement()));
  const auto changed = [&](const std::string& place, const Json& value) {
    Json json = sound;
    json[Json::json_pointer(place)] = value;
    return schema_errors(json.dump(), kCompareSchema);
  };
  ASSERT_EQ(changed("/exit_code", 1), "");
  EXPECT_NE(changed("/schema", "bench-compare/2"), "");
  EXPECT_NE(changed("/exit_code", 2), "");
  EXPECT_NE(changed("/points/0/verdict", "gone"), "");
  EXPECT_NE(changed("/points/1/changes/0/interval", Json::array({1.0, nullptr})), "");
  EXPECT_NE(changed("/counts/slower", "1"), "");
  for (const std::string key : {"points", "suites", "further_runs", "counts"}) {
    Json json = sound;
    json.erase(key);
    EXPECT_NE(schema_errors(json.dump(), kCompareSchema), "") << key;
  }
  Json untested = sound;
  untested["points"][1]["changes"][0].erase("ratio");
  EXPECT_NE(schema_errors(untested.dump(), kCompareSchema), "") << "of a time";
}

TEST(CompareFormats, JunitCountsItsCases) {
  const std::string xml = as_junit(hostile_judgement());
  EXPECT_THAT(xml, HasSubstr("tests=\"4\" failures=\"3\" errors=\"0\""));
  EXPECT_THAT(xml, Not(HasSubstr("<script")));
  const std::string inconclusive =
      as_junit(judge(match_runs({five_runs("a").front()}, {five_runs("b").front()}, {}), {}));
  EXPECT_THAT(inconclusive, HasSubstr("<error type=\"inconclusive\""));
  CompareSettings allowing;
  allowing.allow_inconclusive = true;
  EXPECT_THAT(as_junit(judge(match_runs({five_runs("a").front()}, {five_runs("b").front()}, {}), allowing)),
              AllOf(HasSubstr("<skipped "), Not(HasSubstr("<error "))));
}

TEST(CompareEscapes, EachFormatKeepsForeignTextOutOfItsSyntax) {
  EXPECT_EQ(xml_text("a<b>&\"'\x01"), "a&lt;b&gt;&amp;&quot;&apos;\\x01");
  EXPECT_EQ(xml_text("\xEF\xBF\xBE"), "\xEF\xBF\xBD");
  EXPECT_EQ(markdown_text("a|b"), "a&#124;b");
  EXPECT_EQ(markdown_text("www.x.y"), "www&#46;x.y");
  EXPECT_EQ(markdown_text("<i>"), "&#60;i&#62;");
  EXPECT_EQ(markdown_text("https://x"), "https&#58;//x");
  EXPECT_EQ(markdown_text(":tada: :+1: _a_"), "&#58;tada: &#58;+1: &#95;a&#95;");
  EXPECT_EQ(markdown_text("[ ] a [b](c) [^1] [d]: e"), "&#91; ] a [b&#93;(c) &#91;&#94;1] [d&#93;: e");
  const std::string plain = "isn't it 07:48:27+00:00? batch:8 [num_workers=2, --batch 1:64:x4].";
  EXPECT_EQ(markdown_text(plain), plain);
  EXPECT_EQ(command_message("50%\n::x"), "50%25\\n::x");
  EXPECT_EQ(command_property("a:b,c"), "a%3Ab%2Cc");
  EXPECT_LT(xml_text(std::string(1'000'000, 'x')).size(), 1000U);
}

}  // namespace
}  // namespace bench::testing
