#include "bench/evaluate/job.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "bench/evaluate/contest.h"
#include "bench/evaluate/evaluation.h"
#include "bench/evaluate/evaluation_words.h"
#include "bench/text/intervals.h"
#include "bench/text/quote.h"

namespace bench {
namespace {

constexpr double kHour = 3600;
constexpr double kMostSamples = 1e18;

// The row that a job on this device runs in; nullptr where its throughput is not known in any.
const EvaluatedRow* row_for_job(const Evaluation& evaluation, std::size_t device) {
  if (const EvaluatedRow* const row = evaluation.row(device, evaluation.dtype)) {
    return row;
  }
  const EvaluatedRow* fastest = nullptr;
  for (const EvaluatedRow& row : evaluation.rows) {
    if (row.device == device && (fastest == nullptr || row.point.per_s > fastest->point.per_s)) {
      fastest = &row;
    }
  }
  return fastest;
}

std::size_t index_of(const Evaluation& evaluation, const EvaluatedRow& row) {
  return static_cast<std::size_t>(&row - evaluation.rows.data());
}

// Money that an hour of a purchase's use takes.
double energy_an_hour(const Evaluation& evaluation, const EvaluatedRow& row) {
  return evaluation.prices.kwh && row.power_w ? *evaluation.prices.kwh * *row.power_w / 1000 : 0;
}

Estimate scaled_by(const Estimate& estimate, double factor, double added) {
  Estimate out{.value = added + factor * estimate.value};
  if (estimate.ci95) {
    out.ci95 = Interval{added + factor * estimate.ci95->low, added + factor * estimate.ci95->high};
  }
  return out;
}

Estimate job_cost(const Evaluation& evaluation, const EvaluatedRow& row, const Estimate& hours) {
  if (row.price->is_hire) {
    return scaled_by(hours, row.price->amount, 0);
  }
  const double energy = energy_an_hour(evaluation, row);
  return energy > 0 ? scaled_by(hours, energy, row.price->amount) : Estimate{.value = row.price->amount};
}

// Hire against hire by the ratio of both speeds, which is known better than each; else by the ends.
bool costs_less(const Evaluation& evaluation, const DeviceJob& less, const DeviceJob& more) {
  const EvaluatedRow& a = evaluation.rows[less.row];
  const EvaluatedRow& b = evaluation.rows[more.row];
  if (a.price->is_hire && b.price->is_hire) {
    const Ratio of_costs = scaled(rate_ratio(used_contestant(evaluation, a), used_contestant(evaluation, b)),
                                  b.price->amount / a.price->amount);
    return of_costs.value > 1 && of_costs.differs_from_one();
  }
  const auto known = [](const EvaluatedRow& row, const DeviceJob& job) {
    return job.cost->ci95 || !row.price->is_hire;
  };
  const auto end = [](const DeviceJob& job, double Interval::*side) {
    return job.cost->ci95 ? *job.cost->ci95.*side : job.cost->value;
  };
  return known(a, less) && known(b, more) && end(less, &Interval::high) < end(more, &Interval::low);
}

const std::string& label_of_job(const Evaluation& evaluation, const DeviceJob& job) {
  return evaluation.device_of(evaluation.rows[job.row]).label;
}

bool is_hired(const Evaluation& evaluation, const DeviceJob& job) {
  return evaluation.rows[job.row].price->is_hire;
}

std::string hours_in_words(const DeviceJob& job) {
  return plus_minus(job.hours.value, job.hours.ci95) + " hours";
}

std::string cost_in_words(const Evaluation& evaluation, const DeviceJob& job) {
  return amount_in_words(*job.cost, evaluation.prices.currency);
}

// "$530 (480 to 590), ≤ $249 of it energy,".
std::string whole_cost_in_words(const Evaluation& evaluation, const DeviceJob& job) {
  const EvaluatedRow& row = evaluation.rows[job.row];
  const bool has_bound = !row.price->is_hire && evaluation.prices.kwh && job.kwh && !row.power_measured;
  return cost_in_words(evaluation, job) +
         (has_bound ? fmt::format(", ≤ {} of it energy,", amount_in_words(*job.kwh * *evaluation.prices.kwh,
                                                                          evaluation.prices.currency))
                    : "");
}

// "hiring t4, $40 for 114 hours".
std::string way_in_words(const Evaluation& evaluation, const DeviceJob& job) {
  return fmt::format("{} {}, {} for {}", is_hired(evaluation, job) ? "hiring" : "buying",
                     label_of_job(evaluation, job), whole_cost_in_words(evaluation, job),
                     hours_in_words(job));
}

std::string times_in_words(const Evaluation& evaluation, std::vector<DeviceJob> jobs) {
  constexpr std::size_t kMostNamed = 4;
  std::ranges::stable_sort(jobs, {}, [](const DeviceJob& job) { return job.hours.value; });
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < std::min(jobs.size(), kMostNamed); ++i) {
    parts.push_back(fmt::format("{} on {}", hours_in_words(jobs[i]), label_of_job(evaluation, jobs[i])));
  }
  return fmt::format("This job takes {}{}", fmt::join(parts, ", "),
                     jobs.size() > kMostNamed ? ", more elsewhere" : "");
}

// The last part of the job's sentence: from when the other way pays. `jobs`: with costs, the least first.
std::string other_way(const Evaluation& evaluation, const std::vector<DeviceJob>& jobs, std::size_t leaders) {
  const auto hired =
      std::ranges::find_if(jobs, [&](const DeviceJob& job) { return is_hired(evaluation, job); });
  const auto bought =
      std::ranges::find_if(jobs, [&](const DeviceJob& job) { return !is_hired(evaluation, job); });
  if (hired == jobs.end() || bought == jobs.end()) {
    return jobs.size() > leaders ? fmt::format("; {}, the next, {}", label_of_job(evaluation, jobs[leaders]),
                                               cost_in_words(evaluation, jobs[leaders]))
                                 : "";
  }
  const BreakEven of = *break_even(evaluation, evaluation.rows[bought->row], evaluation.rows[hired->row]);
  const std::string& label = label_of_job(evaluation, *bought);
  if (leaders == 1 && bought == jobs.begin()) {
    return fmt::format("; hiring {} costs {}; {}", label_of_job(evaluation, *hired),
                       cost_in_words(evaluation, *hired), break_even_in_words(of, ""));
  }
  const bool is_named = bought - jobs.begin() < static_cast<std::ptrdiff_t>(leaders);
  return "; " + break_even_in_words(
                    of, is_named && leaders == 2 ? ""
                        : is_named               ? label
                                   : fmt::format("{} at {}", label, cost_in_words(evaluation, *bought)));
}

}  // namespace

double parse_samples(std::string_view option, std::string_view text) {
  constexpr std::array<std::pair<char, double>, 4> kUnits{{{'k', 1e3}, {'K', 1e3}, {'M', 1e6}, {'G', 1e9}}};
  double unit = 1;
  std::string_view number = text;
  for (const auto& [letter, factor] : kUnits) {
    if (text.ends_with(letter)) {
      unit = factor;
      number.remove_suffix(1);
      break;
    }
  }
  if (const std::optional<double> value = positive_number(number); value && *value * unit <= kMostSamples) {
    return *value * unit;
  }
  throw UsageError(fmt::format("{}: {} is not accepted; give a number above 0, as 50000, 115.2M or 1.28G",
                               option, quote(text)));
}

Job job_of_samples(std::string_view samples) {
  return {.samples = parse_samples("--samples", samples), .words = fmt::format("{} samples", samples)};
}

Job job_of_epochs(std::string_view epochs, std::string_view images) {
  constexpr double kMostEpochs = 1e6;
  return {.samples = parse_positive("--epochs", epochs, kMostEpochs) * parse_samples("--images", images),
          .words = fmt::format("{} epochs of {} samples", epochs, images)};
}

std::vector<DeviceJob> job_on_devices(const Evaluation& evaluation, const Job& job) {
  std::vector<DeviceJob> jobs;
  for (std::size_t i = 0; i < evaluation.devices.size(); ++i) {
    const EvaluatedRow* const row = row_for_job(evaluation, i);
    if (row == nullptr) {
      continue;
    }
    const CurvePoint point = used_contestant(evaluation, *row).point;
    DeviceJob on{.row = index_of(evaluation, *row), .hours = {.value = job.samples / point.per_s / kHour}};
    if (point.interval && point.interval->low > 0) {
      on.hours.ci95 =
          Interval{job.samples / point.interval->high / kHour, job.samples / point.interval->low / kHour};
    }
    if (row->price) {
      on.cost = job_cost(evaluation, *row, on.hours);
    }
    if (row->power_w && !row->point.is_bound) {
      on.kwh = *row->power_w * on.hours.value / 1000;
    }
    jobs.push_back(on);
  }
  return jobs;
}

std::optional<BreakEven> break_even(const Evaluation& evaluation, const EvaluatedRow& bought,
                                    const EvaluatedRow& hired) {
  if (!bought.price || bought.price->is_hire || !hired.price || !hired.price->is_hire ||
      bought.point.is_bound || hired.point.is_bound) {
    return std::nullopt;
  }
  const Ratio speed = rate_ratio(used_contestant(evaluation, bought), used_contestant(evaluation, hired));
  const double energy = energy_an_hour(evaluation, bought);
  // An hour on the bought device saves the hire of as many samples.
  const auto hours = [&](double times_as_fast) {
    const double saved = hired.price->amount * times_as_fast - energy;
    return saved > 0 ? bought.price->amount / saved : std::numeric_limits<double>::infinity();
  };
  BreakEven of{.bought = index_of(evaluation, bought),
               .hired = index_of(evaluation, hired),
               .hours = {.value = hours(speed.value)}};
  if (speed.interval) {
    of.hours.ci95 = Interval{hours(speed.interval->high), hours(speed.interval->low)};
  }
  return of;
}

std::vector<BreakEven> break_evens_of(const Evaluation& evaluation) {
  std::vector<BreakEven> all;
  for (std::size_t bought = 0; bought < evaluation.devices.size(); ++bought) {
    for (std::size_t hired = 0; hired < evaluation.devices.size(); ++hired) {
      const EvaluatedRow* const one = row_for_job(evaluation, bought);
      const EvaluatedRow* const other = row_for_job(evaluation, hired);
      if (const auto of =
              one == nullptr || other == nullptr ? std::nullopt : break_even(evaluation, *one, *other)) {
        all.push_back(*of);
      }
    }
  }
  return all;
}

std::string break_even_in_words(const BreakEven& of, const std::string& bought) {
  const std::string buying = bought.empty() ? "buying" : "buying " + bought;
  if (std::isinf(of.hours.ci95 ? of.hours.ci95->low : of.hours.value)) {
    return buying + " never pays: its energy costs more than the hire";
  }
  if (of.hours.ci95 && std::isinf(of.hours.ci95->high)) {
    const double low = of.hours.ci95->low;
    return fmt::format("{} pays from {} hours of use at the earliest, if ever", buying,
                       digits80(low, {low / 2, 2 * low}));
  }
  return fmt::format("{} pays from {} hours of use", buying, plus_minus(of.hours.value, of.hours.ci95));
}

std::string job_in_words(const Evaluation& evaluation) {
  std::vector<DeviceJob> known = evaluation.on_devices;
  std::erase_if(known, [&](const DeviceJob& job) { return evaluation.rows[job.row].point.is_bound; });
  std::vector<DeviceJob> jobs = known;
  std::erase_if(jobs, [](const DeviceJob& job) { return !job.cost; });
  if (jobs.empty()) {
    return known.empty() ? "" : times_in_words(evaluation, std::move(known));
  }
  std::ranges::stable_sort(jobs, {}, [](const DeviceJob& job) { return job.cost->value; });
  std::size_t leaders = 1;
  while (leaders < jobs.size() && !costs_less(evaluation, jobs.front(), jobs[leaders])) {
    ++leaders;
  }
  const DeviceJob& best = jobs.front();
  const std::string rest = other_way(evaluation, jobs, leaders);
  if (jobs.size() == 1) {
    return fmt::format("This job costs {} on {}, and takes {}", whole_cost_in_words(evaluation, best),
                       label_of_job(evaluation, best), hours_in_words(best));
  }
  if (leaders == 1) {
    const bool hire = is_hired(evaluation, best);
    return fmt::format("For this job {} {}: {} for {}{}", hire ? "hire" : "buy",
                       label_of_job(evaluation, best), whole_cost_in_words(evaluation, best),
                       hours_in_words(best), rest);
  }
  std::vector<std::string> ways;
  for (std::size_t i = 0; i < leaders; ++i) {
    ways.push_back(way_in_words(evaluation, jobs[i]));
  }
  return fmt::format("Cannot tell which costs {}: {}{}", jobs.size() == 2 ? "less" : "least",
                     fmt::join(ways, ", or "), rest);
}

}  // namespace bench
