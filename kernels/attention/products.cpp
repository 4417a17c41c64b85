#include "kernels/attention/products.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace bench::kernels {
namespace {

constexpr std::int64_t kWidestLoad = 16;

// Of everything that a round starts at: heads and squares need not fill an access.
std::int64_t alignment_of(const Attention& spec) {
  const std::int64_t each = bytes_of(spec.dtype);
  return std::gcd(kWidestLoad, std::gcd(spec.head_size * each, spec.sequence * spec.sequence * each));
}

}  // namespace

AttentionProducts::AttentionProducts(const Attention& spec) {
  const bool over_heads = spec.heads < spec.batch;
  rounds = over_heads ? spec.heads : spec.batch;
  matrices = over_heads ? spec.batch : spec.heads;
  const auto steps = [&](std::int64_t row, std::int64_t head, std::int64_t sample) {
    return HeadSteps{.row = row, .matrix = over_heads ? sample : head, .round = over_heads ? head : sample};
  };
  const std::int64_t length = spec.sequence;
  const std::int64_t square = length * length;
  qkv = steps(3 * spec.width(), spec.head_size, length * 3 * spec.width());
  out = steps(spec.width(), spec.head_size, length * spec.width());
  saved = steps(length, square, spec.heads * square);
  scratch = {.row = length, .matrix = square, .round = 0};
  const bool saves = spec.pass != Attention::Pass::inference;
  probabilities = saves ? saved : scratch;
  const bool narrow = bytes_of(spec.dtype) < bytes_of(Dtype::fp32);
  scores = narrow || spec.pass == Attention::Pass::backward ? scratch : probabilities;

  const auto product = [&](std::int64_t inner, std::int64_t columns, const cublaslt::Stored& a,
                           const cublaslt::Stored& b, const HeadSteps& d) {
    return cublaslt::Product{.dtype = spec.dtype,
                             .result = spec.dtype,
                             .rows = length,
                             .inner = inner,
                             .columns = columns,
                             .a = a,
                             .b = b,
                             .d = d.stored(),
                             .batch = matrices,
                             .alignment = alignment_of(spec)};
  };
  const std::int64_t features = spec.head_size;
  query_key = product(features, length, qkv.stored(), qkv.stored(true), scores);
  query_key.result = Dtype::fp32;
  query_key.scale = static_cast<float>(1 / std::sqrt(static_cast<double>(features)));
  probabilities_value = product(length, features, probabilities.stored(), qkv.stored(), out);

  diff_value = product(length, features, saved.stored(true), out.stored(), qkv);
  diff_probabilities = product(features, length, out.stored(), qkv.stored(true), scratch);
  diff_probabilities.result = Dtype::fp32;
  diff_query = product(length, features, scratch.stored(), qkv.stored(), qkv);
  diff_key = product(length, features, scratch.stored(true), qkv.stored(), qkv);
}

}  // namespace bench::kernels
