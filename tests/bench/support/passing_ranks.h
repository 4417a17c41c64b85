// A group that passes everything on to another, for tests that change a part of it.
#pragma once

#include <memory>

#include "bench/ranks.h"

namespace bench::testing {

class PassingRanks : public RankGroup {
 public:
  explicit PassingRanks(RankGroup& group) : group_(group) {}
  int rank() const override { return group_.rank(); }
  int size() const override { return group_.size(); }
  std::unique_ptr<RankGroup> first(int ranks) override { return group_.first(ranks); }
  void run(const Collective& collective) override { group_.run(collective); }
  std::unique_ptr<PendingCollective> start(const Collective& collective) override {
    return group_.start(collective);
  }
  void exchange(std::span<const Collective> messages) override { group_.exchange(messages); }
  void barrier() override { group_.barrier(); }

 private:
  RankGroup& group_;
};

}  // namespace bench::testing
