// A matrix product by the fastest of cuBLASLt's algorithms, behind an interface without its headers.
//
// Its heuristics list candidates when the product is made, so that the workspace is known before anything
// runs; the candidates are timed in the first run. What was found holds for the process. cuBLASLt, unlike
// cuDNN, lists nothing without a device.
//
// Sums are in fp32: algorithms that add up partial sums in the result's 16-bit dtype are left out. fp32 means
// fp32 factors; tf32 lets the tensor cores drop 13 bits of each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "bench/device.h"
#include "kernels/cublaslt/product.h"

struct CUstream_st;

namespace bench::kernels::cublaslt {

// The most workspace an algorithm may have, in bytes: what NVIDIA recommends for Hopper, its most demanding.
inline constexpr std::int64_t kWorkspaceCap = 32 * 1024 * 1024;

// The device memory of a run. bias is of the product's dtype.
struct Arguments {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  const void* bias = nullptr;
  void* workspace = nullptr;
};

class Algorithms;

class TunedProduct {
 public:
  // Throws Unsupported where cuBLASLt has no algorithm for the product on the device.
  TunedProduct(const Product& product, const Device& device);

  std::int64_t workspace() const;  // bytes
  // Queues the product. Throws runtime_error naming product and call.
  void run(CUstream_st* stream, const Arguments& arguments);
  // "cublaslt algorithm 66, tile 20": the heuristics' favourite until they were timed.
  std::string algorithm() const;

 private:
  std::shared_ptr<Algorithms> algorithms_;
};

}  // namespace bench::kernels::cublaslt
