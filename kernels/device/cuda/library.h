// When cuDNN or cuBLASLt reports a failure: whose it is. Needs no CUDA header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench::kernels::cuda {

// A library's call failed, as `what` says. Waits for the device, which may be lost, and throws as below.
[[noreturn]] void library_failed(const std::string& what, bool out_of_memory);

// A library refused what `what` says, by a status that tells no reason of the request's own. Waits for the
// device, and throws as below where that is why: it is lost, or out of memory. Else returns.
void library_refused(const std::string& what, bool out_of_memory);

// What the runtime answered when it was asked next.
struct DeviceAnswer {
  int error = 0;
  bool stays_set = false;                  // it was still there after it had been cleared
  std::optional<std::int64_t> free_bytes;  // of the card; nullopt where it does not say
};

// A card with less to spare is full. The driver loads a kernel's code when it is first launched; where that
// finds no memory the libraries answer as after any failed launch, and the runtime, of which they have their
// own, knows nothing of it.
inline constexpr std::int64_t kFullCard = std::int64_t{64} << 20;

// What an earlier kernel did shows in whichever call comes first: DeviceLost where the device's error is
// sticky or stays, OutOfMemory where the library or the device says so or the card is full, else
// runtime_error. On a full card a failure of another cause is taken for the lack of memory too.
[[noreturn]] void raise_library(const std::string& what, bool out_of_memory, const DeviceAnswer& device);

// The same of a refusal: returns where the device has nothing to do with it.
void raise_device(const std::string& what, bool out_of_memory, const DeviceAnswer& device);

// Whether a library's message names a status or an error that means that memory, the device's or the host's,
// was refused. cudnn-frontend passes cuDNN's status on in words only.
bool says_out_of_memory(std::string_view message);

// Whether it names a status by which cuDNN refuses what was asked for, whatever state the device is in.
bool says_not_supported(std::string_view message);

}  // namespace bench::kernels::cuda
