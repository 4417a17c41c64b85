#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/measure/units.h"
#include "sweeps/series/claims.h"
#include "sweeps/transfer/claims.h"

namespace bench::sweeps {
namespace {

// Of held-out sizes, as predicted.
struct Errors {
  std::vector<double> curve;
  std::vector<double> straight;
  std::vector<std::string> names;

  // "predict the 44 others within 5.5 % (median; 4.2 % to 7.8 %; one straight line each: 10 %)"
  std::string in_words() const {
    const auto interval = median_interval(curve);
    return fmt::format("predict the {} others within {} (median{}; one straight line each: {})", curve.size(),
                       format_percent(*median_of(curve)),
                       interval ? fmt::format("; {}", percent_range(*interval)) : std::string(),
                       format_percent(*median_of(straight)));
  }
};

}  // namespace

std::optional<Finding> claim_model_error(const std::vector<TransferSeries>& all) {
  Errors one_way;
  Errors both_ways;
  Json each = Json::object();
  Json straight = Json::object();
  for (const TransferSeries& series : all) {
    const auto errors = series.plain() ? held_out_errors(series.times()) : std::vector<HeldOut>();
    if (errors.empty()) {
      continue;
    }
    Errors own;
    for (const HeldOut& held_out : errors) {
      own.curve.push_back(held_out.error);
      own.straight.push_back(held_out.straight_error);
      own.names.push_back(series.at(held_out.bytes)->name);
    }
    each[series.label()] = *median_of(own.curve);
    straight[series.label()] = *median_of(own.straight);
    Errors& all_of_them = series.direction == "both" ? both_ways : one_way;
    all_of_them.curve.insert(all_of_them.curve.end(), own.curve.begin(), own.curve.end());
    all_of_them.straight.insert(all_of_them.straight.end(), own.straight.begin(), own.straight.end());
    all_of_them.names.insert(all_of_them.names.end(), own.names.begin(), own.names.end());
  }
  const Errors& first = one_way.curve.empty() ? both_ways : one_way;
  if (first.curve.empty()) {
    return std::nullopt;
  }
  Finding finding = finding_of("model_error", "1", first.names);
  finding.value = median_of(first.curve);
  finding.ci95 = median_interval(first.curve);
  finding.details = {{"median_by_series", each},
                     {"straight_by_series", straight},
                     {"straight", *median_of(first.straight)},
                     {"held_out", first.curve.size()}};
  finding.claim = fmt::format("Fitted on every second size, the models of copies {} {}",
                              one_way.curve.empty() ? "both ways at once" : "one way", first.in_words());
  if (!one_way.curve.empty() && !both_ways.curve.empty()) {
    finding.details["both_ways"] = *median_of(both_ways.curve);
    finding.details["both_ways_straight"] = *median_of(both_ways.straight);
    finding.claim += fmt::format("; those of copies both ways at once {}", both_ways.in_words());
  }
  finding.claim += '.';
  return finding;
}

}  // namespace bench::sweeps
