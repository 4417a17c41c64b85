#include "sweeps/workers/check.h"

#include <cstddef>
#include <cstring>
#include <vector>

#include <fmt/format.h>

namespace bench::sweeps {
namespace {

struct OwnSlots {
  std::vector<std::byte> memory;
  std::vector<std::byte*> slots;

  OwnSlots(std::int64_t count, std::int64_t bytes)
      : memory(static_cast<std::size_t>(count * bytes), std::byte{0xCD}) {
    for (std::int64_t i = 0; i < count; ++i) {
      slots.push_back(memory.data() + i * bytes);
    }
  }
};

}  // namespace

Verification check_batch(const PipelineSpec& spec, const loader::Dataset& data, loader::BadFiles& bad) {
  loader::PoolSettings few = spec.pool;  // its first batch needs no more
  few.prefetch = 1;
  const OwnSlots pool_memory(loader::Pool::slots_for(few), spec.slot_bytes());
  loader::Pool pool(data, spec.transform, few, pool_memory.slots, bad);
  const loader::Batch batch = pool.next();

  loader::PoolSettings alone = spec.pool;
  alone.workers = 0;
  const OwnSlots own_memory(1, spec.slot_bytes());
  loader::Pool maker(data, spec.transform, alone, own_memory.slots, bad);
  loader::Batch expected = maker.next();
  while (batch.data != nullptr && expected.data != nullptr && expected.number < batch.number) {
    expected = maker.next();
  }

  Verification verification;
  if (batch.data == nullptr || expected.data == nullptr) {
    verification.detail = "interrupted";
    return verification;
  }
  const std::int64_t sample_bytes = spec.transform.sample_bytes();
  for (std::int64_t i = 0; i < spec.pool.batch; ++i) {
    if (std::memcmp(batch.data + i * sample_bytes, expected.data + i * sample_bytes,
                    static_cast<std::size_t>(sample_bytes)) != 0) {
      verification.detail =
          fmt::format("sample {} of batch {} differs from the one made by a single thread", i, batch.number);
      verification.error = 1;
      return verification;
    }
  }
  verification.passed = true;
  verification.detail = fmt::format("{} samples as one thread makes them, byte for byte", spec.pool.batch);
  return verification;
}

}  // namespace bench::sweeps
