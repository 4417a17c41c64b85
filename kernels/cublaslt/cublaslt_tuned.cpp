#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/cublaslt/cublaslt_objects.h"
#include "kernels/cublaslt/tuned.h"
#include "kernels/cuda/library_scratch.h"
#include "kernels/device/cuda/library.h"
#include "kernels/device/cuda/ordinal.h"
#include "kernels/device/cuda/stream.h"
#include "kernels/tune/fastest.h"

namespace bench::kernels::cublaslt {
namespace {

constexpr int kMostTried = 8;

cublasLtEpilogue_t epilogue_of(const Product& product) {
  switch (product.activation) {
    case Activation::relu:
      return product.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::gelu:
      return product.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
      return product.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

}  // namespace

class Algorithms {
 public:
  Algorithms(const Product& product, int ordinal)
      : product_(product),
        ordinal_(ordinal),
        operation_(product),
        first_(column_major(product).first, product.dtype, product.batch),
        second_(column_major(product).second, product.dtype, product.batch),
        result_(column_major(product).result, product.result, product.batch) {
    operation_.set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(product));
    operation_.set(CUBLASLT_MATMUL_DESC_TRANSA,
                   column_major(product).first.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    operation_.set(CUBLASLT_MATMUL_DESC_TRANSB,
                   column_major(product).second.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (product.bias) {
      // An address that nobody reads: without one the heuristics refuse the epilogue, and they take its
      // alignment for that of all that follow.
      operation_.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<std::uintptr_t>(product.alignment));
    }
    list();
  }

  std::int64_t workspace() const {
    std::size_t most = 0;
    for (const cublasLtMatmulHeuristicResult_t& candidate : candidates_) {
      most = std::max(most, candidate.workspaceSize);
    }
    return static_cast<std::int64_t>(most);
  }

  void run(CUstream_st* stream, const Arguments& arguments) {
    if (product_.bias) {
      operation_.set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, arguments.bias);
    }
    if (!best_ && !cuda::recording(stream)) {
      best_ = cuda::fastest(cuda::cuda_runtime(), stream, candidates_.size(),
                            [&](std::size_t candidate) { queue(candidate, stream, arguments); });
    }
    queue(best_.value_or(0), stream, arguments);
  }

  std::string algorithm() const {
    const auto& chosen = candidates_[best_.value_or(0)].algo;
    const auto read = [&](cublasLtMatmulAlgoConfigAttributes_t attribute) {
      int value = 0;
      std::size_t written = 0;
      check(cublasLtMatmulAlgoConfigGetAttribute(&chosen, attribute, &value, sizeof value, &written),
            "cublasLtMatmulAlgoConfigGetAttribute");
      return value;
    };
    return fmt::format("cublaslt algorithm {}, tile {}, split {}", read(CUBLASLT_ALGO_CONFIG_ID),
                       read(CUBLASLT_ALGO_CONFIG_TILE_ID), read(CUBLASLT_ALGO_CONFIG_SPLITK_NUM));
  }

 private:
  void list() {
    Preference preference;
    preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kWorkspaceCap));
    preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                   static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    // cuBLASLt would assume 256.
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      preference.set(attribute, static_cast<std::uint32_t>(product_.alignment));
    }
    std::array<cublasLtMatmulHeuristicResult_t, kMostTried> found{};
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        handle_of(ordinal_), operation_.get(), first_.get(), second_.get(), result_.get(), result_.get(),
        preference.get(), kMostTried, found.data(), &count);
    for (int i = 0; status == CUBLAS_STATUS_SUCCESS && i < count; ++i) {
      if (found[i].state == CUBLAS_STATUS_SUCCESS) {
        candidates_.push_back(found[i]);
      }
    }
    if (candidates_.empty()) {
      const std::string what = fmt::format("cuBLASLt has no algorithm for {}: {}", described(product_),
                                           cublasLtGetStatusString(status));
      if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED &&
          status != CUBLAS_STATUS_INVALID_VALUE) {
        cuda::library_refused(what, status == CUBLAS_STATUS_ALLOC_FAILED);
      }
      throw Unsupported(what);
    }
  }

  void queue(std::size_t candidate, CUstream_st* stream, const Arguments& arguments) const {
    cuda::check_library_scratch(arguments.workspace);
    const float beta = 0.0F;
    const cublasStatus_t status = cublasLtMatmul(
        handle_of(ordinal_), operation_.get(), &product_.scale, arguments.b, first_.get(), arguments.a,
        second_.get(), &beta, arguments.d, result_.get(), arguments.d, result_.get(),
        &candidates_[candidate].algo, arguments.workspace, static_cast<std::size_t>(workspace()), stream);
    if (status != CUBLAS_STATUS_SUCCESS) {  // the description is made for a failure only
      check(status, "cublasLtMatmul", described(product_));
    }
  }

  Product product_;
  int ordinal_;
  OperationDescriptor operation_;
  Layout first_;
  Layout second_;
  Layout result_;
  std::vector<cublasLtMatmulHeuristicResult_t> candidates_;
  std::optional<std::size_t> best_;
};

TunedProduct::TunedProduct(const Product& product, const Device& device) {
  // For one thread: the one that has the device.
  static std::map<std::pair<int, Product>, std::shared_ptr<Algorithms>> known;
  const std::pair key{cuda::ordinal_of(device), product};
  const auto at = known.find(key);
  algorithms_ = at != known.end()
                    ? at->second
                    : known.emplace(key, std::make_shared<Algorithms>(product, key.first)).first->second;
}

std::int64_t TunedProduct::workspace() const {
  return algorithms_->workspace();
}

void TunedProduct::run(CUstream_st* stream, const Arguments& arguments) {
  algorithms_->run(stream, arguments);
}

std::string TunedProduct::algorithm() const {
  return algorithms_->algorithm();
}

}  // namespace bench::kernels::cublaslt
