#include "kernels/backends/cublaslt/product.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/registry.h"
#include "kernels/backends/cuda/autotune.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/devices/cuda/device.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels::cublaslt {

struct ProductTuning {
  std::unique_ptr<Algorithms> algorithms;  // none on a card that is not here
  cuda::AutotunedChoice choice;
};

namespace {

// A matrix of rows × columns that is stored row by row is to cuBLASLt one of columns × rows.
ColumnMajor::Matrix flipped(std::int64_t rows, std::int64_t columns, const Stored& stored) {
  if (stored.transposed) {
    std::swap(rows, columns);
  }
  return {.rows = columns,
          .columns = rows,
          .step = stored.step,
          .batch_step = stored.batch_step,
          .transposed = stored.transposed};
}

ProductTuning ask(const Product& product, cuda::Card& card) {
  ProductTuning tuning{.algorithms = nullptr,
                       .choice = {card, fmt::format("cublaslt {}, workspace cap {}",
                                                    described_in_full(product), kWorkspaceCap)}};
  if (!card.is_here()) {
    return tuning;
  }
  const AlgorithmSource* const source = registry<AlgorithmSource>().find("cublaslt");
  if (source == nullptr) {
    throw Unsupported("this program was built without cuBLASLt");
  }
  tuning.algorithms = card.with_memory([&] { return source->algorithms(product, card); });
  const Algorithms& algorithms = *tuning.algorithms;
  if (const auto best = tuning.choice.remembered(
          algorithms.count(), [&](std::size_t algorithm) { return algorithms.name(algorithm); })) {
    tuning.choice.take(*best);
  }
  return tuning;
}

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
  const std::int64_t drawn = std::min(desc.bytes(), bytes);
  device.upload(matrix, stored.data(), drawn);
  device.repeat(matrix, drawn, bytes);
}

}  // namespace

Product dense(Dtype dtype, std::int64_t rows, std::int64_t inner, std::int64_t columns, bool a_transposed,
              bool b_transposed) {
  return {.dtype = dtype,
          .result = dtype,
          .rows = rows,
          .inner = inner,
          .columns = columns,
          .a = {.transposed = a_transposed, .step = a_transposed ? rows : inner},
          .b = {.transposed = b_transposed, .step = b_transposed ? inner : columns},
          .d = {.step = columns}};
}

Product product_of(const Linear& spec) {
  switch (spec.direction) {
    case Linear::Direction::forward: {
      Product product = dense(spec.dtype, spec.rows, spec.inner, spec.columns, false, true);
      product.bias = spec.bias;
      if (spec.activation == Activation::relu || spec.activation == Activation::gelu) {
        product.activation = spec.activation;
      }
      return product;
    }
    case Linear::Direction::backward_data:
      return dense(spec.dtype, spec.rows, spec.columns, spec.inner, false, false);
    case Linear::Direction::backward_weights:
      return dense(spec.dtype, spec.columns, spec.rows, spec.inner, true, false);
    case Linear::Direction::backward:
      break;
  }
  return {};
}

ColumnMajor column_major(const Product& product) {
  return {.first = flipped(product.inner, product.columns, product.b),
          .second = flipped(product.rows, product.inner, product.a),
          .result = flipped(product.rows, product.columns, product.d)};
}

std::string described(const Product& product) {
  std::string text = fmt::format("{} {}x{}{} by {}x{}{}", name_of(product.dtype), product.rows, product.inner,
                                 product.a.transposed ? "T" : "", product.inner, product.columns,
                                 product.b.transposed ? "T" : "");
  if (product.batch != 1) {
    text += fmt::format(" batch {}", product.batch);
  }
  if (product.bias || product.activation != Activation::none) {
    text += fmt::format(" {}{}", product.bias ? "+bias" : "",
                        product.activation == Activation::relu   ? "+relu"
                        : product.activation == Activation::gelu ? "+gelu"
                                                                 : "");
  }
  return text;
}

std::string described_in_full(const Product& product) {
  std::string text = fmt::format("{}, result {}, scale {}, alignment {}, steps", described(product),
                                 name_of(product.result), product.scale, product.alignment);
  for (const Stored* matrix : {&product.a, &product.b, &product.d}) {
    text += fmt::format(" {}/{}", matrix->step, matrix->batch_step);
  }
  return text;
}

TunedProduct::TunedProduct(const Product& product, const Device& device)
    : card_(cuda::card_of(device)),
      tuning_(card_.keep<cuda::KeptAnswers<Product, std::shared_ptr<ProductTuning>>>()->get(
          product, [&] { return std::make_shared<ProductTuning>(ask(product, card_)); })) {}

std::int64_t TunedProduct::workspace() const {
  return tuning_->algorithms == nullptr ? kWorkspaceCap : tuning_->algorithms->workspace();
}

void TunedProduct::run(const ProductArguments& arguments) {
  CUstream_st* const stream = card_.stream();
  cuda::check_library_scratch(arguments.workspace);
  Algorithms& algorithms = *tuning_->algorithms;
  const auto queue = [&](std::size_t algorithm) {
    card_.with_memory([&] { algorithms.queue(algorithm, stream, arguments); });
  };
  cuda::AutotunedChoice& choice = tuning_->choice;
  if (choice.is_settled()) {
    queue(choice.candidate());
    return;
  }
  choice.run({.queue = queue,
              .choose = [&] { return cuda::autotune(card_.runtime(), stream, algorithms.count(), queue); },
              .name = [&](std::size_t algorithm) { return algorithms.name(algorithm); }});
}

std::string TunedProduct::algorithm() const {
  return tuning_->algorithms == nullptr ? "cublaslt, by an algorithm that is chosen on the card"
                                        : tuning_->algorithms->name(tuning_->choice.candidate());
}

double matmul_rate(cuda::CudaDevice& device, Dtype dtype, std::int64_t size) {
  constexpr int kRuns = 5;
  std::optional<TunedProduct> product;
  try {
    product.emplace(dense(dtype, size, size, size, false, false), device);
  } catch (const Unsupported&) {
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
    product->run({.a = a.data(), .b = b.data(), .d = d.data(), .workspace = workspace.data()});
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
