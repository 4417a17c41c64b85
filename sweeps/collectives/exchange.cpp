#include "sweeps/collectives/exchange.h"

#include <cstring>

namespace bench::sweeps {
namespace {

std::int64_t result_bytes(Operation operation, std::int64_t bytes, int ranks) {
  return operation == Operation::reduce_scatter ? bytes / ranks : bytes;
}

float* values_of(const Buffer& buffer) {
  return reinterpret_cast<float*>(buffer.data());
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
      clock_(clock),
      params_(params),
      seed_(seed),
      from_(
          device.allocate(given_bytes(params.operation, params.bytes, ranks.size()), MemoryCategory::input)),
      to_(device.allocate(result_bytes(params.operation, params.bytes, ranks.size()),
                          MemoryCategory::workspace)) {
  for (std::int64_t i = 0; i < from_.bytes() / kValueBytes; ++i) {
    values_of(from_)[i] = given_value(ranks_.rank(), i, seed_);
  }
  std::memset(to_.data(), 0xFF, static_cast<std::size_t>(to_.bytes()));
}

bool Exchange::takes_part() const {
  return params_.operation != Operation::send_receive || ranks_.rank() == 0 || ranks_.rank() == params_.peer;
}

void Exchange::call() {
  const auto exchange = [&](CollectiveKind kind, std::int64_t bytes, int peer = 0) {
    ranks_.run({.kind = kind, .from = from_.data(), .to = to_.data(), .bytes = bytes, .peer = peer});
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
  std::memset(to_.data(), 0xFF, static_cast<std::size_t>(to_.bytes()));  // not a number
  call();
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; takes_part() && i < to_.bytes() / kValueBytes; ++i) {
    wrong += values_of(to_)[i] == expected(i) ? 0 : 1;
  }
  return {static_cast<double>(wrong)};
}

}  // namespace bench::sweeps
