#include "kernels/backends/onednn/primitives.h"

#include <array>
#include <utility>

namespace bench::kernels::onednn {
namespace {

constexpr auto kLrnAcross = dnnl::algorithm::lrn_across_channels;

// What a primitive is planned from: version 2 wants an operation's descriptor first.
#if DNNL_VERSION_MAJOR < 3
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc planned(const dnnl::primitive_attr& attributes, bool allow_empty,
                                           const Arguments&... arguments) {
  return {typename Primitive::desc(arguments...), attributes, engine(), allow_empty};
}
template <class Primitive, class Hint, class... Arguments>
typename Primitive::primitive_desc planned_after(const Hint& ahead, const dnnl::primitive_attr& attributes,
                                                 bool allow_empty, const Arguments&... arguments) {
  return {typename Primitive::desc(arguments...), attributes, engine(), ahead, allow_empty};
}
#else
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc planned(const dnnl::primitive_attr& attributes, bool allow_empty,
                                           const Arguments&... arguments) {
  return {engine(), arguments..., attributes, allow_empty};
}
template <class Primitive, class Hint, class... Arguments>
typename Primitive::primitive_desc planned_after(const Hint& ahead, const dnnl::primitive_attr& attributes,
                                                 bool allow_empty, const Arguments&... arguments) {
  return {engine(), arguments..., ahead, attributes, allow_empty};
}
#endif

template <class Primitive>
typename Primitive::primitive_desc forward(const Convolution& shape, dnnl::prop_kind kind,
                                           const dnnl::primitive_attr& attributes, bool allow_empty) {
  const auto& [algorithm, src, weights, bias, dst, strides, dilates, begin, end] = shape;
  return bias ? planned<Primitive>(attributes, allow_empty, kind, algorithm, src, weights, *bias, dst,
                                   strides, dilates, begin, end)
              : planned<Primitive>(attributes, allow_empty, kind, algorithm, src, weights, dst, strides,
                                   dilates, begin, end);
}

template <class Primitive, class Hint>
typename Primitive::primitive_desc backward_data(const Convolution& shape, const Hint& ahead,
                                                 const dnnl::primitive_attr& attributes, bool allow_empty) {
  return planned_after<Primitive>(ahead, attributes, allow_empty, shape.algorithm, shape.src, shape.weights,
                                  shape.dst, shape.strides, shape.dilates, shape.pad_begin, shape.pad_end);
}

template <class Primitive, class Hint>
typename Primitive::primitive_desc backward_weights(const Convolution& shape, const Hint& ahead,
                                                    const dnnl::primitive_attr& attributes,
                                                    bool allow_empty) {
  const auto& [algorithm, src, weights, bias, dst, strides, dilates, begin, end] = shape;
  return bias ? planned_after<Primitive>(ahead, attributes, allow_empty, algorithm, src, weights, *bias, dst,
                                         strides, dilates, begin, end)
              : planned_after<Primitive>(ahead, attributes, allow_empty, algorithm, src, weights, dst,
                                         strides, dilates, begin, end);
}

// Ascending: each includes those before it, but for avx2_vnni and avx2_vnni_2.
struct NamedIsa {
  dnnl::cpu_isa isa;
  const char* name;
};
constexpr auto kInstructionSets = std::to_array<NamedIsa>({
  {dnnl::cpu_isa::sse41, "sse4.1"}, {dnnl::cpu_isa::avx, "avx"}, {dnnl::cpu_isa::avx2, "avx2"},
      {dnnl::cpu_isa::avx2_vnni, "avx2_vnni"},
#if DNNL_VERSION_MAJOR >= 3
      {dnnl::cpu_isa::avx2_vnni_2, "avx2_vnni_2"},
#endif
      {dnnl::cpu_isa::avx512_core, "avx512_core"}, {dnnl::cpu_isa::avx512_core_vnni, "avx512_core_vnni"},
      {dnnl::cpu_isa::avx512_core_bf16, "avx512_core_bf16"},
#if DNNL_VERSION_MAJOR >= 3
      {dnnl::cpu_isa::avx512_core_fp16, "avx512_core_fp16"},
#endif
      {dnnl::cpu_isa::avx512_core_amx, "avx512_core_amx"},
#if DNNL_VERSION_MAJOR >= 3
      {dnnl::cpu_isa::avx512_core_amx_fp16, "avx512_core_amx_fp16"},
#endif
});

bool has(dnnl::cpu_isa wanted) {
  const auto bits = static_cast<unsigned>(wanted);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & bits) == bits;
}

}  // namespace

Version library_version() {
  const dnnl_version_t* const loaded = dnnl_version();
  return {loaded->major, loaded->minor, loaded->patch};
}

std::string version() {
  const Version loaded = library_version();
  return std::to_string(loaded.major) + '.' + std::to_string(loaded.minor) + '.' +
         std::to_string(loaded.patch);
}

Faults faults_of(const Version& version, bool avx512) {
  return {.batch_norm_gradient_reads_shift = version < Version{3, 0, 0},
          .layer_norm_gradient_reads_shift = version < Version{3, 8, 0},
          .lrn_gradient_is_wrong = avx512};
}

const Faults& faults() {
  static const Faults loaded = faults_of(library_version(), has_avx512());
  return loaded;
}

std::string instruction_set() {
  std::string name = "a baseline instruction set";
  for (const NamedIsa& known : kInstructionSets) {
    if (has(known.isa)) {
      name = known.name;
    }
  }
  return name;
}

bool has_avx512() {
  return has(dnnl::cpu_isa::avx512_core);
}

bool has_bf16_instructions() {
  return has(dnnl::cpu_isa::avx512_core_bf16);
}

bool has_fp16() {
  // Earlier versions answer for some of their operations only.
  if (library_version() < Version{3, 0, 0}) {
    return false;
  }
  constexpr std::int64_t kSide = 16;
  const MemoryDesc square({kSide, kSide}, dnnl::memory::data_type::f16, dnnl::memory::format_tag::ab);
  return matmul(square, square, std::nullopt, square, {}, true).get(true) != nullptr;
}

const dnnl::engine& engine() {
  static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

Dims dims_of(const MemoryDesc& desc) {
#if DNNL_VERSION_MAJOR < 3
  return desc.dims();
#else
  return desc.get_dims();
#endif
}

dnnl::memory::data_type type_of(const MemoryDesc& desc) {
#if DNNL_VERSION_MAJOR < 3
  return desc.data_type();
#else
  return desc.get_data_type();
#endif
}

void append_eltwise(dnnl::post_ops& post_ops, dnnl::algorithm algorithm, float alpha, float beta) {
#if DNNL_VERSION_MAJOR < 3
  post_ops.append_eltwise(1.0F, algorithm, alpha, beta);
#else
  post_ops.append_eltwise(algorithm, alpha, beta);
#endif
}

void scale_product(dnnl::primitive_attr& attributes, float factor) {
#if DNNL_VERSION_MAJOR < 3
  attributes.set_output_scales(0, {factor});
#else
  dnnl::post_ops scaled;
  scaled.append_eltwise(dnnl::algorithm::eltwise_linear, factor, 0.0F);
  attributes.set_post_ops(scaled);
#endif
}

dnnl::convolution_forward::primitive_desc convolution_forward(const Convolution& shape, dnnl::prop_kind kind,
                                                              const dnnl::primitive_attr& attributes,
                                                              bool allow_empty) {
  return forward<dnnl::convolution_forward>(shape, kind, attributes, allow_empty);
}

std::vector<dnnl::convolution_forward::primitive_desc> convolutions_forward(
    const Convolution& shape, dnnl::prop_kind kind, const dnnl::primitive_attr& attributes) {
#if DNNL_VERSION_MAJOR < 3
  using Description = dnnl::convolution_forward::desc;  // named, because next_impl() reads it again
  const auto& [algorithm, src, weights, bias, dst, strides, dilates, begin, end] = shape;
  const Description description =
      bias ? Description(kind, algorithm, src, weights, *bias, dst, strides, dilates, begin, end)
           : Description(kind, algorithm, src, weights, dst, strides, dilates, begin, end);
  dnnl::convolution_forward::primitive_desc next(description, attributes, engine(), true);
#else
  auto next = convolution_forward(shape, kind, attributes, true);
#endif
  std::vector<dnnl::convolution_forward::primitive_desc> found;
  for (bool more = next.get(true) != nullptr; more; more = next.next_impl()) {
    found.emplace_back(next.get());  // a clone: next_impl() may change what a copied handle shares
  }
  return found;
}

dnnl::convolution_backward_data::primitive_desc convolution_backward_data(
    const Convolution& shape, const dnnl::convolution_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes, bool allow_empty) {
  return backward_data<dnnl::convolution_backward_data>(shape, ahead, attributes, allow_empty);
}

dnnl::convolution_backward_weights::primitive_desc convolution_backward_weights(
    const Convolution& shape, const dnnl::convolution_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes, bool allow_empty) {
  return backward_weights<dnnl::convolution_backward_weights>(shape, ahead, attributes, allow_empty);
}

dnnl::deconvolution_forward::primitive_desc deconvolution_forward(const Convolution& shape,
                                                                  dnnl::prop_kind kind,
                                                                  const dnnl::primitive_attr& attributes) {
  return forward<dnnl::deconvolution_forward>(shape, kind, attributes, false);
}

dnnl::deconvolution_backward_data::primitive_desc deconvolution_backward_data(
    const Convolution& shape, const dnnl::deconvolution_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes) {
  return backward_data<dnnl::deconvolution_backward_data>(shape, ahead, attributes, false);
}

dnnl::deconvolution_backward_weights::primitive_desc deconvolution_backward_weights(
    const Convolution& shape, const dnnl::deconvolution_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes) {
  return backward_weights<dnnl::deconvolution_backward_weights>(shape, ahead, attributes, false);
}

dnnl::matmul::primitive_desc matmul(const MemoryDesc& src, const MemoryDesc& weights,
                                    const std::optional<MemoryDesc>& bias, const MemoryDesc& dst,
                                    const dnnl::primitive_attr& attributes, bool allow_empty) {
  return bias ? planned<dnnl::matmul>(attributes, allow_empty, src, weights, *bias, dst)
              : planned<dnnl::matmul>(attributes, allow_empty, src, weights, dst);
}

dnnl::inner_product_forward::primitive_desc inner_product_forward(const InnerProduct& shape,
                                                                  dnnl::prop_kind kind,
                                                                  const dnnl::primitive_attr& attributes) {
  using Primitive = dnnl::inner_product_forward;
  return shape.bias
             ? planned<Primitive>(attributes, false, kind, shape.src, shape.weights, *shape.bias, shape.dst)
             : planned<Primitive>(attributes, false, kind, shape.src, shape.weights, shape.dst);
}

dnnl::inner_product_backward_data::primitive_desc inner_product_backward_data(
    const InnerProduct& shape, const dnnl::inner_product_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes) {
  return planned_after<dnnl::inner_product_backward_data>(ahead, attributes, false, shape.src, shape.weights,
                                                          shape.dst);
}

dnnl::inner_product_backward_weights::primitive_desc inner_product_backward_weights(
    const InnerProduct& shape, const dnnl::inner_product_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes) {
  using Primitive = dnnl::inner_product_backward_weights;
  return shape.bias ? planned_after<Primitive>(ahead, attributes, false, shape.src, shape.weights,
                                               *shape.bias, shape.dst)
                    : planned_after<Primitive>(ahead, attributes, false, shape.src, shape.weights, shape.dst);
}

PoolingForward::primitive_desc pooling_forward(const Pooling& shape, dnnl::prop_kind kind,
                                               const dnnl::primitive_attr& attributes) {
  return planned<PoolingForward>(attributes, false, kind, shape.algorithm, shape.src, shape.dst,
                                 shape.strides, shape.kernel, shape.dilation, shape.pad_begin, shape.pad_end);
}

PoolingBackward::primitive_desc pooling_backward(const Pooling& shape,
                                                 const PoolingForward::primitive_desc& ahead,
                                                 const dnnl::primitive_attr& attributes) {
  return planned_after<PoolingBackward>(ahead, attributes, false, shape.algorithm, shape.src, shape.dst,
                                        shape.strides, shape.kernel, shape.dilation, shape.pad_begin,
                                        shape.pad_end);
}

SoftmaxForward::primitive_desc softmax_forward(dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                               const MemoryDesc& src, const MemoryDesc& dst, int axis,
                                               const dnnl::primitive_attr& attributes) {
  return planned<SoftmaxForward>(attributes, false, kind, algorithm, src, dst, axis);
}

SoftmaxBackward::primitive_desc softmax_backward(dnnl::algorithm algorithm, const MemoryDesc& tensor,
                                                 int axis, const SoftmaxForward::primitive_desc& ahead,
                                                 const dnnl::primitive_attr& attributes) {
  return planned_after<SoftmaxBackward>(ahead, attributes, false, algorithm, tensor, tensor, tensor, axis);
}

// Version 2 takes one descriptor for src and dst, and one for their gradients.
dnnl::eltwise_forward::primitive_desc eltwise_forward(dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                                      const MemoryDesc& tensor, float alpha, float beta,
                                                      const dnnl::primitive_attr& attributes) {
#if DNNL_VERSION_MAJOR < 3
  return planned<dnnl::eltwise_forward>(attributes, false, kind, algorithm, tensor, alpha, beta);
#else
  return planned<dnnl::eltwise_forward>(attributes, false, kind, algorithm, tensor, tensor, alpha, beta);
#endif
}

dnnl::eltwise_backward::primitive_desc eltwise_backward(dnnl::algorithm algorithm, const MemoryDesc& tensor,
                                                        float alpha, float beta,
                                                        const dnnl::eltwise_forward::primitive_desc& ahead,
                                                        const dnnl::primitive_attr& attributes) {
  using Primitive = dnnl::eltwise_backward;
#if DNNL_VERSION_MAJOR < 3
  return planned_after<Primitive>(ahead, attributes, false, algorithm, tensor, tensor, alpha, beta);
#else
  return planned_after<Primitive>(ahead, attributes, false, algorithm, tensor, tensor, tensor, alpha, beta);
#endif
}

dnnl::batch_normalization_forward::primitive_desc batch_normalization_forward(
    const Normalization& norm, dnnl::prop_kind kind, const dnnl::primitive_attr& attributes) {
  using Primitive = dnnl::batch_normalization_forward;
#if DNNL_VERSION_MAJOR < 3
  return planned<Primitive>(attributes, false, kind, norm.tensor, norm.epsilon, norm.flags);
#else
  return planned<Primitive>(attributes, false, kind, norm.tensor, norm.tensor, norm.epsilon, norm.flags);
#endif
}

dnnl::batch_normalization_backward::primitive_desc batch_normalization_backward(
    const Normalization& norm, dnnl::prop_kind kind,
    const dnnl::batch_normalization_forward::primitive_desc& ahead, const dnnl::primitive_attr& attributes) {
  using Primitive = dnnl::batch_normalization_backward;
#if DNNL_VERSION_MAJOR < 3
  return planned_after<Primitive>(ahead, attributes, false, kind, norm.tensor, norm.tensor, norm.epsilon,
                                  norm.flags);
#else
  return planned_after<Primitive>(ahead, attributes, false, kind, norm.tensor, norm.tensor, norm.tensor,
                                  norm.epsilon, norm.flags);
#endif
}

dnnl::layer_normalization_forward::primitive_desc layer_normalization_forward(
    const Normalization& norm, const MemoryDesc& statistic, dnnl::prop_kind kind,
    const dnnl::primitive_attr& attributes) {
  using Primitive = dnnl::layer_normalization_forward;
#if DNNL_VERSION_MAJOR < 3
  return planned<Primitive>(attributes, false, kind, norm.tensor, statistic, norm.epsilon, norm.flags);
#else
  return planned<Primitive>(attributes, false, kind, norm.tensor, norm.tensor, statistic, norm.epsilon,
                            norm.flags);
#endif
}

dnnl::layer_normalization_backward::primitive_desc layer_normalization_backward(
    const Normalization& norm, const MemoryDesc& statistic, dnnl::prop_kind kind,
    const dnnl::layer_normalization_forward::primitive_desc& ahead, const dnnl::primitive_attr& attributes) {
  using Primitive = dnnl::layer_normalization_backward;
#if DNNL_VERSION_MAJOR < 3
  return planned_after<Primitive>(ahead, attributes, false, kind, norm.tensor, norm.tensor, statistic,
                                  norm.epsilon, norm.flags);
#else
  return planned_after<Primitive>(ahead, attributes, false, kind, norm.tensor, norm.tensor, norm.tensor,
                                  statistic, norm.epsilon, norm.flags);
#endif
}

dnnl::lrn_forward::primitive_desc lrn_forward(const LocalResponse& norm, dnnl::prop_kind kind,
                                              const dnnl::primitive_attr& attributes) {
  const auto& [tensor, size, alpha, beta, k] = norm;
#if DNNL_VERSION_MAJOR < 3
  return planned<dnnl::lrn_forward>(attributes, false, kind, kLrnAcross, tensor, size, alpha, beta, k);
#else
  return planned<dnnl::lrn_forward>(attributes, false, kind, kLrnAcross, tensor, tensor, size, alpha, beta,
                                    k);
#endif
}

dnnl::lrn_backward::primitive_desc lrn_backward(const LocalResponse& norm,
                                                const dnnl::lrn_forward::primitive_desc& ahead,
                                                const dnnl::primitive_attr& attributes) {
  const auto& [tensor, size, alpha, beta, k] = norm;
#if DNNL_VERSION_MAJOR < 3
  return planned_after<dnnl::lrn_backward>(ahead, attributes, false, kLrnAcross, tensor, tensor, size, alpha,
                                           beta, k);
#else
  return planned_after<dnnl::lrn_backward>(ahead, attributes, false, kLrnAcross, tensor, tensor, tensor, size,
                                           alpha, beta, k);
#endif
}

dnnl::resampling_forward::primitive_desc resampling_forward(dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                                            const MemoryDesc& src, const MemoryDesc& dst,
                                                            const dnnl::primitive_attr& attributes) {
  return planned<dnnl::resampling_forward>(attributes, false, kind, algorithm, src, dst);
}

dnnl::resampling_backward::primitive_desc resampling_backward(
    dnnl::algorithm algorithm, const MemoryDesc& src, const MemoryDesc& dst,
    const dnnl::resampling_forward::primitive_desc& ahead, const dnnl::primitive_attr& attributes) {
  return planned_after<dnnl::resampling_backward>(ahead, attributes, false, algorithm, src, dst);
}

}  // namespace bench::kernels::onednn
