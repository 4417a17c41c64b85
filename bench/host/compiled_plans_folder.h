// Where a device keeps the plans that libraries compiled.
#pragma once

#include <filesystem>

namespace bench {

// Next to its file of autotuned choices.
inline std::filesystem::path compiled_plans_folder(const std::filesystem::path& choices) {
  return choices.parent_path() / "plans";
}

}  // namespace bench
