// Runs a sweep of a bench program as a child process, for `bench ab` and `bench advise`.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/clock.h"

namespace bench {

struct SweepProcess {
  std::string who;      // for messages: "BASE", "--sweep batch"
  std::string program;  // its path
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;  // in addition to ours
  std::filesystem::path folder;                    // in a new one: it takes the result and log.txt
};

// Waits for its end, calls `tick` twenty times a second, and hands on Ctrl-C. Returns the result file;
// nullopt where the run was interrupted. Throws UsageError where it cannot be started, is refused (with its
// last line), or does not write one result.
std::optional<std::string> run_sweep_process(const SweepProcess& process, const Clock& clock,
                                             const std::function<void()>& tick);

// Throws UsageError, naming --out, where it cannot be made, or holds files: those of an earlier run, or
// another user's links.
void make_new_folder(const std::filesystem::path& folder);

// "results/local/ab-2026-11-25T10-00-00"; new, even for the second of a script's calls in one second. Throws
// UsageError where nothing can be written.
std::filesystem::path dated_folder(const std::string& command);

}  // namespace bench
