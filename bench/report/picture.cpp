#include "bench/report/picture.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/report.h"
#include "bench/cli/table.h"
#include "bench/modelled.h"
#include "bench/page/page.h"
#include "bench/report/report.h"

namespace bench::report {
namespace {

// "2026-11-23 14:52" of an ISO 8601 time.
std::string to_the_minute(const std::string& time) {
  constexpr std::size_t kDate = 10;
  constexpr std::size_t kMinutes = 16;
  std::string text = time.substr(0, kMinutes);
  if (text.size() > kDate) {
    text[kDate] = ' ';
  }
  return text;
}

// When the result was measured: "2026-11-23 14:52", or "2 sessions: 2026-11-23 14:52, 2026-11-24 09:01".
std::string sessions_of(const ResultDocument& document) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> starts;
  for (const Session& session : document.sessions) {
    if (!session.started.empty()) {
      starts.push_back(to_the_minute(session.started));
    }
  }
  if (starts.size() > kNamed) {
    return fmt::format("{} sessions, {} to {}", starts.size(), starts.front(), starts.back());
  }
  if (starts.size() > 1) {
    return fmt::format("{} sessions: {}", starts.size(), fmt::join(starts, ", "));
  }
  const auto date = document.context.google_benchmark.find("date");
  return date != document.context.google_benchmark.end() && date->is_string()
             ? to_the_minute(date->get<std::string>())
             : "";
}

// "2 cores · oneDNN 2.6.3 · 2026-11-23 14:52"; of a device that is not here what it is predicted for.
std::string circumstances_of(const ResultDocument& document) {
  const RunContext& context = document.context;
  std::vector<std::string> parts;
  if (is_predicted(document)) {
    parts.push_back("predicted for " + context.detail("framework") +
                    cast_in_words(context.detail(kCastDetail)));
  } else {
    parts.push_back(
        fmt::format("{} core{}", context.host.usable_cores, context.host.usable_cores == 1 ? "" : "s"));
    if (const auto onednn = context.software.find("onednn"); onednn != context.software.end()) {
      parts.push_back("oneDNN " + onednn->second);
    }
  }
  if (std::string when = sessions_of(document); !when.empty()) {
    parts.push_back(std::move(when));
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

// A claim without its end and without what to do: "[give a larger --time-budget]".
std::string answer_in(std::string claim) {
  for (std::size_t at = claim.find(" ["); at != std::string::npos; at = claim.find(" [")) {
    const std::size_t end = claim.find(']', at);
    if (end == std::string::npos) {
      break;
    }
    claim.erase(at, end + 1 - at);
  }
  return claim.ends_with('.') ? claim.substr(0, claim.size() - 1) : claim;
}

}  // namespace

plots::Picture picture_of(ResultDocument document) {
  ReportSection section = section_of(document);
  plots::Picture picture{.title = section.title,
                         .answer = section.findings.empty() ? "" : answer_in(section.findings.front()),
                         .circumstances = circumstances_of(document),
                         .charts = std::move(section.charts)};
  if (const std::string warning = in_words(warnings_of(document)); !warning.empty()) {
    picture.notes.push_back(warning);
  }
  std::erase_if(document.unmeasured, &UnmeasuredPoint::lacked_time);  // which the warning counts
  for (const Paragraph& paragraph : unmeasured_in_words(document, true)) {
    picture.notes.push_back(paragraph.text);
  }
  if (picture.charts.empty()) {
    picture.notes.push_back(section.no_charts);
  }
  return picture;
}

}  // namespace bench::report
