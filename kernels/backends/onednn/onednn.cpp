#include "kernels/backends/onednn/onednn.h"

#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels::onednn {
namespace {

std::vector<ClearableCache*>& caches_of_this_thread() {
  thread_local std::vector<ClearableCache*> all;
  return all;
}

}  // namespace

ClearableCache::ClearableCache() {
  caches_of_this_thread().push_back(this);
}

ClearableCache::~ClearableCache() {
  std::erase(caches_of_this_thread(), this);
}

void clear_query_caches() {
  for (ClearableCache* const cache : caches_of_this_thread()) {
    cache->clear();
  }
}

const dnnl::stream& stream() {
  static const dnnl::stream instance(engine());
  return instance;
}

void synchronize() {
  dnnl::stream queue = stream();  // a handle to the same stream
  queue.wait();
}

dnnl::memory::data_type type_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp16:
      return dnnl::memory::data_type::f16;
    case Dtype::bf16:
      return dnnl::memory::data_type::bf16;
    case Dtype::fp32:
    case Dtype::tf32:
      break;
  }
  return dnnl::memory::data_type::f32;
}

dnnl::memory::desc describe(const TensorDesc& tensor) {
  using Tag = dnnl::memory::format_tag;
  const Tag tag = tensor.layout == Layout::nchw   ? Tag::nchw
                  : tensor.layout == Layout::nhwc ? Tag::nhwc
                                                  : Tag::nChw16c;
  return {{tensor.n, tensor.c, tensor.h, tensor.w}, type_of(tensor.dtype), tag};
}

dnnl::memory::desc describe_matrix(const TensorDesc& tensor) {
  return {{tensor.n, tensor.c}, type_of(tensor.dtype), dnnl::memory::format_tag::ab};
}

dnnl::memory::desc describe_vector(std::int64_t count) {
  return {{count}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a};
}

std::optional<Eltwise> eltwise_of(Activation activation) {
  using K = ActivationKind;
  using A = dnnl::algorithm;
  const float alpha = activation.alpha;
  switch (activation.kind) {
    case K::relu:
      return Eltwise{A::eltwise_relu};
    case K::relu6:
      return Eltwise{A::eltwise_clip, 0.0F, 6.0F};
    case K::leaky_relu:
      return Eltwise{A::eltwise_relu, alpha};
    case K::gelu:
      return Eltwise{A::eltwise_gelu_tanh};
    case K::gelu_erf:
      return Eltwise{A::eltwise_gelu_erf};
    case K::sigmoid:
      return Eltwise{A::eltwise_logistic_use_dst_for_bwd};
    case K::silu:
      return Eltwise{A::eltwise_swish, 1.0F};
    case K::hard_swish:
      return Eltwise{A::eltwise_hardswish, 1.0F / 6, 0.5F};  // version 2 knows no others
    case K::tanh:
      return Eltwise{A::eltwise_tanh_use_dst_for_bwd};
    case K::elu:
      return Eltwise{A::eltwise_elu_use_dst_for_bwd, alpha};
    case K::softplus:
      return Eltwise{A::eltwise_soft_relu, 1.0F};
    case K::mish:
      return Eltwise{A::eltwise_mish};
    case K::clip:
      return Eltwise{A::eltwise_clip_v2_use_dst_for_bwd, alpha, activation.beta};
    case K::linear:
      return Eltwise{A::eltwise_linear, alpha, activation.beta};
    case K::abs:
      return Eltwise{A::eltwise_abs};
    case K::sqrt:
      return Eltwise{A::eltwise_sqrt_use_dst_for_bwd};
    case K::power:
      return Eltwise{A::eltwise_pow, 1.0F, alpha};
    case K::exp:
      return Eltwise{A::eltwise_exp_use_dst_for_bwd};
    case K::log:
      return Eltwise{A::eltwise_log};
    default:
      return std::nullopt;
  }
}

void append(dnnl::post_ops& post_ops, Activation activation) {
  if (activation.kind == ActivationKind::hard_sigmoid) {
    append_eltwise(post_ops, dnnl::algorithm::eltwise_linear, activation.alpha, activation.beta);
    append_eltwise(post_ops, dnnl::algorithm::eltwise_clip, 0.0F, 1.0F);
  } else if (activation != Activation::none) {
    const Eltwise function = eltwise_of(activation).value();
    append_eltwise(post_ops, function.algorithm, function.alpha, function.beta);
  }
}

dnnl::primitive_attr attributes(const dnnl::post_ops& post_ops) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  attributes.set_post_ops(post_ops);
  return attributes;
}

void rethrow(const dnnl::error& error, const std::string& what) {
  switch (error.status) {
    case dnnl_unimplemented:
      throw Unsupported(
          fmt::format("oneDNN {} has no implementation of {} on this processor", version(), what));
    case dnnl_invalid_arguments:
      throw Unsupported(fmt::format("oneDNN {} does not accept {}", version(), what));
    case dnnl_out_of_memory:
      throw OutOfMemory(fmt::format("oneDNN {} ran out of memory in {}", version(), what), 0);
    default:
      throw std::runtime_error(fmt::format("oneDNN {} failed in {}: {}", version(), what, error.message));
  }
}

}  // namespace bench::kernels::onednn
