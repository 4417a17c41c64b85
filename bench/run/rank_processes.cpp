#include "bench/run/rank_processes.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "bench/host/interrupt.h"
#include "bench/run/socket.h"

namespace bench {
namespace {

// Free at this moment: where another process takes it before the first rank does, that rank says so.
int free_port() {
  const Socket listening = SocketAddress("127.0.0.1", 0).listen();
  if (!listening) {
    throw UsageError(fmt::format("no port was found for the ranks to meet at: {}", std::strerror(errno)));
  }
  return listening.port();
}

// "NAME=value" of this process, but for those given.
std::vector<std::string> environment_with(const std::map<std::string, std::string>& given) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!given.contains(text.substr(0, text.find('=')))) {
      all.push_back(text);
    }
  }
  for (const auto& [name, value] : given) {
    all.push_back(fmt::format("{}={}", name, value));
  }
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Signals that the parent takes by asking for them.
sigset_t taken_signals() {
  sigset_t set = interrupting_signals();
  sigaddset(&set, SIGCHLD);
  return set;
}

class RankProcesses {
 public:
  explicit RankProcesses(RankProcessSettings settings) : settings_(std::move(settings)) {
    const sigset_t taken = taken_signals();
    ::sigprocmask(SIG_BLOCK, &taken, nullptr);  // until interrupts_ ends
  }
  RankProcesses(const RankProcesses&) = delete;
  RankProcesses& operator=(const RankProcesses&) = delete;
  ~RankProcesses() {
    kill_all();
    while (!running_.empty()) {
      collect(0);
    }
  }

  void start(std::vector<std::string> argv, std::vector<std::string> environment) {
    const std::vector<char*> arguments = pointers_to(argv);
    const std::vector<char*> variables = pointers_to(environment);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
      throw UsageError(fmt::format("a rank's process could not be started: {}", std::strerror(errno)));
    }
    if (child == 0) {
      // In a group of its own, so that Ctrl-C at a terminal comes to it by its parent alone.
      ::setpgid(0, 0);
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      forget_interrupt_handlers();
      ::sigprocmask(SIG_SETMASK, &interrupts_.before(), nullptr);
      if (::getppid() == parent) {
        ::execve(settings_.program.c_str(), arguments.data(), variables.data());
      }
      ::_exit(static_cast<int>(ExitCode::usage));
    }
    running_[child] = static_cast<int>(codes_.size());
    codes_.emplace_back();
  }

  ExitCode wait() {
    const sigset_t taken = taken_signals();
    while (!running_.empty()) {
      const timespec pace{.tv_sec = 0, .tv_nsec = 100'000'000};
      const int signal = ::sigtimedwait(&taken, nullptr, &pace);
      if (signal > 0 && signal != SIGCHLD) {
        hand_on(signal);
      }
      collect(WNOHANG);
      if (ending_ && std::chrono::steady_clock::now() > *ending_ + settings_.grace) {
        kill_all();
      }
    }
    const bool all_done =
        std::ranges::all_of(codes_, [](const std::optional<int>& code) { return code == 0; });
    const int first = codes_.front().value_or(
        static_cast<int>(handed_on_ ? ExitCode::interrupted : ExitCode::inconclusive));
    return first != 0 || all_done ? static_cast<ExitCode>(first) : ExitCode::inconclusive;
  }

 private:
  void hand_on(int signal) {
    handed_on_ = true;
    for (const auto& [process, rank] : running_) {
      if (rank == 0) {
        ::kill(process, signal);
      }
    }
  }

  void kill_all() {
    for (const auto& [process, rank] : running_) {
      ::kill(process, SIGKILL);
    }
  }

  void collect(int options) {
    int status = 0;
    for (pid_t ended = 0; !running_.empty() && (ended = ::waitpid(-1, &status, options)) != 0;) {
      if (ended < 0) {
        if (errno != EINTR) {
          running_.clear();
        }
        continue;
      }
      const auto found = running_.find(ended);
      if (found == running_.end()) {
        continue;
      }
      const bool exited = WIFEXITED(status);
      const int rank = found->second;
      if (exited) {
        codes_[static_cast<std::size_t>(rank)] = WEXITSTATUS(status);
      }
      // The first rank is also the last: the others end before it does.
      if (!ending_ && (rank == 0 || !exited || WEXITSTATUS(status) != 0)) {
        ending_ = std::chrono::steady_clock::now();
      }
      running_.erase(found);
    }
  }

  RankProcessSettings settings_;
  InterruptsBlocked interrupts_;
  bool handed_on_ = false;                 // an interrupt
  std::map<pid_t, int> running_;           // ranks, by process
  std::vector<std::optional<int>> codes_;  // exit codes, by rank; nullopt: a signal ended it
  std::optional<std::chrono::steady_clock::time_point> ending_;  // since when: then no rank lives long
};

}  // namespace

ExitCode run_ranks_here(const std::vector<std::string>& argv, int ranks,
                        const RankProcessSettings& settings) {
  const std::string port = std::to_string(free_port());
  const std::string run = fmt::format("{}-{}", ::getpid(), std::random_device()());
  RankProcesses processes(settings);
  if (interrupted()) {
    return ExitCode::interrupted;
  }
  for (int rank = 0; rank < ranks; ++rank) {
    processes.start(argv, environment_with({{"RANK", std::to_string(rank)},
                                            {"LOCAL_RANK", std::to_string(rank)},
                                            {"WORLD_SIZE", std::to_string(ranks)},
                                            {"LOCAL_WORLD_SIZE", std::to_string(ranks)},
                                            {"MASTER_ADDR", "127.0.0.1"},
                                            {"MASTER_PORT", port},
                                            {"TORCHELASTIC_RUN_ID", run},
                                            {"TORCHELASTIC_USE_AGENT_STORE", "False"}}));
  }
  return processes.wait();
}

}  // namespace bench
