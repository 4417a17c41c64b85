#include "kernels/devices/cuda/card.h"

#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels::cuda {

Card::Here& Card::here() const {
  if (here_ == nullptr) {
    throw std::logic_error("nothing runs on a card that is not here");
  }
  return *here_;
}

void Card::use() const {
  runtime().check(runtime().set_device(here().ordinal), fmt::format("cudaSetDevice({})", here().ordinal));
}

// cudaFree waits for the card, which would break a recording.
bool Card::gives_back_memory() const {
  if (!is_here()) {
    return false;
  }
  use();
  return !runtime().is_recording(stream()) && allocator().release_cached() > 0;
}

Card& card_of(const Device& device) {
  const auto* const owner = dynamic_cast<const CardDevice*>(&device);
  if (owner == nullptr) {
    throw Unsupported(fmt::format("{} is no CUDA device", device.info().id));
  }
  return owner->card();
}

CUstream_st* stream_of(const Device& device) {
  return card_of(device).stream();
}

}  // namespace bench::kernels::cuda
