#include "kernels/workloads/compare.h"

#include <cmath>

#include <fmt/format.h>

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

}  // namespace

Verification compare_rows(std::span<const float> answers, std::span<const std::vector<float>> expected,
                          double tolerance, const std::string& what) {
  Verification result;
  result.tolerance = tolerance;
  const std::size_t columns = expected.empty() ? 0 : expected.front().size();
  if (columns == 0 || answers.empty() || answers.size() % columns != 0) {
    result.error = std::numeric_limits<double>::infinity();
    result.detail = fmt::format("{} values are not rows of {}", answers.size(), columns);
    return result;
  }

  const std::size_t rows = answers.size() / columns;
  std::size_t worst = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const double error =
        relative_error(answers.subspan(row * columns, columns), expected[row % expected.size()]);
    if (error > result.error || std::isnan(error)) {
      result.error = error;
      worst = row;
    }
  }
  result.passed = result.error <= tolerance;
  result.detail =
      fmt::format("{} rows of {} values ({}) against the reference's answers to {} distinct samples", rows,
                  columns, what, expected.size());
  if (!result.passed) {
    const auto row = answers.subspan(worst * columns, columns);
    const auto& right = expected[worst % expected.size()];
    const std::size_t at = farthest(row, right);
    result.detail += fmt::format("; row {} is off by {:.3g} (accepted: {:.3g}), value {} is {} instead of {}",
                                 worst, result.error, tolerance, at, row[at], right[at]);
  }
  return result;
}

}  // namespace bench::kernels
