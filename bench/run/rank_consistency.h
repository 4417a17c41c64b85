// What all ranks of a run must have in common, for one file says it once of all of them.
#pragma once

#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/ranks.h"

namespace bench {

struct RankFact {
  std::string what;    // "build"
  std::string value;   // a rank without the fact has an empty one
  std::string advice;  // what to do where ranks differ
};

// The version, the commit and the linker's digest of this program. Compared before all else: programs of
// another build may exchange other messages.
RankFact build_fact();
RankFact command_line_fact(const std::vector<std::string>& arguments);
// The library that brings the ranks together.
std::vector<RankFact> library_facts(const RankGroup& ranks);
// The device's name, what it computes with, and versions of its libraries.
std::vector<RankFact> device_facts(const DeviceInfo& device);

// Throws UsageError, the same on every rank, where ranks differ in a fact: the first such one, with each
// value and the ranks that have it. Ranks may end after it. Every rank calls it.
void require_consistent(RankGroup& ranks, const std::vector<RankFact>& own);

}  // namespace bench
