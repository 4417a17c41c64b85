// A library of matrix products that is no GPU's: computes a product as cuBLASLt is told to see it, in double,
// column by column.
#pragma once

#include <string>

#include "bench/device.h"
#include "kernels/backends/cublaslt/product.h"

namespace bench::kernels::testing {

class HostProduct {
 public:
  // Scratch that a run overwrites, so that a test sees whoever keeps something in it. Not a multiple of
  // anything, nor of the products' own.
  static constexpr std::int64_t kWorkspace = 52;

  HostProduct(const cublaslt::Product& product, const Device& /*device*/) : product_(product) {}

  std::int64_t workspace() const { return kWorkspace; }
  std::string algorithm() const { return "host " + cublaslt::described(product_); }
  // Throws std::logic_error where an address is not aligned as the product promises, or the scratch not as
  // libraries want it.
  void run(const cublaslt::ProductArguments& arguments) const;

 private:
  cublaslt::Product product_;
};

}  // namespace bench::kernels::testing
