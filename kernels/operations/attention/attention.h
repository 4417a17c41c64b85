// Causal self-attention of several heads over each sample's sequence, and its gradient (Vaswani et al. 2017,
// arXiv:1706.03762). A row of src holds query, key and value of a position one after the other, each of
// width = heads · head_size features, the heads' side by side. With a head's matrices Q, K, V of
// [sequence][head_size] and d = head_size:
//   P = softmax over j ≤ i of Q_i · K_j / √d  (0 for j > i)        O = P V
//   dV = Pᵀ dO     dP = dO Vᵀ     dS = P ∘ (dP − Σ_j dP ∘ P) / √d     dQ = dS K     dK = dSᵀ Q
//
// Slots. inference: src → dst.
//        training:  src → saved, dst. saved is P as [batch][heads][sequence][sequence] in the dtype, so that
//                   it grows with the square of the sequence. With `statistics` it is
//                   log Σ_j≤i exp(Q_i · K_j / √d) of each row as [batch][heads][sequence] in fp32, from which
//                   the backward pass computes P again.
//        backward:  src, saved, diff_dst → diff_src; with `statistics` it reads dst too.
// src and diff_src are rows of 3 · width features, dst and diff_dst of width.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Attention {
  static constexpr std::string_view kName = "attention";

  std::int64_t batch = 1;
  std::int64_t sequence = 1;
  std::int64_t heads = 1;
  std::int64_t head_size = 1;
  bool training = false;
  bool statistics = false;  // training and backward only
  Direction direction = Direction::forward;
  Dtype dtype = Dtype::fp32;

  bool forward() const { return direction == Direction::forward; }
  // Whether this pass writes `saved`.
  bool saves() const { return forward() && training; }
  std::int64_t width() const { return heads * head_size; }
  TensorDesc src() const { return {batch * sequence, 3 * width(), 1, 1, Layout::nhwc, dtype}; }
  TensorDesc dst() const { return {batch * sequence, width(), 1, 1, Layout::nhwc, dtype}; }
  // P, a row for each head and position.
  TensorDesc probabilities() const { return {batch * heads * sequence, sequence, 1, 1, Layout::nhwc, dtype}; }
  std::int64_t saved_bytes() const {
    return statistics ? batch * heads * sequence * bytes_of(Dtype::fp32) : probabilities().bytes();
  }
  // Two products forward and four backward, over whole squares: what lies above the diagonal is computed
  // too. Softmax and its gradient take five and four operations an element. With `statistics` there is a
  // product more backward, and what lies above the diagonal is left out.
  double flops() const {
    const auto length = static_cast<double>(sequence);
    const double share = statistics ? (length + 1) / (2 * length) : 1;
    const double square = share * static_cast<double>(probabilities().elements());
    const double product = 2.0 * square * static_cast<double>(head_size);
    const int backward_products = statistics ? 5 : 4;
    return !forward() ? backward_products * product + 4 * square : 2 * product + 5 * square;
  }

  auto operator<=>(const Attention&) const = default;  // also a key of caches
};

PlainSlots plain_slots(const Attention& spec);

}  // namespace bench::kernels
