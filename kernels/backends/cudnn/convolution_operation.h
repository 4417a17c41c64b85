// An operation that is one convolution of cuDNN's: slots, packing and running. Weights are stored as
// [out][kernel_h][kernel_w][in / groups] in the dtype, alike in every pass.
#pragma once

#include <string>
#include <vector>

#include "kernels/backends/cudnn/tuned.h"
#include "kernels/operations/operation.h"

namespace bench::kernels::cudnn {

// The operation's slots of a convolution's three tensors. A transposed convolution swaps the passes: it
// writes x from y.
struct TensorSlots {
  Slot x{}, w{}, y{};
  bool transposed = false;  // its bias belongs to the channels of x
};

class ConvolutionOperation final : public Operation {
 public:
  // Throws Unsupported. `bias`: the bias or its gradient has a slot. `wide_bias`: it is stored in fp32.
  ConvolutionOperation(const Conv2d& spec, const TensorSlots& names, bool bias, bool wide_bias,
                       Device& device);

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override { tuned_.prepare(); }
  void pack(Slot slot, std::span<const float> plain, void* packed) override;
  void unpack(Slot slot, const void* packed, std::span<float> plain) override;
  void run(const SlotPointers& pointers) override;
  bool in_place_sum() const override { return tuned_.in_place_sum(); }
  double flops() const override { return 2.0 * static_cast<double>(spec_.macs()); }
  std::string algorithm() const override { return tuned_.algorithm(); }

 private:
  void add_activation(Slot slot, Role role, const TensorDesc& tensor);
  void add_parameter(Slot slot, Role role);
  // A parameter's stored form, whose elements in NCHW order are the plain ones.
  TensorDesc stored(Slot slot, std::size_t plain_count) const;
  TensorDesc biased() const { return names_.transposed ? spec_.src() : spec_.dst(); }

  Conv2d spec_;
  TensorSlots names_;
  bool bias_;
  bool wide_bias_;
  Device& device_;
  TunedConvolution tuned_;
  std::vector<SlotInfo> slots_;
};

// The operation for the whole batch, in the parts that parts_of() says. Throws Unsupported.
std::unique_ptr<Operation> make_convolution(const Conv2d& spec, const TensorSlots& names, bool bias,
                                            bool wide_bias, Device& device);

}  // namespace bench::kernels::cudnn
