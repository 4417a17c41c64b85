// cuBLASLt's objects with one owner each, its handles and its checked calls.
#pragma once

#include <cublasLt.h>

#include <string>
#include <utility>

#include "kernels/cublaslt/product.h"
#include "kernels/device/cuda/place.h"

namespace bench::kernels::cublaslt {

// Throws runtime_error naming the call, the value, the place and what was computed.
void check(cublasStatus_t status, const char* call, const std::string& what = {},
           cuda::Place place = cuda::Place::current());

// The handle of device `ordinal`, made when first asked for and kept until the process ends. Makes the device
// current.
cublasLtHandle_t handle_of(int ordinal);

// Owns what `destroy` frees.
template <class Handle, cublasStatus_t (*destroy)(Handle)>
class Owned {
 public:
  Owned() = default;
  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (handle_ != nullptr) {
      destroy(handle_);
    }
  }

  Handle get() const { return handle_; }

 protected:
  Handle handle_ = nullptr;
};

class OperationDescriptor : public Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> {
 public:
  explicit OperationDescriptor(const Product& product);
  template <class Value>
  void set(cublasLtMatmulDescAttributes_t attribute, const Value& value) {
    check(cublasLtMatmulDescSetAttribute(handle_, attribute, &value, sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }
};

class Layout : public Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> {
 public:
  Layout(const ColumnMajor::Matrix& matrix, Dtype dtype, std::int64_t batch);
};

class Preference : public Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy> {
 public:
  Preference();
  template <class Value>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
    check(cublasLtMatmulPreferenceSetAttribute(handle_, attribute, &value, sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  }
};

}  // namespace bench::kernels::cublaslt
