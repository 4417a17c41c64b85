// The answers of the reference implementation, and comparing a batch of answers with them. The reference is
// slow: its answers are computed when first needed, shared by all points of a series whatever their batch and
// dtype, and released with the last of these points.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/workload.h"
#include "kernels/workloads/shared_by_question.h"

namespace bench::kernels {

using Answers = std::vector<std::vector<float>>;  // one for each row

// A CPU for the reference implementation. A device of its own: its memory is not counted as the measured
// device's. Throws Unsupported.
std::unique_ptr<Device> open_reference_device();

class ReferenceAnswers {
 public:
  // The answers to rows of these numbers, in their order.
  using Compute = std::function<Answers(const std::vector<std::int64_t>& rows)>;
  explicit ReferenceAnswers(Compute compute) : compute_(std::move(compute)) {}

  // Computes those that are not known.
  Answers of(const std::vector<std::int64_t>& rows);
  // The answers to rows 0 to `count - 1`.
  Answers to_first(std::int64_t count);

 private:
  Compute compute_;
  std::mutex mutex_;
  std::map<std::int64_t, std::vector<float>> known_;
};

// The answers of points that ask the same question.
class SharedAnswers {
 public:
  // `batch`: that of the spec where a row's answer depends on it.
  std::shared_ptr<ReferenceAnswers> of(const WorkloadSpec& spec, ReferenceAnswers::Compute compute,
                                       std::int64_t batch = 0);

 private:
  SharedByQuestion<ReferenceAnswers> shared_;
};

// Row i of `answers` must be expected[i mod expected.size()]: its relative error, ||a - b||2 / ||b||2, is at
// most `tolerance`. Passes on nothing else: no rows, rows of another length and values that are not finite
// all fail. Where what is expected is not finite, nothing is checked. `what` names a row in the detail
// ("logits of an image").
Verification compare_rows(std::span<const float> answers, std::span<const std::vector<float>> expected,
                          double tolerance, const std::string& what);

// The same where every row is another: row rows[i] must be expected[i], and the other rows finite.
Verification compare_some_rows(std::span<const float> answers, std::span<const std::int64_t> rows,
                               std::span<const std::vector<float>> expected, double tolerance,
                               const std::string& what);

// The same of these rows alone, out of `count`: `answers` has no others.
Verification compare_sampled_rows(std::span<const float> answers, std::span<const std::int64_t> rows,
                                  std::int64_t count, std::span<const std::vector<float>> expected,
                                  double tolerance, const std::string& what);

// At most three of `count` rows: the first, the last and one in the middle.
std::vector<std::int64_t> rows_to_compare(std::int64_t count);

}  // namespace bench::kernels
