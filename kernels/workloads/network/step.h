// What the steps of a network's workloads share: the batch, how a step is started, and what its ranks
// exchange.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/ranks.h"
#include "bench/workload.h"
#include "kernels/networks/program/trainer.h"
#include "kernels/workloads/network/network_workload.h"

namespace bench::kernels {

// How many different samples a batch of inference repeats, each of which costs a reference answer. With two,
// mixed-up rows are seen. Where the reference works for several seconds on each, as on U-Net's 512 pixels, it
// is one.
std::uint64_t distinct_samples(const Graph& graph);
void set_seeded_batch(ProgramRunner& runner, std::uint64_t seed);

// Labels of `count` samples of the network from number `first` on, one for each row that the step's loss
// reads. Where a network of tokens answers at every position with a score for each token, the one that
// follows. Otherwise neighbouring rows often share one, as the pixels of an object do.
std::vector<std::int32_t> seeded_labels(const Graph& graph, const TrainingParts& step, std::uint64_t seed,
                                        std::uint64_t first, std::uint64_t count);
// Fills in the samples and labels of rounds round to round + rounds - 1; each has eight distinct ones.
void set_seeded_batch(Trainer& trainer, std::uint64_t seed, std::uint64_t round = 0,
                      std::uint64_t rounds = 1);

// Nothing was checked, and why.
Verification not_checked(std::string why);
// Of values' bits.
std::string fingerprint_of(const std::vector<float>& values);

// A step of a network: a workload, or a rank's part of one.
template <class Kind, class Runner>
class NetworkStep : public Kind {
 public:
  Work work() const override { return runner_.plan().work(); }
  Algorithms algorithms() const override { return runner_.plan().algorithms(); }

  Runner& runner() { return runner_; }

 protected:
  NetworkStep(ProgramPlan plan, std::uint64_t seed, Device& device)
      : device_(device), runner_(std::move(plan), device, seed) {}

  Device& device_;  // NOLINT
  Runner runner_;   // NOLINT
};

// The whole step on one device.
template <class Runner>
class SingleStep : public NetworkStep<Workload, Runner> {
 public:
  void step() override { recorded_ ? recorded_->replay() : this->runner_.run(); }

 protected:
  SingleStep(ProgramPlan plan, const NetworkPoint& point, Device& device)
      : NetworkStep<Workload, Runner>(std::move(plan), point.seed, device) {
    set_seeded_batch(this->runner_, point.seed);
    if (point.launch == Launch::graph) {
      recorded_ = device.record([this] { this->runner_.run(); });
    }
  }

  std::unique_ptr<RecordedStep> recorded_;  // NOLINT: with --launch graph
};

// One rank among those that do a step together.
class StepRanks {
 public:
  // Throws Unsupported where the point's step is recorded.
  StepRanks(const NetworkPoint& point, RankGroup& ranks, Device& device);

  RankGroup& group() const { return ranks_; }
  int rank() const { return ranks_.rank(); }
  int size() const { return ranks_.size(); }
  bool is_first() const { return rank() == 0; }
  bool is_last() const { return rank() + 1 == size(); }

  // Messages after what was computed before and before what is computed next.
  void exchange(std::span<const Collective> messages);
  // A collective on values of the host, by way of a card's memory where the ranks exchange that.
  void run(CollectiveKind kind, std::vector<float>& values, int peer = 0);
  bool have_the_same(const std::string& own);

  // The step's time within the library that moves data, in which the host computes nothing. On a card it is
  // what the group says.
  void restart_waiting() { within_library_ns_ = 0; }
  void within_library(const std::function<void()>& call);
  double waited_ns() const { return ranks_.waited_on_device_ns().value_or(within_library_ns_); }

 private:
  RankGroup& ranks_;
  Device& device_;
  double within_library_ns_ = 0;
};

// One rank's part of a step.
template <class Runner>
class RankStep : public NetworkStep<RankWorkload, Runner> {
 public:
  double waited_ns() const override { return ranks_.waited_ns(); }

 protected:
  RankStep(ProgramPlan plan, std::uint64_t seed, const StepRanks& ranks, Device& device)
      : NetworkStep<RankWorkload, Runner>(std::move(plan), seed, device), ranks_(ranks) {}

  StepRanks ranks_;  // NOLINT
};

}  // namespace bench::kernels
