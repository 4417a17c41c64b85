#include "kernels/devices/cuda/card.h"

#include <stdexcept>

#include <fmt/format.h>

#include "bench/error.h"

namespace bench::kernels::cuda {

Runtime& Card::runtime() const {
  if (runtime_ == nullptr) {
    throw std::logic_error("nothing runs on a card that is not here");
  }
  return *runtime_;
}

void Card::use() const {
  runtime().check(runtime().set_device(ordinal_), "cudaSetDevice");
}

Card& card_of(const Device& device) {
  const auto* const owner = dynamic_cast<const CardDevice*>(&device);
  if (owner == nullptr) {
    throw Unsupported(fmt::format("{} is no CUDA device", device.info().id));
  }
  return owner->card();
}

}  // namespace bench::kernels::cuda
