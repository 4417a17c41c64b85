// An operation that is one oneDNN primitive: slots, packing and running, given its primitive descriptor.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/backends/onednn/onednn.h"
#include "kernels/operations/operation.h"

namespace bench::kernels::onednn {

class PrimitiveOperation : public Operation {
 public:
  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override;
  void pack(Slot slot, std::span<const float> plain, void* packed) override;
  void unpack(Slot slot, const void* packed, std::span<float> plain) override;
  void run(const SlotPointers& pointers) override;
  std::string algorithm() const override { return descriptor_.impl_info_str(); }

  // Planning sets the descriptor and binds the slots. Also binds the scratchpad, where the primitive wants
  // one. With `parts` above 1 the descriptor is that of an equal part of the batch, and a run goes through
  // the parts.
  void plan(const dnnl::primitive_desc& descriptor, std::int64_t parts = 1);
  // `stored` describes one part.
  void bind_activation(Slot slot, Role role, int argument, const TensorDesc& tensor,
                       const dnnl::memory::desc& stored);
  // The same, where the primitive wants or writes it as `wanted`: a run converts it in scratch, an input
  // before the primitive, an output after it.
  void bind_converted_activation(Slot slot, Role role, int argument, const TensorDesc& tensor,
                                 const dnnl::memory::desc& wanted);
  // A parameter, a parameter's gradient or a statistic, stored as `packed`; `plain` describes its fp32 form.
  void bind_parameter(Slot slot, Role role, int argument, const dnnl::memory::desc& packed,
                      const dnnl::memory::desc& plain);
  // Bytes that only oneDNN understands, kept between two primitives: no slot where there are none.
  void bind_opaque(Slot slot, Role role, int argument, const dnnl::memory::desc& stored);
  // Another argument of the primitive, in the memory of a slot that is bound already.
  void bind_also(Slot slot, int argument, const dnnl::memory::desc& stored);
  // The same, where the primitive wants it as `wanted`: a run converts it in scratch, before the primitive
  // for a parameter, after it for a gradient.
  void bind_converted_parameter(Slot slot, Role role, int argument, const dnnl::memory::desc& packed,
                                const dnnl::memory::desc& wanted, const dnnl::memory::desc& plain);
  // A slot that the primitive does not read itself.
  void declare(Slot slot, Role role, const TensorDesc& tensor);
  void bind_scratch(int argument, const dnnl::memory::desc& stored);

 protected:
  // `what` names the operation in errors. A constructor plans.
  explicit PrimitiveOperation(std::string what) : what_(std::move(what)) {}

 private:
  static constexpr int kNotPassed = -1;

  struct Argument {
    Slot slot{};
    int argument = 0;  // of the primitive, or kNotPassed
    dnnl::memory::desc stored;
    std::optional<dnnl::memory::desc> plain{};
    std::int64_t offset = 0;     // into the slot: scratch has several tenants
    std::int64_t part_step = 0;  // bytes from one part of the batch to the next; 0 for what all parts share
    void* bound = nullptr;
  };
  struct Conversion {
    std::size_t from = 0, to = 0;  // indices into arguments_
    bool before = true;            // the primitive
    dnnl::reorder primitive{};
  };

  void convert_last(bool before);
  void convert(bool before);
  const Argument& parameter(Slot slot, std::size_t plain_count) const;

  std::string what_;
  std::vector<SlotInfo> slots_;
  std::vector<Argument> arguments_;
  std::vector<Conversion> conversions_;
  dnnl::primitive_desc descriptor_;
  dnnl::primitive primitive_;
  // Part after part, each with every argument.
  std::int64_t parts_ = 1;
  std::vector<dnnl::memory> memories_;
  std::vector<dnnl_exec_arg_t> prepared_;
};

// An operation that is nothing but one primitive. kDescribed names it in errors, kPlan plans it.
template <class Spec, std::string (*kDescribed)(const Spec&), void (*kPlan)(const Spec&, PrimitiveOperation&)>
class PlannedPrimitive final : public PrimitiveOperation {
 public:
  explicit PlannedPrimitive(const Spec& spec) : PrimitiveOperation(kDescribed(spec)), flops_(spec.flops()) {
    translated(kDescribed(spec), [&] { kPlan(spec, *this); });
  }
  double flops() const override { return flops_; }

 private:
  double flops_;
};

template <class Spec, std::string (*kDescribed)(const Spec&), void (*kPlan)(const Spec&, PrimitiveOperation&)>
Implementation<Spec> primitive_implementation(
    std::function<std::optional<std::string>(const Spec&, const Device&)> unsupported) {
  return cpu_implementation<Spec, PlannedPrimitive<Spec, kDescribed, kPlan>>("onednn", 10,
                                                                             std::move(unsupported));
}

}  // namespace bench::kernels::onednn
