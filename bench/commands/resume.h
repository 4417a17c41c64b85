// Takes over an earlier result file's points into the run that goes on with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench {

// Why a run continues: the user asked with --resume, or the device was lost and a fresh process goes on.
enum class ResumeReason { requested, device_lost };

// Adds the file's points to `document`, which has none yet, and their values to its axes; after a lost device
// also the members that its sweep wrote. An unmeasured point is added only if it would end the same way
// again. Returns false, changing nothing, if there is no file. Throws UsageError, naming --resume and the
// difference, for a file of another run or one whose points' names and params disagree. Does not change the
// file.
bool take_over(const std::filesystem::path& path, const SweepPlan& plan, ResumeReason reason,
               ResultDocument& document);

// The command line that continues a run, quoted for a shell: the one that started it, and --resume.
std::string command_to_resume(const std::vector<std::string>& argv);

}  // namespace bench
