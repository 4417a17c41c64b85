// What the library of the ranks allocates on each of them: measured by how the process grows, on a card by
// how the driver's count of the card's memory does.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/json.h"
#include "bench/result/result_json.h"
#include "bench/sweep.h"
#include "sweeps/ranks/team.h"

namespace bench::sweeps {

// By rank; empty where a rank's system does not tell.
struct LibraryMemory {
  std::vector<std::int64_t> joining;  // the group; 0 on a card, whose memory the group does not take
  std::vector<std::int64_t> summing;  // their first sums of `summed` bytes, in a group of their own
  std::int64_t summed = 0;

  std::vector<std::int64_t> total() const;
  // "21.0 MiB", "20.1 to 21.0 MiB".
  std::string in_words() const;
};

// The file's "library". Reading throws UsageError.
Json to_json(const LibraryMemory& library);
LibraryMemory read_library(const Field& field);

// A part that sums once and answers by how much its rank grew. Without bytes nothing is summed.
// Throws OutOfMemory.
std::unique_ptr<RankPart> library_part(RankGroup& ranks, Device& device, std::int64_t bytes);

// `point`: of the team's plan, which makes library_part(). `joining`: by which each rank grew as it joined.
// Nothing where a rank has no memory for it.
LibraryMemory measure_library(RankTeam& team, std::size_t point, std::int64_t bytes,
                              const std::vector<std::int64_t>& joining);

}  // namespace bench::sweeps
