// A double of the CUDA runtime: memory is the host's, time is what the test says, and any call can be made to
// fail.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/devices/cuda/device.h"
#include "kernels/devices/cuda/errors.h"
#include "kernels/devices/cuda/runtime.h"

namespace bench::kernels::cuda::testing {

class FakeRuntime final : public Runtime {
 public:
  // The n-th call of that name from now on (1: the next) answers with the error.
  void fail(const std::string& call, int error, int nth = 1) { failures_[call] = {error, nth}; }

  int runtime_version(int& version) override {
    return answer("runtime_version", [&] { version = 13000; });
  }
  int driver_version(int& version) override {
    return answer("driver_version", [&] { version = driver_serves; });
  }
  int device_count(int& count) override {
    return answer("device_count", [&] { count = static_cast<int>(cards.size()); });
  }
  int properties(int device, CardProperties& properties) override {
    return answer("properties", [&] { properties = cards.at(static_cast<std::size_t>(device)); });
  }
  int set_device(int device) override {
    return answer("set_device", [&] { current = device; });
  }

  int allocate(void*& data, std::size_t bytes) override {
    return answer("allocate", [&] {
      if (static_cast<std::int64_t>(bytes) > capacity - reserved) {
        return set(status::kMemoryAllocation);
      }
      // Addresses as the driver has them: on a page's boundary.
      data = std::aligned_alloc(std::size_t{2} << 20, (bytes + 0x1FFFFF) / 0x200000 * 0x200000);
      segments[data] = static_cast<std::int64_t>(bytes);
      reserved += static_cast<std::int64_t>(bytes);
      return status::kSuccess;
    });
  }
  int free(void* data) override {
    return answer("free", [&] {
      reserved -= segments.at(data);
      segments.erase(data);
      std::free(data);
    });
  }
  int allocate_pinned(void*& data, std::size_t bytes) override {
    return answer("allocate_pinned", [&] {
      data = std::malloc(bytes);
      ++pinned;
      left_over_.insert(data);
    });
  }
  int free_pinned(void* data) override {
    return answer("free_pinned", [&] {
      left_over_.erase(data);
      std::free(data);
      --pinned;
    });
  }
  int register_pages(void* /*data*/, std::size_t /*bytes*/) override {
    return answer("register_pages", [&] { ++registered; });
  }
  int unregister_pages(void* /*data*/) override {
    return answer("unregister_pages", [&] { --registered; });
  }
  int memory_info(std::size_t& free_bytes, std::size_t& total_bytes) override {
    return answer("memory_info", [&] {
      free_bytes = static_cast<std::size_t>(capacity - reserved - used_by_others);
      total_bytes = static_cast<std::size_t>(capacity);
    });
  }

  int create_stream(CUstream_st*& stream) override {
    return answer("create_stream", [&] { stream = make<CUstream_st>(); });
  }
  int destroy_stream(CUstream_st* stream) override {
    return answer("destroy_stream", [&] { drop(stream); });
  }
  int synchronize(CUstream_st* /*stream*/) override {
    run_host_calls();
    return answer("synchronize");
  }
  int copy(void* to, const void* from, std::size_t bytes, CUstream_st* stream) override {
    copied_on.push_back(stream);
    copied_bytes += static_cast<std::int64_t>(bytes);
    return answer("copy", [&] {
      std::memcpy(to, from, bytes);
      if (std::exchange(flips_a_byte, false)) {
        static_cast<std::byte*>(to)[bytes / 2] ^= std::byte{1};
      }
    });
  }
  int fill(void* to, int value, std::size_t bytes, CUstream_st* /*stream*/) override {
    touched.emplace_back(static_cast<const std::byte*>(to), static_cast<std::int64_t>(bytes));
    return answer("fill", [&] { std::memset(to, value, bytes); });
  }

  int create_event(CUevent_st*& event) override {
    return answer("create_event", [&] { event = make<CUevent_st>(); });
  }
  int destroy_event(CUevent_st* event) override {
    return answer("destroy_event", [&] { drop(event); });
  }
  int record(CUevent_st* /*event*/, CUstream_st* /*stream*/) override { return answer("record"); }
  int query(CUevent_st* /*event*/) override { return answer("query"); }
  int wait(CUevent_st* /*event*/) override {
    run_host_calls();
    return answer("wait");
  }
  int call_host(CUstream_st* /*stream*/, void (*function)(void*), void* data) override {
    return answer("call_host", [&] { host_calls_.emplace_back(function, data); });
  }
  int stream_wait(CUstream_st* /*stream*/, CUevent_st* /*event*/) override { return answer("stream_wait"); }
  int elapsed_ms(float& milliseconds, CUevent_st* /*start*/, CUevent_st* /*stop*/) override {
    return answer("elapsed_ms", [&] { milliseconds = step_ms; });
  }

  int begin_capture(CUstream_st* /*stream*/) override { return answer("begin_capture"); }
  int end_capture(CUgraph_st*& graph, CUstream_st* /*stream*/) override {
    return answer("end_capture", [&] { graph = make<CUgraph_st>(); });
  }
  int is_capturing(bool& is_capturing, CUstream_st* /*stream*/) override {
    return answer("is_capturing", [&] { is_capturing = capturing; });
  }
  int instantiate(CUgraphExec_st*& executable, CUgraph_st* /*graph*/) override {
    return answer("instantiate", [&] { executable = make<CUgraphExec_st>(); });
  }
  int launch(CUgraphExec_st* /*executable*/, CUstream_st* /*stream*/) override { return answer("launch"); }
  int destroy_graph(CUgraph_st* graph) override {
    return answer("destroy_graph", [&] { drop(graph); });
  }
  int destroy_executable(CUgraphExec_st* executable) override {
    return executable == nullptr ? status::kSuccess : answer("destroy_executable", [&] { drop(executable); });
  }

  // As the real one: what is sticky is there again each time.
  int last_error() override { return is_sticky(error_) ? error_ : std::exchange(error_, status::kSuccess); }
  std::string error_name(int error) override { return "error" + std::to_string(error); }
  std::string error_text(int /*error*/) override { return "said by the double"; }

  ~FakeRuntime() override {
    // Memory that a lost card did not take back.
    for (const auto& [data, bytes] : segments) {
      std::free(data);
    }
    for (void* const data : left_over_) {
      std::free(data);
    }
  }

  std::int64_t times(const std::string& call) const { return std::ranges::count(calls, call); }

  std::vector<CardProperties> cards{{.name = "Test Card",
                                     .uuid = "GPU-0",
                                     .pci_bus_id = "0000:01:00.0",
                                     .memory_bytes = std::int64_t{1} << 30,
                                     .l2_bytes = 4 << 20,
                                     .multiprocessors = 28,
                                     .major = 8,
                                     .minor = 6}};
  int driver_serves = 13000;
  int current = -1;
  std::int64_t capacity = std::int64_t{1} << 30;  // bytes of the card
  std::int64_t used_by_others = 0;
  float step_ms = 1;
  bool capturing = false;                                          // what is_capturing answers
  bool flips_a_byte = false;                                       // in the middle of the next copy
  std::vector<std::string> calls;                                  // by name, in order
  std::vector<CUstream_st*> copied_on;                             // of each copy
  std::int64_t copied_bytes = 0;                                   // of all of them
  std::vector<std::pair<const std::byte*, std::int64_t>> touched;  // by fills and reads: address, bytes

  std::map<void*, std::int64_t> segments;
  std::int64_t reserved = 0;
  std::int64_t pinned = 0;      // live buffers
  std::int64_t registered = 0;  // live registrations
  std::int64_t handles = 0;     // live streams, events, graphs

 private:
  struct Planned {
    int error = status::kSuccess;
    int calls_left = 0;
  };

  int set(int error) { return error_ = error; }

  // Logs the call, and does it unless it is to fail.
  template <class Action>
  int answer(const std::string& call, Action action) {
    calls.push_back(call);
    if (is_sticky(error_)) {
      return error_;
    }
    const auto planned = failures_.find(call);
    if (planned != failures_.end() && --planned->second.calls_left == 0) {
      return set(planned->second.error);
    }
    if constexpr (std::is_void_v<decltype(action())>) {
      action();
      return status::kSuccess;
    } else {
      return action();
    }
  }
  int answer(const std::string& call) {
    return answer(call, [] {});
  }

  // Handles are opaque: each is a byte of its own.
  template <class Handle>
  Handle* make() {
    ++handles;
    void* const handle = std::malloc(1);
    left_over_.insert(handle);
    return static_cast<Handle*>(handle);
  }
  void drop(void* handle) {
    --handles;
    left_over_.erase(handle);
    std::free(handle);
  }

  // When the host waits, so that they have ended when it goes on.
  void run_host_calls() {
    for (const auto& [function, data] : std::exchange(host_calls_, {})) {
      function(data);
      calls.emplace_back("host call ended");
    }
  }

  std::vector<std::pair<void (*)(void*), void*>> host_calls_;
  std::map<std::string, Planned> failures_;
  std::set<void*> left_over_;  // pinned memory and handles that live
  int error_ = status::kSuccess;
};

inline DeviceState condition(double clock_mhz, std::vector<std::string> throttle_reasons = {}) {
  DeviceState state;
  state.clock_mhz = clock_mhz;
  state.throttle_reasons = std::move(throttle_reasons);
  return state;
}

class FakeMonitor final : public CardMonitor {
 public:
  DeviceState state() override {
    ++readings;
    return now;
  }
  std::optional<CardLink> link() override {
    ++asked;
    return CardLink{asked > 3 ? 4 : 1, 16};  // it wakes up under load
  }
  std::optional<CardLink> best_link() override { return CardLink{4, 16}; }
  std::optional<std::string> driver_version() override { return "580.82.07"; }
  std::optional<double> power_limit_w() override { return 170.0; }
  Clocks clocks() override { return {.sm = 210, .sm_max = 1777, .memory = std::nullopt, .memory_max = 7501}; }

  DeviceState now;
  int readings = 0;
  int asked = 0;
};

inline Backend fake_backend(FakeRuntime& runtime) {
  return {.runtime = runtime,
          .monitor = [](const std::string&) { return std::make_unique<FakeMonitor>(); },
          .why_missing = [] { return std::string(); },
          .versions =
              [] {
                return std::map<std::string, std::string>{{"cudnn", "9.19.0"}};
              },
          .matmul_rate = [](CudaDevice&, Dtype, std::int64_t size) { return size == 4096 ? 10e12 : 12e12; },
          .read_memory =
              [&runtime](Device&, const std::byte* from, std::int64_t bytes, std::byte*) {
                runtime.calls.emplace_back("read");
                runtime.touched.emplace_back(from, bytes);
              },
          .multiply_add =
              [&runtime](Device&, Dtype, std::byte*, std::int64_t, std::int64_t) {
                runtime.calls.emplace_back("multiply_add");
                return 0.0;
              },
          .compiled_for = architectures_of("75-real,80-real,86-real,89-real,90")};
}

}  // namespace bench::kernels::cuda::testing
