#include "on_fibers.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace bench::kernels::testing {
namespace {

// Exactly as many bytes as asked for, `offset` off a boundary of the slot's alignment. Scratch lies on none
// of twice that, so that who relies on more than was asked for is seen.
class ExactMemory {
 public:
  ExactMemory(const SlotInfo& slot, std::int64_t offset)
      : offset_(offset + (slot.role == Role::scratch ? slot.alignment : 0)) {
    void* made = nullptr;
    if (posix_memalign(&made, static_cast<std::size_t>(2 * slot.alignment),
                       static_cast<std::size_t>(slot.bytes + offset_)) != 0) {
      throw std::bad_alloc();
    }
    data_.reset(static_cast<std::byte*>(made));
  }
  std::byte* data() const { return data_.get() + offset_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::int64_t offset_;
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace

Device& cpu() {
  static const std::unique_ptr<Device> device = registry<DeviceKind>().find("cpu")->open("cpu");
  return *device;
}

std::map<Slot, Bytes> run_exactly(Operation& operation, Dtype dtype, const RunOptions& options) {
  operation.prepare();
  std::map<Slot, ExactMemory> memory;
  SlotPointers pointers;
  for (const SlotInfo& slot : operation.slots()) {
    const auto [at, made] = memory.emplace(slot.slot, ExactMemory(slot, offset_of(slot, options)));
    pointers[slot.slot] = at->second.data();
    if (slot.role == Role::output || slot.role == Role::scratch) {
      std::memset(pointers[slot.slot], 0xff, static_cast<std::size_t>(slot.bytes));
    }
  }
  for (const auto& [output, input] : options.in_place) {
    pointers[output] = pointers[input];
  }
  for (const SlotInfo& slot : operation.slots()) {
    if (slot.role != Role::output && slot.role != Role::scratch) {
      give_seeded(operation, slot, dtype, options, pointers[slot.slot]);
    }
  }
  for (int run = 0; run < options.runs; ++run) {
    operation.run(pointers);
  }
  std::map<Slot, Bytes> outputs;
  for (const SlotInfo& slot : operation.slots()) {
    if (slot.role == Role::output || slot.role == Role::state) {
      const auto* const data = static_cast<const std::byte*>(pointers[slot.slot]);
      outputs[slot.slot].assign(data, data + slot.bytes);
    }
  }
  return outputs;
}

}  // namespace bench::kernels::testing
