#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/cli/options.h"
#include "bench/commands/list.h"
#include "bench/commands/sweep.h"
#include "bench/error.h"

namespace {

bench::ExitCode run(int argc, char** argv) {
  const bench::Options options = bench::parse_options(argc, argv);
  if (!options.text.empty()) {
    fmt::print("{}", options.text);
    return bench::ExitCode::done;
  }
  if (options.list) {
    bench::print_list(std::cout);
    return bench::ExitCode::done;
  }
  return bench::run_sweep(options, std::vector<std::string>(argv, argv + argc));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return static_cast<int>(run(argc, argv));
  } catch (const bench::UsageError& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return static_cast<int>(bench::ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return static_cast<int>(bench::ExitCode::inconclusive);
  }
}
