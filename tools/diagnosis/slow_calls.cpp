// Preloaded into `bench`, to slow the loader down from outside:
//   SLOW_READ_MS    each read of a file takes so much longer, as over a network
//   SLOW_WORKER_MS  one worker in ten takes so much longer to decode an image
//
// Every tenth of the threads that decode at the same time is slow: a loader of fewer than ten workers has no
// slow one. Threads sleep, as those that wait for a server, a lock or a core of their own.
#include <dlfcn.h>
#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

// After <cstdio>, whose types it uses.
#include <jpeglib.h>

namespace {

std::atomic<int> decoding_threads = 0;

struct DecodingThread {
  static constexpr int kOneIn = 10;
  bool slow = ++decoding_threads % kOneIn == 0;

  DecodingThread() = default;
  DecodingThread(const DecodingThread&) = delete;
  DecodingThread& operator=(const DecodingThread&) = delete;
  ~DecodingThread() { --decoding_threads; }
};

void sleep_as_given(const char* name) {
  const char* const given = std::getenv(name);
  if (const double ms = given == nullptr ? 0 : std::strtod(given, nullptr); ms > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(ms));
  }
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

}  // namespace

// The C library's header has reserved names for its parameters.
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
extern "C" ssize_t pread(int file, void* to, size_t bytes, off_t offset) {
  static auto* const read = real<ssize_t(int, void*, size_t, off_t)>("pread");
  sleep_as_given("SLOW_READ_MS");
  return read(file, to, bytes, offset);
}

extern "C" boolean jpeg_start_decompress(j_decompress_ptr info) {
  static auto* const start = real<boolean(j_decompress_ptr)>("jpeg_start_decompress");
  thread_local const DecodingThread thread;
  if (thread.slow) {
    sleep_as_given("SLOW_WORKER_MS");
  }
  return start(info);
}
