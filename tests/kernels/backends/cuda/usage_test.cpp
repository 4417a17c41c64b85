// What every kernel of the program takes of a multiprocessor, as nvcc reports it when the program is built,
// against what launches count with. In the program of cuDNN's tests, which exists where the CUDA device does.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "kernels/backends/cuda/residency.h"

namespace bench::kernels::cuda {
namespace {

struct Usage {
  std::string kernel;  // as the linker knows it
  int capability = 0;  // compiled for
  int threads = 0;     // of a block, and the blocks promised on a multiprocessor: they are in the name
  int promised = 0;
  int registers = 0;
  int shared_bytes = 0;
  int stack_bytes = 0;
  int spilled_bytes = 0;
};

// "Used 40 registers, used 1 barriers, 1056 bytes smem": the number before ` unit`, or 0.
int number_before(const std::string& line, const std::string& unit) {
  std::smatch found;
  return std::regex_search(line, found, std::regex("([0-9]+) " + unit)) ? std::stoi(found[1]) : 0;
}

// Of our kernels, all of which are run_on_gpu<body, threads, promised blocks>.
std::vector<Usage> read(std::istream& report) {
  const std::regex entry(
      "Compiling entry function '(\\S*10run_on_gpu\\S*Li([0-9]+)ELi([0-9]+)E\\S*)' for 'sm_([0-9]+)");
  std::vector<Usage> all;
  bool ours = false;
  for (std::string line; std::getline(report, line);) {
    std::smatch found;
    if (line.find("Compiling entry function") != std::string::npos) {
      ours = std::regex_search(line, found, entry);
      if (ours) {
        all.push_back({.kernel = found[1],
                       .capability = std::stoi(found[4]),
                       .threads = std::stoi(found[2]),
                       .promised = std::stoi(found[3])});
      }
    } else if (ours && line.find("bytes stack frame") != std::string::npos) {
      all.back().stack_bytes = number_before(line, "bytes stack frame");
      all.back().spilled_bytes =
          number_before(line, "bytes spill stores") + number_before(line, "bytes spill loads");
    } else if (ours && line.find("Used ") != std::string::npos) {
      all.back().registers = number_before(line, "registers");
      all.back().shared_bytes = number_before(line, "bytes smem");
    }
  }
  return all;
}

std::vector<Usage> of_the_program() {
  std::vector<Usage> all;
  for (const auto& file : std::filesystem::recursive_directory_iterator(BENCH_KERNEL_USAGE)) {
    if (file.path().string().ends_with(".cu.o.usage")) {
      std::ifstream report(file.path());
      const std::vector<Usage> of_file = read(report);
      all.insert(all.end(), of_file.begin(), of_file.end());
    }
  }
  return all;
}

// As many as a launch counts with, where the kernel promises any.
int counted(const Usage& usage) {
  const BlockNeeds block{.threads = usage.threads,
                         .registers = registers_for(usage.threads, usage.promised),
                         .shared_bytes = usage.shared_bytes};
  return resident_blocks(multiprocessor_of(usage.capability), block);
}

int resident(const Usage& usage) {
  const BlockNeeds block{
      .threads = usage.threads, .registers = usage.registers, .shared_bytes = usage.shared_bytes};
  return resident_blocks(multiprocessor_of(usage.capability), block);
}

// Why a kernel is not what launches take it for; empty where it is.
std::string wrong_with(const Usage& usage) {
  if (usage.registers == 0) {
    return "nvcc says nothing of its registers";
  }
  if (usage.spilled_bytes > 0 || usage.stack_bytes > 0) {
    return fmt::format("{} B of stack, {} B spilled", usage.stack_bytes, usage.spilled_bytes);
  }
  if (resident(usage) < std::max(counted(usage), 1)) {
    return fmt::format(
        "{} registers and {} B of shared memory leave room for {} blocks of {} threads, not {}",
        usage.registers, usage.shared_bytes, resident(usage), usage.threads, counted(usage));
  }
  return "";
}

TEST(KernelUsage, IsWhatLaunchesCountWith) {
  const std::vector<Usage> all = of_the_program();
  ASSERT_GE(all.size(), 100U);
  std::map<int, int> kernels;  // by architecture: bodies of later ones only are empty on the others
  for (const Usage& usage : all) {
    EXPECT_EQ(wrong_with(usage), "") << "sm_" << usage.capability << ' ' << usage.kernel;
    ++kernels[usage.capability];
  }
  for (const auto& [capability, count] : kernels) {
    EXPECT_EQ(count, kernels.begin()->second) << "sm_" << capability;
  }
  const auto fewest = std::ranges::min(all, {}, resident);
  std::cout << all.size() << " kernels for " << kernels.size()
            << " architectures, none spills; the fewest blocks a multiprocessor has room for are "
            << resident(fewest) << ", of " << fewest.kernel << " on sm_" << fewest.capability << '\n';
}

TEST(KernelUsage, IsReadFromTheCompilersReport) {
  std::istringstream report(
      "ptxas info    : 3 bytes gmem\n"
      "ptxas info    : Compiling entry function "
      "'_ZN5bench7kernels4cuda10run_on_gpuINS1_4SumsELi256ELi3EEEvT_' for 'sm_86'\n"
      "ptxas info    : Function properties for _ZN5bench7kernels4cuda10run_on_gpuINS1_4SumsELi256ELi3EEEvT_\n"
      "    16 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 88 registers, used 1 barriers, 17408 bytes smem\n"
      "ptxas info    : Compile time = 5.0 ms\n"
      "ptxas info    : Compiling entry function '_Z6othersv' for 'sm_86'\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers\n");
  std::vector<Usage> all = read(report);
  ASSERT_EQ(all.size(), 1U);
  Usage usage = all.front();
  EXPECT_EQ(usage.capability, 86);
  EXPECT_EQ(usage.registers, 88);
  EXPECT_EQ(usage.shared_bytes, 17408);
  EXPECT_EQ(wrong_with(usage), "16 B of stack, 12 B spilled");
  usage.stack_bytes = usage.spilled_bytes = 0;
  EXPECT_EQ(wrong_with(usage),
            "88 registers and 17408 B of shared memory leave room for 2 blocks of 256 threads, not 3");
  usage.registers = 80;
  EXPECT_EQ(wrong_with(usage), "");
  usage.registers = 0;
  EXPECT_NE(wrong_with(usage), "");
}

}  // namespace
}  // namespace bench::kernels::cuda
