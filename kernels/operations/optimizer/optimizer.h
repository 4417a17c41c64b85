// One step of an optimizer over `count` parameters that lie one after the other, in a single pass. g is
// diff_weights, w the fp32 weights:
//   sgd:      w −= rate · g
//   momentum: state1 = momentum · state1 + g;  w −= rate · state1                    (as torch.optim.SGD)
//   adam:     state1 = beta1 · state1 + (1 − beta1) · g;  state2 = beta2 · state2 + (1 − beta2) · g²
//             w −= rate · (state1 / (1 − beta1^t)) / (√(state2 / (1 − beta2^t)) + epsilon),  t = steps + 1
//             (Kingma and Ba 2014, arXiv:1412.6980)
// With 16-bit weights the fp32 ones are `master`, and `weights` is written as their rounding (mixed
// precision, Micikevicius et al. 2017, arXiv:1710.03740); diff_weights is 16-bit too. Where it is `scaled`, g
// is diff_weights divided by the loss scale's factor; after an overflow nothing changes.
//
// Slots: diff_weights (input); weights, master (16-bit only), state1 (momentum, adam), state2 (adam),
//        steps (adam) (state); loss_scale (scaled; input). All of `count` elements but steps, which the
//        operation counts up where it `counts`, and else takes as t, and loss_scale. States start at zero,
//        master as the weights.
#pragma once

#include <cstdint>
#include <string_view>

#include "bench/dtype.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

struct Optimizer {
  static constexpr std::string_view kName = "optimizer";
  enum class Kind { sgd, momentum, adam };

  Kind kind = Kind::sgd;
  std::int64_t count = 0;
  Dtype dtype = Dtype::fp32;  // of weights and diff_weights: fp32, bf16 or fp16
  float rate = 0.01F;
  float momentum = 0.9F;
  float beta1 = 0.9F;
  float beta2 = 0.999F;
  float epsilon = 1e-8F;
  bool scaled = false;
  bool counts = true;  // adam: false in all slices of the parameters but the one that is updated first

  bool has_master() const { return dtype == Dtype::bf16 || dtype == Dtype::fp16; }
  // fp32 states an element, master weights not counted.
  int states() const { return kind == Kind::sgd ? 0 : kind == Kind::momentum ? 1 : 2; }
  double flops() const {
    return static_cast<double>(count) * (kind == Kind::sgd ? 2 : kind == Kind::momentum ? 4 : 12);
  }

  bool operator==(const Optimizer&) const = default;
};

PlainSlots plain_slots(const Optimizer& spec);

}  // namespace bench::kernels
