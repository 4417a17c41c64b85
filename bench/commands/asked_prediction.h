// What a command's words ask of GPUs that are not here: the network, the cards, dtypes and batches, and what
// runs it. Shared by `bench predict` and `bench evaluate`.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/command.h"
#include "bench/predict/prediction.h"

namespace bench {

// What counts where the words do not say it.
struct PredictionDefaults {
  std::string network{};                                   // empty: it has to be given
  std::string mode{};                                      // empty: the network's first
  std::string dtypes{};                                    // empty: those that each card has units for
  std::vector<std::int64_t> batches{};                     // empty: as far as memory allows
  std::int64_t LargestBatch::*last = &LargestBatch::most;  // of batches asked for
};

class AskedPrediction {
 public:
  // Throws UsageError naming the option that is wrong or missing. The words outlive it.
  AskedPrediction(const CommandWords& words, const PredictionDefaults& defaults);
  AskedPrediction(const AskedPrediction&) = delete;
  AskedPrediction& operator=(const AskedPrediction&) = delete;

  const PredictionRequest& request() const { return request_; }
  // Says on standard error what a network's file assumes. Throws UsageError where the model knows no time of
  // the network.
  Prediction predicted() const;

 private:
  void read_workload(const std::string& default_network);
  void read_spec(const std::string& default_mode);
  void read_axes(const PredictionDefaults& defaults);
  void read_framework();
  void read_references();

  const CommandWords& words_;
  std::optional<WorkloadType> own_;  // read from a file
  std::unique_ptr<EngineReference> engine_;
  PredictionRequest request_;
};

}  // namespace bench
