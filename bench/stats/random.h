// Random draws that are the same on every platform: the standard fixes what mt19937_64 yields,
// but not what its distributions or std::shuffle make of it.
#pragma once

#include <cstdint>
#include <random>

namespace bench {

// Uniform in [0, 1), 53 bits.
inline double unit_draw(std::mt19937_64& engine) {
  return static_cast<double>(engine() >> 11U) * 0x1.0p-53;
}

// Uniform in [low, high).
inline double uniform_draw(std::mt19937_64& engine, double low, double high) {
  return low + (high - low) * unit_draw(engine);
}

// Uniform in [0, bound); bound >= 1. Rejects the first 2^64 mod bound values, so that none is favoured.
inline std::uint64_t bounded_draw(std::mt19937_64& engine, std::uint64_t bound) {
  const std::uint64_t rejected = (0 - bound) % bound;
  for (;;) {
    const std::uint64_t drawn = engine();
    if (drawn >= rejected) {
      return drawn % bound;
    }
  }
}

// A seed for one of many independent streams: splitmix64 (Steele, Lea, Flood 2014) of both numbers.
inline std::uint64_t stream_seed(std::uint64_t seed, std::uint64_t stream) {
  const auto mix = [](std::uint64_t z) {
    z += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  };
  return mix(mix(seed) ^ stream);
}

}  // namespace bench
