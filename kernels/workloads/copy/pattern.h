// Contents that tell whether, and where, a copy went wrong: random bytes of which any stretch can be made
// again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bench::kernels {

// The bytes from `offset` on of the stream that `seed` gives.
void write_pattern(std::span<std::byte> to, std::uint64_t seed, std::int64_t offset = 0);

struct Mismatch {
  std::int64_t first = 0;  // its offset in the stream
  std::int64_t bytes = 0;  // that differ
};
// nullopt where all bytes are the stream's.
std::optional<Mismatch> find_mismatch(std::span<const std::byte> found, std::uint64_t seed,
                                      std::int64_t offset = 0);

}  // namespace bench::kernels
