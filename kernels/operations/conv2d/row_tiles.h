// Convolutions, each the input of the next, as one operation on the CPU: computed a few rows at a time, so
// that the maps between them stay in a core's second cache and take no memory of their own.
//
// Slots: src, src1 (where the last one has a residual), parameters → dst. Convolution i has its parameters in
// slot_of(i, Slot::weights) and slot_of(i, Slot::bias), as packer(i) packs them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/device.h"
#include "kernels/operations/conv2d/conv2d.h"
#include "kernels/operations/conv2d/row_tile_steps.h"
#include "kernels/operations/operation.h"

namespace bench::kernels {

class ConvRowTiles final : public Operation {
 public:
  // Why they cannot be one operation, or gain nothing by it; nullopt otherwise. Maps are in fp32 and nhwc,
  // only the last one has a residual, and of two neighbours one is depthwise: the others have so much work
  // for each byte that it hides the memory (ResNet-50's bottlenecks: 0.99 times as fast).
  static std::optional<std::string> unsupported(std::span<const Conv2d> convolutions);
  static Slot slot_of(std::size_t convolution, Slot parameter) {
    return kSources.at(2 + 2 * convolution + (parameter == Slot::bias ? 1 : 0));
  }

  // In `parts`, one for each thread. Throws Unsupported.
  ConvRowTiles(std::vector<Conv2d> convolutions, std::int64_t parts, Device& device);

  // One of the operations on some rows of a convolution; all of them pack alike.
  const std::shared_ptr<Operation>& packer(std::size_t convolution) const { return packers_[convolution]; }
  std::size_t operations_of_part() const { return operations_.front().size(); }

  std::span<const SlotInfo> slots() const override { return slots_; }
  void prepare() override;
  void pack(Slot slot, std::span<const float> plain, void* packed) override;
  void unpack(Slot slot, const void* packed, std::span<float> plain) override;
  void run(const SlotPointers& pointers) override;
  bool in_place_sum() const override;
  double flops() const override;
  std::string algorithm() const override;

 private:
  // Its number, rows of its input, of padding above them and of its result.
  using Key = std::array<std::int64_t, 4>;
  // Each part has its own: an operation runs in one thread at a time.
  using Operations = std::map<Key, std::shared_ptr<Operation>>;

  static Key key_of(const RowTileStep& step) {
    return {static_cast<std::int64_t>(step.convolution), step.in.count(), step.padding, step.out.count()};
  }
  std::shared_ptr<Operation> make(const RowTileStep& step, Device& device) const;
  void list_slots();
  std::pair<std::size_t, Slot> parameter_of(Slot slot) const;
  void run(const RowTileStep& step, Operations& operations, float* scratch,
           const SlotPointers& pointers) const;

  std::vector<Conv2d> convolutions_;
  RowTileSteps steps_;
  std::vector<Operations> operations_;  // by part
  std::vector<std::shared_ptr<Operation>> packers_;
  std::int64_t scratch_floats_ = 0;  // of a part: its buffers, and the scratch of the operation that runs
  std::vector<SlotInfo> slots_;
};

}  // namespace bench::kernels
