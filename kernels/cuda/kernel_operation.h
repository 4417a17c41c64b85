// What operations made of kernels of our own share. Machine is Gpu, or the host machine of the tests: slots,
// launches and bodies are the same for both.
//
// nvcc reads this header: what needs {fmt} stands in kernel_operation.cpp, for nvcc 13 rejects its consteval.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "bench/device.h"
#include "kernels/cuda/words.cuh"
#include "kernels/operation.h"
#include "kernels/reference/reference_operation.h"

namespace bench::kernels::cuda {

// A grid's first extent. Throws std::length_error naming the kernel where there are too many blocks.
unsigned grid_of(std::int64_t blocks, const char* kernel);

inline int multiprocessors_of(const Device& device) {
  return std::max(1, device.info().compute_units);
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
void with_element_of(Dtype dtype, Visit visit) {
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

template <class Machine>
class KernelOperation : public ReferenceOperation {
 public:
  explicit KernelOperation(Device& device) : queue_(device) {}
  std::string algorithm() const override { return Machine::kImplementation; }

 protected:
  const typename Machine::Queue& queue() const { return queue_; }

  template <class Visit>
  static void with_element(Dtype dtype, Visit visit) {
    with_element_of<Machine>(dtype, visit);
  }

  template <class Element>
  static auto* stored(const SlotPointers& pointers, Slot slot) {
    return static_cast<typename Element::Stored*>(pointers[slot]);
  }
  static float* floats(const SlotPointers& pointers, Slot slot) {
    return static_cast<float*>(pointers[slot]);
  }

 private:
  typename Machine::Queue queue_;
};

// Why a kernel that takes pixels and channels apart cannot have a tensor; nullopt where it can.
std::optional<std::string> not_nhwc(const TensorDesc& tensor);

// An operation is a template over the machine that names its Spec, and says dtype_of and unsupported of one.
template <class Machine, template <class> class MadeOf>
Implementation<typename MadeOf<Machine>::Spec> implementation() {
  using Made = MadeOf<Machine>;
  using Spec = typename Made::Spec;
  return {.name = Machine::kImplementation,
          .device_kind = Machine::kDeviceKind,
          .preference = Machine::kPreference,
          .unsupported = [](const Spec& spec, const Device& device) -> std::optional<std::string> {
            const auto reason = Machine::unsupported(device, Made::dtype_of(spec));
            return reason ? reason : Made::unsupported(spec);
          },
          .make = [](const Spec& spec, Device& device) -> std::unique_ptr<Operation> {
            return std::make_unique<Made>(spec, device);
          }};
}

}  // namespace bench::kernels::cuda
