// Why a file is refused, and how much of a file the reader keeps in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "kernels/networks/onnx/model.h"

namespace bench::kernels::onnx {

// The end of a sentence that begins with the file: "is empty; …". read_model() puts the file in front of it.
class Refusal : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
inline constexpr std::uint64_t kMostNodes = 100'000;             // of all graphs, after inlining
inline constexpr std::uint64_t kMostInputs = 250'000;            // of all nodes together
inline constexpr std::uint64_t kMostKept = 128 * kMiB;           // nodes, names, attributes
inline constexpr std::uint64_t kMostValues = 24 * kMiB;          // of all tensors that are read
inline constexpr std::uint64_t kLargestValues = 2 * kMiB;        // of one tensor that is read
inline constexpr std::uint64_t kLargestBytes = 4 * kMiB;         // the same of bytes or booleans: a mask
inline constexpr std::uint64_t kLargestTensor = kMiB * kMiB;     // bytes that dimensions may ask for: 1 TiB
inline constexpr std::uint64_t kLargestDimension = kMiB * kMiB;  // 2^40
inline constexpr std::size_t kMostDimensions = 32;
inline constexpr int kDeepestGraph = 16;  // graphs in attributes of nodes of graphs
inline constexpr int kDeepestCall = 32;   // functions that call functions

// Counts what a model keeps in memory: a short field of a file can stand for a large object. Throws Refusal
// above the bounds.
class Allowance {
 public:
  void keep(std::uint64_t bytes);
  void add_node();
  void add_inputs(std::uint64_t count);  // of a node
  // False where a tensor's elements are to stay in the file.
  bool keep_values(std::uint64_t bytes, std::uint64_t element_size);

 private:
  std::uint64_t kept_ = 0;  // bytes
  std::uint64_t nodes_ = 0;
  std::uint64_t inputs_ = 0;
  std::uint64_t values_ = 0;  // bytes
};

// For messages: node 'conv1' (Conv).
std::string described(const Node& node);

}  // namespace bench::kernels::onnx
