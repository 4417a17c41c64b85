// Images of a data set that cannot be used.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace bench::loader {

// Files that were skipped, by number, and why.
class BadFiles {
 public:
  void add(std::int64_t number, const std::string& reason);
  bool contains(std::int64_t number) const;
  std::map<std::int64_t, std::string> all() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::string> files_;
};

}  // namespace bench::loader
