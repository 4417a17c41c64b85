// The built program, run as a process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bench::testing {

struct Ended {
  int code = -1;   // exit status; -1 where a signal ended it
  int signal = 0;  // that ended it; 0 where it exited
  std::string out;
  std::string err;
};

class Process {
 public:
  // Starts `bench`, or another program, with these arguments. `largest_file`: a limit on the bytes of a file,
  // which fails a write as a full disk does.
  explicit Process(const std::vector<std::string>& arguments, std::optional<long> largest_file = std::nullopt,
                   const std::string& program = BENCH_PROGRAM);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  // Kills it where it still runs.
  ~Process();

  void send(int signal);
  // Whether it has ended by itself meanwhile.
  bool ended();
  Ended wait();

 private:
  std::filesystem::path folder_;  // its output goes to files there, so that no pipe can fill up
  pid_t pid_ = -1;
  std::optional<int> status_;
};

Ended run_bench(const std::vector<std::string>& arguments, std::optional<long> largest_file = std::nullopt);

}  // namespace bench::testing
