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

// To end after so many rounds (at least three), however long they take: no time budget does.
inline Arguments rounds(int count) {
  return {"--time-budget", "60min", "--benchmark_repetitions=" + std::to_string(count)};
}

// A convolution of 8x8 pixels on 4 channels, batches 1, 2 and 4, on the CPU.
inline Arguments small_run(const std::filesystem::path& out, int round_count = 3) {
  return Arguments{"--sweep",        "batch", "--device",  "cpu",   "--workload",    "conv2d",
                   "--height",       "8",     "--width",   "8",     "--in-channels", "4",
                   "--out-channels", "4",     "--batch",   "1,2,4", "--dtype",       "fp32",
                   "--no-plot",      "--out", out.string()} +
         rounds(round_count);
}

// Ends when it is told to, in practice.
inline constexpr int kEndless = 10'000;  // rounds
inline Arguments endless_run(const std::filesystem::path& out) {
  return small_run(out, kEndless);
}

inline constexpr const char* kSmallFile = "batch-conv2d-cpu.json";

}  // namespace bench::testing
