// One operation made ready for one shape on one device, and the registry of its implementations.
//
// An operation's folder holds its description (conv2d/conv2d.h) and one file per implementation
// (conv2d/reference.cpp, conv2d/onednn.cpp, cuda.cu for kernels of our own). `reference` is slow and obvious
// and serves as the oracle.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/device.h"
#include "bench/error.h"
#include "bench/registry.h"
#include "kernels/operations/tensor.h"

namespace bench::kernels {

// The pass of a training step that an operation computes. A description has a member `direction`; operations
// whose gradients depend on the same sums compute all of them in `backward`, the others compute those of
// their data and of their parameters one by one.
enum class Direction { forward, backward_data, backward_weights, backward };

std::string_view name_of(Direction direction);  // "backward-data"

// The meaning of a pointer given to Operation::run.
enum class Slot {
  src,   // input activation
  src1,  // second input: the other summand of add, the right-hand matrix, the residual of a fused conv2d
  src2,  // third and fourth input
  src3,
  weights,   // parameters, in the implementation's packed form
  bias,      // parameters, packed
  scale,     // batch norm's gamma, fp32[c]
  shift,     // batch norm's beta, fp32[c]
  mean,      // fp32[c] of batch norm, fp32[rows] of layer norm
  variance,  // likewise
  dst,       // output activation
  diff_dst,
  diff_src,
  diff_weights,  // packed like weights
  diff_bias,     // packed like bias
  diff_scale,    // fp32[c]
  diff_shift,    // fp32[c]
  saved,         // opaque bytes that a forward pass leaves for its backward pass
  labels,        // int32[rows], the right class of each row
  loss,          // fp32[1]
  master,        // fp32 copy of 16-bit weights
  state1,        // an optimizer's first state, fp32, packed like weights
  state2,        // its second
  steps,         // int64[1]: optimizer steps done
  loss_scale,    // factor of the gradients: kernels/operations/loss_scale/loss_scale.h
  workspace,     // scratch, contents lost between runs
  diff_src1,     // gradients of the second and third input
  diff_src2,
  src4,  // the fifth input and, up to last_source, those after it
  last_source = src4 + 59,
  count_
};

std::string_view name_of(Slot slot);

// The inputs of an operation that takes several of a kind, in order.
inline constexpr auto kSources = [] {
  constexpr std::size_t kNamed = 4;
  constexpr auto kFirstBehind = static_cast<std::size_t>(Slot::src4);
  std::array<Slot, kNamed + static_cast<std::size_t>(Slot::last_source) - kFirstBehind + 1> all{
      Slot::src, Slot::src1, Slot::src2, Slot::src3};
  for (std::size_t i = kNamed; i < all.size(); ++i) {
    all[i] = static_cast<Slot>(kFirstBehind + i - kNamed);
  }
  return all;
}();

// state: read, and written in place.
enum class Role { input, output, parameter, state, scratch };

inline constexpr std::int64_t kSlotAlignment = 64;  // bytes, where a slot asks for no more

struct SlotInfo {
  Slot slot{};
  Role role{};
  std::int64_t bytes = 0;        // as stored, what must be allocated
  TensorDesc tensor{};           // for activations: role input or output, fp32 vectors and `saved` excepted
  std::int64_t plain_count = 0;  // for parameters and their gradients: fp32 values in the plain form
  // For a table of which a run reads only the rows that its samples need: the bytes read for them; else 0.
  std::int64_t looked_up = 0;
  // Bytes that its address must be a multiple of. A device's own allocations fulfil every one.
  std::int64_t alignment = kSlotAlignment;
};

class PlainSlots;  // those of `reference` and of our own kernels:
                   // kernels/backends/reference/reference_operation.h

class SlotPointers {
 public:
  void*& operator[](Slot slot) { return pointers_[static_cast<std::size_t>(slot)]; }
  void* operator[](Slot slot) const { return pointers_[static_cast<std::size_t>(slot)]; }

 private:
  std::array<void*, static_cast<std::size_t>(Slot::count_)> pointers_{};
};

// The bytes that an implementation may spend on a faster algorithm; with none it takes the leanest.
struct ExtraBytes {
  std::int64_t parameters = 0;  // beyond the leanest form's: Winograd keeps its weights transformed
  std::int64_t scratch = 0;     // in all
  auto operator<=>(const ExtraBytes&) const = default;
};

// Making one plans it: slots() is known, nothing is compiled and nothing allocated on the device.
class Operation {
 public:
  virtual ~Operation() = default;

  virtual std::span<const SlotInfo> slots() const = 0;
  const SlotInfo* find(Slot slot) const;  // nullptr where the operation has no such slot

  // Compiles; must come before pack, unpack and run. May be called twice.
  virtual void prepare() = 0;

  // Between the plain form (fp32; conv2d weights [out][in/groups][kh][kw], matrices row-major) and the
  // packed form of a parameter slot. Host memory on both sides.
  virtual void pack(Slot slot, std::span<const float> plain, void* packed) = 0;
  virtual void unpack(Slot slot, const void* packed, std::span<float> plain) = 0;

  // Queues the work. Every slot of slots() must be set, to device memory; dst may equal src1 where
  // in_place_sum() says so.
  virtual void run(const SlotPointers& pointers) = 0;

  virtual bool in_place_sum() const { return false; }
  // Floating-point operations done by the algorithm chosen, padding not counted.
  virtual double flops() const = 0;
  // The library's name of the chosen algorithm.
  virtual std::string algorithm() const = 0;
};

// Spec is the operation's description, e.g. Conv2d.
template <class Spec>
struct Implementation {
  std::string name;         // "onednn"
  std::string device_kind;  // "cpu"
  int preference = 0;       // the highest that supports the spec is chosen; below 0: only by name
  std::function<std::optional<std::string>(const Spec&, const Device&)>
      unsupported;  // the reason, or nullopt
  std::function<std::unique_ptr<Operation>(const Spec&, Device&)> make;
};

// Why a description is wrong, where its type checks that; else nullopt.
template <class Spec>
std::optional<std::string> invalid(const Spec& spec) {
  if constexpr (requires { spec.invalid(); }) {
    return spec.invalid();
  } else {
    return std::nullopt;
  }
}

// An implementation on the CPU whose class `Made` is constructed from the description. `preference` below 0:
// chosen only by name.
template <class Spec, class Made>
Implementation<Spec> cpu_implementation(
    const std::string& name, int preference,
    std::function<std::optional<std::string>(const Spec&, const Device&)> unsupported) {
  return {.name = name,
          .device_kind = "cpu",
          .preference = preference,
          .unsupported =
              [unsupported = std::move(unsupported)](const Spec& spec, const Device& device) {
                const auto wrong = invalid(spec);
                return wrong ? wrong : unsupported(spec, device);
              },
          .make = [](const Spec& spec, Device& /*device*/) { return std::make_unique<Made>(spec); }};
}

// The best implementation on the device, or the one named. Throws Unsupported with the reasons.
template <class Spec>
std::unique_ptr<Operation> make_operation(const Spec& spec, Device& device,
                                          std::string_view implementation = {}) {
  const Implementation<Spec>* best = nullptr;
  std::string reasons;
  for (const auto& candidate : registry<Implementation<Spec>>().entries()) {
    if (candidate->device_kind != device.info().kind ||
        (implementation.empty() ? candidate->preference < 0 : candidate->name != implementation)) {
      continue;
    }
    if (const auto reason = candidate->unsupported(spec, device)) {
      reasons += (reasons.empty() ? "" : "; ") + candidate->name + ": " + *reason;
    } else if (best == nullptr || candidate->preference > best->preference) {
      best = candidate.get();
    }
  }
  if (best == nullptr) {
    throw Unsupported(reasons.empty()
                          ? std::string(Spec::kName) + " has no " +
                                (implementation.empty() ? "" : std::string(implementation) + " ") +
                                "implementation on " + device.info().kind
                          : reasons);
  }
  return best->make(spec, device);
}

}  // namespace bench::kernels
