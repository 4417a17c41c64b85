// A short name for a long text, the same on every platform.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace bench {

// FNV-1a with 64 bits, 16 hexadecimal digits. Not for secrets that can be guessed.
inline std::string fingerprint(std::string_view text) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  }
  return fmt::format("{:016x}", hash);
}

}  // namespace bench
