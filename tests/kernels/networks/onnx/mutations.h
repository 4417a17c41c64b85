// Bytes of a file, damaged at random.
#pragma once

#include <random>
#include <string>

#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {

// A few bytes become others, or are left out, or come twice.
inline std::string mutated(std::string bytes, std::mt19937& random) {
  const auto below = [&](std::size_t bound) { return random() % bound; };
  static constexpr unsigned char kTelling[] = {0, 1, 2, 8, 10, 0x7F, 0x80, 0xFF};
  for (std::size_t changes = 1 + below(4); changes > 0 && !bytes.empty(); --changes) {
    const std::size_t at = below(bytes.size());
    switch (below(6)) {
      case 0:
        bytes.erase(at, 1 + below(8));
        break;
      case 1:
        bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(32)));
        break;
      case 2:
        bytes[at] = static_cast<char>(kTelling[below(std::size(kTelling))]);
        break;
      case 3:
        bytes.insert(at, written::varint(std::uint64_t{1} << below(64)));
        break;
      default:
        bytes[at] = static_cast<char>(bytes[at] ^ (1U << below(8)));
    }
  }
  return bytes;
}

}  // namespace bench::kernels::onnx
