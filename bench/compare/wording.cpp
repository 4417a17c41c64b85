#include "bench/compare/wording.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/compare/machines.h"
#include "bench/result/finding.h"
#include "bench/stats/statistics.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench {
namespace {

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "+5.2 % (+4.1 to +6.3 %)".
std::string estimate_in_words(const ChangeEstimate& estimate) {
  const Ratio& ratio = estimate.ratio;
  return ratio.interval
             ? fmt::format("{} ({})", signed_percent(ratio.value), range_in_words(ratio.low(), ratio.high()))
             : signed_percent(ratio.value) + " ± ?";
}

std::string percent(double share) {
  return fmt::format("{:.3g} %", share * 100);
}

// What to do about a regression. Only a change of a value can be allowed by a threshold.
std::string regression_advice(const Judgement& judgement) {
  if (judgement.count(Verdict::slower) == 0 && judgement.count(Verdict::hungrier) > 0) {
    for (const JudgedPoint& point : judgement.points) {
      const MetricChange* const change = telling_change(point);
      if (point.verdict == Verdict::hungrier && change != nullptr) {
        return fmt::format("find what changed, or allow more with --threshold {}=1%",
                           name_of(change->metric));
      }
    }
  }
  const bool common = std::ranges::any_of(judgement.suites, [](const JudgedSuite& suite) {
    return suite.common && suite.common_verdict == Verdict::slower;
  });
  return judgement.count(Verdict::slower) > 0 || common ? "find what changed, or allow more with --threshold"
                                                        : "find what changed";
}

bool of_a_fleet(const JudgedSuite& suite) {
  return is_observation(suite.machines.size());
}

bool of_one_machine(const JudgedSuite& suite) {
  return suite.machines.empty();
}

bool all_suites(const Judgement& judgement, bool (*holds)(const JudgedSuite&)) {
  return std::ranges::all_of(judgement.suites, holds);
}

// "12 more pairs, about 4.0 min,".
std::string further_pairs(const Judgement& judgement, std::size_t pairs) {
  const std::optional<double>& one_ns = judgement.settings.pair_ns;
  return plural(pairs, "more pair") +
         (one_ns ? fmt::format(", about {},", format_duration(static_cast<double>(pairs) * *one_ns)) : "");
}

// What to do where nothing is certain. Empty where no one step is known to help.
std::string inconclusive_advice(const Judgement& judgement) {
  if (judgement.further_runs && *judgement.further_runs > 0) {
    const auto runs = static_cast<std::size_t>(*judgement.further_runs);
    return fmt::format("{} would settle it", judgement.settings.paired ? further_pairs(judgement, runs)
                                             : all_suites(judgement, of_a_fleet)
                                                 ? plural(runs, "more machine")
                                             : all_suites(judgement, of_one_machine)
                                                 ? plural(runs, "more run") + " a side"
                                                 : plural(runs, "more run") + " a side on each machine");
  }
  if (std::ranges::all_of(judgement.suites, [](const JudgedSuite& suite) {
        return suite.runs.base <= 1 && suite.runs.next <= 1;
      })) {
    return judgement.settings.paired ? "give a larger --time-budget" : "give three or more runs a side";
  }
  if (std::ranges::any_of(judgement.points, [](const JudgedPoint& point) {
        return point.verdict == Verdict::inconclusive && point.changes.empty();
      })) {
    return "give NEW a larger --time-budget";
  }
  if (judgement.count(Verdict::inconclusive) == 0 && !judgement.settings.paired) {
    return "take both sides again in the same hour, or use bench ab";
  }
  return "";
}

// "2 of 20 points are slower, by 55 to 56 %; 18 same".
std::string regressions_in_words(const Judgement& judgement) {
  const std::size_t slower = judgement.count(Verdict::slower);
  std::vector<double> ratios;
  for (const JudgedPoint& point : judgement.points) {
    const MetricChange* const change = point.verdict == Verdict::slower ? telling_change(point) : nullptr;
    if (change != nullptr) {
      ratios.push_back(change->estimate.ratio.value);
    }
  }
  if (ratios.empty()) {
    return counts_in_words(judgement);
  }
  const auto [least, largest] = std::ranges::minmax(ratios);
  std::string by = signed_percent(least) == signed_percent(largest) ? signed_percent(least)
                                                                    : range_in_words(least, largest);
  std::erase(by, '+');
  const std::string others = counts_in_words(judgement, Verdict::slower);
  return fmt::format("{} of {} {} slower, by {}{}", slower, plural(judgement.points.size(), "point"),
                     slower == 1 ? "is" : "are", by, others.empty() ? "" : "; " + others);
}

std::string verdict_headline(const Judgement& judgement) {
  const std::string counts = counts_in_words(judgement);
  if (judgement.code == ExitCode::regression) {
    const bool of_points = std::ranges::any_of(
        judgement.points, [](const JudgedPoint& point) { return is_regression(point.verdict); });
    return fmt::format("Regression: {}{} [{}]", of_points ? "" : "all points together are slower; ",
                       regressions_in_words(judgement), regression_advice(judgement));
  }
  if (judgement.settled()) {
    return fmt::format("No regression: {}", counts);
  }
  if (judgement.code == ExitCode::not_comparable) {
    return "Not comparable: a side has one run of one round [give three or more runs a side, or a larger "
           "--time-budget]";
  }
  const std::string advice = inconclusive_advice(judgement);
  const std::string reason = headline_reason(judgement);
  return fmt::format("Inconclusive{}: {}{}{}{}", judgement.settings.allow_inconclusive ? " (allowed)" : "",
                     judgement.count(Verdict::inconclusive) == 0 ? "all points together; " : "", counts,
                     reason.empty() ? "" : ": " + reason, advice.empty() ? "" : fmt::format(" [{}]", advice));
}

std::string common_headline(const Judgement& judgement, const JudgedSuite& suite) {
  const CommonChange& common = *suite.common;
  std::string text =
      fmt::format("{} together: {}", judgement.suites.size() == 1 ? "All points" : "All of " + suite.name,
                  estimate_in_words(common));
  const bool is_said_first = judgement.code != ExitCode::regression && !judgement.settled() &&
                             suite.common_verdict == Verdict::inconclusive;
  text += is_said_first ? "" : fmt::format(", {}", name_of(suite.common_verdict));
  const bool is_said_of_points = std::ranges::any_of(
      judgement.points, [&](const JudgedPoint& point) { return point.reason == suite.common_reason; });
  if (!suite.common_reason.empty() && !is_said_of_points) {
    text += fmt::format(fmt::runtime(is_said_first ? "; {}" : " ({})"), suite.common_reason);
  }
  if (common.calibration_ratio) {
    text += fmt::format("; {} calibration {}", suite.calibration, signed_percent(*common.calibration_ratio));
  }
  constexpr double kShown = 0.001;
  if (const double taken_out = std::pow(common.ratio.value, suite.common_share);
      std::abs(taken_out - 1) > kShown) {
    text += fmt::format("; the points' changes are relative to {}", signed_percent(taken_out));
  }
  return text;
}

// Machines that changed otherwise than the rest, as the points of a suite share it; empty where there are
// none.
std::string outlier_headline(const Judgement& judgement) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> named;
  std::vector<double> ratios;
  for (const JudgedSuite& suite : judgement.suites) {
    for (const JudgedMachine& machine : suite.machines) {
      if (machine.ratio) {
        ratios.push_back(*machine.ratio);
      }
      if (machine.outlier) {
        named.push_back(fmt::format("{} {}", machine.name, signed_percent(*machine.ratio)));
      }
    }
  }
  if (named.empty()) {
    return "";
  }
  const std::string more = named.size() > kMost ? fmt::format(" and {} more", named.size() - kMost) : "";
  named.resize(std::min(named.size(), kMost));
  return fmt::format("Unlike the other machines: {}{}; the median machine {} [compare it by itself]",
                     fmt::join(named, ", "), more, signed_percent(median(ratios)));
}

constexpr std::size_t kNamedDifferences = 4;

std::string differences_headline(const std::vector<Difference>& differences) {
  std::vector<std::string> parts;
  std::size_t more = 0;
  for (const Difference& difference : differences) {
    if (difference.is_detail || parts.size() == kNamedDifferences) {
      ++more;
    } else {
      parts.push_back(fmt::format("{} {} → {}", difference.what, difference.base, difference.next));
    }
  }
  if (parts.empty()) {
    parts.emplace_back("algorithms (--verbose)");
  } else if (more > 0) {
    parts.push_back(fmt::format("{} more", more));
  }
  return fmt::format("Different: {}", fmt::join(parts, "; "));
}

// The largest slowdown in the intervals of the inconclusive changes, as a share; none where one has no
// interval or none reaches a slowdown.
std::optional<double> largest_open(const Judgement& judgement) {
  double largest = 0;
  bool all_known = true;
  const auto add = [&](const ChangeEstimate& estimate) {
    all_known = all_known && estimate.ratio.interval;
    largest = std::max(largest, estimate.ratio.interval ? estimate.ratio.high() - 1 : 0);
  };
  for (const JudgedPoint& point : judgement.points) {
    all_known = all_known && (point.verdict != Verdict::inconclusive || !point.changes.empty());
    for (const MetricChange& change : point.changes) {
      if (change.verdict == Verdict::inconclusive) {
        add(change.estimate);
      }
    }
  }
  for (const JudgedSuite& suite : judgement.suites) {
    if (suite.common && suite.common_verdict == Verdict::inconclusive) {
      add(*suite.common);
    }
  }
  return all_known && largest > 0 ? std::optional(largest) : std::nullopt;
}

// The smallest slowdown that all inconclusive points could have shown, and half of them: a single disturbed
// point can be far above the rest. Points that were not compared, throttled ones for example, have none.
std::string showable_headline(const Judgement& judgement) {
  constexpr double kTooMuch = 10;
  constexpr double kAlike = 1.5;
  constexpr double kFar = 2;  // beyond what the interval leaves open
  const double all = *judgement.smallest_change;
  const double half = *judgement.smallest_change_of_half;
  const std::size_t inconclusive = judgement.count(Verdict::inconclusive);
  const double open = largest_open(judgement).value_or(kTooMuch);  // no sentence contradicts an interval
  if (half >= kTooMuch || half > kFar * open) {
    return fmt::format("{} {}",
                       judgement.code == ExitCode::regression && inconclusive > 0
                           ? fmt::format("At {} these runs", plural(inconclusive, "inconclusive point"))
                           : "These runs",
                       open < kTooMuch ? fmt::format("do not rule out a slowdown of up to {}", percent(open))
                                       : "are too few or too noisy to show even a tenfold slowdown");
  }
  const auto known =
      static_cast<std::size_t>(std::ranges::count_if(judgement.points, [](const JudgedPoint& point) {
        return std::ranges::any_of(point.changes, [](const MetricChange& change) {
          return change.verdict == Verdict::inconclusive && change.estimate.smallest_change;
        });
      }));
  const std::string where = known == 0 ? "of all points together"
                            : known == inconclusive
                                ? "at every point"
                                : fmt::format("at {} of the {} inconclusive points", known, inconclusive);
  if (all < kAlike * half) {
    return fmt::format("These runs would show a slowdown of {} or more {}", percent(all), where);
  }
  return fmt::format(
      "These runs would show a slowdown of {} at half of the inconclusive points; at the noisiest {}",
      percent(half),
      all < kTooMuch    ? "one of " + percent(all)
      : open < kTooMuch ? fmt::format("up to {} is not ruled out", percent(open))
                        : "not even a tenfold one");
}

}  // namespace

std::string signed_percent(double ratio) {
  constexpr double kMultiple = 10;  // "10×" reads better than "+900 %"
  constexpr double kBeyond = 1000;  // an interval of few and wild runs
  if (ratio > kBeyond) {
    return fmt::format("over {:.0f}×", kBeyond);
  }
  if (ratio >= kMultiple) {
    return fmt::format("{:.3g}×", ratio);
  }
  const double change = (ratio - 1) * 100;
  return std::abs(change) < 9.95 ? fmt::format("{:+.1f} %", change) : fmt::format("{:+.0f} %", change);
}

std::string range_in_words(double least, double largest) {
  std::string low = signed_percent(least);
  const std::string high = signed_percent(largest);
  if (low.ends_with(" %") && high.ends_with(" %")) {
    low.resize(low.size() - 2);
  }
  return fmt::format("{} to {}", low, high);
}

std::string value_in_words(Metric metric, double value) {
  switch (metric) {
    case Metric::time:
      return value > 0 ? format_duration(value) : "–";
    case Metric::stall:
      return format_percent(value);
    case Metric::planned:
    case Metric::tracked:
    case Metric::driver:
      break;
  }
  return (value < 0 ? "-" : "") + format_bytes(static_cast<std::int64_t>(std::abs(value)));
}

std::string change_in_words(const MetricChange& change) {
  if (is_tested(change.metric)) {
    return estimate_in_words(change.estimate);
  }
  constexpr double kHidden = 0.0005;  // a smaller share would show as 0.0 %
  const double difference = change.next - change.base;
  if (difference != 0 && std::abs(difference) < kHidden * change.base) {
    return (difference > 0 ? "+" : "") + value_in_words(change.metric, difference);
  }
  return change.base > 0 ? signed_percent(change.next / change.base) : "–";
}

bool leaves_out_shared(const MetricChange& change) {
  constexpr double kShown = 0.001;
  return std::abs(change.shared - 1) > kShown;
}

std::string machines_in_words(const MetricChange& change) {
  double least = std::numeric_limits<double>::infinity();
  double largest = 0;
  for (const double ratio : change.machines) {
    if (!std::isnan(ratio)) {
      least = std::min(least, ratio);
      largest = std::max(largest, ratio);
    }
  }
  return largest > 0 ? range_in_words(least, largest) : "";
}

const MetricChange* telling_change(const JudgedPoint& point) {
  const auto found = std::ranges::find(point.changes, point.verdict, &MetricChange::verdict);
  return found == point.changes.end() ? nullptr : &*found;
}

std::string explanation(const JudgedPoint& point) {
  const MetricChange* const change = telling_change(point);
  std::vector<std::string> parts;
  if (change != nullptr) {
    parts.push_back(fmt::format(
        "{} {}{}, {} to {}", name_of(change->metric), change_in_words(*change),
        leaves_out_shared(*change)
            ? fmt::format(" beyond the {} of all points", signed_percent(change->shared))
            : "",
        value_in_words(change->metric, change->base), value_in_words(change->metric, change->next)));
    if (const std::string machines = machines_in_words(*change); !machines.empty()) {
      parts.push_back(fmt::format("{} on the machines", machines));
    }
  }
  if (!point.reason.empty()) {
    parts.push_back(point.reason);
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string subject_in_words(const Judgement& judgement) {
  std::vector<std::string> suites;
  for (const JudgedSuite& suite : judgement.suites) {
    suites.push_back(
        fmt::format("{} base and {} of {} on {}{}", suite.runs.base, plural(suite.runs.next, "new run"),
                    suite.name, quote(suite.device),
                    suite.machines.empty()
                        ? ""
                        : fmt::format(" of {} machines, each compared with itself", suite.machines.size())));
  }
  return fmt::format("{}; {}; {} risk of a false alarm in the whole comparison", fmt::join(suites, "; "),
                     plural(judgement.points.size(), "point"), percent(judgement.settings.alpha));
}

std::string outcome(const Judgement& judgement) {
  return judgement.code == ExitCode::regression ? "regression"
         : judgement.settled()                  ? "no regression"
                                                : "inconclusive";
}

std::string headline_reason(const Judgement& judgement) {
  constexpr std::size_t kLongest = 100;  // of a headline's part
  if (judgement.points.empty() || judgement.count(Verdict::inconclusive) < judgement.points.size() ||
      judgement.code == ExitCode::not_comparable) {
    return "";
  }
  const std::string& reason = judgement.points.front().reason;
  const bool is_of_all =
      std::ranges::all_of(judgement.points, [&](const JudgedPoint& point) { return point.reason == reason; });
  return is_of_all && reason.size() <= kLongest ? reason : "";
}

std::string counts_in_words(const Judgement& judgement, std::optional<Verdict> without) {
  std::vector<std::string> parts;
  for (const Verdict verdict : kVerdicts) {
    const std::size_t count = judgement.count(verdict);
    if (count == 0 || verdict == without) {
      continue;
    }
    parts.push_back(verdict != Verdict::inconclusive ? fmt::format("{} {}", count, name_of(verdict))
                    : judgement.code == ExitCode::regression
                        ? fmt::format("{} inconclusive ({})", count, percent(judgement.inconclusive_share()))
                        : fmt::format("{} of {}", count, plural(judgement.points.size(), "point")));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::vector<std::string> headlines(const Judgement& judgement) {
  constexpr std::size_t kMost = kHeadlines;
  std::vector<std::string> lines{verdict_headline(judgement)};
  std::vector<const JudgedSuite*> suites;
  for (const JudgedSuite& suite : judgement.suites) {
    if (suite.common) {
      suites.push_back(&suite);
    }
  }
  const auto place = [](const JudgedSuite* suite) {
    return std::ranges::find(kVerdicts, suite->common_verdict) - kVerdicts.begin();
  };
  std::ranges::stable_sort(suites, {}, place);
  for (std::size_t i = 0; i < std::min<std::size_t>(suites.size(), 2); ++i) {
    lines.push_back(common_headline(judgement, *suites[i]));
  }
  if (std::string outliers = outlier_headline(judgement); !outliers.empty()) {
    lines.push_back(std::move(outliers));
  }
  if (!judgement.settled() && judgement.smallest_change) {
    lines.push_back(showable_headline(judgement));
  }
  std::size_t sure = 0;
  double largest = 1;
  for (const JudgedPoint& point : judgement.points) {
    const MetricChange* const time = point.change(Metric::time);
    if (time != nullptr && time->verdict == Verdict::same && time->estimate.ratio.differs_from_one()) {
      ++sure;
      const double ratio = time->estimate.ratio.value;
      largest = std::abs(std::log(ratio)) > std::abs(std::log(largest)) ? ratio : largest;
    }
  }
  if (sure > 0 && lines.size() < kMost - 1) {
    lines.push_back(fmt::format("Sure, but within {}: {}, at most {}",
                                percent(judgement.settings.thresholds.at(Metric::time)),
                                plural(sure, "point"), signed_percent(largest)));
  }
  if (!judgement.differences.empty() && lines.size() < kMost) {
    lines.push_back(differences_headline(judgement.differences));
  }
  return lines;
}

bool name_all_differences(const std::vector<std::string>& headlines, const Judgement& judgement) {
  return judgement.differences.size() <= kNamedDifferences &&
         std::ranges::none_of(judgement.differences, &Difference::is_detail) && !headlines.empty() &&
         headlines.back() == differences_headline(judgement.differences);
}

PointNames::PointNames(const Judgement& judgement, std::size_t longest) : longest_(longest) {
  if (judgement.points.size() < 2) {
    return;
  }
  std::string_view shared = judgement.points.front().name;
  for (const JudgedPoint& point : judgement.points) {
    const auto [ours, theirs] = std::ranges::mismatch(shared, point.name);
    shared = shared.substr(0, static_cast<std::size_t>(ours - shared.begin()));
  }
  const std::size_t slash = shared.rfind('/');
  prefix_ = slash == std::string_view::npos ? 0 : slash + 1;
}

std::string PointNames::of(const JudgedPoint& point) const {
  return printable(std::string_view(point.name).substr(prefix_), longest_);
}

}  // namespace bench
