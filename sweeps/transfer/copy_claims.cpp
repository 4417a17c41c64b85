#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/series/claims.h"
#include "sweeps/transfer/claims.h"

namespace bench::sweeps {
namespace {

struct SameSize {
  const TransferPoint* one = nullptr;
  const TransferPoint* other = nullptr;
};

// The largest size that both were measured at.
std::optional<SameSize> largest_of_both(const TransferSeries& one, const TransferSeries& other) {
  std::optional<SameSize> largest;
  for (const TransferPoint& point : one.points) {  // growing
    if (const TransferPoint* const beside = other.at(point.bytes)) {
      largest = {.one = &point, .other = beside};
    }
  }
  return largest;
}

// " (4.3 to 12 times at smaller sizes)", where there are others.
std::string at_smaller_sizes(const TransferSeries& one, const TransferSeries& other, double below) {
  std::optional<Interval> ratios;
  for (const TransferPoint& point : one.points) {
    const TransferPoint* const beside = other.at(point.bytes);
    if (beside != nullptr && point.bytes < below) {
      const double ratio = point.ns / beside->ns;
      ratios = ratios ? Interval{.low = std::min(ratios->low, ratio), .high = std::max(ratios->high, ratio)}
                      : Interval{.low = ratio, .high = ratio};
    }
  }
  return ratios ? fmt::format("; at smaller sizes {} to {} times", format_number(ratios->low),
                              format_number(ratios->high))
                : std::string();
}

// "are slower than pageable ones, though the intervals touch", by the medians of both at their largest size.
const char* undecided(const SameSize& largest) {
  constexpr double kPlainly = 1.25;
  const double faster = largest.one->bytes_per_s() / largest.other->bytes_per_s();
  return faster > kPlainly       ? "seem faster than pageable ones, but the intervals touch"
         : faster < 1 / kPlainly ? "seem slower than pageable ones, but the intervals touch"
                                 : "are not reliably faster than pageable ones";
}

// Of one time over another, both at their ends.
std::optional<Interval> ratio_interval(const Interval& above, const Interval& below) {
  return below.low > 0
             ? std::optional(Interval{.low = above.low / below.high, .high = above.high / below.low})
             : std::nullopt;
}

// "1.82 times (1.75 to 1.90)".
std::string times_text(const Finding& finding) {
  return fmt::format("{} times{}", format_number(*finding.value),
                     finding.ci95 ? fmt::format(" ({} to {})", format_number(finding.ci95->low),
                                                format_number(finding.ci95->high))
                                  : std::string());
}

}  // namespace

std::string copy_way(const std::string& direction) {
  return direction == "h2d" ? "to the device" : direction == "d2h" ? "to the host" : "both ways at once";
}

std::string byte_rate(double bytes_per_s) {
  return format_rate(bytes_per_s, "B/s");
}

std::string percent_range(const Interval& shares) {
  return fmt::format("{} to {}", format_percent(shares.low), format_percent(shares.high));
}

std::string size_text(double bytes) {
  return format_bytes(static_cast<std::int64_t>(std::llround(bytes)));
}

std::vector<Finding> claim_crossovers(const std::vector<TransferSeries>& all, const TransferCurves& curves) {
  std::vector<Finding> findings;
  for (const std::string direction : {"h2d", "d2h"}) {
    const TransferSeries* const pageable = find_series(all, fmt::format("{}/pageable", direction));
    for (const std::string kind : {"pinned", "staged"}) {
      const TransferSeries* const other = find_series(all, fmt::format("{}/{}", direction, kind));
      const auto largest =
          pageable == nullptr || other == nullptr ? std::nullopt : largest_of_both(*other, *pageable);
      if (!largest) {
        continue;  // never compared
      }
      const auto fast = other->times();
      const auto slow = pageable->times();
      const auto from = faster_from(fast, slow);
      const auto back = faster_from(slow, fast);
      Finding finding = finding_of(fmt::format("crossover/{}/{}", direction, kind), "B",
                                   {largest->one->name, largest->other->name});
      const std::string both =
          fmt::format(" ({} against {} at {})", byte_rate(largest->one->bytes_per_s()),
                      byte_rate(largest->other->bytes_per_s()), size_text(largest->one->bytes));
      if (from) {
        finding.value = from;
        finding.claim =
            fmt::format("Copies {} are faster {} memory than pageable from {} on{}.", copy_way(direction),
                        kind == "staged" ? "staged through pinned" : "with pinned", size_text(*from), both);
      } else if (back) {
        finding.details["pageable_faster_from"] = *back;
        finding.claim = fmt::format("Copies {} of {} memory are slower than pageable ones from {} on{}.",
                                    copy_way(direction), kind, size_text(*back), both);
      } else {
        finding.claim =
            fmt::format("Copies {} of {} memory {}{}.", copy_way(direction), kind, undecided(*largest), both);
      }
      const auto one = curves.find(other->label());
      const auto beside = curves.find(pageable->label());
      if (one != curves.end() && beside != curves.end()) {
        const auto crossed = crossing(one->second, beside->second);
        const double smallest = std::max(other->points.front().bytes, pageable->points.front().bytes);
        if (crossed && smallest <= *crossed && *crossed <= largest->one->bytes) {
          finding.details["models_cross_at_bytes"] = *crossed;
        }
      }
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

std::vector<Finding> claim_at_once(const std::vector<TransferSeries>& all) {
  std::vector<Finding> findings;
  for (const TransferSeries& series : all) {
    const bool both = series.direction == "both" && series.plain();
    if ((!both && series.at_once == 1) || (series.at_once > 1 && series.direction == "both")) {
      continue;
    }
    const TransferSeries* const one =
        find_series(all, fmt::format("{}/{}", both ? "h2d" : series.direction, series.kind));
    const auto largest = one == nullptr ? std::nullopt : largest_of_both(series, *one);
    if (!largest) {
      continue;
    }
    const auto& [several, single] = *largest;
    Finding finding = finding_of("at_once/" + series.label(), "1", {several->name, single->name});
    finding.value = several->bytes_per_s() / single->bytes_per_s();
    if (const auto slower = ratio_interval(single->ci95_ns, several->ci95_ns)) {
      const double more = several->moved / single->moved;
      finding.ci95 = Interval{.low = more * slower->low, .high = more * slower->high};
    }
    finding.claim = fmt::format("{} of {} move {} in all, {} what one copy {} does.",
                                both ? fmt::format("Copies both ways at once ({} memory)", series.kind)
                                     : fmt::format("{} copies at once {} ({} memory)", series.at_once,
                                                   copy_way(series.direction), series.kind),
                                size_text(several->bytes), byte_rate(several->bytes_per_s()),
                                times_text(finding), both ? "to the device" : "alone");
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Finding> claim_cold_pages(const std::vector<TransferSeries>& all) {
  std::vector<Finding> findings;
  for (const TransferSeries& series : all) {
    const TransferSeries* const touched =
        series.cold_pages ? find_series(all, fmt::format("{}/{}", series.direction, series.kind)) : nullptr;
    const auto largest = touched == nullptr ? std::nullopt : largest_of_both(series, *touched);
    if (!largest) {
      continue;
    }
    const auto& [cold, usual] = *largest;
    Finding finding = finding_of("cold_pages/" + series.label(), "1", {cold->name, usual->name});
    finding.value = cold->ns / usual->ns;
    finding.ci95 = ratio_interval(cold->ci95_ns, usual->ci95_ns);
    finding.claim = fmt::format(
        "Into pages fresh from the system a copy {} of {} takes {} as long as into pages in use ({} against "
        "{}){}.",
        copy_way(series.direction), size_text(cold->bytes), times_text(finding), format_duration(cold->ns),
        format_duration(usual->ns), at_smaller_sizes(series, *touched, cold->bytes));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace bench::sweeps
