// What a transfer sweep answers, decided once from its points and studies: whether pinned memory pays for a
// step, what the bus carries, where one kind of memory becomes faster. Findings, tables and charts put it
// into words.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/result/result.h"
#include "bench/sweep.h"
#include "sweeps/series/series.h"
#include "sweeps/transfer/copies.h"
#include "sweeps/transfer/studies.h"
#include "sweeps/transfer/verdict.h"

namespace bench::sweeps {

// The answer rests on these.
struct TransferEvidence {
  TransferEvidence(const ResultDocument& result, TransferState studied)
      : document(result), state(std::move(studied)), series(copy_series(result)) {}

  const ResultDocument& document;
  TransferState state;
  std::vector<CopySeries> series;
};

// Of a device that is not here: the copy of a batch next to the step that reads it.
struct InputCopy {
  BatchParams params;
  const Point* step = nullptr;  // nullptr: none is predicted
  std::string refusal{};        // why
  std::int64_t bytes = 0;
  std::optional<double> least_ns{};  // of the copy; none where the bus is not known
  std::optional<double> share{};     // of the step

  std::string finding_name() const;
};

struct Bus {
  std::string pcie{};                   // "gen4 x16"; empty: none
  bool is_of_data_sheet = false;        // of a device that is not here, to which no copy is timed
  bool is_crossed = false;              // by the copies that were timed
  std::optional<double> bytes_per_s{};  // each way; none where none is crossed or its generation is unknown
  const SizePoint* fastest = nullptr;   // of the copies one way

  // The link or the time was misread: a copy is faster than the bus.
  bool is_misread() const {
    return bytes_per_s && fastest != nullptr && fastest->bytes_per_s() > *bytes_per_s;
  }
  // What is not misread.
  std::optional<double> known_bytes_per_s() const { return is_misread() ? std::nullopt : bytes_per_s; }
};

// From which size on a kind of memory is faster than pageable memory, or slower.
struct Crossover {
  std::string direction{};
  std::string kind{};
  SameSize largest{};  // of this kind, and pageable
  std::optional<double> faster_from{};
  std::optional<double> slower_from{};
  std::optional<double> models_cross_at{};

  std::string finding_name() const;
};

struct Overlap {  // of a step's computing with the copy of the next batch
  const KindSteps* kind = nullptr;
  std::optional<Estimate> hidden{};  // see hidden_share()
  std::optional<double> slower{};    // see slowdown()
};

// A workload's steps with one batch.
struct StepsAnswer {
  const StepStudy* study = nullptr;
  LockedBytes locked{};
  std::optional<PinVerdict> verdict{};  // none: too little was measured
  std::optional<double> pinning_ns{};   // of locked.pinned; none where the host refuses it
  std::vector<Overlap> overlaps{};

  std::string finding_name() const;
  std::string overlap_name(const Overlap& overlap) const;
};

struct PinnedMemory {
  const PinningCost* largest = nullptr;  // nullptr: none could be pinned
  std::string refused{};                 // why larger ones could not; empty: none was refused
};

struct HeldThread {  // by the call of the largest copy to the device that both were measured with
  const CallTime* pinned = nullptr;
  const CallTime* pageable = nullptr;
};

// Refers to the evidence, which has to outlive it.
struct TransferAnswer {
  std::vector<InputCopy> inputs{};
  std::vector<StepsAnswer> steps{};
  Bus bus{};
  std::vector<Crossover> crossovers{};
  std::optional<PinnedMemory> pinning{};
  std::optional<HeldThread> held{};

  const Crossover* crossover(const std::string& direction, const std::string& kind) const;
};
TransferAnswer answer_of(const TransferEvidence& evidence);
// Of a file: where its run, perhaps of another version, found another model or crossover, that one.
// Throws UsageError and Json::exception.
struct StoredTransfer {
  explicit StoredTransfer(const ResultDocument& document);

  TransferEvidence evidence;
  TransferAnswer answer;
};

// The verdicts first. Pure; copes with few points.
std::vector<Finding> transfer_findings(const ResultDocument& document, const TransferState& state);
std::vector<TextTable> transfer_tables(const ResultDocument& document, const TransferState& state);

// The verdicts first, with the caveat next to them where no bus was crossed; of a device that is not here the
// copy that takes the largest share of its step, then the bus.
void choose_transfer_headlines(const TransferEvidence& evidence, const TransferAnswer& answer,
                               std::vector<Finding>& findings);

// From the studies: the verdicts on a workload's steps and what they overlap; the costs of pinning and of
// calls that hold their thread.
void claim_steps(const TransferEvidence& evidence, const TransferAnswer& answer,
                 std::vector<Finding>& findings);
void claim_host_costs(const TransferEvidence& evidence, const TransferAnswer& answer,
                      std::vector<Finding>& findings);

// "to the device", "to the host", "both ways at once".
std::string copy_way(const std::string& direction);
// "12.3 GB/s".
std::string byte_rate(double bytes_per_s);
// "1.00 MiB" of a whole number of bytes.
std::string size_text(double bytes);

}  // namespace bench::sweeps
