// Layer normalisation and its gradient by our own kernels.
#pragma once

#include "kernels/cuda/chunks.h"
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/kernel_operation.h"
#include "kernels/cuda/row_launch.h"
#include "kernels/layer_norm/layer_norm.cuh"
#include "kernels/layer_norm/layer_norm.h"

namespace bench::kernels::cuda {

template <class Machine>
class LayerNormOperation final : public KernelOperation<Machine> {
 public:
  using Spec = LayerNorm;
  using Pass = LayerNorm::Pass;
  static Dtype dtype_of(const LayerNorm& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const LayerNorm& spec) { return not_nhwc(spec.tensor()); }

  LayerNormOperation(const LayerNorm& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.tensor());
    this->add_values(Slot::scale, Role::parameter, spec.width);
    if (spec.pass != Pass::inference) {
      const Role statistic = spec.pass == Pass::training ? Role::output : Role::input;
      this->add_values(Slot::mean, statistic, spec.rows);
      this->add_values(Slot::variance, statistic, spec.rows);
    }
    if (spec.pass == Pass::backward) {
      this->add_activation(Slot::diff_dst, Role::input, spec.tensor());
      this->add_activation(Slot::diff_src, Role::output, spec.tensor());
      this->add_values(Slot::diff_scale, Role::output, spec.width);
      this->add_values(Slot::diff_shift, Role::output, spec.width);
      const auto lanes = static_cast<int>(kAccess / bytes_of(spec.dtype));
      this->add_opaque(Slot::workspace, Role::scratch,
                       partial_bytes(spec.rows, spec.width, lanes, this->queue().multiprocessors()));
    } else {
      this->add_values(Slot::shift, Role::parameter, spec.width);
      this->add_activation(Slot::dst, Role::output, spec.tensor());
    }
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.dtype, [&]<class Element>() {
      with_access<Element>(
          spec_.width,
          [&]<int kCount>() {
            if (spec_.pass == Pass::backward) {
              this->template backward<Element, kCount>(pointers);
            } else {
              this->template forward<Element, kCount>(pointers);
            }
          },
          this->template stored<Element>(pointers, Slot::src),
          this->template stored<Element>(pointers, Slot::dst),
          this->template stored<Element>(pointers, Slot::diff_dst),
          this->template stored<Element>(pointers, Slot::diff_src), this->floats(pointers, Slot::scale),
          this->floats(pointers, Slot::shift), this->floats(pointers, Slot::workspace));
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  template <class Element, int kCount>
  void forward(const SlotPointers& pointers) const {
    const bool training = spec_.pass == Pass::training;
    with_group(spec_.width, [&]<int kGroup>() {
      this->queue().launch(
          LayerNormRows<Element, kCount, kGroup>{
              .src = this->template stored<Element>(pointers, Slot::src),
              .dst = this->template stored<Element>(pointers, Slot::dst),
              .scale = this->floats(pointers, Slot::scale),
              .shift = this->floats(pointers, Slot::shift),
              .mean = training ? this->floats(pointers, Slot::mean) : nullptr,
              .variance = training ? this->floats(pointers, Slot::variance) : nullptr,
              .rows = spec_.rows,
              .width = spec_.width,
              .epsilon = spec_.epsilon},
          RowGroup<kGroup>::blocks(spec_.rows));
    });
  }

  // The sums first: diff_src may take diff_dst's place.
  template <class Element, int kCount>
  void backward(const SlotPointers& pointers) const {
    const auto* const src = this->template stored<Element>(pointers, Slot::src);
    const auto* const diff_dst = this->template stored<Element>(pointers, Slot::diff_dst);
    const float* const mean = this->floats(pointers, Slot::mean);
    const float* const variance = this->floats(pointers, Slot::variance);
    float* const partial = this->floats(pointers, Slot::workspace);
    const auto& queue = this->queue();
    const Tiling sums =
        Tiling::of(spec_.rows, spec_.width / kCount, reducing_blocks(queue.multiprocessors()));
    const RowNormalizer<typename Element::Memory, kCount> normalizer{
        .mean = mean, .variance = variance, .epsilon = spec_.epsilon, .row_mean = 0, .factor = 0};
    queue.launch(ColumnSums<Element, kCount, RowNormalizer>{sums, src, diff_dst, normalizer, partial},
                 sums.blocks());
    queue.launch(FinishColumnSums{partial,
                                  spec_.width,
                                  sums.chunks,
                                  {this->floats(pointers, Slot::diff_scale),
                                   this->floats(pointers, Slot::diff_shift)}},
                 FinishColumnSums::blocks(spec_.width));
    with_group(spec_.width, [&]<int kGroup>() {
      queue.launch(LayerNormGradient<Element, kCount, kGroup>{.src = src,
                                                              .gradient = diff_dst,
                                                              .diff_src = this->template stored<Element>(
                                                                  pointers, Slot::diff_src),
                                                              .scale = this->floats(pointers, Slot::scale),
                                                              .mean = mean,
                                                              .variance = variance,
                                                              .rows = spec_.rows,
                                                              .width = spec_.width,
                                                              .epsilon = spec_.epsilon},
                   RowGroup<kGroup>::blocks(spec_.rows));
    });
  }

  LayerNorm spec_;
};

}  // namespace bench::kernels::cuda
