#include "kernels/operations/operation.h"

#include <algorithm>

namespace bench::kernels {

std::string_view name_of(Direction direction) {
  constexpr std::array kNames{"forward", "backward-data", "backward-weights", "backward"};
  return kNames.at(static_cast<std::size_t>(direction));
}

std::string_view name_of(Slot slot) {
  // In the order of the enumeration.
  constexpr std::array kNames{
      "src",       "src1",       "src2",       "src3",       "weights",   "bias",      "scale",
      "shift",     "mean",       "variance",   "dst",        "diff_dst",  "diff_src",  "diff_weights",
      "diff_bias", "diff_scale", "diff_shift", "saved",      "labels",    "loss",      "master",
      "state1",    "state2",     "steps",      "loss_scale", "workspace", "diff_src1", "diff_src2"};
  static_assert(kNames.size() == static_cast<std::size_t>(Slot::src4));
  return slot < Slot::src4 ? kNames.at(static_cast<std::size_t>(slot)) : "another source";
}

const SlotInfo* Operation::find(Slot slot) const {
  const auto all = slots();
  const auto at = std::ranges::find(all, slot, &SlotInfo::slot);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace bench::kernels
