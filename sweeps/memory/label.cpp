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
  std::string optimizer;
  std::string training;
  std::string others;
  for (const auto& [name, value] : params.items()) {
    const std::string text = text_of(params, name);
    const bool several = axes.is_object() && axes.contains(name) && axes[name].size() > 1;
    if (name == "batch" || name == "dtype" || name == "mode" || name == "workload") {
      continue;
    }
    if (name == "optimizer") {
      optimizer = fmt::format(" with {}", text);
    } else if (name == "accumulate") {
      training += text == "1" ? "" : fmt::format(", {} micro-batches", text);
    } else if (name == "recompute") {
      training += text == "yes" ? ", recomputing" : "";
    } else if (several) {
      others += fmt::format(", {} {}", name, text);
    }
  }
  return fmt::format("{} {}{}{}{}", text_of(params, "dtype"), verb(text_of(params, "mode")), optimizer,
                     training, others);
}

}  // namespace bench::sweeps
