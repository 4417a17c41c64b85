#include "sweeps/workers/loader/storage.h"

#include <chrono>
#include <cmath>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench::loader {
namespace {

class Limited final : public Dataset {
 public:
  Limited(std::unique_ptr<Dataset> data, const Storage& limit, const Clock& clock, CancelToken cancel)
      : data_(std::move(data)),
        clock_(clock),
        cancel_(std::move(cancel)),
        start_(clock.now()),
        limit_(limit),
        reservations_(limit) {}

  std::int64_t size() const override { return data_->size(); }
  std::string name(std::int64_t number) const override { return data_->name(number); }
  std::int64_t encoded_bytes(std::int64_t number) const override { return data_->encoded_bytes(number); }
  void read(std::int64_t number, std::vector<std::byte>& bytes) const override {
    const double asked = clock_.since_ns(start_);
    data_->read(number, bytes);
    // The time that the read itself took is part of what it is made to take.
    double done = limit_.latency_ns;
    {
      const std::scoped_lock lock(mutex_);
      done += reservations_.reserve(asked, static_cast<double>(bytes.size()));
    }
    sleep_until(clock_, start_ + std::chrono::nanoseconds(std::llround(done)), cancel_);
  }
  std::optional<std::string> evict(std::int64_t number) const override { return data_->evict(number); }

 private:
  std::unique_ptr<Dataset> data_;
  const Clock& clock_;
  CancelToken cancel_;
  Clock::time_point start_;
  Storage limit_;
  mutable std::mutex mutex_;
  mutable Reservations reservations_;
};

}  // namespace

Storage parse_storage(const std::string& text) {
  const std::size_t comma = text.find(',');
  const std::string rate = text.substr(0, comma);
  if (rate.size() < 3 || !rate.ends_with("/s")) {
    throw UsageError(fmt::format(
        "--storage: {} was given; accepted: bytes a second and the latency of a read, such as 200MB/s,5ms",
        quote(text)));
  }
  Storage limit;
  limit.bytes_per_s = static_cast<double>(parse_bytes("--storage", rate.substr(0, rate.size() - 2)));
  if (comma != std::string::npos) {
    const std::string latency = text.substr(comma + 1);
    limit.latency_ns = latency == "0" ? 0 : static_cast<double>(parse_duration("--storage", latency).count());
  }
  return limit;
}

std::unique_ptr<Dataset> limited(std::unique_ptr<Dataset> data, const Storage& limit, const Clock& clock,
                                 CancelToken cancel) {
  return std::make_unique<Limited>(std::move(data), limit, clock, std::move(cancel));
}

}  // namespace bench::loader
