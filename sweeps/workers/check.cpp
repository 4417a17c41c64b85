#include "sweeps/workers/check.h"

#include <algorithm>
#include <cmath>
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

struct OwnSlots {
  std::vector<std::byte> memory;
  std::vector<std::byte*> slots;

  OwnSlots(std::int64_t count, std::int64_t bytes, std::byte fill)
      : memory(static_cast<std::size_t>(count * bytes), fill) {
    for (std::int64_t i = 0; i < count; ++i) {
      slots.push_back(memory.data() + i * bytes);
    }
  }
};

double mean_difference(const std::vector<double>& one, const std::vector<double>& other) {
  double sum = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    sum += std::abs(one[i] - other.at(i));
  }
  return sum / static_cast<double>(one.size());
}

}  // namespace

Verification check_batch(const PipelineSpec& spec, const loader::Dataset& data, const Clock& clock,
                         loader::BadFiles& bad) {
  const std::int64_t sample_bytes = spec.transform.sample_bytes();
  loader::PoolSettings few = spec.pool;
  few.prefetch = 1;
  few.workers = std::min(few.workers, kWorkersThatCheck);
  few.batch = std::clamp<std::int64_t>(kMostSlotBytes / sample_bytes, 1, spec.pool.batch);
  const std::int64_t slot_bytes = few.batch * sample_bytes;
  // Filled with different bytes, so that one that neither writes differs too.
  const OwnSlots pool_memory(loader::WorkerPool::slots_for(few), slot_bytes, std::byte{0xCD});
  loader::WorkerPool pool(data, spec.transform, few, clock, pool_memory.slots, bad);
  const loader::Batch batch = pool.next();

  loader::PoolSettings alone = few;
  alone.workers = 0;
  const OwnSlots own_memory(1, slot_bytes, std::byte{0x32});
  loader::WorkerPool maker(data, spec.transform, alone, clock, own_memory.slots, bad);
  loader::Batch expected = maker.next();
  while (batch.data != nullptr && expected.data != nullptr && expected.number < batch.number) {
    expected = maker.next();
  }

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
  const std::vector<double> slow = loader::reference_sample(
      encoded, loader::WorkerPool::sample_seed(spec.pool.seed, batch.number * few.batch), spec.transform,
      spec.pool.interrupted);
  verification.error = mean_difference(slow, loader::unstored(batch.data, spec.transform)) / 255;
  verification.tolerance = 2.0 / 255;
  verification.passed = verification.error <= verification.tolerance;
  verification.detail = fmt::format(
      "{} samples as one thread makes them, byte for byte; pixels of the first {:.2f}/255 from the "
      "reference, on average",
      few.batch, 255 * verification.error);
  return verification;
}

}  // namespace bench::sweeps
