#include "run_operation.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "bench/registry.h"

namespace bench::kernels::testing {

Device& cpu() {
  static const std::unique_ptr<Device> device = registry<DeviceKind>().find("cpu")->open("cpu");
  return *device;
}

namespace {

std::int64_t values_in(const SlotInfo& slot) {
  return slot.plain_count != 0 ? slot.plain_count : slot.tensor.elements();
}

void round_to(Dtype dtype, std::vector<float>& values) {
  const TensorDesc row{.n = 1, .c = static_cast<std::int64_t>(values.size()), .dtype = dtype};
  std::vector<std::byte> stored(static_cast<std::size_t>(row.bytes()));
  store(row, values, stored.data());
  load(row, stored.data(), values);
}

// Behind every slot: bytes that no operation may write.
constexpr std::int64_t kCanaryBytes = 4096;
constexpr std::byte kCanary{0xa5};

void expect_canary(Device& device, const SlotInfo& slot, const Buffer& buffer) {
  std::vector<std::byte> found(kCanaryBytes);
  device.download(found.data(), static_cast<std::byte*>(buffer.data()) + slot.bytes, kCanaryBytes);
  EXPECT_EQ(std::ranges::count(found, kCanary), kCanaryBytes)
      << name_of(slot.slot) << ": the operation wrote behind its " << slot.bytes << " bytes";
}

void expect_zero_padding(const SlotInfo& slot, const std::vector<float>& values, const void* stored) {
  std::vector<std::byte> again(static_cast<std::size_t>(slot.bytes));
  store(slot.tensor, values, again.data());
  EXPECT_EQ(std::memcmp(again.data(), stored, again.size()), 0)
      << name_of(slot.slot) << ": its channel padding is not zero";
}

// Bytes that an earlier operation of the same implementation has saved.
void give_saved(const SlotInfo& slot, const Saved* saved, std::vector<std::byte>& stored) {
  if (saved == nullptr || static_cast<std::int64_t>(saved->size()) != slot.bytes) {
    throw std::invalid_argument("the operation needs " + std::to_string(slot.bytes) + " saved bytes");
  }
  stored = *saved;
}

void give_input(const SlotInfo& slot, const std::vector<float>& values, void* stored) {
  if (slot.plain_count == 0) {
    store(slot.tensor, values, stored);
  } else if (static_cast<std::int64_t>(values.size()) == slot.plain_count) {  // an fp32 vector
    std::memcpy(stored, values.data(), values.size() * sizeof(float));
  } else {
    throw std::invalid_argument("the wrong number of values for " + std::string(name_of(slot.slot)));
  }
}

}  // namespace

Values inputs_for(const Operation& operation, Dtype dtype, std::uint64_t seed) {
  Values inputs;
  for (const SlotInfo& slot : operation.slots()) {
    if ((slot.role != Role::input && slot.role != Role::parameter) || slot.slot == Slot::saved) {
      continue;
    }
    std::vector<float>& values = inputs[slot.slot];
    values.resize(static_cast<std::size_t>(values_in(slot)));
    fill_random(values, seed, static_cast<std::uint64_t>(slot.slot));
    if (slot.slot == Slot::variance) {
      for (float& value : values) {
        value = std::fabs(value) + 0.25F;
      }
    }
    round_to(dtype, values);
  }
  return inputs;
}

Values run_operation(Operation& operation, const Values& inputs, Sum sum, Saved* saved, const Place& place) {
  operation.prepare();
  Device& device = place.device;
  std::map<Slot, Buffer> buffers;
  SlotPointers pointers;
  // A gradient may lie over diff_dst, another result over the second summand.
  const bool of_two = sum == Sum::in_place && operation.find(Slot::diff_src) == nullptr;
  for (const SlotInfo& slot : operation.slots()) {
    const bool shared = of_two && slot.slot == Slot::src1;
    Buffer& buffer = buffers[slot.slot];
    buffer = device.allocate(slot.bytes + kCanaryBytes, MemoryCategory::other);
    device.fill(static_cast<std::byte*>(buffer.data()) + slot.bytes, kCanary, kCanaryBytes);
    pointers[slot.slot] = buffer.data();
    if (shared) {
      EXPECT_TRUE(operation.in_place_sum());
    }
  }
  if (of_two) {
    pointers[Slot::src1] = pointers[Slot::dst];
  }
  if (sum == Sum::in_place) {
    pointers[Slot::diff_dst] = pointers[Slot::diff_src];
  }
  const auto run = [&] {
    Values outputs;
    std::map<Slot, std::vector<std::byte>> given;
    // Poison first: where an output is an input too the input comes on top.
    for (const SlotInfo& slot : operation.slots()) {
      if (slot.role == Role::output || slot.role == Role::scratch) {
        device.fill(pointers[slot.slot], std::byte{0xff}, slot.bytes);
      }
    }
    for (const SlotInfo& slot : operation.slots()) {
      if (slot.role != Role::parameter && slot.role != Role::input) {
        continue;
      }
      std::vector<std::byte> stored(static_cast<std::size_t>(slot.bytes));
      if (slot.role == Role::parameter) {
        operation.pack(slot.slot, inputs.at(slot.slot), stored.data());
      } else if (slot.slot == Slot::saved) {
        give_saved(slot, saved, stored);
      } else {
        give_input(slot, inputs.at(slot.slot), stored.data());
      }
      device.upload(pointers[slot.slot], stored.data(), slot.bytes);
      given[slot.slot] = std::move(stored);
    }
    operation.run(pointers);
    device.synchronize();
    for (const SlotInfo& slot : operation.slots()) {
      expect_canary(device, slot, buffers.at(slot.slot));
      // Where it shares no memory with an output.
      if (given.contains(slot.slot) && pointers[slot.slot] == buffers.at(slot.slot).data()) {
        std::vector<std::byte> left(static_cast<std::size_t>(slot.bytes));
        device.download(left.data(), pointers[slot.slot], slot.bytes);
        EXPECT_TRUE(left == given.at(slot.slot)) << name_of(slot.slot) << ": the operation changed its input";
      }
      if (slot.role != Role::output) {
        continue;
      }
      std::vector<std::byte> stored(static_cast<std::size_t>(slot.bytes));
      device.download(stored.data(), pointers[slot.slot], slot.bytes);
      if (slot.slot == Slot::saved) {
        if (saved != nullptr) {
          *saved = stored;
        }
        continue;
      }
      std::vector<float>& values = outputs[slot.slot];
      values.resize(static_cast<std::size_t>(values_in(slot)));
      if (slot.plain_count != 0) {
        operation.unpack(slot.slot, stored.data(), values);
      } else {
        load(slot.tensor, stored.data(), values);
        expect_zero_padding(slot, values, stored.data());
      }
    }
    return outputs;
  };
  Values first = run();
  const Values second = run();
  EXPECT_TRUE(close_to(first, second, place.repeats_within)) << "the second run differs from the first";
  return first;
}

::testing::AssertionResult close_to(const Values& expected, const Values& answer, double tolerance) {
  if (expected.empty()) {
    return ::testing::AssertionFailure() << "no outputs";
  }
  for (const auto& [slot, values] : expected) {
    const auto at = answer.find(slot);
    if (at == answer.end()) {
      return ::testing::AssertionFailure() << name_of(slot) << " is missing";
    }
    if (const double error = relative_error(at->second, values); !(error <= tolerance)) {
      return ::testing::AssertionFailure()
             << name_of(slot) << " differs by " << error << ", accepted are " << tolerance;
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace bench::kernels::testing
