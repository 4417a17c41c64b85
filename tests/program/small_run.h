// Command lines of runs that are quick on any machine.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench::testing {

using Arguments = std::vector<std::string>;

inline Arguments operator+(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// A convolution of 8x8 pixels on 4 channels, batches 1, 2 and 4, on the CPU. It ends by itself, after 40
// rounds of a few milliseconds at most: on a busy machine it takes longer, and measures the same.
inline Arguments small_run(const std::filesystem::path& out) {
  return {"--sweep",        "batch",
          "--device",       "cpu",
          "--workload",     "conv2d",
          "--height",       "8",
          "--width",        "8",
          "--in-channels",  "4",
          "--out-channels", "4",
          "--batch",        "1,2,4",
          "--dtype",        "fp32",
          "--no-plot",      "--out",
          out.string(),     "--time-budget",
          "60min"};
}

// Ends when it is told to, in practice: each point gets 10,000 rounds.
inline Arguments endless_run(const std::filesystem::path& out) {
  return small_run(out) + Arguments{"--benchmark_repetitions=10000"};
}

inline constexpr const char* kSmallFile = "batch-conv2d-cpu.json";

}  // namespace bench::testing
