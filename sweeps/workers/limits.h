// What limits the loader, and what an image costs it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "sweeps/workers/findings.h"

namespace bench::sweeps {

// Why the loader is no faster with so many workers, from its measured point or the profile alone.
struct LoaderLimit {
  std::string name{};  // "storage", "copy", "decode", "memory", "hand_off", "workers", "order", …
  std::string why{};
  std::string remedy{};  // empty: none is known
};
LoaderLimit loader_limit(const Evidence& evidence, std::int64_t workers);

std::optional<Finding> plateau_finding(const Evidence& evidence);
std::optional<Finding> scaling_finding(const Evidence& evidence);
std::optional<Finding> stages_finding(const Evidence& evidence);
std::optional<Finding> slowdown_finding(const Evidence& evidence);

}  // namespace bench::sweeps
