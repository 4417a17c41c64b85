#include "kernels/networks/eager/widths.h"

#include <algorithm>

namespace bench::kernels {

EagerWidths eager_widths(const EagerTrace& trace, Dtype dtype, bool cast_whole) {
  const bool is_narrow = dtype == Dtype::fp16 || dtype == Dtype::bf16;
  EagerWidths widths{.autocast = is_narrow && !cast_whole, .narrow = is_narrow ? 2.0 : 4.0, .tensors = {}};
  // The network's input and its parameters; results are below.
  widths.tensors.assign(trace.tensors.size(), widths.autocast ? 4 : widths.narrow);
  if (!widths.autocast) {
    return widths;
  }
  for (const EagerStep& step : trace.steps) {
    double width = widths.narrow;
    if (step.operation.autocast == AutocastDtype::wide) {
      width = 4;
    } else if (step.operation.autocast == AutocastDtype::as_read) {
      for (const EagerStep::Read& read : step.reads) {
        width = trace.tensors[read.tensor].is_number ? width : std::max(width, widths.tensors[read.tensor]);
      }
    }
    widths.tensors[step.result] = width;
  }
  return widths;
}

}  // namespace bench::kernels
