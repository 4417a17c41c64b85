// Products sum by sum, as they are defined in batched_matmul.h, and what all implementations share.
#include <algorithm>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels {
namespace {

std::int64_t product_of(const BatchedMatmul::Leading& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

TensorDesc matrices_of(std::int64_t count, std::int64_t rows, std::int64_t columns, bool transposed,
                       Dtype dtype) {
  return {.n = count * (transposed ? columns : rows), .c = transposed ? rows : columns, .dtype = dtype};
}

}  // namespace

BatchedMatmul::Leading BatchedMatmul::leading() const {
  Leading all{};
  std::ranges::transform(a_leading, b_leading, all.begin(),
                         [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  return all;
}

std::int64_t BatchedMatmul::matrices() const {
  return product_of(leading());
}

TensorDesc BatchedMatmul::src() const {
  return matrices_of(product_of(a_leading), rows, inner, transpose_a, dtype);
}

TensorDesc BatchedMatmul::src1() const {
  return matrices_of(product_of(b_leading), inner, columns, transpose_b, dtype);
}

TensorDesc BatchedMatmul::dst() const {
  return matrices_of(matrices(), rows, columns, false, dtype);
}

std::optional<std::string> BatchedMatmul::invalid() const {
  for (std::size_t i = 0; i < kMostLeading; ++i) {
    if (a_leading[i] < 1 || b_leading[i] < 1 ||
        (a_leading[i] != b_leading[i] && a_leading[i] != 1 && b_leading[i] != 1)) {
      return fmt::format("batched matmul: leading dimensions of {} and {} do not go along", a_leading[i],
                         b_leading[i]);
    }
  }
  if (rows < 1 || inner < 1 || columns < 1) {
    return fmt::format("batched matmul: {} rows by {} by {} columns must be at least 1", rows, inner,
                       columns);
  }
  return std::nullopt;
}

PlainSlots plain_slots(const BatchedMatmul& spec) {
  PlainSlots slots;
  slots.add_activation(Slot::src, Role::input, spec.src());
  slots.add_activation(Slot::src1, Role::input, spec.src1());
  slots.add_activation(Slot::dst, Role::output, spec.dst());
  return slots;
}

// With c = a b: da = dc bᵀ and db = aᵀ dc, and of a transposed operand the transpose of that.
MatmulGradient gradient_of(const BatchedMatmul& spec, std::size_t operand) {
  using Operand = MatmulGradient::Operand;
  MatmulGradient gradient{.first = {}, .second = {}, .product = spec};
  BatchedMatmul& p = gradient.product;
  const auto leading = spec.leading();
  if (operand == 0) {
    std::tie(p.rows, p.inner, p.columns) = std::tuple(spec.rows, spec.columns, spec.inner);
    std::tie(gradient.first, gradient.second) = std::pair(Operand::diff_dst, Operand::src1);
    std::tie(p.a_leading, p.b_leading) = std::pair(leading, spec.b_leading);
    std::tie(p.transpose_a, p.transpose_b) = std::pair(false, !spec.transpose_b);
  } else {
    std::tie(p.rows, p.inner, p.columns) = std::tuple(spec.inner, spec.rows, spec.columns);
    std::tie(gradient.first, gradient.second) = std::pair(Operand::src, Operand::diff_dst);
    std::tie(p.a_leading, p.b_leading) = std::pair(spec.a_leading, leading);
    std::tie(p.transpose_a, p.transpose_b) = std::pair(!spec.transpose_a, false);
  }
  if (operand == 0 ? spec.transpose_a : spec.transpose_b) {  // (a b)ᵀ = bᵀ aᵀ
    std::swap(gradient.first, gradient.second);
    std::swap(p.a_leading, p.b_leading);
    std::swap(p.rows, p.columns);
    std::tie(p.transpose_a, p.transpose_b) = std::pair(!p.transpose_b, !p.transpose_a);
  }
  return gradient;
}

MergedMatmul merged(const BatchedMatmul& spec) {
  MergedMatmul merged{.leading = {}, .rows = spec.rows};
  const auto leading = spec.leading();
  for (std::size_t i = 0; i < leading.size(); ++i) {
    if (leading[i] == 1) {
      continue;
    }
    const MergedMatmul::Axis axis{leading[i], spec.a_leading[i] > 1, spec.b_leading[i] > 1};
    MergedMatmul::Axis* const before = merged.leading.empty() ? nullptr : &merged.leading.back();
    if (before != nullptr && before->a_moves == axis.a_moves && before->b_moves == axis.b_moves) {
      before->extent *= axis.extent;
    } else {
      merged.leading.push_back(axis);
    }
  }
  if (!spec.transpose_a && !merged.leading.empty() && !merged.leading.back().b_moves) {
    merged.rows *= merged.leading.back().extent;
    merged.leading.pop_back();
  }
  return merged;
}

namespace {

class ReferenceBatchedMatmul final : public ReferenceOf<BatchedMatmul> {
 public:
  using ReferenceOf::ReferenceOf;

  void run(const SlotPointers& pointers) override {
    const std::vector<float> a = read(pointers, Slot::src);
    const std::vector<float> b = read(pointers, Slot::src1);
    std::vector<float> dst(static_cast<std::size_t>(spec_.dst().elements()));
#pragma omp parallel for schedule(static)
    for (std::int64_t matrix = 0; matrix < spec_.matrices(); ++matrix) {
      multiply(&a[place_of(matrix, spec_.a_leading) * spec_.rows * spec_.inner],
               &b[place_of(matrix, spec_.b_leading) * spec_.inner * spec_.columns],
               &dst[matrix * spec_.rows * spec_.columns]);
    }
    write(pointers, Slot::dst, dst);
  }

 private:
  // Which of an operand's matrices goes into the result's.
  std::int64_t place_of(std::int64_t matrix, const BatchedMatmul::Leading& own) const {
    const auto leading = spec_.leading();
    std::int64_t place = 0;
    std::int64_t step = 1;
    for (std::size_t i = leading.size(); i-- > 0;) {
      place += own[i] > 1 ? matrix % leading[i] * step : 0;
      step *= own[i];
      matrix /= leading[i];
    }
    return place;
  }

  void multiply(const float* a, const float* b, float* dst) const {
    for (std::int64_t m = 0; m < spec_.rows; ++m) {
      for (std::int64_t n = 0; n < spec_.columns; ++n) {
        double sum = 0;
        for (std::int64_t k = 0; k < spec_.inner; ++k) {
          const double left = a[spec_.transpose_a ? k * spec_.rows + m : m * spec_.inner + k];
          sum += left * b[spec_.transpose_b ? n * spec_.inner + k : k * spec_.columns + n];
        }
        dst[m * spec_.columns + n] = static_cast<float>(sum * spec_.scale);
      }
    }
  }
};

const Registration<Implementation<BatchedMatmul>> BENCH_REGISTERED{
    reference_implementation<BatchedMatmul, ReferenceBatchedMatmul>()};

}  // namespace
}  // namespace bench::kernels
