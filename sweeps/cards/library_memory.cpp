#include "sweeps/cards/library_memory.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "bench/host/process_memory.h"
#include "bench/measure/units.h"

namespace bench::sweeps {
namespace {

class LibraryPart final : public RankPart {
 public:
  LibraryPart(RankGroup& ranks, std::int64_t bytes) {
    std::vector<float> values(static_cast<std::size_t>(bytes) / sizeof(float));  // written: it is held
    const auto before = own_memory_bytes();
    const auto group = ranks.first(ranks.size());
    const Collective sum{.kind = CollectiveKind::all_reduce,
                         .from = values.data(),
                         .to = values.data(),
                         .bytes = static_cast<std::int64_t>(values.size() * sizeof(float))};
    for (int i = 0; i < 2 && sum.bytes > 0; ++i) {  // some allocate more for the second
      group->run(sum);
    }
    group->barrier();
    if (const auto after = own_memory_bytes(); before && after) {
      answer_ = {1, static_cast<double>(std::max<std::int64_t>(0, *after - *before))};
    }
    group->barrier();  // shared memory is counted while all hold it
  }

  RankAnswer prepared() override { return answer_; }
  RankAnswer run(std::int64_t /*calls*/) override { return {}; }
  RankAnswer verify() override { return {}; }

 private:
  RankAnswer answer_{};  // whether it is known, and the bytes
};

}  // namespace

std::vector<std::int64_t> LibraryMemory::total() const {
  std::vector<std::int64_t> all;
  for (std::size_t rank = 0; rank < std::min(joining.size(), summing.size()); ++rank) {
    all.push_back(joining[rank] + summing[rank]);
  }
  return all;
}

std::string LibraryMemory::in_words() const {
  const std::vector<std::int64_t> all = total();
  const auto [least, most] = std::ranges::minmax(all);
  const std::string low = format_bytes(least);
  const std::string high = format_bytes(most);
  return low == high ? high : fmt::format("{} to {}", low, high);
}

std::unique_ptr<RankPart> library_part(RankGroup& ranks, std::int64_t bytes) {
  return std::make_unique<LibraryPart>(ranks, bytes);
}

LibraryMemory measure_library(RankTeam& team, std::size_t point, std::int64_t bytes,
                              const std::vector<std::int64_t>& joining) {
  std::int64_t number = 0;
  const std::vector<RankAnswer> answers = team.prepare(point, number);
  team.release(number);
  LibraryMemory memory{.joining = joining, .summing = {}, .summed = bytes};
  for (const RankAnswer& answer : answers) {
    if (answer[0] != 1 || joining.size() != answers.size()) {
      return {};
    }
    memory.summing.push_back(std::llround(answer[1]));
  }
  return memory;
}

}  // namespace bench::sweeps
