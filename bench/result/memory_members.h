// Bytes by category as JSON.
#pragma once

#include "bench/memory.h"
#include "bench/result/json_members.h"

namespace bench {

void members(auto& io, Of<MemoryByCategory> auto& bytes) {
  for (const MemoryCategory category : kMemoryCategories) {
    io(name_of(category), bytes[category]);
  }
}

}  // namespace bench
