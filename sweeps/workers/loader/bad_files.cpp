#include "sweeps/workers/loader/bad_files.h"

namespace bench::loader {

void BadFiles::add(std::int64_t number, const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  files_.emplace(number, reason);
}

bool BadFiles::contains(std::int64_t number) const {
  const std::scoped_lock lock(mutex_);
  return files_.contains(number);
}

std::map<std::int64_t, std::string> BadFiles::all() const {
  const std::scoped_lock lock(mutex_);
  return files_;
}

}  // namespace bench::loader
