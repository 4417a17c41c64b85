#include "kernels/device/cuda/stream.h"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

#include "kernels/device/cuda/device.h"

namespace bench::kernels::cuda {

CUstream_st* stream_of(Device& device) {
  const auto* const card = dynamic_cast<CudaDevice*>(&device);
  if (card == nullptr) {
    throw std::logic_error(fmt::format("{} is no CUDA device and has no stream", device.info().id));
  }
  return card->stream();
}

int compute_capability(const Device& device) {
  const auto at = device.info().details.find("compute_capability");
  const std::string text = at == device.info().details.end() ? std::string() : at->second;
  int major = 0;
  int minor = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, major);
  if (read.ec != std::errc{} || read.ptr == end || *read.ptr != '.' ||
      std::from_chars(read.ptr + 1, end, minor).ec != std::errc{}) {
    throw std::logic_error(fmt::format("{} has no compute capability, but '{}'", device.info().id, text));
  }
  return 10 * major + minor;
}

}  // namespace bench::kernels::cuda
