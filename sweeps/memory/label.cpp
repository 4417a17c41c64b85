#include "sweeps/memory/label.h"

#include <fmt/format.h>

namespace bench::sweeps {
namespace {

std::string text_of(const Json& params, const std::string& name) {
  const auto at = params.find(name);
  return at == params.end() ? "" : at->is_string() ? at->get<std::string>() : at->dump();
}

std::string verb(const std::string& mode) {
  return mode == "infer" ? "inference" : mode == "train" ? "training" : mode;
}

}  // namespace

std::string memory_label(const Json& params, const Json& axes) {
  std::string label = fmt::format("{} {}", text_of(params, "dtype"), verb(text_of(params, "mode")));
  for (const auto& [name, value] : params.items()) {
    const std::string text = text_of(params, name);
    const bool several = axes.is_object() && axes.contains(name) && axes[name].size() > 1;
    if (name == "batch" || name == "dtype" || name == "mode" || name == "workload") {
      continue;
    }
    if (name == "optimizer") {
      label += fmt::format(" with {}", text);
    } else if (name == "accumulate") {
      label += text == "1" ? "" : fmt::format(", {} micro-batches", text);
    } else if (name == "recompute") {
      label += text == "yes" ? ", recomputing" : "";
    } else if (several) {
      label += fmt::format(", {} {}", name, text);
    }
  }
  return label;
}

}  // namespace bench::sweeps
