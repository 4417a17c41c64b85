#include "kernels/backends/cublaslt/tuned.h"

#include <optional>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/measure/lru_cache.h"
#include "bench/registry.h"
#include "kernels/backends/cuda/autotune.h"
#include "kernels/backends/cuda/library_scratch.h"

namespace bench::kernels::cublaslt {

struct ProductTuning {
  std::string work;                        // its name in the card's choices
  std::unique_ptr<Algorithms> algorithms;  // none on a card that is not here
  std::optional<std::size_t> best;
};

namespace {

// Products that a card keeps: those of a sweep over a network's batches.
constexpr std::size_t kMostKept = 2048;

struct ProductTunings {
  explicit ProductTunings(const cuda::Card& /*card*/) {}
  LruCache<Product, std::shared_ptr<ProductTuning>> known{kMostKept};
};

ProductTuning ask(const Product& product, cuda::Card& card) {
  if (!card.is_here()) {
    return {};
  }
  const AlgorithmSource* const source = registry<AlgorithmSource>().find("cublaslt");
  if (source == nullptr) {
    throw Unsupported("this program was built without cuBLASLt");
  }
  ProductTuning tuning{
      .work = fmt::format("cublaslt {}, workspace cap {}", described_in_full(product), kWorkspaceCap),
      .algorithms = card.with_memory([&] { return source->algorithms(product, card); }),
      .best = std::nullopt};
  const Algorithms& algorithms = *tuning.algorithms;
  tuning.best = card.choices().find(tuning.work, algorithms.count(),
                                    [&](std::size_t algorithm) { return algorithms.name(algorithm); });
  return tuning;
}

}  // namespace

TunedProduct::TunedProduct(const Product& product, const Device& device)
    : card_(cuda::card_of(device)), tuning_(card_.keep<ProductTunings>()->known.get(product, [&] {
        return std::make_shared<ProductTuning>(ask(product, card_));
      })) {}

std::int64_t TunedProduct::workspace() const {
  return tuning_->algorithms == nullptr ? kWorkspaceCap : tuning_->algorithms->workspace();
}

void TunedProduct::run(CUstream_st* stream, const ProductArguments& arguments) {
  cuda::check_library_scratch(arguments.workspace);
  cuda::Runtime& runtime = card_.runtime();
  Algorithms& algorithms = *tuning_->algorithms;
  const auto queue = [&](std::size_t algorithm) {
    card_.with_memory([&] { algorithms.queue(algorithm, stream, arguments); });
  };
  if (!tuning_->best && !runtime.is_recording(stream)) {
    tuning_->best = cuda::autotune(runtime, stream, algorithms.count(), queue);
    card_.choices().add(tuning_->work, algorithms.name(*tuning_->best));
  }
  queue(tuning_->best.value_or(0));
}

std::string TunedProduct::algorithm() const {
  return tuning_->algorithms == nullptr ? "cublaslt, by an algorithm that is chosen on the card"
                                        : tuning_->algorithms->name(tuning_->best.value_or(0));
}

}  // namespace bench::kernels::cublaslt
