// The program's exit code, from a run's results.
#pragma once

#include <cstddef>

#include "bench/error.h"
#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench {

// Points in error, and what a study tried when the device was lost.
std::size_t errors_in(const ResultDocument& document);

// Reference points and no other: time ran out before there was an answer.
bool only_references_measured(const SweepPlan& plan, const ResultDocument& document);

// Inconclusive where there are errors, and where points were asked for and none was measured, or only
// reference points. A point that is out of memory or unsupported is an answer next to measured ones.
ExitCode exit_code_of(const SweepPlan& plan, const ResultDocument& document);

}  // namespace bench
