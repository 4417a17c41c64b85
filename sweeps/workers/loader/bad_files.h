// The images of a data set that were skipped, and why.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace bench::loader {

// Any number of threads may call it at once.
class BadFiles {
 public:
  void add(std::int64_t number, const std::string& reason) {
    const std::scoped_lock lock(mutex_);
    files_.emplace(number, reason);
  }
  bool contains(std::int64_t number) const {
    const std::scoped_lock lock(mutex_);
    return files_.contains(number);
  }
  std::map<std::int64_t, std::string> all() const {
    const std::scoped_lock lock(mutex_);
    return files_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::string> files_;
};

}  // namespace bench::loader
