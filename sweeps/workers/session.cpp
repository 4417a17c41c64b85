#include "sweeps/workers/session.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/run/interrupt.h"
#include "sweeps/workers/other_load.h"

namespace bench::sweeps {

// Forgotten right before it is read: what one pass brought into memory must not serve the next.
class ColdData final : public loader::Dataset {
 public:
  explicit ColdData(std::unique_ptr<loader::Dataset> data) : data_(std::move(data)) {}
  std::int64_t size() const override { return data_->size(); }
  std::string name(std::int64_t number) const override { return data_->name(number); }
  std::int64_t encoded_bytes(std::int64_t number) const override { return data_->encoded_bytes(number); }
  void read(std::int64_t number, std::vector<std::byte>& bytes) const override {
    const auto refused = data_->evict(number);
    {
      const std::scoped_lock lock(mutex_);
      ++forgetting_.asked;
      if (refused && ++forgetting_.refused == 1) {
        forgetting_.reason = *refused;
      }
    }
    data_->read(number, bytes);
  }
  std::optional<std::string> evict(std::int64_t number) const override { return data_->evict(number); }
  Session::Forgetting forgetting() const {
    const std::scoped_lock lock(mutex_);
    return forgetting_;
  }

 private:
  std::unique_ptr<loader::Dataset> data_;
  mutable std::mutex mutex_;
  mutable Session::Forgetting forgetting_;
};

namespace {

// Of a few images all over the data set: those of one folder or shard may lie elsewhere than the others.
void check_that_it_forgets(const loader::Dataset& data) {
  constexpr std::int64_t kTried = 8;
  const std::int64_t step = std::max<std::int64_t>(1, data.size() / kTried);
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < data.size(); i += step) {
    try {
      data.read(i, bytes);  // so that there is something to forget
    } catch (const loader::BadImage&) {
      continue;  // counted when a worker meets it
    }
    if (const auto reason = data.evict(i)) {
      throw Unsupported(fmt::format("--cold: {}", *reason));
    }
  }
}

}  // namespace

Nice nice_beside_others(int cores) {
  constexpr double kLeftToOthers = 0.25;  // cores
  // Each thread must get a core once more to end, and nice ones wait for it: at most this many a core.
  constexpr std::int64_t kWorkersPerCore = 16;
  constexpr auto kLooked = std::chrono::milliseconds(330);
  const double elsewhere = cores_busy_elsewhere(kLooked);
  const double left = static_cast<double>(sysconf(_SC_NPROCESSORS_ONLN)) - elsewhere;
  if (left < cores - kLeftToOthers) {
    return {.wanted = 0, .busy_elsewhere = elsewhere};
  }
  return {.wanted = loader::kNicest, .most_workers = kWorkersPerCore * cores};
}

const loader::Dataset& Session::data() {
  if (data_) {
    return *data_;
  }
  std::unique_ptr<loader::Dataset> opened = loader::open_data(data_name, progress);
  if (cold) {
    check_that_it_forgets(*opened);
    auto forgetful = std::make_unique<ColdData>(std::move(opened));
    cold_ = forgetful.get();
    opened = std::move(forgetful);
  }
  unlimited_ = opened.get();
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

void Session::warm() {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
  const std::int64_t images = data().size();
  std::int64_t bytes = 0;
  for (std::int64_t i = 0; i < images && bytes <= kMostBytes; ++i) {
    bytes += data_->encoded_bytes(i);
  }
  if (cold || bytes > kMostBytes) {
    return;
  }
  std::vector<std::byte> encoded;
  for (std::int64_t i = 0; i < images; ++i) {
    progress("reading the images once", static_cast<double>(i) / static_cast<double>(images));
    try {
      unlimited_->read(i, encoded);
    } catch (const loader::BadImage&) {
      // Counted when a worker meets it.
    }
  }
}

Session::Forgetting Session::forgetting() const {
  return cold_ == nullptr ? Forgetting{} : cold_->forgetting();
}

}  // namespace bench::sweeps
