// Products of matrices side by side, by oneDNN's matrix product.
#include <fmt/format.h>

#include "kernels/backends/onednn/primitive_operation.h"
#include "kernels/operations/batched_matmul/batched_matmul.h"

namespace bench::kernels {
namespace {

using MemoryDesc = dnnl::memory::desc;

std::string described(const BatchedMatmul& spec) {
  return fmt::format("batched matmul {} {} of {}x{}{} by {}{}", name_of(spec.dtype), spec.matrices(),
                     spec.rows, spec.inner, spec.transpose_a ? "T" : "", spec.columns,
                     spec.transpose_b ? "T" : "");
}

// An operand as [leading…][rows][columns], where it is repeated with an extent of 1.
MemoryDesc operand(const MergedMatmul& merged, bool MergedMatmul::Axis::*moves, std::int64_t rows,
                   std::int64_t columns, bool transposed, Dtype dtype) {
  dnnl::memory::dims dims;
  for (const MergedMatmul::Axis& axis : merged.leading) {
    dims.push_back(axis.*moves ? axis.extent : 1);
  }
  dims.insert(dims.end(), {rows, columns});
  dnnl::memory::dims strides(dims.size());
  std::int64_t step = rows * columns;
  for (std::size_t i = merged.leading.size(); i-- > 0;) {
    strides[i] = step;
    step *= dims[i];
  }
  strides[dims.size() - 2] = transposed ? 1 : columns;
  strides[dims.size() - 1] = transposed ? rows : 1;
  return {dims, onednn::type_of(dtype), strides};
}

void plan(const BatchedMatmul& spec, onednn::PrimitiveOperation& made) {
  const MergedMatmul all = merged(spec);
  MergedMatmul moving = all;
  for (MergedMatmul::Axis& axis : moving.leading) {
    axis.a_moves = true;
  }
  const MemoryDesc a =
      operand(all, &MergedMatmul::Axis::a_moves, all.rows, spec.inner, spec.transpose_a, spec.dtype);
  const MemoryDesc b =
      operand(all, &MergedMatmul::Axis::b_moves, spec.inner, spec.columns, spec.transpose_b, spec.dtype);
  const MemoryDesc dst =
      operand(moving, &MergedMatmul::Axis::a_moves, all.rows, spec.columns, false, spec.dtype);
  dnnl::primitive_attr attributes = onednn::attributes();
  if (spec.scale != 1.0F) {
    onednn::scale_product(attributes, spec.scale);
  }
  made.bind_activation(Slot::src, Role::input, DNNL_ARG_SRC, spec.src(), a);
  made.bind_activation(Slot::src1, Role::input, DNNL_ARG_WEIGHTS, spec.src1(), b);
  made.bind_activation(Slot::dst, Role::output, DNNL_ARG_DST, spec.dst(), dst);
  made.plan(onednn::matmul(a, b, std::nullopt, dst, attributes));
}

const Registration<Implementation<BatchedMatmul>> BENCH_REGISTERED{
    onednn::primitive_implementation<BatchedMatmul, described, plan>(
        [](const BatchedMatmul& spec, const Device& device) { return device.unsupported(spec.dtype); })};

}  // namespace
}  // namespace bench::kernels
