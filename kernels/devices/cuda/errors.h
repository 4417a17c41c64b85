// What a call that failed becomes: whose failure it is, and the exception that says so. Needs no CUDA header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench::kernels::cuda {

// Where in the source a call stands: std::source_location, which clang-tidy 14 does not know yet.
class Place {
 public:
  // As a default argument it names the line of the call, as std::source_location::current() does.
  static constexpr Place current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  constexpr Place(const char* file, int line) : file_(file), line_(line) {}

  const char* file_;
  int line_;
};

// cudaError_t of these names; the numbers are part of CUDA's interface.
namespace status {
inline constexpr int kSuccess = 0;
inline constexpr int kMemoryAllocation = 2;
inline constexpr int kInsufficientDriver = 35;
inline constexpr int kNoDevice = 100;
inline constexpr int kIllegalAddress = 700;
inline constexpr int kLaunchFailure = 719;
}  // namespace status

// After such an error every call in this process answers with it again: only a new process can use the card.
bool is_sticky(int error);

struct Failure {
  int error = status::kSuccess;
  std::string name;        // "cudaErrorIllegalAddress"
  std::string text;        // what the runtime says about it
  bool stays_set = false;  // it was still there after it had been cleared
};

// "kernels/devices/cuda/device.cpp:42": from the checkout's root on, whatever folder the compiler was started
// in.
std::string text_of(Place place);

// Throws OutOfMemory, DeviceLost for what is sticky, else runtime_error. The message names call, value and
// place.
[[noreturn]] void raise(const Failure& failure, std::string_view call, Place place);

// cuDNN and cuBLASLt.

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
// was refused. cuDNN may name the reason in words behind a status of another name.
bool says_out_of_memory(std::string_view message);

// Whether it names a status by which cuDNN refuses what was asked for, whatever state the device is in.
bool says_not_supported(std::string_view message);

}  // namespace bench::kernels::cuda
