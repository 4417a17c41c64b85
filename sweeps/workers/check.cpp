#include "sweeps/workers/check.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "sweeps/workers/loader/reference.h"

namespace bench::sweeps {
namespace {

constexpr int kWorkersThatCheck = 8;
// Larger batches are checked by their first samples: the memory cap does not count these slots.
constexpr std::int64_t kMostSlotBytes = std::int64_t{64} << 20;

// A batch in memory of its own.
struct OwnBatch {
  std::vector<std::byte> memory;
  loader::Batch batch;
};

}  // namespace

Verification check_batch(const PipelineSpec& spec, const loader::Dataset& data, const Clock& clock,
                         loader::BadFiles& bad) {
  const std::int64_t sample_bytes = spec.transform.sample_bytes();
  loader::PoolSettings few = spec.pool;
  few.prefetch = 1;
  few.batch = std::clamp<std::int64_t>(kMostSlotBytes / sample_bytes, 1, spec.pool.batch);
  const auto make = [&](int workers, std::byte fill, std::int64_t least_number) {
    few.workers = workers;
    const std::int64_t slots = loader::WorkerPool::slots_for(few);
    OwnBatch own;
    own.memory.assign(static_cast<std::size_t>(slots * few.batch * sample_bytes), fill);
    std::vector<std::byte*> places;
    for (std::int64_t i = 0; i < slots; ++i) {
      places.push_back(own.memory.data() + i * few.batch * sample_bytes);
    }
    loader::WorkerPool pool(data, spec.transform, few, clock, places, bad);
    do {
      own.batch = pool.next();
    } while (own.batch.data != nullptr && own.batch.number < least_number);
    return own;
  };
  // Filled with different bytes, so that one that neither writes differs too.
  const OwnBatch by_pool = make(std::min(spec.pool.workers, kWorkersThatCheck), std::byte{0xCD}, 0);
  const loader::Batch& batch = by_pool.batch;
  const OwnBatch alone = make(0, std::byte{0x32}, batch.number);
  const loader::Batch& expected = alone.batch;

  Verification verification;
  if (batch.data == nullptr || expected.data == nullptr) {
    verification.detail = "interrupted";
    return verification;
  }
  for (std::int64_t i = 0; i < few.batch; ++i) {
    if (std::memcmp(batch.data + i * sample_bytes, expected.data + i * sample_bytes,
                    static_cast<std::size_t>(sample_bytes)) != 0) {
      verification.detail =
          fmt::format("sample {} of batch {} differs from the one made by a single thread", i, batch.number);
      verification.error = 1;
      return verification;
    }
  }
  // The stored form rounds: to 1/255 as bytes, to 2^-9 in bf16.
  std::vector<std::byte> encoded;
  data.read(batch.images.front(), encoded);
  verification.error = loader::difference_from_reference(
      batch.data, encoded, loader::WorkerPool::sample_seed(spec.pool.seed, batch.number * few.batch),
      spec.transform, spec.pool.interrupted);
  verification.tolerance = 2.0 / 255;
  verification.passed = verification.error <= verification.tolerance;
  verification.detail = fmt::format(
      "{} samples as one thread makes them, byte for byte; pixels of the first {:.2f}/255 from the "
      "reference, on average",
      few.batch, 255 * verification.error);
  return verification;
}

}  // namespace bench::sweeps
