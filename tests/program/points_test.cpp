// The points that sweeps list, and the memory that a dry run plans for each. Result files and scripts know
// points by name: a name that changes loses a history.
//
// tests/golden/points.txt holds command lines, each after "$ ", and after each its points: name, planned
// bytes as printed ("-" where there are none) and why a point could not run, in a word. Recorded with the
// instruction set limited to AVX2 and one thread, both of which decide what scratch an operation takes; so
// do the processor's caches and the library's version, hence kTolerance. Caches also decide whether the
// stream kernels take arrays larger than those of every machine: these points are no part of the record.
// Memory is pageable, for a user may lock little of it. BENCH_RECORD_POINTS=PROGRAM records what that program
// lists.
#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <oneapi/dnnl/dnnl_version.h>

#include "tests/program/process.h"

namespace bench::testing {
namespace {

constexpr const char* kRecord = BENCH_TEST_SOURCE_DIR "/tests/golden/points.txt";
// Version 3 of oneDNN packs weights otherwise and takes other scratch than the 2.6 of the record.
constexpr double kTolerance = DNNL_VERSION_MAJOR == 2 ? 0.02 : 0.1;

struct PlannedRow {
  std::string name;
  std::string size;    // "13.5 MiB" or "-"
  std::string status;  // "oom", "unsupported" or nothing
};

struct Listing {
  std::string command;
  std::vector<PlannedRow> rows;
};

// "kernels/stream/copy/fp32/cold/elements:100663296/batch:1".
bool depends_on_caches(const std::string& name) {
  constexpr long long kOnEveryMachine = 33'554'432;
  constexpr std::string_view kElements = "/cold/elements:";
  const auto at = name.find(kElements);
  return name.starts_with("kernels/stream/") && at != std::string::npos &&
         std::stoll(name.substr(at + kElements.size())) > kOnEveryMachine;
}

std::string recorded_names(const std::string& listed) {
  std::istringstream lines(listed);
  std::string names;
  for (std::string name; std::getline(lines, name);) {
    names += depends_on_caches(name) ? "" : name + "\n";
  }
  return names;
}

std::string take_size(std::istringstream& words) {
  std::string number;
  std::string unit;
  words >> number;
  return number != "-" && words >> unit ? number + " " + unit : number;
}

double bytes_of(const std::string& size) {
  std::istringstream words(size);
  double number = 0;
  std::string unit;
  words >> number >> unit;
  const std::string units = "BKMGTP";
  return number * std::pow(1024, static_cast<double>(units.find(unit.empty() ? 'B' : unit.front())));
}

std::vector<Listing> recorded_listings() {
  std::ifstream file(kRecord);
  std::vector<Listing> listings;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("$ ")) {
      listings.push_back({line.substr(2), {}});
      continue;
    }
    std::istringstream words(line);
    PlannedRow& row = listings.back().rows.emplace_back();
    words >> row.name;
    row.size = take_size(words);
    words >> row.status;
  }
  return listings;
}

// Root may lock all memory, another user perhaps 8 MiB.
bool may_be_unlockable(const std::string& name) {
  rlimit limit{};
  ::getrlimit(RLIMIT_MEMLOCK, &limit);
  return name.find("/pinned/") != std::string::npos && limit.rlim_cur != RLIM_INFINITY && ::geteuid() != 0;
}

Ended run_pinned(const std::string& program, const std::string& command, const std::string& option) {
  std::istringstream words("ONEDNN_MAX_CPU_ISA=AVX2 OMP_NUM_THREADS=1 " + program + " " + command +
                           " --device cpu " + option);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) {
    arguments.push_back(word);
  }
  return Process(arguments, std::nullopt, "/usr/bin/env").wait();
}

// From the CSV of a dry run: "batch/gemm/…/batch:4,1572864,oom: more than the memory cap".
std::vector<PlannedRow> rows_in(const std::string& text, const std::string& command) {
  const std::string sweep = command.substr(command.find(' ') + 1);
  const std::string beginning = sweep.substr(0, sweep.find(' ')) + "/";
  std::vector<PlannedRow> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(beginning) || depends_on_caches(line)) {
      continue;
    }
    std::istringstream cells(line);
    PlannedRow& row = rows.emplace_back();
    std::getline(cells, row.name, ',');
    std::getline(cells, row.size, ',');
    row.size = row.size == "0" ? "-" : row.size + " B";
    std::getline(cells, row.status, ':');
    row.status.erase(0, row.status.starts_with('"') ? 1 : 0);
  }
  return rows;
}

void record(const std::string& program, const std::vector<Listing>& listings) {
  std::ofstream file(kRecord);
  for (const auto& [command, rows] : listings) {
    file << "$ " << command << '\n';
    for (const PlannedRow& row :
         rows_in(run_pinned(program, command, "--dry-run --format csv").out, command)) {
      file << row.name << ' ' << row.size << (row.status.empty() ? "" : " ") << row.status << '\n';
    }
  }
}

TEST(Points, AreThoseRecordedWithTheirMemory) {
  const std::vector<Listing> listings = recorded_listings();
  ASSERT_GT(listings.size(), 30U);
  if (const char* const program = std::getenv("BENCH_RECORD_POINTS")) {
    record(program, listings);
    return;
  }
  for (const auto& [command, recorded] : listings) {
    SCOPED_TRACE(command);
    const Ended listed = run_pinned(BENCH_PROGRAM, command, "--benchmark_list_tests");
    EXPECT_EQ(listed.code, 0) << listed.err;
    std::string names;
    for (const PlannedRow& row : recorded) {
      names += row.name + "\n";
    }
    EXPECT_EQ(recorded_names(listed.out), names);

    const Ended planned = run_pinned(BENCH_PROGRAM, command, "--dry-run --format csv");
    EXPECT_EQ(planned.code, 0) << planned.err;
    const std::vector<PlannedRow> rows = rows_in(planned.out, command);
    ASSERT_EQ(rows.size(), recorded.size()) << planned.out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].name, recorded[i].name);
      if (rows[i].status == "unsupported" && may_be_unlockable(rows[i].name)) {
        continue;
      }
      EXPECT_EQ(rows[i].status, recorded[i].status) << rows[i].name;
      EXPECT_NEAR(bytes_of(rows[i].size), bytes_of(recorded[i].size), kTolerance * bytes_of(recorded[i].size))
          << rows[i].name;
    }
  }
}

}  // namespace
}  // namespace bench::testing
