// Descriptors of oneDNN's primitives, for versions 2 and 3 of the library, whose interfaces differ: what
// depends on the version is here and in primitives.cpp, and nowhere else.
//
// A function plans one primitive. It throws dnnl::error where the library has no implementation, or returns
// an empty descriptor where `allow_empty` is given.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <oneapi/dnnl/dnnl.hpp>

namespace bench::kernels::onednn {

#if DNNL_VERSION_MAJOR < 3
using PoolingForward = dnnl::pooling_v2_forward;
using PoolingBackward = dnnl::pooling_v2_backward;
using SoftmaxForward = dnnl::softmax_v2_forward;
using SoftmaxBackward = dnnl::softmax_v2_backward;
#else
using PoolingForward = dnnl::pooling_forward;
using PoolingBackward = dnnl::pooling_backward;
using SoftmaxForward = dnnl::softmax_forward;
using SoftmaxBackward = dnnl::softmax_backward;
#endif

using Dims = dnnl::memory::dims;
using MemoryDesc = dnnl::memory::desc;

struct Version {
  int major = 0, minor = 0, patch = 0;
  auto operator<=>(const Version&) const = default;
};
Version library_version();  // of the library loaded
std::string version();      // the same, "2.6.3"

// What the library does wrong. Who works around a fault asks for it here.
struct Faults {
  // The gradient is refused without a shift, on which it does not depend: of batch norm before version 3, of
  // layer norm before 3.8.
  bool batch_norm_gradient_reads_shift = false;
  bool layer_norm_gradient_reads_shift = false;
  // With AVX-512, seen with version 2.6.3; 3.7.1 has the same code. In nhwc the gradient of a local response
  // norm is wrong by several percent; in blocks of channels, over 1 or 2 of them, planning it crashes.
  bool lrn_gradient_is_wrong = false;
};
Faults faults_of(const Version& version, bool avx512);
const Faults& faults();  // of the library loaded, on this processor

// The instruction set that the library uses: the processor's, or less where ONEDNN_MAX_CPU_ISA says so.
std::string instruction_set();  // "avx2", "avx512_core_bf16"
bool has_avx512();
bool has_bf16_instructions();  // without them the library computes bf16 by fp32
// Whether the library computes fp16 matrix products on this processor; false before 3.0.
bool has_fp16();

// The process owns one CPU engine, which holds no memory.
const dnnl::engine& engine();

Dims dims_of(const MemoryDesc& desc);
dnnl::memory::data_type type_of(const MemoryDesc& desc);

void append_eltwise(dnnl::post_ops& post_ops, dnnl::algorithm algorithm, float alpha, float beta);
// Multiplies a product by `factor`, before the post-ops.
void scale_product(dnnl::primitive_attr& attributes, float factor);

// A convolution or a transposed one; src, weights, bias and dst are their gradients in a backward pass.
struct Convolution {
  dnnl::algorithm algorithm{};
  MemoryDesc src, weights;
  std::optional<MemoryDesc> bias{};
  MemoryDesc dst;
  Dims strides, dilates, pad_begin, pad_end;  // 2 each; dilates count the gaps: 0 is dense
};

dnnl::convolution_forward::primitive_desc convolution_forward(const Convolution& shape, dnnl::prop_kind kind,
                                                              const dnnl::primitive_attr& attributes,
                                                              bool allow_empty = false);
// Every implementation that the library has, the one it prefers first.
std::vector<dnnl::convolution_forward::primitive_desc> convolutions_forward(
    const Convolution& shape, dnnl::prop_kind kind, const dnnl::primitive_attr& attributes);
dnnl::convolution_backward_data::primitive_desc convolution_backward_data(
    const Convolution& shape, const dnnl::convolution_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes, bool allow_empty = false);
dnnl::convolution_backward_weights::primitive_desc convolution_backward_weights(
    const Convolution& shape, const dnnl::convolution_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes, bool allow_empty = false);

dnnl::deconvolution_forward::primitive_desc deconvolution_forward(const Convolution& shape,
                                                                  dnnl::prop_kind kind,
                                                                  const dnnl::primitive_attr& attributes);
dnnl::deconvolution_backward_data::primitive_desc deconvolution_backward_data(
    const Convolution& shape, const dnnl::deconvolution_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes);
dnnl::deconvolution_backward_weights::primitive_desc deconvolution_backward_weights(
    const Convolution& shape, const dnnl::deconvolution_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes);

dnnl::matmul::primitive_desc matmul(const MemoryDesc& src, const MemoryDesc& weights,
                                    const std::optional<MemoryDesc>& bias, const MemoryDesc& dst,
                                    const dnnl::primitive_attr& attributes, bool allow_empty = false);

struct InnerProduct {
  MemoryDesc src, weights;
  std::optional<MemoryDesc> bias{};
  MemoryDesc dst;
};

dnnl::inner_product_forward::primitive_desc inner_product_forward(const InnerProduct& shape,
                                                                  dnnl::prop_kind kind,
                                                                  const dnnl::primitive_attr& attributes);
dnnl::inner_product_backward_data::primitive_desc inner_product_backward_data(
    const InnerProduct& shape, const dnnl::inner_product_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes);
dnnl::inner_product_backward_weights::primitive_desc inner_product_backward_weights(
    const InnerProduct& shape, const dnnl::inner_product_forward::primitive_desc& ahead,
    const dnnl::primitive_attr& attributes);

struct Pooling {
  dnnl::algorithm algorithm{};
  MemoryDesc src, dst;
  Dims strides, kernel, dilation, pad_begin, pad_end;  // dilation counts the gaps
};

PoolingForward::primitive_desc pooling_forward(const Pooling& shape, dnnl::prop_kind kind,
                                               const dnnl::primitive_attr& attributes);
PoolingBackward::primitive_desc pooling_backward(const Pooling& shape,
                                                 const PoolingForward::primitive_desc& ahead,
                                                 const dnnl::primitive_attr& attributes);

SoftmaxForward::primitive_desc softmax_forward(dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                               const MemoryDesc& src, const MemoryDesc& dst, int axis,
                                               const dnnl::primitive_attr& attributes);
// Of a tensor as its result and their gradients are.
SoftmaxBackward::primitive_desc softmax_backward(dnnl::algorithm algorithm, const MemoryDesc& tensor,
                                                 int axis, const SoftmaxForward::primitive_desc& ahead,
                                                 const dnnl::primitive_attr& attributes);

// Of these each tensor is like the others.
dnnl::eltwise_forward::primitive_desc eltwise_forward(dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                                      const MemoryDesc& tensor, float alpha, float beta,
                                                      const dnnl::primitive_attr& attributes);
dnnl::eltwise_backward::primitive_desc eltwise_backward(dnnl::algorithm algorithm, const MemoryDesc& tensor,
                                                        float alpha, float beta,
                                                        const dnnl::eltwise_forward::primitive_desc& ahead,
                                                        const dnnl::primitive_attr& attributes);

struct Normalization {
  MemoryDesc tensor;
  float epsilon = 0;
  dnnl::normalization_flags flags{};
};

dnnl::batch_normalization_forward::primitive_desc batch_normalization_forward(
    const Normalization& norm, dnnl::prop_kind kind, const dnnl::primitive_attr& attributes);
dnnl::batch_normalization_backward::primitive_desc batch_normalization_backward(
    const Normalization& norm, dnnl::prop_kind kind,
    const dnnl::batch_normalization_forward::primitive_desc& ahead, const dnnl::primitive_attr& attributes);

dnnl::layer_normalization_forward::primitive_desc layer_normalization_forward(
    const Normalization& norm, const MemoryDesc& statistic, dnnl::prop_kind kind,
    const dnnl::primitive_attr& attributes);
dnnl::layer_normalization_backward::primitive_desc layer_normalization_backward(
    const Normalization& norm, const MemoryDesc& statistic, dnnl::prop_kind kind,
    const dnnl::layer_normalization_forward::primitive_desc& ahead, const dnnl::primitive_attr& attributes);

struct LocalResponse {
  MemoryDesc tensor;
  std::int64_t size = 0;  // channels
  float alpha = 0, beta = 0, k = 1;
};

dnnl::lrn_forward::primitive_desc lrn_forward(const LocalResponse& norm, dnnl::prop_kind kind,
                                              const dnnl::primitive_attr& attributes);
dnnl::lrn_backward::primitive_desc lrn_backward(const LocalResponse& norm,
                                                const dnnl::lrn_forward::primitive_desc& ahead,
                                                const dnnl::primitive_attr& attributes);

dnnl::resampling_forward::primitive_desc resampling_forward(dnnl::prop_kind kind, dnnl::algorithm algorithm,
                                                            const MemoryDesc& src, const MemoryDesc& dst,
                                                            const dnnl::primitive_attr& attributes);
dnnl::resampling_backward::primitive_desc resampling_backward(
    dnnl::algorithm algorithm, const MemoryDesc& src, const MemoryDesc& dst,
    const dnnl::resampling_forward::primitive_desc& ahead, const dnnl::primitive_attr& attributes);

}  // namespace bench::kernels::onednn
