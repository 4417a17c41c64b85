#include "sweeps/workers/session.h"

#include <chrono>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/run/interrupt.h"

namespace bench::sweeps {
namespace {

// Forgotten right before it is read: what one pass brought into memory must not serve the next.
class ColdData final : public loader::Dataset {
 public:
  explicit ColdData(std::unique_ptr<loader::Dataset> data) : data_(std::move(data)) {}
  std::int64_t size() const override { return data_->size(); }
  std::string name(std::int64_t number) const override { return data_->name(number); }
  std::int64_t encoded_bytes(std::int64_t number) const override { return data_->encoded_bytes(number); }
  void read(std::int64_t number, std::vector<std::byte>& bytes) const override {
    data_->evict(number);
    data_->read(number, bytes);
  }
  std::optional<std::string> evict(std::int64_t number) const override { return data_->evict(number); }

 private:
  std::unique_ptr<loader::Dataset> data_;
};

}  // namespace

const loader::Dataset& Session::data() {
  if (data_) {
    return *data_;
  }
  std::unique_ptr<loader::Dataset> opened = loader::open_data(data_name, progress);
  if (cold) {
    std::vector<std::byte> bytes;
    try {
      opened->read(0, bytes);  // so that there is something to forget
    } catch (const loader::BadImage&) {
      // Counted when a worker meets it.
    }
    if (const auto reason = opened->evict(0)) {
      throw Unsupported(fmt::format("--cold: {}", *reason));
    }
    opened = std::make_unique<ColdData>(std::move(opened));
  }
  if (storage) {
    opened = loader::limited(std::move(opened), *storage, stop_.get_token());
    watch_ = std::jthread([this](const std::stop_token& ended) {
      while (!ended.stop_requested() && !stop_.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        if (interrupted()) {
          stop_.request_stop();
        }
      }
    });
  }
  data_ = std::move(opened);
  return *data_;
}

}  // namespace bench::sweeps
