// The helper that every test of this folder stands on, and its own tests.
#include "tests/program/process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "tests/bench/support/temporary_folder.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

// In the child, between fork and exec: calls that are safe there only.
[[noreturn]] void become_bench(const char* out, const char* err, char* const* argv,
                               std::optional<long> largest_file) {
  const int out_file = ::open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err_file = ::open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out_file, STDOUT_FILENO);
  ::dup2(err_file, STDERR_FILENO);
  if (largest_file) {
    const rlimit limit{static_cast<rlim_t>(*largest_file), static_cast<rlim_t>(*largest_file)};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ::execv(argv[0], argv);
  ::_exit(127);
}

}  // namespace

Process::Process(const std::vector<std::string>& arguments, std::optional<long> largest_file,
                 const std::string& program) {
  std::string pattern = (std::filesystem::temp_directory_path() / "bench-process-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw std::runtime_error("no temporary folder could be made at " + pattern);
  }
  folder_ = pattern;
  std::vector<std::string> owned{program};
  owned.insert(owned.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& argument : owned) {
    argv.push_back(argument.data());
  }
  argv.push_back(nullptr);
  const std::string out = folder_ / "out";
  const std::string err = folder_ / "err";
  // A signal may end the child before it opens them.
  write_file(out, "");
  write_file(err, "");
  // Sentences and rows are whole, unless the test gives a width (Surroundings).
  ::setenv("COLUMNS", "100000", 0);  // NOLINT(concurrency-mt-unsafe): no thread reads it
  pid_ = ::fork();
  if (pid_ < 0) {
    throw std::runtime_error("fork failed");
  }
  if (pid_ == 0) {
    become_bench(out.c_str(), err.c_str(), argv.data(), largest_file);
  }
}

Process::~Process() {
  if (!status_) {
    ::kill(pid_, SIGKILL);
    int status = 0;
    ::waitpid(pid_, &status, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void Process::send(int signal) {
  ::kill(pid_, signal);
}

bool Process::ended() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
    status_ = status;
  }
  return status_.has_value();
}

Ended Process::wait() {
  int status = 0;
  if (!status_ && ::waitpid(pid_, &status, 0) == pid_) {
    status_ = status;
  }
  Ended ended;
  if (WIFEXITED(*status_)) {
    ended.code = WEXITSTATUS(*status_);
  } else {
    ended.signal = WTERMSIG(*status_);
  }
  ended.out = read_file(folder_ / "out");
  ended.err = read_file(folder_ / "err");
  return ended;
}

Ended run_bench(const std::vector<std::string>& arguments, std::optional<long> largest_file) {
  return Process(arguments, largest_file).wait();
}

TEST(Process, OutputAndExitCodeAreKeptApart) {
  const Ended version = run_bench({"--version"});
  EXPECT_EQ(version.code, 0);
  EXPECT_EQ(version.signal, 0);
  EXPECT_EQ(version.out.substr(0, 6), "bench ");
  EXPECT_EQ(version.err, "");
}

TEST(Process, ASignalIsNotAnExitCode) {
  Process process({"--sweep", "batch", "--time-budget", "60s", "--no-plot", "--out", "/proc/nowhere"});
  process.send(SIGKILL);
  const Ended ended = process.wait();
  // It may have been quicker than the signal.
  EXPECT_EQ(ended.signal, ended.code == 2 ? 0 : SIGKILL);
}

// As it does where a folder of libraries is not absolute.
TEST(Program, KeepsItsNameWhereItStartsItselfAgain) {
  const TemporaryFolder folder;
  const std::string script =
      "result=\"$1\"; shift; LD_LIBRARY_PATH=. \"$0\" \"$@\" >/dev/null 2>&1 & "
      "while kill -0 $! && [ ! -e \"$result\" ]; do sleep 0.02; done; "
      "read name </proc/$!/comm; echo \"$name\"; kill $!; wait";
  const Arguments words = Arguments{"-c", script, BENCH_PROGRAM, (folder.path() / kSmallFile).string()} +
                          endless_run(folder.path());
  const Ended ended = Process(words, std::nullopt, "/bin/sh").wait();
  EXPECT_EQ(ended.out, "bench\n") << ended.err;
}

}  // namespace bench::testing
