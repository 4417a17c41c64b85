// Batch normalisation by our own kernels: in training two passes over the data for the statistics and the
// result, and two backward for the sums and the result.
#pragma once

#include "kernels/batch_norm/batch_norm.cuh"
#include "kernels/batch_norm/batch_norm.h"
#include "kernels/batch_norm/batch_norm_backward.h"
#include "kernels/batch_norm/statistics.cuh"
#include "kernels/cuda/chunks.h"
#include "kernels/cuda/kernel_operation.h"

namespace bench::kernels::cuda {

// Where each channel's rows are, channels `count` at a time.
inline Tiling channel_tiling(const TensorDesc& tensor, int count, std::int64_t target) {
  return Tiling::of(tensor.n * tensor.h * tensor.w, tensor.c / count, target);
}

template <class Machine>
class BatchNormOperation final : public KernelOperation<Machine> {
 public:
  using Spec = BatchNorm;
  static Dtype dtype_of(const BatchNorm& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const BatchNorm& spec) {
    return spec.activation == Activation::gelu ? std::optional<std::string>("batch norm does not fuse gelu")
                                               : not_nhwc(spec.tensor);
  }

  BatchNormOperation(const BatchNorm& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    const Role statistic = spec.training ? Role::output : Role::parameter;
    this->add_activation(Slot::src, Role::input, spec.tensor);
    this->add_values(Slot::scale, Role::parameter, spec.tensor.c);
    this->add_values(Slot::shift, Role::parameter, spec.tensor.c);
    this->add_values(Slot::mean, statistic, spec.tensor.c);
    this->add_values(Slot::variance, statistic, spec.tensor.c);
    this->add_activation(Slot::dst, Role::output, spec.tensor);
    if (spec.training) {
      const auto lanes = static_cast<int>(kAccess / bytes_of(spec.tensor.dtype));
      this->add_opaque(Slot::workspace, Role::scratch,
                       partial_bytes(spec.tensor.n * spec.tensor.h * spec.tensor.w, spec.tensor.c, lanes,
                                     this->queue().multiprocessors()));
    }
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.tensor.dtype, [&]<class Element>() {
      with_access<Element>(
          spec_.tensor.c, [&]<int kCount>() { this->template run_as<Element, kCount>(pointers); },
          this->template stored<Element>(pointers, Slot::src),
          this->template stored<Element>(pointers, Slot::dst), this->floats(pointers, Slot::scale),
          this->floats(pointers, Slot::shift), this->floats(pointers, Slot::mean),
          this->floats(pointers, Slot::variance), this->floats(pointers, Slot::workspace));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Element, int kCount>
  void run_as(const SlotPointers& pointers) const {
    const auto& queue = this->queue();
    const TensorDesc& tensor = spec_.tensor;
    const auto* const src = this->template stored<Element>(pointers, Slot::src);
    if (spec_.training) {
      const Tiling tiling = channel_tiling(tensor, kCount, reducing_blocks(queue.multiprocessors()));
      float* const partial = this->floats(pointers, Slot::workspace);
      queue.launch(ChunkMoments<Element, kCount>{tiling, src, partial}, tiling.blocks());
      queue.launch(JoinMoments{tiling, partial, tensor.c, this->floats(pointers, Slot::mean),
                               this->floats(pointers, Slot::variance)},
                   JoinMoments::blocks(tensor.c));
    }
    const Tiling tiling = channel_tiling(tensor, kCount, mapping_blocks(queue.multiprocessors()));
    queue.launch(Normalize<Element, kCount>{.tiling = tiling,
                                            .src = src,
                                            .dst = this->template stored<Element>(pointers, Slot::dst),
                                            .scale = this->floats(pointers, Slot::scale),
                                            .shift = this->floats(pointers, Slot::shift),
                                            .mean = this->floats(pointers, Slot::mean),
                                            .variance = this->floats(pointers, Slot::variance),
                                            .epsilon = spec_.epsilon,
                                            .activate = Rectifier::of(spec_.activation)},
                 tiling.blocks());
  }

  BatchNorm spec_;
};

template <class Machine>
class BatchNormBackwardOperation final : public KernelOperation<Machine> {
 public:
  using Spec = BatchNormBackward;
  static Dtype dtype_of(const BatchNormBackward& spec) { return spec.tensor.dtype; }
  static std::optional<std::string> unsupported(const BatchNormBackward& spec) {
    return not_nhwc(spec.tensor);
  }

  BatchNormBackwardOperation(const BatchNormBackward& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.tensor);
    this->add_values(Slot::mean, Role::input, spec.tensor.c);
    this->add_values(Slot::variance, Role::input, spec.tensor.c);
    this->add_values(Slot::scale, Role::parameter, spec.tensor.c);
    this->add_activation(Slot::diff_dst, Role::input, spec.tensor);
    this->add_activation(Slot::diff_src, Role::output, spec.tensor);
    this->add_values(Slot::diff_scale, Role::output, spec.tensor.c);
    this->add_values(Slot::diff_shift, Role::output, spec.tensor.c);
    const auto lanes = static_cast<int>(kAccess / bytes_of(spec.tensor.dtype));
    this->add_opaque(Slot::workspace, Role::scratch,
                     partial_bytes(spec.tensor.n * spec.tensor.h * spec.tensor.w, spec.tensor.c, lanes,
                                   this->queue().multiprocessors()));
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.tensor.dtype, [&]<class Element>() {
      with_access<Element>(
          spec_.tensor.c, [&]<int kCount>() { this->template run_as<Element, kCount>(pointers); },
          this->template stored<Element>(pointers, Slot::src),
          this->template stored<Element>(pointers, Slot::diff_dst),
          this->template stored<Element>(pointers, Slot::diff_src), this->floats(pointers, Slot::scale),
          this->floats(pointers, Slot::mean), this->floats(pointers, Slot::variance),
          this->floats(pointers, Slot::diff_scale), this->floats(pointers, Slot::diff_shift),
          this->floats(pointers, Slot::workspace));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Element, int kCount>
  void run_as(const SlotPointers& pointers) const {
    const auto& queue = this->queue();
    const TensorDesc& tensor = spec_.tensor;
    const auto* const src = this->template stored<Element>(pointers, Slot::src);
    const auto* const diff_dst = this->template stored<Element>(pointers, Slot::diff_dst);
    const ChannelNormalizer<typename Element::Memory, kCount> normalizer{
        .mean = this->floats(pointers, Slot::mean),
        .variance = this->floats(pointers, Slot::variance),
        .epsilon = spec_.epsilon,
        .means = {},
        .factors = {}};
    float* const partial = this->floats(pointers, Slot::workspace);
    float* const diff_scale = this->floats(pointers, Slot::diff_scale);
    float* const diff_shift = this->floats(pointers, Slot::diff_shift);
    const Tiling sums = channel_tiling(tensor, kCount, reducing_blocks(queue.multiprocessors()));
    queue.launch(ColumnSums<Element, kCount, ChannelNormalizer>{sums, src, diff_dst, normalizer, partial},
                 sums.blocks());
    queue.launch(FinishColumnSums{partial, tensor.c, sums.chunks, {diff_scale, diff_shift}},
                 FinishColumnSums::blocks(tensor.c));
    const Tiling tiling = channel_tiling(tensor, kCount, mapping_blocks(queue.multiprocessors()));
    queue.launch(NormalizeGradient<Element, kCount>{.tiling = tiling,
                                                    .src = src,
                                                    .gradient = diff_dst,
                                                    .diff_src = this->template stored<Element>(
                                                        pointers, Slot::diff_src),
                                                    .scale = this->floats(pointers, Slot::scale),
                                                    .diff_scale = diff_scale,
                                                    .diff_shift = diff_shift,
                                                    .normalizer = normalizer},
                 tiling.blocks());
  }

  BatchNormBackward spec_;
};

}  // namespace bench::kernels::cuda
