// From options to what the runner goes by, and from its results to the program's exit code.
#pragma once

#include <chrono>
#include <cstddef>

#include "bench/cli/options.h"
#include "bench/error.h"
#include "bench/measure/result.h"
#include "bench/run/runner.h"
#include "bench/sweep.h"

namespace bench {

// `spent` of the budget by the processes that this one goes on for.
RunSettings run_settings(const Options& options, const SweepRequest& request, const SweepPlan& plan,
                         std::chrono::nanoseconds spent);

// Points, and what prove() tried when the device was lost.
std::size_t errors_in(const ResultDocument& document);

// Points that the others are judged by, and none of those: time ran out before there was an answer.
bool only_first_measured(const SweepPlan& plan, const ResultDocument& document);
ExitCode exit_code_of(const SweepPlan& plan, const ResultDocument& document);

}  // namespace bench
