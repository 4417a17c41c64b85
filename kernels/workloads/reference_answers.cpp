#include "kernels/workloads/reference_answers.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {
namespace {

std::size_t farthest(std::span<const float> row, std::span<const float> expected) {
  std::size_t worst = 0;
  double distance = -1;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (!std::isfinite(row[i])) {
      return i;
    }
    const double d = std::fabs(static_cast<double>(row[i]) - static_cast<double>(expected[i]));
    if (d > distance) {
      distance = d;
      worst = i;
    }
  }
  return worst;
}

bool is_finite(std::span<const float> values) {
  return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}

// A row of the answers and what it must be.
struct Pair {
  std::size_t row;  // of the answers that are here
  const std::vector<float>* expected;
  std::int64_t number;  // the row's, of all
};

// `columns`: values of a row; 0 where there is none to be expected.
Verification compare_pairs(std::span<const float> answers, std::size_t columns, std::span<const Pair> pairs,
                           double tolerance, const std::string& compared) {
  Verification result;
  result.tolerance = tolerance;
  const bool whole = columns > 0 && !answers.empty() && answers.size() % columns == 0;
  if (!whole || std::ranges::any_of(pairs, [&](const Pair& pair) {
        return pair.row >= answers.size() / columns || pair.expected->size() != columns;
      })) {
    result.error = std::numeric_limits<double>::infinity();
    result.detail = fmt::format("{} values are not rows of {}", answers.size(), columns);
    return result;
  }
  const auto bad =
      std::ranges::find_if_not(pairs, [](const Pair& pair) { return is_finite(*pair.expected); });
  if (bad != pairs.end()) {
    result.not_checked = fmt::format(
        "{}: row {} of the reference's is not finite, as where a logarithm is taken of a "
        "negative number",
        compared, bad->number);
    return result;
  }
  const Pair* worst = &pairs.front();
  for (const Pair& pair : pairs) {
    const double error = relative_error(answers.subspan(pair.row * columns, columns), *pair.expected);
    if (error > result.error || std::isnan(error)) {
      result.error = error;
      worst = &pair;
    }
  }
  result.passed = result.error <= tolerance;
  result.detail = compared;
  if (!result.passed) {
    const auto row = answers.subspan(worst->row * columns, columns);
    const std::size_t at = farthest(row, *worst->expected);
    result.detail += fmt::format("; row {} is off by {:.3g} (accepted: {:.3g}), value {} is {} instead of {}",
                                 worst->number, result.error, tolerance, at, row[at], (*worst->expected)[at]);
  }
  return result;
}

std::string compared_some(std::size_t rows, std::int64_t count, std::size_t columns,
                          const std::string& what) {
  return fmt::format("{} of {} rows of {} values ({}) against the reference's", rows, count, columns, what);
}

}  // namespace

std::unique_ptr<Device> open_reference_device() {
  const DeviceKind* cpu = registry<DeviceKind>().find("cpu");
  if (cpu == nullptr) {
    throw Unsupported("answers are checked on the CPU device, which this program was built without");
  }
  return cpu->open("cpu");
}

Answers ReferenceAnswers::of(const std::vector<std::int64_t>& rows) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::int64_t> missing;
  std::ranges::copy_if(rows, std::back_inserter(missing),
                       [&](std::int64_t row) { return !known_.contains(row); });
  if (!missing.empty()) {
    Answers computed = compute_(missing);
    for (std::size_t i = 0; i < missing.size(); ++i) {
      known_[missing[i]] = std::move(computed[i]);
    }
  }
  Answers answers;
  for (const std::int64_t row : rows) {
    answers.push_back(known_.at(row));
  }
  return answers;
}

Answers ReferenceAnswers::to_first(std::int64_t count) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  std::iota(rows.begin(), rows.end(), 0);
  return of(rows);
}

std::shared_ptr<ReferenceAnswers> SharedAnswers::of(const WorkloadSpec& spec,
                                                    ReferenceAnswers::Compute compute, std::int64_t batch) {
  return shared_.of(
      spec, [&] { return std::make_shared<ReferenceAnswers>(std::move(compute)); }, batch);
}

Verification compare_rows(std::span<const float> answers, std::span<const std::vector<float>> expected,
                          double tolerance, const std::string& what) {
  const std::size_t columns = expected.empty() ? 0 : expected.front().size();
  const std::size_t rows = columns == 0 ? 0 : answers.size() / columns;
  std::vector<Pair> pairs;
  for (std::size_t row = 0; row < rows; ++row) {
    pairs.push_back({row, &expected[row % expected.size()], static_cast<std::int64_t>(row)});
  }
  return compare_pairs(
      answers, columns, pairs, tolerance,
      fmt::format("{} rows of {} values ({}) against the reference's answers to {} distinct samples", rows,
                  columns, what, expected.size()));
}

Verification compare_some_rows(std::span<const float> answers, std::span<const std::int64_t> rows,
                               std::span<const std::vector<float>> expected, double tolerance,
                               const std::string& what) {
  const std::size_t columns = expected.empty() ? 0 : expected.front().size();
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    pairs.push_back({static_cast<std::size_t>(rows[i]), &expected[i], rows[i]});
  }
  const auto count = static_cast<std::int64_t>(columns == 0 ? 0 : answers.size() / columns);
  Verification result =
      compare_pairs(answers, columns, pairs, tolerance, compared_some(rows.size(), count, columns, what));
  if (!result.passed) {
    return result;
  }
  const auto bad = std::ranges::find_if_not(answers, [](float value) { return std::isfinite(value); });
  if (bad != answers.end()) {
    const auto at = static_cast<std::size_t>(bad - answers.begin());
    result.passed = false;
    result.error = std::numeric_limits<double>::infinity();
    result.detail += fmt::format("; row {}, value {} is {}", at / columns, at % columns, *bad);
  }
  return result;
}

Verification compare_sampled_rows(std::span<const float> answers, std::span<const std::int64_t> rows,
                                  std::int64_t count, std::span<const std::vector<float>> expected,
                                  double tolerance, const std::string& what) {
  const std::size_t columns = expected.empty() ? 0 : expected.front().size();
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    pairs.push_back({i, &expected[i], rows[i]});
  }
  return compare_pairs(answers, columns, pairs, tolerance, compared_some(rows.size(), count, columns, what));
}

std::vector<std::int64_t> rows_to_compare(std::int64_t count) {
  std::vector<std::int64_t> rows{0};
  for (const std::int64_t row : {count / 2, count - 1}) {
    if (row > rows.back()) {
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace bench::kernels
