// The instructions that batch and layer normalisation both record.
#pragma once

#include <utility>

#include "kernels/networks/program/recorder.h"

namespace bench::kernels {

// Mean and variance, fp32[count] each, as a training pass writes them.
inline void save_statistics(Recorder& recorder, Arguments& arguments, std::int64_t count) {
  for (const auto& [slot, what] : {std::pair{Slot::mean, "mean"}, {Slot::variance, "variance"}}) {
    arguments.emplace_back(slot, recorder.save(slot, what, 4 * count, Content::statistic));
  }
}

template <class Spec>
void record_norm_backward(Recorder& recorder, Spec spec) {
  spec.direction = Direction::backward;
  const TensorId diff = recorder.diff();
  const TensorId scale = recorder.parameter_gradient(Slot::scale);
  const TensorId shift = recorder.parameter_gradient(Slot::shift);
  const TensorId made = recorder.input_gradient();
  recorder.record(spec,
                  {{Slot::src, recorder.input()},
                   {Slot::mean, recorder.saved(Slot::mean).value()},
                   {Slot::variance, recorder.saved(Slot::variance).value()},
                   {Slot::diff_dst, diff},
                   {Slot::diff_src, made},
                   {Slot::diff_scale, scale},
                   {Slot::diff_shift, shift}},
                  {made, {diff}});
}

}  // namespace bench::kernels
