// A sweep's output when it starts and when it ends, and the program's exit code.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/options.h"
#include "bench/error.h"
#include "bench/page/page.h"
#include "bench/result/result.h"
#include "bench/run/result_file.h"
#include "bench/sweep.h"

namespace bench {

// One line: what runs, where, and for how long; then print_workload_file().
void print_start(const Options& options, const SweepRequest& request, const Device& device);

// workload_file_lines() to standard error.
void print_workload_file(const SweepRequest& request);

// The file that the workload was read from: its inputs and what is assumed, and the modes that it lacks, in
// at most two lines each; empty for the program's own workloads.
std::string workload_file_lines(const WorkloadType& workload, std::size_t width);

// Findings, points and warnings, or the result as --format or --benchmark_format asks. `late`:
// lateness_of().
void print_result(const Options& options, const ResultDocument& document,
                  const std::vector<TextTable>& tables, const std::optional<Warning>& late = std::nullopt);

// The result, its path, and the picture, which is drawn here; only that nothing was measured where the file
// was not written.
void print_summary(const Options& options, const ResultDocument& document,
                   const std::vector<TextTable>& tables, const ResultFile& result,
                   const std::optional<Warning>& late = std::nullopt);

// Points in error, and what a study tried when the device was lost.
std::size_t errors_in(const ResultDocument& document);

// Reference points and no other: time ran out before there was an answer.
bool only_references_measured(const SweepPlan& plan, const ResultDocument& document);

// Inconclusive where there are errors, and where points were asked for and none was measured, or only
// reference points. A point that is out of memory or unsupported is an answer next to measured ones.
ExitCode exit_code_of(const SweepPlan& plan, const ResultDocument& document);

}  // namespace bench
