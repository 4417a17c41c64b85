// What an earlier result file gives to the run that goes on with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench {

// Who goes on: the user with --resume, or a fresh process of the same run after a lost device.
enum class Successor { of_user, of_lost_device };

struct Earlier {
  bool found = false;  // false: there is no such file, and the document is as it was
  Json sweep;  // the file's, for what a sweep has to say beside its points; null where none is to be used
};

// Takes the file's points into `document`, which has none yet, and their values into its axes. Of points
// without a measurement only those come along that would have the same fate again. Throws UsageError, naming
// --resume and the difference, for a file of another run or one whose points' names and params disagree;
// reads only.
Earlier take_over(const std::filesystem::path& path, const SweepPlan& plan, Successor who,
                  ResultDocument& document);

// The command line that goes on with a run: the one it was started with, and --resume; as a shell reads it.
std::string command_to_resume(const std::vector<std::string>& argv);

}  // namespace bench
