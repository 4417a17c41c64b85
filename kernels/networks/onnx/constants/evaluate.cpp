#include "kernels/networks/onnx/constants/evaluate.h"

#include <fmt/format.h>

#include "kernels/networks/onnx/constants/attributes.h"
#include "kernels/networks/onnx/constants/refused.h"

namespace bench::kernels::onnx {

const Constant& Evaluation::in(std::size_t index) const {
  if (!has(index)) {
    throw Refused(fmt::format("its input {} is not given", index));
  }
  return *inputs[index];
}

std::optional<std::vector<std::int64_t>> Evaluation::list(const std::string& attribute,
                                                          std::size_t index) const {
  return has(index) ? std::optional(in(index).wholes()) : integers_of(node, attribute);
}

}  // namespace bench::kernels::onnx
