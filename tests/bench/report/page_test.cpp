// A report as HTML and Markdown: hostile names stay text, nothing is loaded, and the file keeps to its limit.
#include <gmock/gmock.h>

#include <archive.h>

#include <random>
#include <regex>

#include "bench/registry.h"
#include "bench/report/download.h"
#include "bench/report/report_page.h"
#include "bench/report/sweep_report.h"
#include "tests/bench/support/golden_words.h"
#include "tests/bench/support/sample_document.h"

namespace bench::report {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kHostile =
    "</title></style><script>alert(1)</script>\"'><img src=http://x.example/a "
    "onerror=a()>|[a](javascript:a)\x01";

ReportedResult reported(ResultDocument document) {
  Json json = to_json(document);
  return {.json = std::move(json), .document = std::move(document)};
}

std::string html_of(std::vector<ReportedResult> results) {
  const Report report = report_of(results, std::nullopt);
  return report_html(report, results);
}

Finding claimed(const std::string& name, const std::string& claim) {
  Finding finding = finding_of(name, "samples");
  finding.claim = claim;
  return finding;
}

ResultDocument hostile_document() {
  ResultDocument document = bench::testing::sample_document();
  for (std::string* const text : {&document.sweep.name, &document.sweep.workload, &document.sweep.question,
                                  &document.context.device.name, &document.context.device.id,
                                  &document.context.host.cpu, &document.sweep.mode}) {
    *text = kHostile;
  }
  document.context.software["onednn"] = kHostile;
  document.context.argv = {"bench", kHostile};
  document.sweep.workload_options[kHostile] = kHostile;
  document.points.front().name = kHostile;
  document.points.front().params[kHostile] = kHostile;
  document.points.front().validity.flags = {kHostile};
  document.unmeasured = {{.name = kHostile, .params = {{"batch", 1}}, .status = "error", .reason = kHostile}};
  document.findings = {claimed(kHostile, kHostile)};
  return document;
}

// Of a page without the data of its downloads.
std::string without_data(const std::string& html) {
  std::string text;
  std::size_t from = 0;
  for (std::size_t at = html.find("href=\"data:"); at != std::string::npos;
       at = html.find("href=\"data:", from)) {
    text += html.substr(from, at - from);
    from = html.find('"', at + 6);
  }
  return text + html.substr(from);
}

std::string unpacked(const std::string& bytes) {
  archive* const reader = archive_read_new();
  archive_read_support_filter_gzip(reader);
  archive_read_support_format_raw(reader);
  archive_read_open_memory(reader, bytes.data(), bytes.size());
  archive_entry* entry = nullptr;
  std::string text;
  if (archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
    std::string chunk(4096, '\0');
    for (la_ssize_t read = 1; read > 0;) {
      read = archive_read_data(reader, chunk.data(), chunk.size());
      text.append(chunk, 0, static_cast<std::size_t>(std::max<la_ssize_t>(read, 0)));
    }
  }
  archive_read_free(reader);
  return text;
}

const Registration<SweepReport> BENCH_REGISTERED{{.name = "advising", .recommendation = "use"}};

TEST(ReportPage, BeginsWithTheAnswer) {
  ResultDocument first = bench::testing::sample_document();
  first.findings = {claimed("ridge", "The ridge."), claimed("t0", "The fixed cost.")};
  ResultDocument second = first;
  second.sweep.name = "advising";
  second.findings = {claimed("use", "Use batch 8.")};
  std::vector<ReportedResult> results{reported(first), reported(second)};
  const Report report = report_of(results, std::nullopt);
  ASSERT_EQ(report.answer.size(), 3U);
  EXPECT_EQ(report.answer[0].claim, "Use batch 8.");
  EXPECT_EQ(report.answer[0].section, 1U);
  EXPECT_EQ(report.answer[1].claim, "The ridge.");
  const std::string html = report_html(report, results);
  EXPECT_LT(html.find("Use batch 8."), html.find("<h2>"));
  EXPECT_THAT(report_markdown(report), HasSubstr("\n1. Use batch 8."));
}

TEST(ReportPage, AnswersInFiveFindingsAtMost) {
  std::vector<ReportedResult> results;
  for (int i = 0; i < 4; ++i) {
    ResultDocument document = bench::testing::sample_document();
    document.findings = {claimed("a", "First."), claimed("b", "Second."), claimed("c", "Third.")};
    results.push_back(reported(std::move(document)));
  }
  const Report report = report_of(results, std::nullopt);
  EXPECT_EQ(report.answer.size(), 5U);
  EXPECT_EQ(report.answer[3].claim, "First.");
  EXPECT_EQ(report.answer[4].claim, "Second.");
}

TEST(ReportPage, HostileNamesStayText) {
  const std::string html = without_data(html_of({reported(hostile_document())}));
  EXPECT_THAT(html, AllOf(Not(HasSubstr("<script")), Not(HasSubstr("<img")), Not(HasSubstr("\x01"))));
  // Nothing but our own elements and attributes: each tag is of a known form.
  const std::regex tag("</?([a-z0-9]+)");
  for (auto at = std::sregex_iterator(html.begin(), html.end(), tag); at != std::sregex_iterator(); ++at) {
    EXPECT_THAT(std::string((*at)[1]),
                ::testing::AnyOf("html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "h3",
                                 "section", "ol", "ul", "li", "p", "a", "br", "small", "span", "details",
                                 "summary", "div", "table", "thead", "tbody", "tr", "th", "td", "dl", "dt",
                                 "dd", "figure", "figcaption", "svg", "text", "g", "path", "rect", "circle"));
  }
  std::vector<ReportedResult> results{reported(hostile_document())};
  const std::string markdown = report_markdown(report_of(results, std::nullopt));
  EXPECT_THAT(markdown, AllOf(Not(HasSubstr("<")), Not(HasSubstr("](")), Not(HasSubstr("http:")),
                              Not(HasSubstr("\x01"))));
}

TEST(ReportPage, LoadsNothing) {
  const std::string html = html_of({reported(bench::testing::sample_document())});
  EXPECT_THAT(html, AllOf(StartsWith("<!DOCTYPE html>"), HasSubstr("default-src 'none'"),
                          Not(HasSubstr("http:")), Not(HasSubstr("https:")), Not(HasSubstr(" src=")),
                          Not(HasSubstr("url(")), Not(HasSubstr("@import")), Not(HasSubstr("<link")),
                          Not(HasSubstr("<script")), EndsWith("</html>\n")));
}

TEST(ReportPage, SameResultsGiveTheSameBytes) {
  EXPECT_EQ(html_of({reported(bench::testing::sample_document())}),
            html_of({reported(bench::testing::sample_document())}));
}

TEST(ReportPage, PredictionsSaySo) {
  ResultDocument document = bench::testing::sample_document();
  document.points.clear();
  document.context.device.kind = "modelled";
  Point& point = document.points.emplace_back();
  point.name = "batch/x/batch:1";
  point.params = {{"batch", 1}, {"dtype", "fp32"}};
  point.origin = Origin::predicted;
  point.prediction.step_ns = {.value = 1e6, .ci95 = Interval{0.8e6, 1.2e6}};
  point.items_per_step = 1;
  document.findings = {claimed("recommendation", "Use batch 1.")};
  std::vector<ReportedResult> results{reported(document)};
  const Report report = report_of(results, std::nullopt);
  EXPECT_THAT(report.title, StartsWith("Predicted, "));
  EXPECT_THAT(report_html(report, results),
              AllOf(HasSubstr("-predicted.json"), HasSubstr("How it was predicted"),
                    Not(HasSubstr("How it was measured"))));
}

// Thousands of points, each with timings that do not compress.
TEST(ReportPage, KeepsToItsLimit) {
  ResultDocument document = bench::testing::sample_document();
  const Point point = document.points.front();
  document.points.clear();
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    Point& added = document.points.emplace_back(point);
    added.name = "point " + std::to_string(random());
    added.params["size"] = i;
    for (std::int64_t& sample : added.samples_ns) {
      sample = static_cast<std::int64_t>(random() >> 2U);
    }
  }
  for (int i = 0; i < 1000; ++i) {
    document.findings.push_back(claimed("finding/" + std::to_string(i), std::string(300, 'x')));
    document.unmeasured.push_back({.name = "left out " + std::to_string(i),
                                   .params = {{"size", i}},
                                   .status = "error",
                                   .reason = "reason " + std::to_string(i)});
  }
  const std::string html = html_of({reported(document)});
  EXPECT_LE(html.size(), page_limit(1));
  EXPECT_THAT(html, HasSubstr("rows; the result file has all"));
}

// A result made to be large: long names in every cell.
TEST(ReportPage, KeepsToItsLimitWithLongNames) {
  ResultDocument document = bench::testing::sample_document();
  const Point point = document.points.front();
  const std::string name(400, '&');
  document.points.clear();
  for (int i = 0; i < 300; ++i) {
    Point& added = document.points.emplace_back(point);
    added.name = name + std::to_string(i);
    for (int k = 0; k < 20; ++k) {
      added.params["p" + std::to_string(k)] = name + std::to_string(i);
    }
    document.findings.push_back(claimed(name + std::to_string(i), std::string(5000, '<')));
  }
  EXPECT_LE(html_of({reported(document)}).size(), page_limit(1));
}

TEST(ReportDownload, TakesTheBestFormThatFits) {
  const std::vector<ReportedResult> results{reported(bench::testing::sample_document())};
  const Download whole = downloads_of(results, 1'000'000).front();
  EXPECT_THAT(whole.href, StartsWith("data:application/json;base64,"));
  EXPECT_EQ(whole.name, file_name_of(results.front().document));
  const Download packed = downloads_of(results, whole.href.size() - 1).front();
  EXPECT_THAT(packed.name, EndsWith(".json.gz"));
  EXPECT_LT(packed.href.size(), whole.href.size());
  const std::size_t too_few =
      packed.href.size() - std::string_view("data:application/gzip;base64,").size() + kAroundDownload - 1;
  const Download light = downloads_of(results, too_few).front();
  EXPECT_LT(light.href.size(), packed.href.size());
  const Download none = downloads_of(results, 100).front();
  EXPECT_EQ(none.href, "");
  expect_words({whole.extent, packed.extent, light.extent, none.extent});
}

TEST(ReportDownload, EncodesAndCompresses) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");  // RFC 4648, section 10
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE"), "//4=");
  const std::string text(100'000, 'a');
  EXPECT_LT(gzipped(text).size(), 1000U);
  EXPECT_EQ(unpacked(gzipped(text)), text);
  EXPECT_EQ(gzipped(text), gzipped(text));
}

TEST(ReportDownload, NamesAreSafeAndDiffer) {
  ResultDocument document = bench::testing::sample_document();
  document.sweep.workload = "../../etc/pass wd\n\xC3\xA9";
  expect_words(file_name_of(document));
  const std::vector<ReportedResult> results{reported(document), reported(document)};
  const std::vector<Download> downloads = downloads_of(results, 1'000'000);
  EXPECT_NE(downloads[0].name, downloads[1].name);
}

}  // namespace
}  // namespace bench::report
