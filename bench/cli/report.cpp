#include "bench/cli/report.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/cli/signs.h"
#include "bench/cli/table.h"
#include "bench/host/interrupt.h"
#include "bench/result/between_runs.h"
#include "bench/result/finding.h"
#include "bench/result/flags.h"
#include "bench/result/sessions.h"
#include "bench/run/remedies.h"
#include "bench/stats/rounds.h"
#include "bench/text/lines.h"
#include "bench/text/units.h"

namespace bench {
namespace {

// Of a class of flags: the text before " 3 of 8 points" and after it, the brief one before " at 3 of 8
// points".
struct Reason {
  std::string before;
  std::string brief;
  std::string action{};
  std::string after{};
};

Reason reason_for(std::string_view flag_class, const std::set<std::string>& flags, std::size_t points) {
  if (flag_class == kContention) {
    const bool by_processes = flags.contains(std::string(kContention));
    return {.before = by_processes ? "other processes used the CPU during"
                                   : "other work or a slow spell disturbed most rounds of",
            .brief = by_processes ? "busy CPU" : "disturbed rounds",
            .action = "idle machine"};
  }
  if (flag_class.starts_with("throttled:")) {
    const std::string_view why = flag_class.substr(flag_class.find(':') + 1);
    return {.before = fmt::format("the device was throttled ({}) during", why),
            .brief = fmt::format("throttled ({})", why),
            .action = "check cooling and power limit"};
  }
  if (flag_class == class_of_flag(kNoisyFlag)) {
    const bool few = flags.contains(kFewRoundsFlag);
    const bool wide = flags.contains(kNoisyFlag);
    return {.before = fmt::format("{}{}{} at", few ? "fewer than 3 rounds" : "", few && wide ? " or " : "",
                                  wide ? "95 % intervals wider than ±10 %" : ""),
            .brief = few && wide ? "imprecise"
                     : few       ? "few rounds"
                                 : "wide intervals",
            .action = std::string(give_time())};
  }
  if (flag_class == kMixedSessions) {
    return {.before = "sessions that differ are pooled at",
            .brief = "sessions differ",
            .action = "without --resume"};
  }
  if (flag_class == kAbovePeak) {
    return {.before = "",
            .brief = "above the device's peak",
            .action = "idle machine",
            .after = fmt::format(" ran above the device's peak and {} left out", points == 1 ? "is" : "are")};
  }
  return {.before = fmt::format("{} holds for", flag_class), .brief = std::string(flag_class)};
}

// By how unreliable the figures are, and then by what else is missing.
enum class Weight {
  interrupted,
  late,
  above_peak,
  not_checked,
  mixed,
  imprecise,
  left_out,
  contention,
  other,
  partly_checked,
  speed,
  caveat
};

Weight weight_of(std::string_view flag_class) {
  return flag_class == kAbovePeak                  ? Weight::above_peak
         : flag_class == kMixedSessions            ? Weight::mixed
         : flag_class == class_of_flag(kNoisyFlag) ? Weight::imprecise
         : flag_class == kContention               ? Weight::contention
                                                   : Weight::other;
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

std::optional<Warning> lateness_of(const ResultDocument& document, double took_ns, bool quick) {
  constexpr double kQuickNs = 10e9;
  constexpr double kMarginNs = 1e9;
  constexpr double kMarginShare = 0.1;
  const auto asked_ns = static_cast<double>(document.sweep.time_budget_ns.value_or(0));
  const double most_ns = quick ? kQuickNs : asked_ns + std::max(kMarginNs, kMarginShare * asked_ns);
  if (asked_ns <= 0 || took_ns <= most_ns) {
    return std::nullopt;
  }
  const bool is_busy = std::ranges::any_of(measured_points(document),
                                           [](const Point& point) { return has_flag(point, kContention); });
  const std::string asked = quick ? fmt::format("--quick aims at {}", format_duration(kQuickNs))
                                  : fmt::format("--time-budget {}", format_duration(asked_ns));
  return Warning{
      .text = fmt::format("the run took {}, as {} ({})", format_duration(took_ns),
                          is_busy ? "other processes used the CPU" : "preparing its points takes that long",
                          asked),
      .brief = fmt::format("took {}{} ({})", format_duration(took_ns),
                           is_busy ? ", the machine was busy" : "", asked)};
}

std::vector<Warning> warnings_of(const ResultDocument& document, const std::optional<Warning>& late) {
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
  std::multimap<Weight, Warning> weighed;
  if (interrupted()) {
    weighed.insert(
        {Weight::interrupted,
         {.text = "the run was interrupted", .action = std::string(give_time()), .brief = "interrupted"}});
  }
  if (late) {
    weighed.insert({Weight::late, *late});
  }
  for (const auto& [name, flagged] : classes) {
    const Reason reason = reason_for(name, flagged.flags, flagged.points);
    weighed.insert({weight_of(name),
                    {.text = fmt::format("{}{}{}{}", reason.before, reason.before.empty() ? "" : " ",
                                         share(flagged.points, all), reason.after),
                     .action = reason.action,
                     .brief = fmt::format("{} at {}", reason.brief, share(flagged.points, all)),
                     .is_marked = marks.separates(name)}});
  }
  for (const bool in_part : {false, true}) {
    const auto points =
        static_cast<std::size_t>(std::ranges::count_if(measured_points(document), [&](const Point& point) {
          return point.verification && !point.verification->not_checked.empty() &&
                 point.verification->passed == in_part;
        }));
    if (points > 0) {
      weighed.insert({in_part ? Weight::partly_checked : Weight::not_checked,
                      {.text = fmt::format("the answer was {}checked at {}",
                                           in_part ? "only partly " : "not ", share(points, all)),
                       .action = "see verification.not_checked in the result file",
                       .brief = fmt::format("answer {} checked at {}", in_part ? "partly" : "not",
                                            share(points, all))}});
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
    const std::size_t count = without_time.size();
    const std::size_t named = count > kMostNamed ? 0 : count;
    weighed.insert(
        {Weight::left_out,
         {.text = fmt::format("{} {} left out", points_in_words(document, without_time, named),
                              count == 1 ? "was" : "were"),
          .action = std::string(give_time()),
          .brief = !classes.empty() ? fmt::format("{} left out", count)  // of the points named before
                   : count == 1     ? "1 point left out"
                                    : fmt::format("{} points left out", count)}});
  }
  // Where others used the cores, their use is why calibrations take longer.
  const auto contended = classes.find(std::string(kContention));
  const bool mostly_contended = contended != classes.end() && 2 * contended->second.points > all;
  if (auto speed = document.sessions.empty() || mostly_contended ? std::nullopt
                                                                 : unusual_speed(document.sessions.back())) {
    weighed.insert(
        {Weight::speed, {.text = *std::move(speed), .action = "compare runs of the same hour only"}});
  }
  for (std::string& caveat : caveats_of(document)) {
    // Its first clause, where a line has no room for more.
    constexpr std::size_t kLong = 90;
    const std::size_t clause = std::min(caveat.find_first_of(":;"), caveat.find(" ("));
    std::string brief = columns(caveat) > kLong && clause != std::string::npos
                            ? caveat.substr(0, clause) + " (--verbose)"
                            : "";
    weighed.insert({Weight::caveat, {.text = std::move(caveat), .brief = std::move(brief)}});
  }
  std::vector<Warning> warnings;
  const std::string at_all = fmt::format(" at {}", share(all, all));
  bool is_first = true;  // of those that hold for all points, which then need not be counted again
  for (auto& [weight, warning] : weighed) {
    if (warning.brief.ends_with(at_all) && !std::exchange(is_first, false)) {
      warning.brief.resize(warning.brief.size() - at_all.size());
    }
    warnings.push_back(std::move(warning));
  }
  return warnings;
}

Page result_page(const ResultDocument& document, std::vector<TextTable> tables, bool verbose,
                 const std::optional<Warning>& late) {
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
  if (std::ranges::none_of(tables, &TextTable::lists_points)) {
    TextTable points = points_table(document);
    if (points.rows.empty()) {
      page.say(fmt::format("No point was {}.", is_predicted(document) ? "predicted" : "measured"));
    }
    points.title = is_predicted(document) ? predicted_title(document) : "";
    points.name = "points";
    tables.push_back(std::move(points));
  }
  std::ranges::for_each(tables, add_signs);
  page.tables(std::move(tables), verbose);
  for (Paragraph& line : unmeasured_in_words(document, verbose)) {
    line.brief =
        document.points.empty() ? "" : std::move(line.brief);  // whole where the reason is the answer
    page.blocks.emplace_back(std::move(line));
  }
  page.warn(warnings_of(document, late), verbose);
  page.say(verbose ? between_runs_in_words(document) : "");
  return page;
}

}  // namespace bench
