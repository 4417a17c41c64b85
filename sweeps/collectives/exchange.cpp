#include "sweeps/collectives/exchange.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

namespace bench::sweeps {
namespace {

std::int64_t result_bytes(Operation operation, std::int64_t bytes, int ranks) {
  return operation == Operation::reduce_scatter ? bytes / ranks : bytes;
}

// Goes through so many values of a buffer at a time: `block` gets the first one's place, and a copy of them.
void in_blocks(
    const Buffer& buffer,
    const std::function<void(std::int64_t place, std::byte* data, std::vector<float>& values)>& block) {
  constexpr std::int64_t kBlock = 1 << 18;
  const std::int64_t count = buffer.bytes() / kValueBytes;
  for (std::int64_t place = 0; place < count; place += kBlock) {
    std::vector<float> values(static_cast<std::size_t>(std::min(kBlock, count - place)));
    block(place, buffer.data() + place * kValueBytes, values);
  }
}

std::int64_t bytes_of(const std::vector<float>& values) {
  return static_cast<std::int64_t>(values.size()) * kValueBytes;
}

}  // namespace

std::int64_t given_bytes(Operation operation, std::int64_t bytes, int ranks) {
  return operation == Operation::all_gather ? bytes / ranks : bytes;
}

std::int64_t buffer_bytes(Operation operation, std::int64_t bytes, int ranks) {
  return given_bytes(operation, bytes, ranks) + result_bytes(operation, bytes, ranks);
}

Exchange::Exchange(const CollectiveParams& params, std::uint64_t seed, RankGroup& ranks, Device& device,
                   const Clock& clock)
    : ranks_(ranks),
      device_(device),
      clock_(clock),
      params_(params),
      seed_(seed),
      from_(
          device.allocate(given_bytes(params.operation, params.bytes, ranks.size()), MemoryCategory::input)),
      to_(device.allocate(result_bytes(params.operation, params.bytes, ranks.size()),
                          MemoryCategory::workspace)) {
  in_blocks(from_, [this](std::int64_t place, std::byte* data, std::vector<float>& values) {
    std::ranges::generate(values, [&] { return given_value(ranks_.rank(), place++, seed_); });
    device_.upload(data, values.data(), bytes_of(values));
  });
  device_.fill(to_.data(), std::byte{0xFF}, to_.bytes());
}

bool Exchange::takes_part() const {
  return params_.operation != Operation::send_receive || ranks_.rank() == 0 || ranks_.rank() == params_.peer;
}

void Exchange::call() {
  const auto exchange = [&](CollectiveKind kind, std::int64_t bytes, int peer = 0) {
    ranks_.queue({.kind = kind, .from = from_.data(), .to = to_.data(), .bytes = bytes, .peer = peer});
  };
  const std::int64_t part = params_.bytes / ranks_.size();
  switch (params_.operation) {
    case Operation::all_reduce:
      return exchange(CollectiveKind::all_reduce, params_.bytes);
    case Operation::reduce_scatter:
      return exchange(CollectiveKind::reduce_scatter, part);
    case Operation::all_gather:
      return exchange(CollectiveKind::all_gather, part);
    case Operation::send_receive:
      if (ranks_.rank() == 0) {
        exchange(CollectiveKind::send, params_.bytes, params_.peer);
        exchange(CollectiveKind::receive, params_.bytes, params_.peer);
      } else if (ranks_.rank() == params_.peer) {
        exchange(CollectiveKind::receive, params_.bytes, 0);
        exchange(CollectiveKind::send, params_.bytes, 0);
      }
  }
}

RankAnswer Exchange::run(std::int64_t calls) {
  ranks_.barrier();
  const Clock::time_point start = clock_.now();
  for (std::int64_t i = 0; i < calls && takes_part(); ++i) {
    call();
  }
  ranks_.finish();
  const double ns = clock_.since_ns(start) / static_cast<double>(calls);
  return {!takes_part() ? 0 : params_.operation == Operation::send_receive ? ns / 2 : ns};
}

float Exchange::expected(std::int64_t place) const {
  const std::int64_t in_part = to_.bytes() / kValueBytes / ranks_.size();
  switch (params_.operation) {
    case Operation::all_reduce:
      return summed_value(ranks_.size(), place, seed_);
    case Operation::reduce_scatter:  // this rank's part of the sums
      return summed_value(ranks_.size(), ranks_.rank() * (to_.bytes() / kValueBytes) + place, seed_);
    case Operation::all_gather:
      return given_value(static_cast<int>(place / in_part), place % in_part, seed_);
    case Operation::send_receive:
      return given_value(ranks_.rank() == 0 ? params_.peer : 0, place, seed_);
  }
  return 0;
}

RankAnswer Exchange::verify() {
  if (!takes_part()) {
    return {};
  }
  device_.fill(to_.data(), std::byte{0xFF}, to_.bytes());  // not a number
  call();
  ranks_.finish();
  std::int64_t wrong = 0;
  in_blocks(to_, [&](std::int64_t place, const std::byte* data, std::vector<float>& values) {
    device_.download(values.data(), data, bytes_of(values));
    for (const float value : values) {
      wrong += value == expected(place++) ? 0 : 1;
    }
  });
  return {static_cast<double>(wrong)};
}

}  // namespace bench::sweeps
