// Gives points that ask the same question the same object, such as the reference's answers. Keeps none
// itself: the points own them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "bench/workload.h"

namespace bench::kernels {

template <class Shared>
class SharedByQuestion {
 public:
  // `make` is called where no point has one. `batch`: that of the spec where the answer depends on it.
  template <class Make>
  std::shared_ptr<Shared> of(const WorkloadSpec& spec, const Make& make, std::int64_t batch = 0) {
    const std::scoped_lock lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    auto& known = known_[{spec.mode, spec.options, spec.seed, batch}];
    std::shared_ptr<Shared> shared = known.lock();
    if (shared == nullptr) {
      shared = make();
      known = shared;
    }
    return shared;
  }

 private:
  // The parts of a spec that answers depend on: its mode, options and seed, never its dtype.
  using Question = std::tuple<std::string, std::map<std::string, std::string>, std::uint64_t, std::int64_t>;
  std::mutex mutex_;
  std::map<Question, std::weak_ptr<Shared>> known_;
};

}  // namespace bench::kernels
