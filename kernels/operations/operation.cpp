#include "kernels/operations/operation.h"

#include <algorithm>

namespace bench::kernels {

std::string_view name_of(Slot slot) {
  switch (slot) {
    case Slot::src:
      return "src";
    case Slot::src1:
      return "src1";
    case Slot::src2:
      return "src2";
    case Slot::src3:
      return "src3";
    case Slot::weights:
      return "weights";
    case Slot::bias:
      return "bias";
    case Slot::scale:
      return "scale";
    case Slot::shift:
      return "shift";
    case Slot::mean:
      return "mean";
    case Slot::variance:
      return "variance";
    case Slot::dst:
      return "dst";
    case Slot::diff_dst:
      return "diff_dst";
    case Slot::diff_src:
      return "diff_src";
    case Slot::diff_weights:
      return "diff_weights";
    case Slot::diff_bias:
      return "diff_bias";
    case Slot::diff_scale:
      return "diff_scale";
    case Slot::diff_shift:
      return "diff_shift";
    case Slot::saved:
      return "saved";
    case Slot::labels:
      return "labels";
    case Slot::loss:
      return "loss";
    case Slot::master:
      return "master";
    case Slot::state1:
      return "state1";
    case Slot::state2:
      return "state2";
    case Slot::steps:
      return "steps";
    case Slot::loss_scale:
      return "loss_scale";
    case Slot::workspace:
      return "workspace";
    case Slot::count_:
      break;
  }
  return "?";
}

const SlotInfo* Operation::find(Slot slot) const {
  const auto all = slots();
  const auto at = std::ranges::find(all, slot, &SlotInfo::slot);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace bench::kernels
