// A result of `bench --sweep cards` as advice reads it: the step that is advised on, and what limits it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/advise/advice.h"
#include "bench/advise/step_model.h"
#include "bench/result/result.h"
#include "bench/result/shared_cores.h"

namespace bench {

double step_ns(const Point& point);  // the median
// From a point's params.
std::int64_t count_of(const Point& point, const char* key, std::int64_t otherwise);
std::int64_t ranks_of(const Point& point);
bool splits_layers(const Point& point);
// Ranks that share out the layers hold one copy of the model, and count as one card of its batch.
TrainingSettings settings_of(const Point& point);
// "layers over 2 ranks, 4 micro-batches", or "2 ranks".
std::string stages_in_words(const Point& point);

// What a run of the cards sweep found, by the names that its file has; nullptr: it did not.
struct CardsFindings {
  explicit CardsFindings(const ResultDocument& document);

  const Finding* cards = nullptr;
  const Finding* limit = nullptr;
  const Finding* loader = nullptr;
  const Finding* ranks = nullptr;
  const Finding* balance = nullptr;
  const Finding* memory = nullptr;
  // On the steps of several ranks: their efficiency, or without one rank alone their waits.
  std::vector<const Finding*> steps{};
};

class MeasuredCards {
 public:
  // Of a file that lives longer. Throws UsageError naming it where it has no finding on several ranks.
  explicit MeasuredCards(const EvaluatedFile& file);

  const ResultDocument& document() const { return document_; }
  // The most ranks that the finding `cards` is on.
  const Point& now() const { return *now_; }
  // One rank with as much work; nullptr where it was not measured.
  const Point* alone() const { return alone_; }
  const CardsFindings& findings() const { return findings_; }
  bool is_training() const { return document_.sweep.mode != "infer"; }
  bool is_on_cpu() const { return document_.context.device.kind == "cpu"; }

  double exposed_ns() const;  // that a step waits for gradients
  bool takes_turns() const;   // on the host's cores, by the finding on what limits
  std::int64_t memory_of_a_rank() const;
  bool memory_is_full() const;

  // Of a step; empty where they are not told apart.
  std::vector<BudgetPart> budget() const;
  // With the reason, a sentence.
  std::pair<Bottleneck, std::string> limit() const;

 private:
  const Point* point(const std::string& name) const;
  double memory_share() const;
  std::optional<std::string> launch_limit() const;

  const ResultDocument& document_;
  CardsFindings findings_;
  std::optional<SharedCores> shared_cores_;
  const Point* now_ = nullptr;
  const Point* alone_ = nullptr;
  const Finding* steps_ = nullptr;  // on the step of `now_`: efficiency, or waits without one rank alone
};

}  // namespace bench
