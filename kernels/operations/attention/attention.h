// Attention of several heads over each sample's sequence, and its gradient (Vaswani et al. 2017,
// arXiv:1706.03762). A row of queries, keys, values or results has width = heads · head_size features, the
// heads' side by side. With a head's matrices Q of [sequence][head_size], K and V of [keys][head_size]:
//   P = softmax over j of scale · Q_i · K_j             O = P V
//   dV = Pᵀ dO     dP = dO Vᵀ     dS = scale · P ∘ (dP − Σ_j dP ∘ P)     dQ = dS K     dK = dSᵀ Q
// Causal: over j ≤ i only; P is 0 for j > i.
//
// Slots. inference: src → dst.
//        training:  src → saved, dst. saved is P as [batch][heads][sequence][keys] in the dtype, so that it
//                   grows with the square of the sequence. With `statistics` it is
//                   log Σ_j exp(scale · Q_i · K_j) of each row as [batch][heads][sequence] in fp32, from
//                   which the backward pass computes P again.
//        backward:  src, saved, diff_dst → diff_src; with `statistics` it reads dst too.
// A packed src or diff_src holds rows of 3 · width features: query, key and value of a position one after the
// other. Else src, src1 and src2 are queries, keys and values, and diff_src, diff_src1, diff_src2 their
// gradients.
#pragma once

#include <array>
#include <cmath>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/operations/operation.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

struct Attention {
  static constexpr std::string_view kName = "attention";

  std::int64_t batch = 1;
  std::int64_t sequence = 1;  // of queries
  std::int64_t heads = 1;
  std::int64_t head_size = 1;
  bool training = false;
  bool statistics = false;  // training and backward only
  Direction direction = Direction::forward;
  Dtype dtype = Dtype::fp32;
  bool causal = true;
  float scale = 0;        // 0: 1/√head_size
  bool packed = true;     // query, key and value in one tensor
  std::int64_t keys = 0;  // the sequence of keys and values; 0: as long as the queries'

  bool forward() const { return direction == Direction::forward; }
  // Whether this pass writes `saved`.
  bool saves() const { return forward() && training; }
  std::int64_t width() const { return heads * head_size; }
  std::int64_t key_count() const { return keys == 0 ? sequence : keys; }
  double factor() const {
    return scale == 0 ? 1 / std::sqrt(static_cast<double>(head_size)) : static_cast<double>(scale);
  }
  // The keys that query i sees, the first ones.
  std::int64_t seen(std::int64_t i) const { return causal ? i + 1 : key_count(); }

  // From a position's query, key or value to the next one's, in elements.
  std::int64_t row() const { return packed ? 3 * width() : width(); }
  TensorDesc src() const { return {batch * sequence, row(), 1, 1, Layout::nhwc, dtype}; }
  TensorDesc keys_or_values() const { return {batch * key_count(), width(), 1, 1, Layout::nhwc, dtype}; }
  TensorDesc dst() const { return {batch * sequence, width(), 1, 1, Layout::nhwc, dtype}; }
  // P, a row for each head and position.
  TensorDesc probabilities() const {
    return {batch * heads * sequence, key_count(), 1, 1, Layout::nhwc, dtype};
  }
  std::int64_t saved_bytes() const {
    return statistics ? batch * heads * sequence * bytes_of(Dtype::fp32) : probabilities().bytes();
  }
  // Two products forward and four backward, over whole squares: what a causal mask hides is computed too.
  // Softmax and its gradient take five and four operations an element. With `statistics` there is a product
  // more backward, and what is hidden is left out.
  double flops() const {
    const auto length = static_cast<double>(sequence);
    const double share = statistics && causal ? (length + 1) / (2 * length) : 1;
    const double square = share * static_cast<double>(probabilities().elements());
    const double product = 2.0 * square * static_cast<double>(head_size);
    const int backward_products = statistics ? 5 : 4;
    return !forward() ? backward_products * product + 4 * square : 2 * product + 5 * square;
  }
  // Why the description is invalid; nullopt where it is valid.
  std::optional<std::string> invalid() const;

  auto operator<=>(const Attention&) const = default;  // also a key of caches
};

PlainSlots plain_slots(const Attention& spec);

// Where queries (0), keys (1) and values (2) lie, or their gradients: parts of one slot or a slot each.
inline constexpr std::array kAttentionInputs{Slot::src, Slot::src1, Slot::src2};
inline constexpr std::array kAttentionGradients{Slot::diff_src, Slot::diff_src1, Slot::diff_src2};
inline std::byte* part_of(const Attention& spec, const SlotPointers& pointers,
                          const std::array<Slot, 3>& slots, std::size_t which) {
  if (!spec.packed) {
    return static_cast<std::byte*>(pointers[slots.at(which)]);
  }
  return static_cast<std::byte*>(pointers[slots[0]]) +
         static_cast<std::int64_t>(which) * spec.width() * bytes_of(spec.dtype);
}

}  // namespace bench::kernels
