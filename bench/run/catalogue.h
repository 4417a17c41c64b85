// Devices as their makers' datasheets describe them: results/gpus.json.
#pragma once

#include <filesystem>
#include <string_view>

#include "bench/measure/result.h"

namespace bench {

// The entry of the catalogue that lists `name` among a device's names; null where none does.
// Throws UsageError where the file is there and is no catalogue.
Json datasheet_of(std::string_view name, const std::filesystem::path& catalogue);

// The program's own catalogue; empty where it has none.
std::filesystem::path catalogue_path();

}  // namespace bench
