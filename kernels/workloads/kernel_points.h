// The points that workloads offer to the kernels sweep.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "bench/device.h"
#include "bench/workload.h"

namespace bench::kernels {

inline constexpr std::int64_t kMi = std::int64_t{1} << 20;

// A card has more bandwidth and more cores than a CPU, and needs larger work before it shows what it can do.
inline bool needs_large_work(const Device& device) {
  return !device.computes_on_host();
}

// The request's batches, or the workload's usual ones where none were given.
inline std::vector<std::int64_t> batches_or(const KernelRequest& request,
                                            const std::vector<std::int64_t>& usual) {
  return request.batches.empty() ? usual : request.batches;
}

// The dtypes that were given, or the workload's usual ones.
inline std::vector<Dtype> given_dtypes_or(const KernelRequest& request, const std::vector<Dtype>& usual) {
  return request.dtypes_given ? request.dtypes : usual;
}

// The dtypes of the request that a workload has, in the request's order.
template <class Predicate>
std::vector<Dtype> dtypes_where(const KernelRequest& request, Predicate has) {
  std::vector<Dtype> some;
  for (const Dtype dtype : request.dtypes) {
    if (has(dtype)) {
      some.push_back(dtype);
    }
  }
  return some;
}

// A list of points that grows.
class KernelPoints {
 public:
  using Sizes = std::map<std::string, std::int64_t>;  // of the options that the point sets
  struct Caches {
    bool cold = false;
    bool is_reference = false;
  };

  explicit KernelPoints(const KernelRequest& request) : seed_(request.seed) {}

  void add(const std::string& mode, Dtype dtype, std::int64_t batch, const Sizes& sizes, Caches caches) {
    KernelPoint point;
    point.spec = {.mode = mode, .dtype = dtype, .batch = batch, .seed = seed_, .options = {}};
    for (const auto& [option, size] : sizes) {
      point.spec.options[option] = std::to_string(size);
    }
    point.cold = caches.cold;
    point.is_reference = caches.is_reference;
    points_.push_back(std::move(point));
  }
  void add_hot_and_cold(const std::string& mode, Dtype dtype, std::int64_t batch, const Sizes& sizes) {
    add(mode, dtype, batch, sizes, {});
    add(mode, dtype, batch, sizes, {.cold = true});
  }
  std::vector<KernelPoint> take() && { return std::move(points_); }

 private:
  std::uint64_t seed_;
  std::vector<KernelPoint> points_;
};

}  // namespace bench::kernels
