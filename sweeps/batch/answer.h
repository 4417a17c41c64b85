// What a batch sweep answers: which dtype to use, and which batch of it. Findings put it into words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"
#include "sweeps/series/series.h"

namespace bench::sweeps {

// A document's points by dtype, fp32 first.
std::vector<BatchSeries> batch_series(const ResultDocument& document);

// Refers to the series, which have to outlive it.
struct BatchAnswer {
  const BatchSeries* baseline = nullptr;  // fp32, which the other dtypes are compared with; nullptr: no point
  const BatchSeries* series = nullptr;    // of the dtype to use; nullptr: none has a timed point
  std::optional<SaturationState> state{};  // none of a single batch
  // placed: the batch to use. flat: the smallest, which has the lowest latency. undecided: the fastest, which
  // is no advice.
  const CurvePoint* point = nullptr;
  bool several = false;  // dtypes are compared, so that a finding's name ends in its own

  bool is_advice() const { return state && *state != SaturationState::undecided; }
  // The name of a finding on one dtype: "t0/fp32".
  std::string finding_name(std::string_view finding, const BatchSeries& of) const;
};
BatchAnswer answer_of(const std::vector<BatchSeries>& all, const ResultDocument& document);

// The recommendation first, then what it rests on: the findings of its dtype, and of the others their speed.
// Of a file's findings too.
void choose_batch_headlines(const std::vector<BatchSeries>& all, const BatchAnswer& answer,
                            std::vector<Finding>& findings);

}  // namespace bench::sweeps
