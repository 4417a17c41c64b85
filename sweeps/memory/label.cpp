#include "sweeps/memory/label.h"

#include <fmt/format.h>

namespace bench::sweeps {

std::string memory_label(const BatchParams& params, const Json& axes) {
  std::string optimizer;
  std::string training;
  std::string others;
  for (const auto& [name, value] : params.options) {
    if (name == "optimizer") {
      optimizer = fmt::format(" with {}", value);
    } else if (name == "accumulate") {
      training += value == "1" ? "" : fmt::format(", {} micro-batches", value);
    } else if (name == "recompute") {
      training += value == "yes" ? ", recomputing" : "";
    } else if (axes.is_object() && axes.contains(name) && axes[name].size() > 1) {
      others += fmt::format(", {} {}", name, value);
    }
  }
  const std::string_view mode = params.mode == "infer"   ? "inference"
                                : params.mode == "train" ? "training"
                                                         : std::string_view(params.mode);
  return fmt::format("{} {}{}{}{}", name_of(params.dtype), mode, optimizer, training, others);
}

}  // namespace bench::sweeps
