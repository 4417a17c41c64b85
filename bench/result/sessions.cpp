#include "bench/result/sessions.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "bench/stats/statistics.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

// Two digits, four for a year; -1 where they are none.
int digits(std::string_view text, std::size_t from, std::size_t count) {
  int value = 0;
  for (std::size_t i = from; i < from + count; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') {
      return -1;
    }
    value = 10 * value + (text[i] - '0');
  }
  return value;
}

void add_difference(std::vector<std::string>& all, std::string_view what, const std::string& before,
                    const std::string& now) {
  constexpr std::size_t kShown = 12;
  if (before == now) {
    return;
  }
  const auto shown = [](const std::string& value) {
    return value.empty() ? std::string("unknown") : printable(value, kShown);
  };
  all.push_back(fmt::format("another {} ({} there, {} now)", what, shown(before), shown(now)));
}

constexpr std::int64_t kHour = 3600;

std::string in_hours(std::int64_t seconds) {
  const std::int64_t hours = (seconds + kHour / 2) / kHour;
  constexpr std::int64_t kDay = 24;
  return hours < 2 * kDay ? fmt::format("{} h", hours) : fmt::format("{} days", (hours + kDay / 2) / kDay);
}

// Each reading once: rounds carry the last one until the next is taken.
std::vector<Calibrations> readings_of(const ResultDocument& document, std::size_t session) {
  std::vector<const MeasuredRound*> rounds;
  for (const Point& point : measured_points(document)) {
    for (const MeasuredRound& round : point.rounds) {
      if (static_cast<std::size_t>(round.session) == session && !round.calibration.empty()) {
        rounds.push_back(&round);
      }
    }
  }
  std::ranges::sort(rounds, {}, &MeasuredRound::start_ns);
  std::vector<Calibrations> readings;
  for (const MeasuredRound* const round : rounds) {
    if (readings.empty() || readings.back() != round->calibration) {
      readings.push_back(round->calibration);
    }
  }
  return readings;
}

}  // namespace

std::vector<std::string> disturbances(const MeasuredRound& round,
                                      const std::map<std::string, SessionCalibration>& typical) {
  constexpr double kSteal = 0.02;
  constexpr double kOtherCores = 0.25;
  constexpr double kSlower = 1.1;
  std::vector<std::string> reasons;
  if (!round.throttled.empty()) {
    reasons.emplace_back("throttled");
  }
  if (round.steal.value_or(0) > kSteal) {
    reasons.emplace_back("steal");
  }
  if (round.other_cores.value_or(0) > kOtherCores) {
    reasons.emplace_back("other_load");
  }
  const bool slow = std::ranges::any_of(round.calibration, [&](const auto& reading) {
    const auto usual = typical.find(reading.first);
    return usual != typical.end() &&
           (reading.second.arithmetic_ns > kSlower * usual->second.median.arithmetic_ns ||
            reading.second.copy_ns > kSlower * usual->second.median.copy_ns);
  });
  if (slow) {
    reasons.emplace_back("calibration");
  }
  return reasons;
}

std::map<std::string, SessionCalibration> session_calibration(const ResultDocument& document,
                                                              std::size_t session) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> times;
  for (const Calibrations& reading : readings_of(document, session)) {
    for (const auto& [processor, calibration] : reading) {
      times[processor].first.push_back(calibration.arithmetic_ns);
      times[processor].second.push_back(calibration.copy_ns);
    }
  }
  std::map<std::string, SessionCalibration> medians;
  for (const auto& [processor, taken] : times) {
    medians[processor] = {.median = {.arithmetic_ns = median(taken.first), .copy_ns = median(taken.second)},
                          .readings = static_cast<std::int64_t>(taken.first.size())};
  }
  return medians;
}

void mark_disturbances(ResultDocument& document, std::size_t session) {
  const auto typical = session_calibration(document, session);
  for (Point& point : measured_points(document)) {
    bool changed = false;
    for (MeasuredRound& round : point.rounds) {
      if (static_cast<std::size_t>(round.session) == session) {
        std::vector<std::string> reasons = disturbances(round, typical);
        changed = changed || reasons != round.disturbed;
        round.disturbed = std::move(reasons);
      }
    }
    if (changed) {
      std::set<std::string> flags(point.validity.flags.begin(), point.validity.flags.end());
      flags.erase(std::string(kDisturbed));
      std::ranges::copy(flags_of_rounds(point, document.sessions), std::inserter(flags, flags.end()));
      point.validity.flags.assign(flags.begin(), flags.end());
    }
  }
}

std::vector<std::string> flags_of_rounds(const Point& point, const std::vector<Session>& sessions) {
  std::vector<std::string> flags;
  const auto is_disturbed = [](const MeasuredRound& round) {  // throttling has its own flag
    return std::ranges::any_of(round.disturbed, [](const std::string& why) { return why != "throttled"; });
  };
  const auto contended = [](const MeasuredRound& round) {
    return std::ranges::find(round.throttled, kContentionReason) != round.throttled.end();
  };
  const auto most_rounds = [&](const auto& are) {
    return 2 * std::ranges::count_if(point.rounds, are) > static_cast<std::ptrdiff_t>(point.rounds.size());
  };
  if (most_rounds(is_disturbed)) {
    flags.emplace_back(kDisturbed);
  }
  if (most_rounds(contended)) {
    flags.emplace_back(kContention);
  }
  const auto session_of = [&](const MeasuredRound& round) -> const Session* {
    const auto index = static_cast<std::size_t>(round.session);
    return index < sessions.size() ? &sessions[index] : nullptr;
  };
  const bool mixed = std::ranges::any_of(point.rounds, [&](const MeasuredRound& round) {
    const Session* const first = session_of(point.rounds.front());
    const Session* const other = session_of(round);
    return first != nullptr && other != nullptr && first != other && !differences(*first, *other).empty();
  });
  if (mixed) {
    flags.emplace_back(kMixedSessions);
  }
  return flags;
}

std::vector<std::string> differences(const Session& before, const Session& now) {
  std::vector<std::string> all;
  const auto then = seconds_of(before.started);
  const auto today = seconds_of(now.started);
  if (then && today && std::abs(*today - *then) >= kHour) {
    all.push_back(
        fmt::format("{} {}", in_hours(std::abs(*today - *then)), *today > *then ? "later" : "earlier"));
  }
  if (before.build.empty() && before.boot_id.empty() && before.kernel.empty()) {
    if (!now.build.empty() || !now.boot_id.empty() || !now.kernel.empty()) {
      all.emplace_back("whether build and boot are the same is not known");
    }
    return all;
  }
  add_difference(all, "build", before.build, now.build);
  if (before.build == now.build) {
    add_difference(all, "commit", before.commit, now.commit);
  }
  add_difference(all, "boot", before.boot_id, now.boot_id);
  add_difference(all, "kernel", before.kernel, now.kernel);
  add_difference(all, "clock governor", before.governor, now.governor);
  if (before.threads != now.threads) {
    std::set<std::string> names;
    for (const auto* const settings : {&before.threads, &now.threads}) {
      for (const auto& [name, value] : *settings) {
        names.insert(name);
      }
    }
    for (const std::string& name : names) {
      const auto value_in = [&](const std::map<std::string, std::string>& settings) {
        const auto found = settings.find(name);
        return found == settings.end() ? std::string("not set") : found->second;
      };
      add_difference(all, printable(name), value_in(before.threads), value_in(now.threads));
    }
  }
  return all;
}

std::optional<std::int64_t> seconds_of(std::string_view date) {
  constexpr std::size_t kLength = 25;
  if (date.size() != kLength || date[4] != '-' || date[7] != '-' || date[10] != 'T' || date[13] != ':' ||
      date[16] != ':' || (date[19] != '+' && date[19] != '-') || date[22] != ':') {
    return std::nullopt;
  }
  const int year = digits(date, 0, 4);
  const int month = digits(date, 5, 2);
  const int day = digits(date, 8, 2);
  const int hour = digits(date, 11, 2);
  const int minute = digits(date, 14, 2);
  const int second = digits(date, 17, 2);
  const int offset_hours = digits(date, 20, 2);
  const int offset_minutes = digits(date, 23, 2);
  const std::chrono::year_month_day calendar(std::chrono::year(year),
                                             std::chrono::month(static_cast<unsigned>(month)),
                                             std::chrono::day(static_cast<unsigned>(day)));
  if (year < 0 || !calendar.ok() || hour < 0 || minute < 0 || second < 0 || offset_hours < 0 ||
      offset_minutes < 0) {
    return std::nullopt;
  }
  const std::int64_t days = std::chrono::sys_days(calendar).time_since_epoch().count();
  const std::int64_t offset = (date[19] == '+' ? 1 : -1) * 60 * (60 * offset_hours + offset_minutes);
  return ((days * 24 + hour) * 60 + minute) * 60 + second - offset;
}

}  // namespace bench
