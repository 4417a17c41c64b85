// From a failed call to an exception: whose failure it is, and what is thrown. Needs no CUDA header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bench::kernels::cuda {

// The source line of a call: std::source_location, which clang-tidy 14 does not know yet.
class CallSite {
 public:
  // As a default argument it names the line of the call, as std::source_location::current() does.
  static constexpr CallSite current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  constexpr CallSite(const char* file, int line) : file_(file), line_(line) {}

  const char* file_;
  int line_;
};

// cudaError_t of these names; the numbers are part of CUDA's interface.
namespace status {
inline constexpr int kSuccess = 0;
inline constexpr int kMemoryAllocation = 2;
inline constexpr int kInsufficientDriver = 35;
inline constexpr int kNoDevice = 100;
inline constexpr int kNotReady = 600;
inline constexpr int kIllegalAddress = 700;
inline constexpr int kLaunchFailure = 719;
}  // namespace status

// Success passes; any other cudaError_t throws as raise() does.
void check(int error, const char* call, CallSite site = CallSite::current());

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
std::string text_of(CallSite site);

// Throws OutOfMemory, DeviceLost for what is sticky, else runtime_error. The message names call, value and
// place.
[[noreturn]] void raise(const Failure& failure, std::string_view call, CallSite site);

// cuDNN and cuBLASLt.

// A library's call failed, as `what` says. Waits for the device, which may be lost, and throws as below.
[[noreturn]] void library_failed(const std::string& what, bool out_of_memory);

// A library refused `what` by a status that gives no reason in the request itself. Waits for the device, and
// throws as below where the device is the reason: it is lost, or out of memory. Else returns.
void library_refused(const std::string& what, bool out_of_memory);

// The runtime's answers to the next calls.
struct DeviceAnswer {
  int error = 0;
  bool stays_set = false;                  // it was still there after it had been cleared
  std::optional<std::int64_t> free_bytes;  // of the card; nullopt where it does not say
};

// A card with fewer bytes free is full. The driver loads a kernel's code at its first launch; where that
// finds no memory the libraries report an ordinary failed launch, and our runtime, which is not theirs,
// reports nothing.
inline constexpr std::int64_t kFullCard = std::int64_t{64} << 20;

// An earlier kernel's error appears in the next call, whichever that is. Throws DeviceLost where the device's
// error is sticky or stays, OutOfMemory where the library or the device says so or the card is full, else
// runtime_error. On a full card a failure of another cause counts as lack of memory too.
[[noreturn]] void raise_library(const std::string& what, bool out_of_memory, const DeviceAnswer& device);

// The same of a refusal: returns where the device has nothing to do with it.
void raise_device(const std::string& what, bool out_of_memory, const DeviceAnswer& device);

// Whether a library's message names a status or an error that means that memory, the device's or the host's,
// was refused. cuDNN may name the reason in words after a status of another name.
bool says_out_of_memory(std::string_view message);

// Whether it names a status by which cuDNN refuses what was asked for, whatever state the device is in.
bool says_not_supported(std::string_view message);

}  // namespace bench::kernels::cuda
