// Parameters that are drawn once for all trainers that are compared.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/networks/graph/parameters.h"

namespace bench::kernels {

// While one lives, its thread draws each parameter of a network once: trainers that are compared start with
// the same values. Holds the plain values of parameters, at most so many bytes; further ones are drawn again.
// An inner one does nothing.
class DrawnOnce {
 public:
  explicit DrawnOnce(std::int64_t most_bytes);
  DrawnOnce(const DrawnOnce&) = delete;
  DrawnOnce& operator=(const DrawnOnce&) = delete;
  ~DrawnOnce();

  std::int64_t draws() const { return draws_; }  // parameters drawn so far

 private:
  friend std::vector<float> plain_parameter(const Graph& graph, Graph::Value value, Slot slot,
                                            std::uint64_t seed);
  // The layer and its name, the parameter, the seed and how many values it has.
  using Key = std::tuple<std::shared_ptr<const Layer>, std::string, Slot, std::uint64_t, std::size_t>;

  std::int64_t left_;  // bytes
  std::int64_t draws_ = 0;
  std::map<Key, std::vector<float>> known_;
};

}  // namespace bench::kernels
