#include "stored.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace bench::kernels::testing {
namespace {

std::vector<float> seeded(const SlotInfo& slot, Dtype dtype, const RunOptions& options) {
  const std::int64_t count = slot.plain_count != 0 ? slot.plain_count : slot.tensor.elements();
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_random(values, options.seed, static_cast<std::uint64_t>(slot.slot));
  if (slot.slot == Slot::variance || slot.slot == Slot::state2 || options.positive) {
    std::ranges::transform(values, values.begin(), [](float value) { return std::fabs(value) + 0.25F; });
  }
  const TensorDesc row{.n = 1, .c = count, .dtype = dtype};
  Bytes rounded(static_cast<std::size_t>(row.bytes()));
  store(row, values, rounded.data());
  load(row, rounded.data(), values);
  return values;
}

std::vector<float> numbers(Operation& operation, const SlotInfo& slot, const Bytes& stored) {
  std::vector<float> values(
      static_cast<std::size_t>(slot.plain_count != 0 ? slot.plain_count : slot.tensor.elements()));
  if (slot.plain_count != 0) {
    operation.unpack(slot.slot, stored.data(), values);
  } else {
    load(slot.tensor, stored.data(), values);
  }
  return values;
}

}  // namespace

std::int64_t offset_of(const SlotInfo& slot, const RunOptions& options) {
  std::int64_t element = 8;  // of opaque bytes
  if (slot.tensor.bytes() == slot.bytes) {
    element = bytes_of(slot.tensor.dtype);
  } else if (slot.plain_count > 0) {
    element = slot.bytes < 4 * slot.plain_count ? 2 : 4;
  }
  return (options.offset + element - 1) / element * element;
}

void give_seeded(Operation& operation, const SlotInfo& slot, Dtype dtype, const RunOptions& options,
                 void* memory) {
  if (const auto given = options.opaque.find(slot.slot); given != options.opaque.end()) {
    ASSERT_EQ(static_cast<std::int64_t>(given->second.size()), slot.bytes) << name_of(slot.slot);
    std::memcpy(memory, given->second.data(), given->second.size());
  } else if (slot.plain_count != 0) {
    operation.pack(slot.slot, seeded(slot, dtype, options), memory);
  } else if (slot.tensor.elements() > 0) {
    store(slot.tensor, seeded(slot, dtype, options), memory);
  } else {
    std::memset(memory, 0, static_cast<std::size_t>(slot.bytes));  // a count of steps
  }
}

void expect_close(Operation& expected_by, const std::map<Slot, Bytes>& expected,
                  const std::map<Slot, Bytes>& answer, double tolerance) {
  ASSERT_FALSE(expected.empty());
  for (const auto& [slot, stored] : expected) {
    SCOPED_TRACE(name_of(slot));
    const auto at = answer.find(slot);
    ASSERT_NE(at, answer.end());
    ASSERT_EQ(at->second.size(), stored.size());
    const SlotInfo& info = *expected_by.find(slot);
    if (info.plain_count == 0 && info.tensor.elements() == 0) {
      EXPECT_EQ(at->second, stored);
      continue;
    }
    const std::vector<float> right = numbers(expected_by, info, stored);
    const std::vector<float> tested = numbers(expected_by, info, at->second);
    EXPECT_LE(relative_error(tested, right), tolerance);
    double squares = 0;
    for (const float value : right) {
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
    const double typical = std::sqrt(squares / static_cast<double>(right.size()));
    for (std::size_t i = 0; i < right.size(); ++i) {
      ASSERT_NEAR(tested[i], right[i], 8 * tolerance * (std::fabs(right[i]) + typical)) << "element " << i;
    }
  }
}

}  // namespace bench::kernels::testing
