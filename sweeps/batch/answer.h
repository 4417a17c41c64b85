// What a batch sweep answers: which dtype to use, and which batch of it. Findings put it into words.
#pragma once

#include <optional>
#include <vector>

#include "sweeps/series/series.h"

namespace bench::sweeps {

// Refers to the series, which have to outlive it.
struct BatchAnswer {
  const BatchSeries* series = nullptr;     // of the dtype to use; nullptr: none has a timed point
  std::optional<SaturationState> state{};  // none of a single batch
  // placed: the batch to use. flat: the smallest, which has the lowest latency. undecided: the fastest, which
  // is no advice.
  const BatchPoint* point = nullptr;

  bool is_advice() const { return state && *state != SaturationState::undecided; }
};
BatchAnswer answer_of(const std::vector<BatchSeries>& all);

}  // namespace bench::sweeps
