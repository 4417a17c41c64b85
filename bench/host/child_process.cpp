#include "bench/host/child_process.h"

#include <fcntl.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX, and <csignal> need not have it
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "bench/host/interrupt.h"

namespace bench {
namespace {

std::vector<std::string> merged_environment(std::map<std::string, std::string> variables) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) {
      variables.try_emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  std::vector<std::string> merged;
  merged.reserve(variables.size());
  for (const auto& [name, value] : variables) {
    std::string& entry = merged.emplace_back(name);
    entry += '=';
    entry += value;
  }
  return merged;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// Between fork and exec: calls that are safe there only. Returns with errno set where one fails.
void become(char* const* words, char* const* environment, const char* log, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) {  // it ended before the line above
    return;
  }
  forget_interrupt_handlers();
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::unlink(log);  // a new file: an older one may be a link, or a pipe that nobody reads
  const int output = ::open(log, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (nothing >= 0 && output >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 &&
      ::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(output, STDERR_FILENO) >= 0) {
    ::execve(words[0], words, environment);
  }
}

[[noreturn]] void refuse(int error) {
  throw std::runtime_error(std::generic_category().message(error));
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& words,
                           const std::map<std::string, std::string>& environment,
                           const std::filesystem::path& log) {
  std::vector<std::string> own_words = words;
  std::vector<std::string> own_environment = merged_environment(environment);
  const std::vector<char*> argv = pointers_to(own_words);
  const std::vector<char*> envp = pointers_to(own_environment);
  const std::string log_path = log.string();
  // Closed by a successful exec; else it brings the reason.
  std::array<int, 2> reason{};
  if (::pipe2(reason.data(), O_CLOEXEC) != 0) {
    refuse(errno);
  }
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0) {
    become(argv.data(), envp.data(), log_path.c_str(), parent);
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(reason[1], &error, sizeof error);
    constexpr int kNotStarted = 127;
    ::_exit(kNotStarted);
  }
  const int fork_error = errno;
  if (pid_ > 0) {
    ::setpgid(pid_, pid_);  // both do it, for neither knows who is first
  }
  ::close(reason[1]);
  int error = 0;
  ssize_t got = 0;
  do {
    got = ::read(reason[0], &error, sizeof error);
  } while (got < 0 && errno == EINTR);
  ::close(reason[0]);
  if (pid_ < 0) {
    refuse(fork_error);
  }
  if (got > 0) {
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
    refuse(error);
  }
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && !end_) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
}

std::optional<ProcessEnd> ChildProcess::ended() {
  int status = 0;
  if (!end_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    end_ =
        WIFEXITED(status) ? ProcessEnd{.code = WEXITSTATUS(status)} : ProcessEnd{.signal = WTERMSIG(status)};
  }
  return end_;
}

void ChildProcess::interrupt() {
  if (!end_) {
    ::kill(-pid_, SIGINT);
  }
}

}  // namespace bench
