// The stream kernels by kernels of our own: four of them element by element, `read` as sums in two steps.
#pragma once

#include "kernels/cuda/flat_launch.h"
#include "kernels/stream/stream.cuh"
#include "kernels/stream/stream.h"

namespace bench::kernels::cuda {

template <class Machine>
class StreamOperation final : public KernelOperation<Machine> {
 public:
  using Spec = Stream;
  using Kind = Stream::Kind;
  static Dtype dtype_of(const Stream& spec) { return spec.dtype; }
  static std::optional<std::string> unsupported(const Stream& /*spec*/) { return std::nullopt; }

  StreamOperation(const Stream& spec, Device& device) : KernelOperation<Machine>(device), spec_(spec) {
    this->add_activation(Slot::src, Role::input, spec.src());
    if (spec.has_src1()) {
      this->add_activation(Slot::src1, Role::input, spec.src());
    }
    this->add_activation(Slot::dst, Role::output, spec.dst());
    if (spec.kind == Kind::read) {
      this->add_opaque(Slot::workspace, Role::scratch,
                       spec.rows * parts() * static_cast<std::int64_t>(sizeof(float)));
    }
  }

  void run(const SlotPointers& pointers) override {
    this->with_element(spec_.dtype, [&]<class Element>() {
      switch (spec_.kind) {
        case Kind::copy:
          return this->template each<Element>(pointers, CopyFunction{});
        case Kind::scale:
          return this->template each<Element>(pointers, ScaleFunction{});
        case Kind::add:
          return this->template each_pair<Element>(pointers, SumFunction{});
        case Kind::triad:
          return this->template each_pair<Element>(pointers, TriadFunction{});
        case Kind::read:
          return this->template read<Element>(pointers);
      }
    });
  }

  double flops() const override { return spec_.flops(); }

 private:
  // Blocks that fill every multiprocessor with 2048 threads, as many as it can hold, shared among the rows;
  // none with less than one round of all its threads. The same for every access, for it sizes the workspace.
  std::int64_t parts() const {
    constexpr std::int64_t kResident = 2048 / 256;
    constexpr std::int64_t kLeast = std::int64_t{256} * 4 * 4;  // elements: a round in fp32
    const std::int64_t wanted = this->queue().multiprocessors() * kResident / spec_.rows;
    return std::clamp<std::int64_t>((spec_.count + kLeast - 1) / kLeast, 1,
                                    std::max<std::int64_t>(1, wanted));
  }

  template <class Element, class Function>
  void each(const SlotPointers& pointers, const Function& function) const {
    launch_flat<Element>(this->queue(), {this->template stored<Element>(pointers, Slot::src)},
                         this->template stored<Element>(pointers, Slot::dst), stored_elements(spec_.src()),
                         function);
  }

  template <class Element, class Function>
  void each_pair(const SlotPointers& pointers, const Function& function) const {
    launch_flat<Element>(this->queue(),
                         {this->template stored<Element>(pointers, Slot::src),
                          this->template stored<Element>(pointers, Slot::src1)},
                         this->template stored<Element>(pointers, Slot::dst), stored_elements(spec_.src()),
                         function);
  }

  template <class Element>
  void read(const SlotPointers& pointers) const {
    const auto* const src = this->template stored<Element>(pointers, Slot::src);
    float* const partial = this->floats(pointers, Slot::workspace);
    const auto parts = static_cast<std::int32_t>(this->parts());
    const auto sum = [&]<int kCount>() {
      const std::int64_t accesses = spec_.count / kCount;
      this->queue().launch(SquareSums<Element, kCount>{.src = src,
                                                       .partial = partial,
                                                       .count = spec_.count,
                                                       .each = blocks_for(accesses, parts),
                                                       .parts = parts,
                                                       .accesses = accesses},
                           spec_.rows * parts);
    };
    // A single row may end within an access; of several each must begin at one.
    with_access<Element>(spec_.rows == 1 ? 0 : spec_.count, sum, src);
    this->queue().launch(
        FinishSquareSums<typename Element::Memory>{partial, this->floats(pointers, Slot::dst), spec_.rows,
                                                   parts},
        RowGroup<kWarp>::blocks(spec_.rows));
  }

  Stream spec_;
};

}  // namespace bench::kernels::cuda
