// A matrix product by cuBLASLt, its algorithm autotuned: as our operations see it, in row-major matrices, and
// as cuBLASLt sees it, in column-major ones. Includes no header of cuBLASLt: toolkit/algorithms.cpp calls it,
// and a test can replace the algorithms.
//
//   d[i][j] = act( scale · Σ_k a[i][k] · b[k][j] + bias[j] ), for each of `batch` products
//
// Sums are in fp32: algorithms that add up partial sums in the result's 16-bit dtype are left out. fp32 means
// fp32 factors; tf32 lets the tensor cores drop 13 bits of each.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"
#include "bench/dtype.h"
#include "bench/error.h"
#include "kernels/devices/cuda/card.h"
#include "kernels/operations/activation.h"
#include "kernels/operations/linear/linear.h"

struct CUstream_st;

namespace bench::kernels::cuda {
class CudaDevice;
}

namespace bench::kernels::cublaslt {

// A row-major matrix in memory. `transposed`: what is stored is its transpose.
struct Stored {
  bool transposed = false;
  std::int64_t step = 0;                            // elements from one stored row to the next
  std::int64_t batch_step = 0;                      // from one product's matrix to the next one's
  auto operator<=>(const Stored&) const = default;  // NOLINT(modernize-use-nullptr)
};

// Also the key under which algorithms are kept.
struct Product {
  Dtype dtype = Dtype::fp32;   // of a, b and bias
  Dtype result = Dtype::fp32;  // of d: dtype, or fp32
  std::int64_t rows = 1, inner = 1, columns = 1;
  Stored a, b, d;  // d is never transposed
  std::int64_t batch = 1;
  std::int64_t alignment = 16;  // bytes that all addresses are multiples of
  float scale = 1.0F;
  bool bias = false;
  Activation activation = Activation::none;          // none, relu or gelu: what cuBLASLt fuses
  auto operator<=>(const Product&) const = default;  // NOLINT(modernize-use-nullptr)
};

// d[rows][columns] = a · b of dense matrices.
Product dense(Dtype dtype, std::int64_t rows, std::int64_t inner, std::int64_t columns, bool a_transposed,
              bool b_transposed);

// Without an activation that cuBLASLt does not fuse, which a kernel of our own applies after it.
Product product_of(const Linear& spec);

// cuBLASLt's column-major view. A row-major matrix is the column-major form of its transpose, so the product
// is computed transposed, dᵀ = bᵀ · aᵀ: its first operand is b, its rows are our columns. A bias for each of
// our columns is then one for each of its rows, which is the one it fuses.
struct ColumnMajor {
  struct Matrix {
    std::int64_t rows = 0, columns = 0, step = 0, batch_step = 0;
    bool transposed = false;
    bool operator==(const Matrix&) const = default;
  };
  Matrix first, second, result;  // of b, of a, of d
};
ColumnMajor column_major(const Product& product);

// "fp16 16x2048 by 2048x1000 +bias"
std::string described(const Product& product);
// The same with every other field: two products have the same text only where they are equal.
std::string described_in_full(const Product& product);

// The most workspace an algorithm may have, in bytes: what NVIDIA recommends for Hopper, its most demanding.
inline constexpr std::int64_t kWorkspaceCap = 32 * 1024 * 1024;

// The device memory of a run. bias is of the product's dtype.
struct ProductArguments {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  const void* bias = nullptr;
  void* workspace = nullptr;
};

// cuBLASLt's algorithms for one product, the heuristics' favourite first; at least one.
class Algorithms {
 public:
  virtual ~Algorithms() = default;
  virtual std::size_t count() const = 0;
  virtual std::int64_t workspace() const = 0;  // bytes, enough for each
  // "cublaslt algorithm 66, tile 20, split 1, …": all of its configuration.
  virtual std::string name(std::size_t algorithm) const = 0;
  // Queues the product. Throws what cuda::library_failed() throws, naming product and call.
  virtual void queue(std::size_t algorithm, CUstream_st* stream, const ProductArguments& arguments) = 0;
};

// Where algorithms come from: registered as "cublaslt" in a program that has cuBLASLt.
struct AlgorithmSource {
  std::string name;
  // Throws Unsupported where cuBLASLt has none for the product on the card, which is here.
  std::function<std::unique_ptr<Algorithms>(const Product& product, cuda::Card& card)> algorithms;
};

struct ProductTuning;  // shared by all equal products on a card

// Algorithms are listed when it is made, so that the workspace is known before anything runs, and timed in
// the first run, unless the card remembers a choice. cuBLASLt, unlike cuDNN, lists nothing for a card that is
// not here: its workspace is then taken to be kWorkspaceCap.
class TunedProduct {
 public:
  // Throws Unsupported where cuBLASLt has no algorithm for the product on the device.
  TunedProduct(const Product& product, const Device& device);

  std::int64_t workspace() const;  // bytes
  // Queues the product on the card's stream.
  void run(const ProductArguments& arguments);
  // The heuristics' favourite until one was chosen.
  std::string algorithm() const;

 private:
  cuda::Card& card_;
  std::shared_ptr<ProductTuning> tuning_;
};

// Why an operation whose products `plan` makes is unsupported on the device; nullopt where it is supported.
// The card keeps the products, so that making the operation asks for nothing again.
template <class Plan>
std::optional<std::string> unsupported(Dtype dtype, const Device& device, const Plan& plan) {
  if (auto reason = device.unsupported(dtype)) {
    return reason;
  }
  try {
    plan();
    return std::nullopt;
  } catch (const Unsupported& error) {
    return error.what();
  }
}

// FLOP/s of a product of two matrices of size × size in `dtype` with fp32 accumulation, inputs random, by the
// fastest algorithm; 0 where there is none. Throws OutOfMemory.
double matmul_rate(cuda::CudaDevice& device, Dtype dtype, std::int64_t size);

}  // namespace bench::kernels::cublaslt
