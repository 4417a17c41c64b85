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

const dnnl::engine& engine() {
  static const dnnl::engine instance(dnnl::engine::kind::cpu, 0);
  return instance;
}

const dnnl::stream& stream() {
  static const dnnl::stream instance(engine());
  return instance;
}

void synchronize() {
  dnnl::stream queue = stream();  // a handle to the same stream
  queue.wait();
}

std::string version() {
  const dnnl_version_t* version = dnnl_version();
  return fmt::format("{}.{}.{}", version->major, version->minor, version->patch);
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

dnnl::algorithm algorithm_of(Activation activation) {
  if (activation == Activation::gelu) {
    return dnnl::algorithm::eltwise_gelu_tanh;
  }
  return activation == Activation::relu6 ? dnnl::algorithm::eltwise_bounded_relu
                                         : dnnl::algorithm::eltwise_relu;
}

float alpha_of(Activation activation) {
  // bounded_relu's upper bound, or relu's slope below zero.
  return activation == Activation::relu6 ? 6.0F : activation == Activation::leaky_relu ? kLeakySlope : 0.0F;
}

void append(dnnl::post_ops& post_ops, Activation activation) {
  if (activation != Activation::none) {
    post_ops.append_eltwise(1.0F, algorithm_of(activation), alpha_of(activation), 0.0F);
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
