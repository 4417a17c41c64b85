// Whether images were read from storage or from the system's page cache.
#pragma once

#include <cstdint>

#include "bench/measure/result.h"

namespace bench::sweeps {

// That this process has had read from storage so far, as the system counts it: nothing for file systems that
// read over a network.
std::int64_t storage_bytes();

// For document.sweep["loader"], from what the windows noted: {"page_cache": "warm"} where next to nothing
// came from storage; "as found" with "read_from_storage", a part of the images' bytes, or without where
// nobody noted it.
Json page_cache_found(const ResultDocument& document, double mean_encoded_bytes);

}  // namespace bench::sweeps
