// `bench compare`: whether new results are slower or hungrier than base results.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/command.h"
#include "bench/compare/judgement.h"

namespace bench {

Command compare_command();

// Options that `compare` and `ab` share: --threshold, --alpha, --allow-inconclusive, --format, --verbose.
std::vector<Option> judging_options();
Option allow_different_option();
// Throws UsageError for a wrong value.
CompareSettings compare_settings(const CommandWords& words);
AllowedDifferences allowed_differences(const CommandWords& words);
// As --format and --verbose ask for; throws UsageError for an unknown format.
std::string written(const Judgement& judgement, const CommandWords& words);
void check_format(const CommandWords& words);
// Earlier runs of the machine that a side with one run was measured on, where the other side has one run too.
std::vector<PastRun> history_of(const Matching& matching);

}  // namespace bench
