#include "kernels/backends/cudnn/attention.h"

#include <utility>

#include <fmt/format.h>

namespace bench::kernels::cudnn {
namespace {

using Kind = AttentionPass::Kind;

constexpr std::int64_t kMostElements = (std::int64_t{1} << 31) - 1;

std::string version_text(std::int64_t version) {
  return fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

// What NVIDIA's own front end refuses, or works around, by version.
std::optional<std::string> unsupported_backward(const AttentionPass& pass, std::int64_t version) {
  constexpr std::int64_t kClearsItsSums = 90600;
  constexpr std::int64_t kTakesAnyLength = 91600;
  constexpr std::int64_t kBlock = 128;
  if (version < kClearsItsSums || version == 91000 || version == 91001) {
    return fmt::format("attention's gradient is not right with cuDNN {}", version_text(version));
  }
  if (pass.sequence % kBlock != 0 && version < kTakesAnyLength) {
    return fmt::format("cuDNN {} takes sequences of whole {} positions in attention's gradient, not {}",
                       version_text(version), kBlock, pass.sequence);
  }
  return std::nullopt;
}

}  // namespace

Tensor AttentionPass::qkv() const {
  const std::int64_t row = 3 * heads * head_size;
  return {.dims = {batch, heads, sequence, head_size}, .strides = {sequence * row, head_size, row, 1}};
}

Tensor AttentionPass::out() const {
  const std::int64_t row = heads * head_size;
  return {.dims = {batch, heads, sequence, head_size}, .strides = {sequence * row, head_size, row, 1}};
}

Tensor AttentionPass::square() const {
  const std::int64_t all = sequence * sequence;
  return {.dims = {batch, heads, sequence, sequence}, .strides = {heads * all, all, sequence, 1}};
}

Tensor AttentionPass::row_values() const {
  return {.dims = {batch, heads, sequence, 1}, .strides = {heads * sequence, sequence, 1, 1}};
}

Tensor AttentionPass::dense() const {
  const std::int64_t all = sequence * head_size;
  return {.dims = {batch, heads, sequence, head_size}, .strides = {heads * all, all, head_size, 1}};
}

Tensor AttentionPass::transposed(Tensor tensor) {
  std::swap(tensor.dims[2], tensor.dims[3]);
  std::swap(tensor.strides[2], tensor.strides[3]);
  return tensor;
}

AttentionPass pass_of(const Attention& spec) {
  return {.kind = !spec.forward() ? Kind::backward
                  : spec.training ? Kind::training
                                  : Kind::inference,
          .dtype = spec.dtype,
          .batch = spec.batch,
          .heads = spec.heads,
          .sequence = spec.sequence,
          .head_size = spec.head_size};
}

std::string described(const AttentionPass& pass) {
  return fmt::format("attention {} {} n{}, {} heads of {}, sequence {}",
                     pass.kind == Kind::backward   ? "backward"
                     : pass.kind == Kind::training ? "training"
                                                   : "inference",
                     name_of(pass.dtype), pass.batch, pass.heads, pass.head_size, pass.sequence);
}

std::optional<std::string> unsupported(const AttentionPass& pass, int compute_capability,
                                       std::int64_t version) {
  constexpr int kFirst = 80;
  constexpr std::int64_t kEight = 8;
  if (bytes_of(pass.dtype) != 2) {
    return fmt::format("cuDNN's attention takes fp16 and bf16, not {}", name_of(pass.dtype));
  }
  if (compute_capability < kFirst) {
    return fmt::format("cuDNN's attention needs compute capability 8.0 or later, this device has {}.{}",
                       compute_capability / 10, compute_capability % 10);
  }
  const std::int64_t most = compute_capability / 10 == 9 ? 256 : 128;
  if (pass.head_size % kEight != 0 || pass.head_size > most) {
    return fmt::format("cuDNN's attention takes heads of {} features at most, a multiple of {}, not {}", most,
                       kEight, pass.head_size);
  }
  if (pass.sequence < 2) {
    return "cuDNN's attention takes two positions at least";
  }
  const std::int64_t elements = 3 * pass.batch * pass.sequence * pass.heads * pass.head_size;
  if (elements > kMostElements) {
    return fmt::format("cuDNN's attention is given tensors of at most {} elements, not {}", kMostElements,
                       elements);
  }
  return pass.kind == Kind::backward ? unsupported_backward(pass, version) : std::nullopt;
}

}  // namespace bench::kernels::cudnn
