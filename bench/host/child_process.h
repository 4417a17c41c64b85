// Starts another program as a child process, waits for it and interrupts it.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct ProcessEnd {
  int code = -1;   // exit status; -1 where a signal ended it
  int signal = 0;  // that ended it; 0 where it exited
};

class ChildProcess {
 public:
  // Starts `words[0]`, a path, with the other words as arguments, and with these variables in addition to
  // ours, or in their place. It reads nothing; its output and errors go to `log`. It gets no Ctrl-C of the
  // terminal, only what interrupt() sends, and ends when this process does. Throws std::runtime_error with
  // the system's reason where it cannot be started.
  ChildProcess(const std::vector<std::string>& words, const std::map<std::string, std::string>& environment,
               const std::filesystem::path& log);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  // Kills it where it still runs.
  ~ChildProcess();

  // nullopt while it runs.
  std::optional<ProcessEnd> ended();
  // Ctrl-C, for it and what it started.
  void interrupt();

 private:
  pid_t pid_ = -1;
  std::optional<ProcessEnd> end_;
};

}  // namespace bench
