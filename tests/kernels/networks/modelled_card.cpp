#include "modelled_card.h"

#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "bench/registry.h"
#include "kernels/operations/attention/attention.h"
#include "kernels/operations/batch_norm/batch_norm.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/conv_transpose/conv_transpose.h"
#include "kernels/operations/cross_entropy/cross_entropy.h"
#include "kernels/operations/elementwise/elementwise.h"
#include "kernels/operations/embedding/embedding.h"
#include "kernels/operations/layer_norm/layer_norm.h"
#include "kernels/operations/linear/linear.h"
#include "kernels/operations/loss_scale/loss_scale.h"
#include "kernels/operations/operation.h"
#include "kernels/operations/optimizer/optimizer.h"
#include "kernels/operations/pool/pool.h"
#include "kernels/operations/resize/resize.h"
#include "kernels/operations/softmax/softmax.h"
#include "kernels/operations/strided_copy/strided_copy.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kLibraryAlignment = 256;

// The reference implementation's slots, and scratch.
class ModelledOperation final : public Operation {
 public:
  ModelledOperation(std::unique_ptr<Operation> reference, std::int64_t scratch, bool in_place_sum)
      : reference_(std::move(reference)),
        slots_(reference_->slots().begin(), reference_->slots().end()),
        in_place_sum_(in_place_sum) {
    if (scratch > 0) {
      slots_.push_back({.slot = Slot::workspace,
                        .role = Role::scratch,
                        .bytes = (scratch + kLibraryAlignment - 1) / kLibraryAlignment * kLibraryAlignment,
                        .alignment = kLibraryAlignment});
    }
  }

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override {}
  void pack(Slot, std::span<const float>, void*) override {}
  void unpack(Slot, const void*, std::span<float>) override {}
  void run(const SlotPointers&) override {}
  bool in_place_sum() const override { return in_place_sum_; }
  double flops() const override { return reference_->flops(); }
  std::string algorithm() const override { return "modelled"; }

 private:
  std::unique_ptr<Operation> reference_;
  std::vector<SlotInfo> slots_;
  bool in_place_sum_;
};

Device& host() {
  static const std::unique_ptr<Device> device = registry<DeviceKind>().find("cpu")->open("cpu");
  return *device;
}

// A library splits its work over the multiprocessors.
std::int64_t scratch_of(std::int64_t weights, std::int64_t result, const Device& device) {
  return weights / 2 + result / device.info().compute_units;
}

template <class Spec>
struct Modelled {
  Modelled() {
    registry<Implementation<Spec>>().add(
        {.name = "modelled",
         .device_kind = "cuda",
         .preference = 1,
         .unsupported = [](const Spec& spec, const Device&) -> std::optional<std::string> {
           if constexpr (requires { spec.statistics; }) {  // only some cards have such attention
             return spec.statistics ? std::optional<std::string>("it keeps probabilities") : std::nullopt;
           }
           return std::nullopt;
         },
         .make = [](const Spec& spec, Device& device) -> std::unique_ptr<Operation> {
           std::int64_t scratch = 0;
           bool in_place_sum = false;
           if constexpr (requires {
                           spec.weight_count();
                           spec.dst();
                           spec.direction;
                         }) {
             scratch = scratch_of(spec.weight_count() * 2, spec.dst().bytes(), device);
           }
           if constexpr (requires { spec.packed; }) {  // a product of packed weights needs none
             scratch = spec.packed ? 0 : scratch;
           }
           if constexpr (std::is_same_v<Spec, Embedding>) {  // a kernel of our own
             scratch = spec.kind == Embedding::Kind::positions ? 0 : scratch;
           }
           if constexpr (requires { spec.residual; }) {
             in_place_sum = spec.residual;
           }
           return std::make_unique<ModelledOperation>(make_operation(spec, host(), "reference"), scratch,
                                                      in_place_sum);
         }});
  }
};

template <class... Specs>
struct AllModelled {
  std::tuple<Modelled<Specs>...> each;
};

const AllModelled<Conv2d, Pool, BatchNorm, Elementwise, Softmax, Linear, CrossEntropy, Optimizer, StridedCopy,
                  Resize, ConvTranspose, Embedding, LayerNorm, Attention, FindOverflow, UpdateLossScale>
    modelled{};

}  // namespace
}  // namespace bench::kernels
