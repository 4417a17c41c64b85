// The header of a GGUF file: a model's sizes, and the bits of each tensor. No weight is read.
#pragma once

#include <filesystem>
#include <string_view>

#include "bench/generate/model_file.h"

namespace bench {

// By its first bytes.
bool is_gguf(const std::filesystem::path& path);

// Versions 2 and 3. Throws UsageError as read_model_file() does.
ModelFile read_gguf(std::string_view option, const std::filesystem::path& path);

}  // namespace bench
