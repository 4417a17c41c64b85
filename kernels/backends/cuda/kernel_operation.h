// The base of the operations made of our own kernels. Machine is Gpu, or the host machine of the tests:
// slots, launches and bodies are the same for both. nvcc 13 reads this header, and rejects {fmt}'s consteval:
// messages are put together by hand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "bench/device.h"
#include "kernels/backends/cuda/parted_operation.h"
#include "kernels/backends/cuda/units.cuh"
#include "kernels/backends/cuda/vector_access.cuh"
#include "kernels/backends/reference/reference_operation.h"
#include "kernels/operations/operation.h"

namespace bench::kernels::cuda {

// A grid's first extent. Throws std::length_error naming the kernel where there are too many blocks.
inline unsigned grid_of(std::int64_t blocks, const char* kernel) {
  if (blocks < 1 || blocks > std::numeric_limits<std::int32_t>::max()) {
    throw std::length_error(std::string(kernel) + ": " + std::to_string(blocks) +
                            " blocks do not fit a grid");
  }
  return static_cast<unsigned>(blocks);
}

inline std::int64_t blocks_for(std::int64_t threads, int each) {
  return (threads + each - 1) / each;
}

// Whether `bytes` and all the addresses allow accesses of `width` bytes.
template <class... Pointers>
bool aligned(int width, std::int64_t bytes, const Pointers*... pointers) {
  return bytes % width == 0 && ((reinterpret_cast<std::uintptr_t>(pointers) % width == 0) && ...);
}

// Whole accesses of 16 bytes to `count` elements; none where an address does not allow them.
template <class Element, class... Pointers>
std::int64_t whole_accesses(std::int64_t count, const Pointers*... pointers) {
  return aligned(kAccess, 0, pointers...) ? count / kLanes<Element> : 0;
}

// Calls visit with the elements of one access: 16 bytes of them, or one.
template <class Element, class Visit, class... Pointers>
void with_access(std::int64_t channels, Visit visit, const Pointers*... pointers) {
  if (channels % kLanes<Element> == 0 && aligned(kAccess, 0, pointers...)) {
    visit.template operator()<kLanes<Element>>();
  } else {
    visit.template operator()<1>();
  }
}

// Calls visit with the machine's element that `dtype` is stored as.
template <class Machine, class Visit>
void with_element(Dtype dtype, Visit visit) {
  switch (dtype) {
    case Dtype::fp32:
    case Dtype::tf32:  // stored alike; only products of matrices differ
      return visit.template operator()<typename Machine::Fp32>();
    case Dtype::fp16:
      return visit.template operator()<typename Machine::Fp16>();
    case Dtype::bf16:
      return visit.template operator()<typename Machine::Bf16>();
  }
}

// Elements in memory, channel padding among them.
inline std::int64_t stored_elements(const TensorDesc& tensor) {
  return tensor.bytes() / bytes_of(tensor.dtype);
}

template <class Element>
auto* stored(const SlotPointers& pointers, Slot slot) {
  return static_cast<typename Element::Stored*>(pointers[slot]);
}
inline float* floats(const SlotPointers& pointers, Slot slot) {
  return static_cast<float*>(pointers[slot]);
}

template <class Machine, class Described>
class KernelOperation : public ReferenceOperation {
 public:
  using Spec = Described;
  KernelOperation(const Spec& spec, Device& device) : KernelOperation(spec, device, plain_slots(spec)) {}
  KernelOperation(const Spec& spec, Device& device, PlainSlots slots)
      : ReferenceOperation(std::move(slots)), spec_(spec), queue_(device) {}
  static Dtype dtype_of(const Spec& spec) { return spec.dtype; }
  double flops() const override { return spec_.flops(); }
  std::string algorithm() const override { return Machine::kImplementation; }

 protected:
  template <class Kernel>
  void launch(const Kernel& kernel, std::int64_t blocks) const {
    queue_.launch(kernel, blocks);
  }
  const typename Machine::Queue& queue() const { return queue_; }

  Spec spec_;  // NOLINT: of the classes that are this one with kernels

 private:
  typename Machine::Queue queue_;
};

// Why a kernel that takes pixels and channels apart cannot have a tensor; nullopt where it can.
inline std::optional<std::string> not_nhwc(const TensorDesc& tensor) {
  if (tensor.layout != Layout::nhwc) {
    return "the CUDA kernels read nhwc, not " + std::string(name_of(tensor.layout));
  }
  return std::nullopt;
}

inline std::int64_t elements_of_sample(const TensorDesc& tensor) {
  return tensor.c * tensor.h * tensor.w;
}

// A description's batch, for operations whose kernels take an index apart.
struct Batch {
  std::int64_t samples = 1;
  std::int64_t counted = 0;  // elements of a sample, of the largest tensor that is counted
};

// Why a part of the batch has more elements than a kernel counts; nullopt where it has not.
inline std::optional<std::string> too_large(const Batch& batch, std::int64_t most) {
  if (batch.counted <= most) {
    return std::nullopt;
  }
  return "the CUDA kernels count to " + std::to_string(most) + ", a sample has " +
         std::to_string(batch.counted) + " elements";
}

// An operation is a template over the machine that names its Spec, and says dtype_of one, and unsupported if
// it cannot do every valid one. If it also says batch_of, and of_samples, the description of fewer samples, a
// large batch is done in parts.
template <class Machine, template <class> class MadeOf>
Implementation<typename MadeOf<Machine>::Spec> implementation() {
  using Made = MadeOf<Machine>;
  using Spec = typename Made::Spec;
  return {.name = Machine::kImplementation,
          .device_kind = Machine::kDeviceKind,
          .preference = Machine::kPreference,
          .unsupported = [](const Spec& spec, const Device& device) -> std::optional<std::string> {
            auto reason = Machine::unsupported(device, Made::dtype_of(spec));
            reason = reason ? reason : invalid(spec);
            if constexpr (requires { Made::unsupported(spec); }) {
              reason = reason ? reason : Made::unsupported(spec);
            }
            if constexpr (requires { Made::batch_of(spec); }) {
              reason = reason ? reason : too_large(Made::batch_of(spec), Machine::kMostCounted);
            }
            return reason;
          },
          .make = [](const Spec& spec, Device& device) -> std::unique_ptr<Operation> {
            if constexpr (requires { Made::batch_of(spec); }) {
              const Batch batch = Made::batch_of(spec);
              const Parts parts = parts_of(batch.samples, batch.counted, Machine::kMostCounted);
              if (!parts.is_whole()) {
                return std::make_unique<PartedOperation>(parts, [&](std::int64_t samples) {
                  return std::make_unique<Made>(Made::of_samples(spec, samples), device);
                });
              }
            }
            return std::make_unique<Made>(spec, device);
          }};
}

// The registration for a machine: Made<Machine>::entry() where there is one, else the operation's
// implementation.
template <class Machine, template <class> class MadeOf>
auto entry() {
  if constexpr (requires { MadeOf<Machine>::entry(); }) {
    return MadeOf<Machine>::entry();
  } else {
    return implementation<Machine, MadeOf>();
  }
}

}  // namespace bench::kernels::cuda
