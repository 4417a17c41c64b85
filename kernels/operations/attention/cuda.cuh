// Attention and its gradient on a CUDA device: batched products by a library (products.h), the softmax
// between them and its gradient by our own kernels (causal_softmax.cuh).
//
// Multiplier does the products: constructed from (Product, Device), it has workspace() in bytes, algorithm(),
// and run(Arguments), which queues one. The tests bring one that runs on the host.
//
// Scratch holds the squares of one round (AttentionProducts): fp32 scores or dP, and where the dtype is
// narrower also P or dS. So it grows with the larger of batch and heads, not with both.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/backends/cublaslt/tuned.h"
#include "kernels/backends/cuda/kernel_operation.h"
#include "kernels/backends/cuda/library_scratch.h"
#include "kernels/operations/attention/attention.h"
#include "kernels/operations/attention/causal_softmax.cuh"
#include "kernels/operations/attention/products.h"

namespace bench::kernels::cuda {

// Shared by both passes: where their squares lie in the scratch.
template <class Machine, class Multiplier>
class AttentionBase : public KernelOperation<Machine> {
 public:
  double flops() const override { return spec_.flops(); }

 protected:
  AttentionBase(const Attention& spec, Device& device)
      : KernelOperation<Machine>(device), spec_(spec), products_(spec) {}

  // After the other slots. `wide`: bytes of the fp32 squares, `narrow`: of those in the dtype.
  void add_scratch(bool wide, bool narrow, std::int64_t multipliers) {
    const std::int64_t elements = products_.matrices * spec_.sequence * spec_.sequence;
    narrow_at_ = wide ? before_library_scratch(elements * bytes_of(Dtype::fp32)) : 0;
    rest_at_ = narrow_at_ + (narrow ? before_library_scratch(elements * bytes_of(spec_.dtype)) : 0);
    if (rest_at_ + multipliers > 0) {
      this->add_opaque(Slot::workspace, Role::scratch, rest_at_ + multipliers, kLibraryScratchAlignment);
    }
  }

  bool is_narrow() const { return bytes_of(spec_.dtype) < bytes_of(Dtype::fp32); }
  SquareRows rows() const { return {products_.matrices, spec_.sequence}; }

  // Element `at` of a slot that holds the dtype.
  std::byte* element(const SlotPointers& pointers, Slot slot, std::int64_t at) const {
    return static_cast<std::byte*>(pointers[slot]) + at * bytes_of(spec_.dtype);
  }
  // Query, key or value (0, 1, 2) of a round's first head, in src or diff_src.
  std::byte* part(const SlotPointers& pointers, Slot slot, std::int64_t round, int which) const {
    return element(pointers, slot, round * products_.qkv.round + which * spec_.width());
  }
  std::byte* wide_scratch(const SlotPointers& pointers) const { return at_scratch(pointers, 0); }
  std::byte* narrow_scratch(const SlotPointers& pointers) const { return at_scratch(pointers, narrow_at_); }

  void multiply(Multiplier& multiplier, const SlotPointers& pointers, const void* a, const void* b,
                void* d) const {
    multiplier.run({.a = a, .b = b, .d = d, .bias = nullptr, .workspace = at_scratch(pointers, rest_at_)});
  }

  Attention spec_;
  AttentionProducts products_;

 private:
  static std::byte* at_scratch(const SlotPointers& pointers, std::int64_t offset) {
    auto* const workspace = static_cast<std::byte*>(pointers[Slot::workspace]);
    return workspace == nullptr ? nullptr : workspace + offset;
  }

  std::int64_t narrow_at_ = 0;
  std::int64_t rest_at_ = 0;
};

template <class Machine, class Multiplier>
class AttentionForward final : public AttentionBase<Machine, Multiplier> {
 public:
  AttentionForward(const Attention& spec, Device& device)
      : AttentionBase<Machine, Multiplier>(spec, device),
        query_key_(this->products_.query_key, device),
        probabilities_value_(this->products_.probabilities_value, device) {
    const bool saves = spec.saves();
    this->add_activation(Slot::src, Role::input, spec.src());
    if (saves) {
      this->add_opaque(Slot::saved, Role::output, spec.probabilities().bytes());
    }
    this->add_activation(Slot::dst, Role::output, spec.dst());
    // fp32 scores become P where they are.
    this->add_scratch(this->is_narrow() || !saves, this->is_narrow() && !saves,
                      std::max(query_key_.workspace(), probabilities_value_.workspace()));
  }

  std::string algorithm() const override {
    return query_key_.algorithm() + "; " + probabilities_value_.algorithm();
  }

  void run(const SlotPointers& pointers) override {
    for (std::int64_t round = 0; round < this->products_.rounds; ++round) {
      std::byte* const squares = probabilities(pointers, round);
      std::byte* const scores = this->is_narrow() ? this->wide_scratch(pointers) : squares;
      this->multiply(query_key_, pointers, this->part(pointers, Slot::src, round, 0),
                     this->part(pointers, Slot::src, round, 1), scores);
      soften(scores, squares);
      this->multiply(probabilities_value_, pointers, squares, this->part(pointers, Slot::src, round, 2),
                     this->element(pointers, Slot::dst, round * this->products_.out.round));
    }
  }

 private:
  std::byte* probabilities(const SlotPointers& pointers, std::int64_t round) const {
    if (this->spec_.saves()) {
      return this->element(pointers, Slot::saved, round * this->products_.saved.round);
    }
    return this->is_narrow() ? this->narrow_scratch(pointers) : this->wide_scratch(pointers);
  }

  void soften(std::byte* scores, std::byte* squares) const {
    this->with_element(this->spec_.dtype, [&]<class Element>() {
      const auto* const from = reinterpret_cast<const float*>(scores);
      auto* const to = reinterpret_cast<typename Element::Stored*>(squares);
      const SquareRows rows = this->rows();
      with_row_access<Element>(
          rows.length,
          [&]<int kCount, int kGroup>() {
            this->queue().launch(
                CausalSoftmax<Element, kCount, kGroup>{rows, from, this->products_.scores.matrix, to,
                                                       this->products_.probabilities.matrix},
                RowGroup<kGroup>::blocks(rows.count()));
          },
          from, to);
    });
  }

  Multiplier query_key_;
  Multiplier probabilities_value_;
};

template <class Machine, class Multiplier>
class AttentionBackward final : public AttentionBase<Machine, Multiplier> {
 public:
  AttentionBackward(const Attention& spec, Device& device)
      : AttentionBase<Machine, Multiplier>(spec, device),
        diff_value_(this->products_.diff_value, device),
        diff_probabilities_(this->products_.diff_probabilities, device),
        diff_query_(this->products_.diff_query, device),
        diff_key_(this->products_.diff_key, device) {
    this->add_activation(Slot::src, Role::input, spec.src());
    this->add_opaque(Slot::saved, Role::input, spec.probabilities().bytes());
    this->add_activation(Slot::diff_dst, Role::input, spec.dst());
    this->add_activation(Slot::diff_src, Role::output, spec.src());
    this->add_scratch(true, this->is_narrow(),
                      std::max({diff_value_.workspace(), diff_probabilities_.workspace(),
                                diff_query_.workspace(), diff_key_.workspace()}));
  }

  std::string algorithm() const override {
    return diff_value_.algorithm() + "; " + diff_probabilities_.algorithm() + "; " + diff_query_.algorithm() +
           "; " + diff_key_.algorithm();
  }

  void run(const SlotPointers& pointers) override {
    for (std::int64_t round = 0; round < this->products_.rounds; ++round) {
      std::byte* const p = this->element(pointers, Slot::saved, round * this->products_.saved.round);
      std::byte* const diff_out = this->element(pointers, Slot::diff_dst, round * this->products_.out.round);
      std::byte* const dp = this->wide_scratch(pointers);
      std::byte* const ds = this->is_narrow() ? this->narrow_scratch(pointers) : dp;
      const auto src = [&](int which) { return this->part(pointers, Slot::src, round, which); };
      const auto diff_src = [&](int which) { return this->part(pointers, Slot::diff_src, round, which); };
      this->multiply(diff_value_, pointers, p, diff_out, diff_src(2));
      this->multiply(diff_probabilities_, pointers, diff_out, src(2), dp);
      through_softmax(p, dp, ds);
      this->multiply(diff_query_, pointers, ds, src(1), diff_src(0));
      this->multiply(diff_key_, pointers, ds, src(0), diff_src(1));
    }
  }

 private:
  void through_softmax(std::byte* p, std::byte* dp, std::byte* ds) const {
    this->with_element(this->spec_.dtype, [&]<class Element>() {
      using Stored = typename Element::Stored;
      const auto* const probabilities = reinterpret_cast<const Stored*>(p);
      const auto* const gradient = reinterpret_cast<const float*>(dp);
      auto* const dst = reinterpret_cast<Stored*>(ds);
      const SquareRows rows = this->rows();
      const float scale = this->products_.query_key.scale;
      with_row_access<Element>(
          rows.length,
          [&]<int kCount, int kGroup>() {
            this->queue().launch(
                CausalSoftmaxGradient<Element, kCount, kGroup>{
                    rows, probabilities, this->products_.saved.matrix, gradient, dst, scale},
                RowGroup<kGroup>::blocks(rows.count()));
          },
          probabilities, gradient, dst);
    });
  }

  Multiplier diff_value_;
  Multiplier diff_probabilities_;
  Multiplier diff_query_;
  Multiplier diff_key_;
};

template <class Machine, class Multiplier>
std::unique_ptr<Operation> make_attention(const Attention& spec, Device& device) {
  if (!spec.forward()) {
    return std::make_unique<AttentionBackward<Machine, Multiplier>>(spec, device);
  }
  return std::make_unique<AttentionForward<Machine, Multiplier>>(spec, device);
}

}  // namespace bench::kernels::cuda
