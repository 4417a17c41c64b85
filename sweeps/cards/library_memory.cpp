#include "sweeps/cards/library_memory.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/process_memory.h"
#include "bench/result/json_members.h"
#include "bench/text/units.h"

namespace bench::sweeps {

void members(auto& io, Of<LibraryMemory> auto& library) {
  io("joining_bytes", library.joining);
  io("summing_bytes", library.summing);
  io("summed_bytes", library.summed);
}

Json to_json(const LibraryMemory& library) {
  return write_struct(library);
}

LibraryMemory read_library(const Field& field) {
  auto library = read_struct<LibraryMemory>(field);
  if (library.joining.empty() || library.summing.size() != library.joining.size()) {
    field.refuse("bytes of each rank");
  }
  return library;
}

namespace {

class LibraryPart final : public RankPart {
 public:
  LibraryPart(RankGroup& ranks, Device& device, std::int64_t bytes) {
    constexpr std::int64_t kValue = sizeof(float);
    const Buffer values = device.allocate(bytes / kValue * kValue, MemoryCategory::other);
    if (bytes > 0) {
      device.fill(values.data(), std::byte{0}, values.bytes());  // written: it is held
      device.synchronize();
    }
    const auto held = [&] {
      return device.host_accessible() ? own_memory_bytes() : std::optional(device.driver_used());
    };
    const auto before = held();
    const auto group = ranks.first(ranks.size());
    const Collective sum{.kind = CollectiveKind::all_reduce,
                         .from = values.data(),
                         .to = values.data(),
                         .bytes = values.bytes()};
    for (int i = 0; i < 2 && sum.bytes > 0; ++i) {  // some allocate more for the second
      group->run(sum);
    }
    group->barrier();
    if (const auto after = held(); before && after) {
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

std::unique_ptr<RankPart> library_part(RankGroup& ranks, Device& device, std::int64_t bytes) {
  return std::make_unique<LibraryPart>(ranks, device, bytes);
}

LibraryMemory measure_library(RankTeam& team, std::size_t point, std::int64_t bytes,
                              const std::vector<std::int64_t>& joining) {
  std::int64_t number = 0;
  std::vector<RankAnswer> answers;
  try {
    answers = team.prepare(point, number);
  } catch (const OutOfMemory&) {
    return {};
  }
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
