// A group of one rank that has nobody to wait for, for tests that change a part of it.
#pragma once

#include <memory>

#include "bench/ranks.h"

namespace bench::testing {

class OneRank : public RankGroup {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<RankGroup> first(int) override { return std::make_unique<OneRank>(); }
  void run(const Collective&) override {}
  std::unique_ptr<PendingCollective> start(const Collective&) override { return nullptr; }
  void barrier() override {}
};

}  // namespace bench::testing
