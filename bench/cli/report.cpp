#include "bench/cli/report.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/signs.h"
#include "bench/cli/table.h"
#include "bench/result/between_runs.h"
#include "bench/result/finding.h"
#include "bench/result/flags.h"
#include "bench/result/sessions.h"
#include "bench/run/remedies.h"
#include "bench/stats/rounds.h"

namespace bench {
namespace {

// One reason in the warning: "before 3 of 8 points after".
struct Reason {
  std::string before;
  std::string after{};
  std::string action{};
};

Reason reason_for(std::string_view flag_class, const std::set<std::string>& flags, std::size_t points) {
  if (flag_class == kContention) {
    const bool by_processes = flags.contains(std::string(kContention));
    return {.before = by_processes ? "other processes used the CPU during "
                                   : "other work or a slow spell disturbed most rounds of ",
            .action = "run on an idle machine"};
  }
  if (flag_class.starts_with("throttled:")) {
    return {.before = fmt::format("the device was throttled ({}) during ",
                                  flag_class.substr(flag_class.find(':') + 1)),
            .action = "check its cooling and power limit"};
  }
  if (flag_class == class_of_flag(kNoisyFlag)) {
    std::vector<std::string_view> why;
    if (flags.contains(kFewRoundsFlag)) {
      why.emplace_back("fewer than 3 rounds");
    }
    if (flags.contains(kNoisyFlag)) {
      why.emplace_back("95 % intervals wider than ±10 %");
    }
    return {.before = fmt::format("{} at ", fmt::join(why, " or ")), .action = std::string(give_time())};
  }
  if (flag_class == kMixedSessions) {
    return {.before = "sessions that differ are pooled at ", .action = "run without --resume"};
  }
  if (flag_class == kAbovePeak) {
    return {.before = "",
            .after = fmt::format(" ran above the device's peak and {} left out", points == 1 ? "is" : "are"),
            .action = "run on an idle machine"};
  }
  return {.before = fmt::format("{} holds for ", flag_class)};
}

// What is wrong, and what to do about it.
struct Problem {
  std::vector<std::string> texts{};
  std::string action{};  // empty: nothing
};

// "Warning: A; C [do this]. B [do that].": a sentence for each action.
std::string in_sentences(const std::vector<Problem>& problems) {
  std::vector<Problem> by_action;
  for (const Problem& problem : problems) {
    const auto same = std::ranges::find(by_action, problem.action, &Problem::action);
    if (same == by_action.end()) {
      by_action.push_back(problem);
    } else {
      same->texts.insert(same->texts.end(), problem.texts.begin(), problem.texts.end());
    }
  }
  std::string text;
  for (const auto& [texts, action] : by_action) {
    std::string sentence = fmt::format("{}", fmt::join(texts, "; "));
    if (!text.empty()) {
      sentence.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(sentence.front())));
    }
    text += fmt::format("{} {}{}.", text.empty() ? "Warning:" : "", sentence,
                        action.empty() ? "" : fmt::format(" [{}]", action));
  }
  return text;
}

std::string share(std::size_t count, std::size_t all) {
  return count < all ? fmt::format("{} of {} points", count, all)
         : all == 1  ? std::string("the only point")
         : all == 2  ? std::string("both points")
                     : fmt::format("all {} points", all);
}

}  // namespace

std::vector<const Finding*> printed_findings(const ResultDocument& document, bool verbose) {
  std::vector<const Finding*> printed;
  for (const Finding& finding : document.findings) {
    if ((verbose || finding.headline > 0) && finding.name != kConditions) {  // which the warning says
      printed.push_back(&finding);
    }
  }
  std::ranges::stable_sort(printed, [](const Finding* a, const Finding* b) {
    return (a->headline > 0 && b->headline == 0) ||
           (a->headline > 0 && b->headline > 0 && a->headline < b->headline);
  });
  return printed;
}

std::string warning_of(const ResultDocument& document) {
  struct Flagged {
    std::size_t points = 0;
    std::set<std::string> flags;
  };
  std::map<std::string, Flagged> classes;
  for (const Point& point : measured_points(document)) {
    std::set<std::string_view> seen;
    for (const std::string& flag : point.validity.flags) {
      Flagged& flagged = classes[std::string(class_of_flag(flag))];
      flagged.points += seen.insert(class_of_flag(flag)).second ? 1 : 0;
      flagged.flags.insert(flag);
    }
  }
  const FlagMarks marks(measured_points(document));
  const std::size_t all = measured_points(document).size();
  std::vector<Problem> problems;
  Problem of_all;  // together they hold for every point
  for (const auto& [name, flagged] : classes) {
    const Reason reason = reason_for(name, flagged.flags, flagged.points);
    if (marks.would_mark_all() && flagged.points < all) {
      of_all.texts.push_back(fmt::format("{}{}{}", reason.before, flagged.points, reason.after));
      const bool is_new = of_all.action.find(reason.action) == std::string::npos;
      of_all.action += of_all.action.empty() ? reason.action : is_new ? "; " + reason.action : "";
    } else {
      problems.push_back({.texts = {fmt::format("{}{}{}{}", reason.before, share(flagged.points, all),
                                                reason.after, marks.separates(name) ? " (○)" : "")},
                          .action = reason.action});
    }
  }
  if (!of_all.texts.empty()) {
    of_all.texts = {fmt::format("all {} points: {}", all, fmt::join(of_all.texts, ", "))};
    problems.push_back(of_all);
  }
  for (const bool in_part : {false, true}) {
    const auto points =
        static_cast<std::size_t>(std::ranges::count_if(measured_points(document), [&](const Point& point) {
          return point.verification && !point.verification->not_checked.empty() &&
                 point.verification->passed == in_part;
        }));
    if (points > 0) {
      problems.push_back({.texts = {fmt::format("the answer was {}checked at {}",
                                                in_part ? "only partly " : "not ", share(points, all))},
                          .action = "see verification.not_checked in the result file"});
    }
  }
  std::vector<const UnmeasuredPoint*> without_time;
  for (const UnmeasuredPoint& point : document.unmeasured) {
    if (point.lacked_time()) {
      without_time.push_back(&point);
    }
  }
  if (!without_time.empty()) {
    constexpr std::size_t kMostNamed = 2;
    const std::size_t named = without_time.size() > kMostNamed ? 0 : without_time.size();
    problems.push_back(
        {.texts = {fmt::format("{} {} left out", points_in_words(document, without_time, named),
                               without_time.size() == 1 ? "was" : "were")},
         .action = std::string(give_time())});
  }
  // Where others used the cores, their use is why calibrations take longer.
  const auto contended = classes.find(std::string(kContention));
  const bool mostly_contended = contended != classes.end() && 2 * contended->second.points > all;
  if (const auto speed = document.sessions.empty() || mostly_contended
                             ? std::nullopt
                             : unusual_speed(document.sessions.back())) {
    problems.push_back({.texts = {*speed}, .action = "compare with runs of the same hour only"});
  }
  if (const std::vector<std::string> caveats = caveats_of(document); !caveats.empty()) {
    problems.push_back({.texts = caveats, .action = ""});
  }
  return in_sentences(problems);
}

Page result_page(const ResultDocument& document, const std::vector<TextTable>& tables, bool verbose) {
  Page page{.title = ""};
  std::vector<std::string> claims;
  for (const Finding* finding : printed_findings(document, verbose)) {
    claims.push_back(finding->claim);
  }
  page.answer(claims,
              {.is_shown = verbose, .left_out = printed_findings(document, true).size() - claims.size()});
  const std::span<const Point> measured = measured_points(document);
  const bool all_flagged = !measured.empty() && std::ranges::none_of(measured, [](const Point& point) {
    return point.validity.flags.empty();
  });
  const auto add_signs = [&](TextTable& table) {
    const std::string signs = signs_of(table, all_flagged, is_predicted(document));
    table.below += (table.below.empty() || signs.empty() ? "" : "; ") + signs;
  };
  bool is_left_out = !tables.empty();
  if (std::ranges::none_of(tables, &TextTable::lists_points)) {
    is_left_out = false;
    TextTable points = points_table(document);
    if (points.rows.empty()) {
      page.say(fmt::format("No point was {}.", is_predicted(document) ? "predicted" : "measured"));
    }
    points.title = is_predicted(document) ? predicted_title(document) : "";
    add_signs(points);
    page.table(std::move(points));
  }
  for (TextTable table : tables) {
    if (verbose || !table.details) {
      add_signs(table);
      page.table(std::move(table));
      is_left_out = false;
    }
  }
  page.say(is_left_out ? "The tables are left out (--verbose)." : "");
  const bool is_empty = document.points.empty();  // so the reason is the answer
  for (Paragraph& line : unmeasured_in_words(document, verbose)) {
    line.brief = line.brief && !is_empty;
    page.blocks.emplace_back(std::move(line));
  }
  page.say(warning_of(document));
  page.say(verbose ? between_runs_in_words(document) : "");
  return page;
}

}  // namespace bench
