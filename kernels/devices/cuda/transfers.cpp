#include "kernels/devices/cuda/transfers.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/host_info.h"
#include "kernels/devices/cuda/errors.h"
#include "kernels/devices/cuda/handles.h"
#include "kernels/devices/host/pages.h"

namespace bench::kernels::cuda {
namespace {

constexpr std::size_t kSideStreams = 7;  // with the device's own, eight copies at once

class PinnedMemory final : public HostMemory {
 public:
  PinnedMemory(Runtime& runtime, std::int64_t bytes) : buffer_(runtime, bytes) {}
  std::byte* data() const override { return buffer_.data(); }
  std::int64_t bytes() const override { return buffer_.bytes(); }

 private:
  PinnedBuffer buffer_;
};

// Pages that the host placed, which the card may use while they are registered.
class RegisteredMemory final : public HostMemory {
 public:
  RegisteredMemory(Runtime& runtime, std::unique_ptr<HostMemory> pages)
      : runtime_(runtime), pages_(std::move(pages)) {
    const int error = runtime_.register_pages(pages_->data(), static_cast<std::size_t>(pages_->bytes()));
    if (error == status::kMemoryAllocation) {
      runtime_.last_error();
      throw OutOfMemory(fmt::format("the host cannot lock {} B of memory for the card", pages_->bytes()),
                        pages_->bytes());
    }
    runtime_.check(error, "cudaHostRegister");
  }
  ~RegisteredMemory() override { runtime_.unregister_pages(pages_->data()); }
  std::byte* data() const override { return pages_->data(); }
  std::int64_t bytes() const override { return pages_->bytes(); }

 private:
  Runtime& runtime_;
  std::unique_ptr<HostMemory> pages_;
};

void queue_copy(Runtime& runtime, const Copy& copy, CUstream_st* stream) {
  runtime.check(runtime.copy(copy.to, copy.from, static_cast<std::size_t>(copy.bytes), stream),
                fmt::format("cudaMemcpyAsync of {} B {} the card", copy.bytes,
                            copy.direction == CopyDirection::to_device ? "to" : "from"));
}

class StreamCopyQueue final : public CopyQueue {
 public:
  StreamCopyQueue(Runtime& runtime, std::function<void()> make_current)
      : runtime_(runtime), make_current_(std::move(make_current)), stream_(runtime) {}
  void start(const Copy& copy) override {
    make_current_();
    queue_copy(runtime_, copy, stream_.get());
  }
  void wait() override {
    make_current_();
    runtime_.check(runtime_.synchronize(stream_.get()), "cudaStreamSynchronize of a copy");
  }

 private:
  Runtime& runtime_;
  std::function<void()> make_current_;
  CudaStream stream_;
};

std::optional<int> node_of_card(std::string bus_id) {
  std::ranges::transform(bus_id, bus_id.begin(), [](unsigned char c) { return std::tolower(c); });
  std::ifstream in("/sys/bus/pci/devices/" + bus_id + "/numa_node");
  int node = -1;
  in >> node;
  return in && node >= 0 ? std::optional(node) : std::nullopt;
}

}  // namespace

std::vector<int> CudaTransfers::nodes() const {
  return nodes_from(node_of_card(pci_bus_id()), online_nodes());
}

std::optional<std::string> CudaTransfers::cannot_hold(const HostMemoryRequest& request) const {
  return request.node ? no_such_node(*request.node, online_nodes()) : std::nullopt;
}

std::unique_ptr<HostMemory> CudaTransfers::host_memory(const HostMemoryRequest& request) {
  make_current();
  if (request.kind == HostKind::pageable) {
    return host_pages(request);
  }
  if (request.node) {
    HostMemoryRequest pages = request;
    pages.kind = HostKind::pageable;
    return std::make_unique<RegisteredMemory>(runtime(), host_pages(pages));
  }
  refuse_beyond_available(request.bytes);
  return std::make_unique<PinnedMemory>(runtime(), request.bytes);
}

CudaTransfers::Side& CudaTransfers::side(std::size_t index) {
  while (sides_.size() <= index) {
    sides_.push_back(std::make_unique<Side>(runtime()));
  }
  return *sides_[index];
}

void CudaTransfers::copy(std::span<const Copy> copies) {
  make_current();
  const std::size_t sides = std::min(kSideStreams, copies.size() - std::min<std::size_t>(1, copies.size()));
  if (sides > 0) {
    if (!fork_) {
      fork_ = std::make_unique<CudaEvent>(runtime());
    }
    runtime().check(runtime().record(fork_->get(), main_stream()), "cudaEventRecord before copies");
    for (std::size_t i = 0; i < sides; ++i) {
      runtime().check(runtime().stream_wait(side(i).stream.get(), fork_->get()), "cudaStreamWaitEvent");
    }
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    const std::size_t lane = i % (sides + 1);
    queue_copy(runtime(), copies[i], lane == 0 ? main_stream() : side(lane - 1).stream.get());
  }
  for (std::size_t i = 0; i < sides; ++i) {
    runtime().check(runtime().record(side(i).done.get(), side(i).stream.get()),
                    "cudaEventRecord after copies");
    runtime().check(runtime().stream_wait(main_stream(), side(i).done.get()), "cudaStreamWaitEvent");
  }
}

std::unique_ptr<CopyQueue> CudaTransfers::copy_queue() {
  make_current();
  return std::make_unique<StreamCopyQueue>(runtime(), [this] { make_current(); });
}

void CudaTransfers::evict(const std::byte* /*data*/, std::int64_t /*bytes*/) {}

bool CudaTransfers::renew(std::byte* data, std::int64_t bytes) {
  return renew_pages(data, bytes);
}

std::int64_t CudaTransfers::host_bytes_used() const {
  const HostInfo host = host_info();
  return host.memory_bytes - host.available_bytes;
}

}  // namespace bench::kernels::cuda
