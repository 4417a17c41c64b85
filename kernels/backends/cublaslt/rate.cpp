// The rate of a large matrix product: what cuBLASLt gets out of the card in a dtype.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "bench/error.h"
#include "kernels/backends/cublaslt/tuned.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels::cublaslt {
namespace {

// Random values: a card does zeros with less power, and so with higher clocks. A piece is drawn and repeated,
// since drawing 8192 x 8192 of them would take longer than the measurement.
void fill_with_random(cuda::CudaDevice& device, std::byte* matrix, std::int64_t bytes, Dtype dtype,
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

std::optional<TunedProduct> square_product(const cuda::CudaDevice& device, Dtype dtype, std::int64_t size) {
  try {
    return TunedProduct(dense(dtype, size, size, size, false, false), device);
  } catch (const Unsupported&) {
    return std::nullopt;
  }
}

}  // namespace

double matmul_rate(cuda::CudaDevice& device, Dtype dtype, std::int64_t size) {
  constexpr int kRuns = 5;
  std::optional<TunedProduct> product = square_product(device, dtype, size);
  if (!product) {
    return 0;
  }
  const std::int64_t matrix_bytes = size * size * bytes_of(dtype);
  const cuda::UntrackedBlock a(device.allocator(), matrix_bytes);
  const cuda::UntrackedBlock b(device.allocator(), matrix_bytes);
  const cuda::UntrackedBlock d(device.allocator(), matrix_bytes);
  const cuda::UntrackedBlock workspace(device.allocator(), std::max<std::int64_t>(product->workspace(), 1));
  fill_with_random(device, a.data(), matrix_bytes, dtype, 0);
  fill_with_random(device, b.data(), matrix_bytes, dtype, 1);

  const auto run = [&] {
    product->run(
        device.stream(),
        {.a = a.data(), .b = b.data(), .d = d.data(), .bias = nullptr, .workspace = workspace.data()});
  };
  device.time(run);  // chooses the algorithm
  std::int64_t best_ns = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kRuns; ++i) {
    best_ns = std::min(best_ns, std::max<std::int64_t>(device.time(run), 1));
  }
  const auto edge = static_cast<double>(size);
  return 2e9 * edge * edge * edge / static_cast<double>(best_ns);
}

}  // namespace bench::kernels::cublaslt
