// Takes over an earlier result file's points into the run that goes on with it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "bench/measure/result.h"
#include "bench/sweep.h"

namespace bench {

// Who goes on: the user with --resume, or a fresh process of the same run after a lost device.
enum class Successor { of_user, of_lost_device };

// Takes the file's points into `document`, which has none yet, and their values into its axes; after a lost
// device also what its sweep noted. Only those points without a measurement come along that would have the
// same fate again. False where there is no such file, and the document is as it was. Throws UsageError,
// naming --resume and the difference, for a file of another run or one whose points' names and params
// disagree; reads only.
bool take_over(const std::filesystem::path& path, const SweepPlan& plan, Successor who,
               ResultDocument& document);

// The sweep's own notes in the place of JSON. Throws UsageError.
void read_notes(const Sweep& sweep, ResultDocument& document);

// The command line that goes on with a run: the one it was started with, and --resume; as a shell reads it.
std::string command_to_resume(const std::vector<std::string>& argv);

}  // namespace bench
