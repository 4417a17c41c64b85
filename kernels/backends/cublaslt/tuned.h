// A matrix product by cuBLASLt, its algorithm autotuned, behind an interface without its headers:
// toolkit/algorithms.cpp asks cuBLASLt, a test may bring algorithms of its own.
//
// Its heuristics list candidates when the product is made, so that the workspace is known before anything
// runs; the candidates are timed in the first run, unless an earlier process chose one of them. The card
// keeps what was found. cuBLASLt, unlike cuDNN, lists nothing for a card that is not here: its workspace is
// then taken to be kWorkspaceCap.
//
// Sums are in fp32: algorithms that add up partial sums in the result's 16-bit dtype are left out. fp32 means
// fp32 factors; tf32 lets the tensor cores drop 13 bits of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"
#include "bench/error.h"
#include "kernels/backends/cublaslt/product.h"
#include "kernels/devices/cuda/card.h"

struct CUstream_st;

namespace bench::kernels::cuda {
class CudaDevice;
}

namespace bench::kernels::cublaslt {

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

class TunedProduct {
 public:
  // Throws Unsupported where cuBLASLt has no algorithm for the product on the device.
  TunedProduct(const Product& product, const Device& device);

  std::int64_t workspace() const;  // bytes
  // Queues the product.
  void run(CUstream_st* stream, const ProductArguments& arguments);
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
