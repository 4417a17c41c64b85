#include "sweeps/workers/session.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/interrupt.h"

namespace bench::sweeps {

// Evicts each image from the page cache right before it is read.
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
      ++evicted_;
      if (refused && ++still_cached_ == 1) {
        reason_ = *refused;
      }
    }
    data_->read(number, bytes);
  }
  std::optional<std::string> evict(std::int64_t number) const override { return data_->evict(number); }
  void add_to(DataFound& found) const {
    const std::scoped_lock lock(mutex_);
    found.evicted = evicted_;
    found.still_cached = still_cached_;
    found.still_cached_reason = reason_;
  }

 private:
  std::unique_ptr<loader::Dataset> data_;
  mutable std::mutex mutex_;
  mutable std::int64_t evicted_ = 0;
  mutable std::int64_t still_cached_ = 0;
  mutable std::string reason_;  // of the first
};

namespace {

// Tries a few images all over the data set: one folder or shard may lie on another storage than the others.
void check_eviction(const loader::Dataset& data) {
  constexpr std::int64_t kTried = 8;
  const std::int64_t step = std::max<std::int64_t>(1, data.size() / kTried);
  std::vector<std::byte> bytes;
  for (std::int64_t i = 0; i < data.size(); i += step) {
    try {
      data.read(i, bytes);  // so that there is something to evict
    } catch (const loader::BadImage&) {
      continue;  // counted when a worker meets it
    }
    if (const auto reason = data.evict(i)) {
      throw Unsupported(
          fmt::format("--cold: {}; leave it out, or give --data on a disk, with files of your own", *reason));
    }
  }
}

}  // namespace

const loader::Dataset& LoaderSession::data() {
  if (data_) {
    return *data_;
  }
  std::unique_ptr<loader::Dataset> opened = loader::open_data(data_name, progress, clock);
  if (cold) {
    check_eviction(*opened);
    auto evicting = std::make_unique<ColdData>(std::move(opened));
    cold_ = evicting.get();
    opened = std::move(evicting);
  }
  unlimited_ = opened.get();
  if (storage) {
    opened = loader::limited(std::move(opened), *storage, clock, interrupted);
  }
  data_ = std::move(opened);
  return *data_;
}

void LoaderSession::warm() {
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

DataFound LoaderSession::found() {
  constexpr std::int64_t kMostAsked = 100'000;
  constexpr std::size_t kMostNamed = 100;
  const loader::Dataset& images = data();
  DataFound found{.images = images.size(), .mean_encoded_bytes = mean_encoded_bytes(images, kMostAsked)};
  if (cold_ != nullptr) {
    cold_->add_to(found);
  }
  for (const auto& [number, reason] : bad.all()) {
    if (found.bad_files.size() < kMostNamed) {
      found.bad_files.emplace_back(images.name(number), reason);
    }
  }
  return found;
}

double mean_encoded_bytes(const loader::Dataset& data, std::int64_t most_asked) {
  const std::int64_t asked = std::min(data.size(), most_asked);
  double bytes = 0;
  for (std::int64_t i = 0; i < asked; ++i) {
    bytes += static_cast<double>(data.encoded_bytes(i));
  }
  return bytes / static_cast<double>(asked);
}

}  // namespace bench::sweeps
