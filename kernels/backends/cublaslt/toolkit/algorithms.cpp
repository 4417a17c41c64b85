// Asks cuBLASLt: from a Product to its descriptors, the algorithms of the heuristics, and runs of them.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/backends/cublaslt/product.h"
#include "kernels/devices/cuda/errors.h"
#include "kernels/devices/cuda/toolkit/dynload.h"

namespace bench::kernels::cublaslt {
namespace {

const cuda::dynload::Cublaslt& api() {
  return cuda::dynload::cublaslt();
}

// Throws what cuda::library_failed() throws, naming the call, the value, the place and what was computed.
void check(cublasStatus_t status, const char* call, const std::string& what = {},
           cuda::CallSite site = cuda::CallSite::current()) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    cuda::library_failed(fmt::format("{}{}{} failed: {} ({}: {}) at {}", what, what.empty() ? "" : ": ", call,
                                     static_cast<int>(status), api().cublasLtGetStatusName(status),
                                     api().cublasLtGetStatusString(status), cuda::text_of(site)),
                         status == CUBLAS_STATUS_ALLOC_FAILED);
  }
}

// One of cuBLASLt's objects, with one owner.
template <class Object, auto destroy>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) {
      (api().*destroy)(object_);
    }
  }
  Object get() const { return object_; }
  Object* fill() { return &object_; }

 private:
  Object object_ = nullptr;
};

using Description = Owned<cublasLtMatmulDesc_t, &cuda::dynload::Cublaslt::cublasLtMatmulDescDestroy>;
using MatrixLayout = Owned<cublasLtMatrixLayout_t, &cuda::dynload::Cublaslt::cublasLtMatrixLayoutDestroy>;
using Preference =
    Owned<cublasLtMatmulPreference_t, &cuda::dynload::Cublaslt::cublasLtMatmulPreferenceDestroy>;

// cuBLASLt's handle for a card: made at the first use, kept by the card.
class CublasltHandle {
 public:
  explicit CublasltHandle(const cuda::Card& card) : card_(card) {
    card_.use();
    check(api().cublasLtCreate(handle_.fill()), "cublasLtCreate");
  }
  cublasLtHandle_t get() const {
    card_.use();
    return handle_.get();
  }

 private:
  const cuda::Card& card_;
  Owned<cublasLtHandle_t, &cuda::dynload::Cublaslt::cublasLtDestroy> handle_;
};

template <class Value>
void set(const Description& description, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  check(api().cublasLtMatmulDescSetAttribute(description.get(), attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}
template <class Value>
void set(const MatrixLayout& layout, cublasLtMatrixLayoutAttribute_t attribute, const Value& value) {
  check(api().cublasLtMatrixLayoutSetAttribute(layout.get(), attribute, &value, sizeof value),
        "cublasLtMatrixLayoutSetAttribute");
}
template <class Value>
void set(const Preference& preference, cublasLtMatmulPreferenceAttributes_t attribute, const Value& value) {
  check(api().cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute");
}

cudaDataType_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp16:
      return CUDA_R_16F;
    case Dtype::bf16:
      return CUDA_R_16BF;
    case Dtype::fp32:
    case Dtype::tf32:
      return CUDA_R_32F;
  }
  return CUDA_R_32F;
}

cublasLtEpilogue_t epilogue_of(const Product& product) {
  switch (product.activation.kind) {
    case ActivationKind::relu:
      return product.bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case ActivationKind::gelu:
      return product.bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    default:
      return product.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
  }
}

void create(MatrixLayout& layout, const ColumnMajor::Matrix& matrix, Dtype dtype, std::int64_t batch) {
  check(
      api().cublasLtMatrixLayoutCreate(layout.fill(), type_of(dtype), static_cast<std::uint64_t>(matrix.rows),
                                       static_cast<std::uint64_t>(matrix.columns), matrix.step),
      "cublasLtMatrixLayoutCreate");
  if (batch > 1) {
    set(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch));
    set(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, matrix.batch_step);
  }
}

class ListedAlgorithms final : public Algorithms {
 public:
  ListedAlgorithms(const Product& product, cuda::Card& card)
      : product_(product), handle_(card.keep<CublasltHandle>()) {
    const ColumnMajor view = column_major(product);
    check(api().cublasLtMatmulDescCreate(
              description_.fill(),
              product.dtype == Dtype::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    create(first_, view.first, product.dtype, product.batch);
    create(second_, view.second, product.dtype, product.batch);
    create(result_, view.result, product.result, product.batch);
    set(description_, CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(product));
    set(description_, CUBLASLT_MATMUL_DESC_TRANSA, view.first.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(description_, CUBLASLT_MATMUL_DESC_TRANSB, view.second.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (product.bias) {
      // An address that is never read: without one the heuristics refuse the epilogue, and they assume its
      // alignment for every later one.
      set(description_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, static_cast<std::uintptr_t>(product.alignment));
    }
    list();
  }

  std::size_t count() const override { return candidates_.size(); }

  std::int64_t workspace() const override {
    return static_cast<std::int64_t>(
        std::ranges::max(candidates_, {}, &cublasLtMatmulHeuristicResult_t::workspaceSize).workspaceSize);
  }

  std::string name(std::size_t algorithm) const override {
    const auto read = [&]<class Value>(cublasLtMatmulAlgoConfigAttributes_t attribute, Value value) {
      std::size_t written = 0;
      check(api().cublasLtMatmulAlgoConfigGetAttribute(&candidates_[algorithm].algo, attribute, &value,
                                                       sizeof value, &written),
            "cublasLtMatmulAlgoConfigGetAttribute");
      return value;
    };
    const auto wide = [&](auto attribute) { return read(attribute, std::uint32_t{0}); };
    const auto narrow = [&](auto attribute) { return read(attribute, std::uint16_t{0}); };
    return fmt::format(
        "cublaslt algorithm {}, tile {}, split {}, reduction {}, swizzle {}, custom {}, stages {}, inner {}, "
        "cluster {}",
        wide(CUBLASLT_ALGO_CONFIG_ID), wide(CUBLASLT_ALGO_CONFIG_TILE_ID),
        wide(CUBLASLT_ALGO_CONFIG_SPLITK_NUM), wide(CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
        wide(CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING), wide(CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
        wide(CUBLASLT_ALGO_CONFIG_STAGES_ID), narrow(CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID),
        narrow(CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID));
  }

  void queue(std::size_t algorithm, CUstream_st* stream, const ProductArguments& arguments) override {
    if (product_.bias) {
      set(description_, CUBLASLT_MATMUL_DESC_BIAS_POINTER, arguments.bias);
    }
    const float beta = 0.0F;
    const cublasStatus_t status = api().cublasLtMatmul(
        handle_->get(), description_.get(), &product_.scale, arguments.b, first_.get(), arguments.a,
        second_.get(), &beta, arguments.d, result_.get(), arguments.d, result_.get(),
        &candidates_[algorithm].algo, arguments.workspace, static_cast<std::size_t>(workspace()), stream);
    if (status != CUBLAS_STATUS_SUCCESS) {  // the description is made for a failure only
      check(status, "cublasLtMatmul", described(product_));
    }
  }

 private:
  void list() {
    constexpr int kMostTried = 8;
    Preference preference;
    check(api().cublasLtMatmulPreferenceCreate(preference.fill()), "cublasLtMatmulPreferenceCreate");
    set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kWorkspaceCap));
    set(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    // cuBLASLt would assume 256.
    for (const auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      set(preference, attribute, static_cast<std::uint32_t>(product_.alignment));
    }
    std::array<cublasLtMatmulHeuristicResult_t, kMostTried> found{};
    int count = 0;
    const cublasStatus_t status = api().cublasLtMatmulAlgoGetHeuristic(
        handle_->get(), description_.get(), first_.get(), second_.get(), result_.get(), result_.get(),
        preference.get(), kMostTried, found.data(), &count);
    for (int i = 0; status == CUBLAS_STATUS_SUCCESS && i < count; ++i) {
      if (found[i].state == CUBLAS_STATUS_SUCCESS) {
        candidates_.push_back(found[i]);
      }
    }
    if (candidates_.empty()) {
      const std::string what = fmt::format("cuBLASLt has no algorithm for {}: {}", described(product_),
                                           api().cublasLtGetStatusString(status));
      if (status != CUBLAS_STATUS_SUCCESS && status != CUBLAS_STATUS_NOT_SUPPORTED &&
          status != CUBLAS_STATUS_INVALID_VALUE) {
        cuda::library_refused(what, status == CUBLAS_STATUS_ALLOC_FAILED);
      }
      throw Unsupported(what);
    }
  }

  Product product_;
  std::shared_ptr<CublasltHandle> handle_;
  Description description_;
  MatrixLayout first_;
  MatrixLayout second_;
  MatrixLayout result_;
  std::vector<cublasLtMatmulHeuristicResult_t> candidates_;
};

const Registration<AlgorithmSource> BENCH_REGISTERED{
    {.name = "cublaslt",
     .algorithms = [](const Product& product, cuda::Card& card) -> std::unique_ptr<Algorithms> {
       return std::make_unique<ListedAlgorithms>(product, card);
     }}};

}  // namespace
}  // namespace bench::kernels::cublaslt
