#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "bench/cli/command.h"
#include "bench/cli/options.h"
#include "bench/cli/terminal.h"
#include "bench/clock.h"
#include "bench/commands/completion.h"
#include "bench/commands/gpu_list.h"
#include "bench/commands/list.h"
#include "bench/commands/man_page.h"
#include "bench/commands/ranked_sweep.h"
#include "bench/commands/sweep.h"
#include "bench/error.h"
#include "bench/host/interrupt.h"
#include "bench/host/search_path.h"
#include "bench/ranks.h"
#include "bench/registry.h"
#include "bench/sweep.h"
#include "bench/text/axis.h"
#include "bench/text/quote.h"
#include "bench/workload.h"

namespace {

bool names_command(int argc, char** argv) {
  return argc > 1 && std::string_view(argv[1]).find_first_of("-=") != 0;
}

// "bench help compare" is "bench compare --help", "bench help batch" is "bench --sweep batch --help".
std::vector<std::string> asked_for_help(int argc, char** argv) {
  if (argc < 3) {
    return {"--help"};
  }
  const std::string word = argv[2];
  if (std::ranges::count(bench::commands(), word, &bench::Command::name) > 0) {
    return {word, "--help"};
  }
  const bool is_workload = bench::registry<bench::WorkloadType>().find(word) != nullptr;
  if (!is_workload && bench::registry<bench::SweepType>().find(word) == nullptr) {
    throw bench::UsageError(fmt::format(
        "help: {} is no command, sweep or workload; see bench --help and bench --list", bench::quote(word)));
  }
  return {is_workload ? "--workload" : "--sweep", word, "--help"};
}

bench::ExitCode run(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    std::vector<std::string> words = asked_for_help(argc, argv);
    std::vector<char*> arguments{argv[0]};
    for (std::string& word : words) {
      arguments.push_back(word.data());
    }
    return run(static_cast<int>(arguments.size()), arguments.data());
  }
  if (argc > 1 && std::string_view(argv[1]) == "--complete") {
    for (const std::string& word : bench::completions(std::vector<std::string>(argv + 2, argv + argc))) {
      fmt::print("{}\n", word);
    }
    return bench::ExitCode::done;
  }
  if (argc == 2 && std::string_view(argv[1]) == "--man") {
    fmt::print("{}", bench::man_page());
    return bench::ExitCode::done;
  }
  if (names_command(argc, argv)) {
    return bench::run_command(argv[1], std::vector<std::string>(argv + 2, argv + argc));
  }
  const bench::Options options = bench::parse_rank_options(argc, argv);
  if (!options.text.empty()) {
    fmt::print("{}", options.text);
    return bench::ExitCode::done;
  }
  if (!options.completion.empty()) {
    fmt::print("{}", bench::completion_stub(options.completion));
    return bench::ExitCode::done;
  }
  if (options.list) {
    const std::string& format = options.format.empty() ? options.benchmark.format : options.format;
    const std::size_t width = bench::terminal_width(STDOUT_FILENO);
    options.list_gpus ? bench::print_gpus(std::cout, format, width)
                      : bench::print_list(std::cout, format, width);
    return bench::ExitCode::done;
  }
  return bench::run_sweep(options, std::vector<std::string>(argv, argv + argc), bench::steady_clock());
}

// Each line wrapped by itself: a message may have a usage below it.
std::string in_lines(const std::string& text) {
  std::string lines;
  for (const std::string_view part : bench::split(text, '\n')) {
    lines += part.empty() ? "\n" : bench::notice(STDERR_FILENO, part);
  }
  return lines;
}

// fputs, not fmt: it does not throw where standard error is gone too.
int report(const char* what, bench::ExitCode code) {
  std::fputs(in_lines("bench: " + std::string(what)).c_str(), stderr);
  return static_cast<int>(code);
}

}  // namespace

int main(int argc, char** argv) {
  bench::start_without_relative_library_folders(argv);
  ::prctl(PR_SET_NAME, "bench");  // started again by /proc/self/exe, it is "exe" to pgrep and top
  bench::end_when_interrupted();  // commands that save results replace this
  try {
    const bench::ExitCode code = run(argc, argv);
    std::cout.flush();
    if (!std::cout || std::fflush(stdout) != 0) {
      return report("standard output could not be written; results in files are safe",
                    bench::interrupted() ? bench::ExitCode::interrupted : bench::ExitCode::usage);
    }
    return static_cast<int>(code);
  } catch (const bench::UsageError& error) {
    const auto launch = bench::current_launch();
    const int speaker = dynamic_cast<const bench::FirstRankUnreachable*>(&error) != nullptr ? 1 : 0;
    if (launch && launch->rank > 0 && !names_command(argc, argv)) {
      // The first rank says the same, if it is there. Some launchers end the others at the first exit code
      // that is not 0, which may not come before it spoke.
      std::this_thread::sleep_for(std::chrono::seconds(1));
      if (launch->rank > speaker) {
        return static_cast<int>(bench::ExitCode::usage);
      }
    }
    return report(error.what(), bench::ExitCode::usage);
  } catch (const bench::Interrupted& error) {
    return report(error.what(), bench::ExitCode::interrupted);
  } catch (const bench::NotComparable& error) {
    return report(error.what(), bench::ExitCode::not_comparable);
  } catch (const std::bad_alloc&) {
    return report("the host's memory is full; give a smaller network, size or batch", bench::ExitCode::usage);
  } catch (const std::exception& error) {
    // "inconclusive" is a command's answer, which a gate may allow: an error is not.
    return report(error.what(),
                  names_command(argc, argv) ? bench::ExitCode::usage : bench::ExitCode::inconclusive);
  }
}
