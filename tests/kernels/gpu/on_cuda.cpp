#include "on_cuda.h"

#include <optional>

#include "tests/gpu/first_card.h"

namespace bench::kernels::testing {
namespace {

std::optional<FirstCard> opened;

FirstCard& found() {
  if (!opened) {
    opened = open_first_card();
  }
  return *opened;
}

// Closes the card while its libraries are still loaded: those that cuDNN loads at its first use are unloaded
// before objects of static lifetime go.
class CloseCard : public ::testing::Environment {
 public:
  void TearDown() override { opened.reset(); }
};

const auto* const registered = ::testing::AddGlobalTestEnvironment(new CloseCard);

}  // namespace

Device* cuda_device() {
  return found().device.get();
}

std::string why_no_cuda() {
  return found().missing;
}

std::map<Slot, Bytes> run_stored(Operation& operation, Device& device, Dtype dtype,
                                 const RunOptions& options) {
  operation.prepare();
  std::map<Slot, Buffer> buffers;
  SlotPointers pointers;
  for (const SlotInfo& slot : operation.slots()) {
    const std::int64_t offset = offset_of(slot, options);
    Buffer& buffer = buffers[slot.slot] = device.allocate(slot.bytes + offset, MemoryCategory::other);
    pointers[slot.slot] = buffer.data() + offset;
  }
  for (const auto& [output, input] : options.in_place) {
    pointers[output] = pointers[input];
  }
  for (const SlotInfo& slot : operation.slots()) {
    if (slot.role == Role::output || slot.role == Role::scratch) {
      device.fill(pointers[slot.slot], std::byte{0xff}, slot.bytes);
    }
  }
  for (const SlotInfo& slot : operation.slots()) {
    if (slot.role != Role::output && slot.role != Role::scratch) {
      Bytes given(static_cast<std::size_t>(slot.bytes));
      give_seeded(operation, slot, dtype, options, given.data());
      device.upload(pointers[slot.slot], given.data(), slot.bytes);
    }
  }
  for (int run = 0; run < options.runs; ++run) {
    operation.run(pointers);
  }
  device.synchronize();
  std::map<Slot, Bytes> left;
  for (const SlotInfo& slot : operation.slots()) {
    if (slot.role == Role::output || slot.role == Role::state) {
      Bytes& bytes = left[slot.slot];
      bytes.resize(static_cast<std::size_t>(slot.bytes));
      device.download(bytes.data(), pointers[slot.slot], slot.bytes);
    }
  }
  return left;
}

}  // namespace bench::kernels::testing
