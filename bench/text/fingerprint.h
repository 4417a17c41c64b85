// A short name for a long text, the same on every platform.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace bench {

// FNV-1a with 64 bits: the same on every platform. Not for secrets that can be guessed.
class Fnv1a {
 public:
  void add(unsigned char byte) { hash_ = (hash_ ^ byte) * 0x100000001b3; }
  void add(std::string_view text) {
    for (const char c : text) {
      add(static_cast<unsigned char>(c));
    }
  }
  void add_bytes_of(std::uint64_t number) {  // the lowest first
    for (unsigned shift = 0; shift < 64; shift += 8) {
      add(static_cast<unsigned char>(number >> shift));
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325;
};

// 16 hexadecimal digits.
inline std::string fingerprint(std::string_view text) {
  Fnv1a hash;
  hash.add(text);
  return fmt::format("{:016x}", hash.value());
}

}  // namespace bench
