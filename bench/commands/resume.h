// A run that goes on: with the points of an earlier result file (--resume), or in a fresh process, because
// after a lost device nothing more can be measured in the old one.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/clock.h"
#include "bench/result/result.h"
#include "bench/sweep.h"

namespace bench {

// Why a run continues: the user asked with --resume, or the device was lost and a fresh process goes on.
enum class ResumeReason { requested, device_lost };

// Adds the file's points to `document`, which has none yet, and their values to its axes, and its sessions
// before the document's own; after a lost device also the members that its sweep wrote. An unmeasured point
// is added only if it would end the same way again. Returns false, changing nothing, if there is no file.
// Throws UsageError, naming --resume and the difference, for a file of another run or one whose points' names
// and params disagree, and where there is no file but one of another graph by the workload's name. Does not
// change the file.
bool take_over(const std::filesystem::path& path, const SweepPlan& plan, ResumeReason reason,
               ResultDocument& document);

// A command line, quoted for a shell.
std::string shell_command(const std::vector<std::string>& argv);

// The one that continues a run: the one that started it, and --resume.
std::string command_to_resume(const std::vector<std::string>& argv);

// The state that the next process needs in addition to the command line and the result file.
struct Continuation {
  std::size_t errors = 0;       // errors_in() the result file
  Clock::time_point started{};  // of the time budget, by the machine's clock
};

// The state left by the process that this one replaced; nullopt where it was started otherwise. The answer is
// given once, and no child process inherits it.
std::optional<Continuation> take_continuation();

// Replaces this process by a fresh one of the same program with the same arguments and the same process id.
// Returns only where that fails, or interrupted() is true, and says why. Call it with files closed: nothing
// is destroyed.
std::string restart(const std::vector<std::string>& argv, const Continuation& continuation);
// The same without a state: the run begins again.
std::string start_again(const std::vector<std::string>& argv);

}  // namespace bench
