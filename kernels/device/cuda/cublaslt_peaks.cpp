// The rate of a large matrix product: what cuBLASLt gets out of the card in a dtype.
#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "kernels/device/cuda/libraries.h"
#include "kernels/device/cuda/library.h"
#include "kernels/device/cuda/place.h"
#include "kernels/tensor.h"

namespace bench::kernels::cuda {
namespace {

void check(cublasStatus_t status, const char* call, Place place = Place::current()) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    const std::string what = fmt::format("{} failed: {} ({}) in line {}", call, static_cast<int>(status),
                                         cublasLtGetStatusName(status), place.line());
    library_failed(what, status == CUBLAS_STATUS_ALLOC_FAILED);
  }
}

struct Destroy {
  void operator()(cublasLtHandle_t handle) const noexcept { cublasLtDestroy(handle); }
  void operator()(cublasLtMatmulDesc_t desc) const noexcept { cublasLtMatmulDescDestroy(desc); }
  void operator()(cublasLtMatrixLayout_t layout) const noexcept { cublasLtMatrixLayoutDestroy(layout); }
  void operator()(cublasLtMatmulPreference_t preference) const noexcept {
    cublasLtMatmulPreferenceDestroy(preference);
  }
};
template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroy>;

cudaDataType_t type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp16:
      return CUDA_R_16F;
    case Dtype::bf16:
      return CUDA_R_16BF;
    default:
      return CUDA_R_32F;
  }
}

// Square matrices with the description of their product.
class Product {
 public:
  Product(Dtype dtype, std::int64_t size) : dtype_(dtype), size_(size) {
    cublasLtHandle_t handle = nullptr;
    check(cublasLtCreate(&handle), "cublasLtCreate");
    handle_.reset(handle);
    const auto compute = dtype == Dtype::tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
    cublasLtMatmulDesc_t desc = nullptr;
    check(cublasLtMatmulDescCreate(&desc, compute, CUDA_R_32F), "cublasLtMatmulDescCreate");
    desc_.reset(desc);
    const auto edge = static_cast<std::uint64_t>(size);
    cublasLtMatrixLayout_t layout = nullptr;
    check(cublasLtMatrixLayoutCreate(&layout, type_of(dtype), edge, edge, size),
          "cublasLtMatrixLayoutCreate");
    layout_.reset(layout);
  }

  std::int64_t matrix_bytes() const { return size_ * size_ * bytes_of(dtype_); }

  std::vector<cublasLtMatmulHeuristicResult_t> algorithms(std::size_t workspace) const {
    constexpr int kAtMost = 8;
    cublasLtMatmulPreference_t created = nullptr;
    check(cublasLtMatmulPreferenceCreate(&created), "cublasLtMatmulPreferenceCreate");
    const Owned<cublasLtMatmulPreference_t> preference(created);
    check(cublasLtMatmulPreferenceSetAttribute(created, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                               sizeof workspace),
          "cublasLtMatmulPreferenceSetAttribute");
    std::vector<cublasLtMatmulHeuristicResult_t> found(kAtMost);
    int count = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle_.get(), desc_.get(), layout_.get(), layout_.get(),
                                       layout_.get(), layout_.get(), created, kAtMost, found.data(), &count);
    if (status != CUBLAS_STATUS_NOT_SUPPORTED) {
      check(status, "cublasLtMatmulAlgoGetHeuristic");
    }
    found.resize(static_cast<std::size_t>(count));
    std::erase_if(found, [](const auto& algorithm) { return algorithm.state != CUBLAS_STATUS_SUCCESS; });
    return found;
  }

  void queue(const cublasLtMatmulAlgo_t& algorithm, const std::array<void*, 3>& matrices, void* workspace,
             std::size_t workspace_bytes, CUstream_st* stream) const {
    const float one = 1;
    const float zero = 0;
    check(cublasLtMatmul(handle_.get(), desc_.get(), &one, matrices[0], layout_.get(), matrices[1],
                         layout_.get(), &zero, matrices[2], layout_.get(), matrices[2], layout_.get(),
                         &algorithm, workspace, workspace_bytes, stream),
          "cublasLtMatmul");
  }

 private:
  Dtype dtype_;
  std::int64_t size_;
  Owned<cublasLtHandle_t> handle_;
  Owned<cublasLtMatmulDesc_t> desc_;
  Owned<cublasLtMatrixLayout_t> layout_;
};

// Random values: a card does zeros with less power, and so with higher clocks. A piece is drawn and repeated,
// since drawing 8192 x 8192 of them would take longer than the measurement.
void fill_with_random(CudaDevice& device, std::byte* matrix, std::int64_t bytes, Dtype dtype,
                      std::uint64_t stream) {
  constexpr std::int64_t kPiece = std::int64_t{1} << 20;  // values
  std::vector<float> values(kPiece);
  fill_random(values, 1, stream);
  const TensorDesc desc{.n = kPiece, .c = 1, .layout = Layout::nhwc, .dtype = dtype};
  std::vector<std::byte> stored(static_cast<std::size_t>(desc.bytes()));
  store(desc, values, stored.data());
  std::int64_t filled = std::min(desc.bytes(), bytes);
  device.upload(matrix, stored.data(), filled);
  while (filled < bytes) {
    const std::int64_t more = std::min(filled, bytes - filled);
    device.copy(matrix + filled, matrix, more);
    filled += more;
  }
}

}  // namespace

std::string cublaslt_version() {
  const std::size_t version = cublasLtGetVersion();  // 130100 is 13.1.0
  return fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

double cublaslt_matmul_rate(CudaDevice& device, Dtype dtype, std::int64_t size) {
  constexpr std::int64_t kWorkspace = std::int64_t{32} << 20;
  constexpr int kRuns = 3;
  const Product product(dtype, size);
  const UntrackedBlock a(device.allocator(), product.matrix_bytes());
  const UntrackedBlock b(device.allocator(), product.matrix_bytes());
  const UntrackedBlock c(device.allocator(), product.matrix_bytes());
  const UntrackedBlock workspace(device.allocator(), kWorkspace);
  fill_with_random(device, a.data(), product.matrix_bytes(), dtype, 0);
  fill_with_random(device, b.data(), product.matrix_bytes(), dtype, 1);

  std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
  for (const auto& algorithm : product.algorithms(kWorkspace)) {
    const auto run = [&] {
      product.queue(algorithm.algo, {a.data(), b.data(), c.data()}, workspace.data(), kWorkspace,
                    device.stream());
    };
    device.time(run);  // loads the kernel
    for (int i = 0; i < kRuns; ++i) {
      best_ns = std::min(best_ns, std::max<std::int64_t>(device.time(run), 1));
    }
  }
  const auto edge = static_cast<double>(size);
  return best_ns == std::numeric_limits<std::int64_t>::max()
             ? 0
             : 2e9 * edge * edge * edge / static_cast<double>(best_ns);
}

}  // namespace bench::kernels::cuda
