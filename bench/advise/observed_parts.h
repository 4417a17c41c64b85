// The parts of advice_from_readings(), one question each. A part adds tables, changes, contradictions and
// what is missing to the advice; those that can name the bottleneck return it.
#pragma once

#include <optional>
#include <string>

#include "bench/advise/observed_advice.h"
#include "bench/advise/step_model.h"
#include "bench/advise/step_option.h"
#include "bench/model/gpu.h"

namespace bench {

// Figures as the parts print them.
std::string hours_in_words(double seconds);  // "222.9 h (9.3 days)", "50.8 min"
std::string gib_in_words(double bytes);      // "9.36 GiB"
std::string share_in_words(double share);    // "96.6 %"
std::string seconds_in_words(double seconds);

// Time of one accumulation; absent where the readings do not tell it.
std::optional<double> accumulation_s(const Observed& observed);

// A step whose wait is hidden, by this run and those with other counts of workers; absent without a wait.
std::optional<double> hidden_step_s(const Observed& observed);

// What the proposed count of cards brings, by what was read of them.
struct ReadScaling {
  CardsScaling brings;
  std::string evidence;
  bool is_measured = false;  // by step times of two counts of cards
};
// nullopt: none is proposed, or nothing tells.
std::optional<ReadScaling> scaling_of(const Observed& observed);

// The step as it was read in the step model, and what other counts of workers and the proposed cards bring.
// One that was not read counts as one second, of which ratios are right.
struct ReadStep {
  explicit ReadStep(const Observed& given);

  // One that pays and has another count of this; nullptr: none does.
  const StepOption* paying(std::int64_t TrainingSettings::*count) const;

  const Observed& observed;
  std::optional<ReadScaling> scaling;
  StepModel model;
  StepOption now;
  FoundChanges found;
};

// Of a card of so many bytes, by the memory that was read at two batches or more.
std::optional<BatchLimits> batch_limits(const Observed& observed, double cap);

// Of the catalogue; nullptr where it was not named, or is not in it.
const Gpu* card_of(const Observed& observed);
// Bytes of the host's memory that nothing uses; absent where they were not read.
std::optional<double> room_on_host(const Observed& observed);
// Whether the other run's steps are of the same samples: batch, accumulation, size and length.
bool is_same_work(const Observed& observed, const OtherRun& other);

std::optional<NamedBottleneck> advise_host(const ReadStep& read, Advice& advice);
std::optional<NamedBottleneck> advise_loading(const ReadStep& read, Advice& advice);
std::optional<NamedBottleneck> advise_memory(const Observed& observed, Advice& advice);
void advise_training_time(const Observed& observed, Advice& advice);
// What another count of cards brought.
std::optional<NamedBottleneck> compare_earlier_run(const Observed& observed, Advice& advice);
void advise_cards(const ReadStep& read, Advice& advice);
void advise_proposal(const ReadStep& read, Advice& advice);
void advise_split(const Observed& observed, Advice& advice);
// Whether gradients were replayed: several cards train, and their step is known.
bool advise_stand_in(const Observed& observed, const StandIn& stand_in, Advice& advice);

}  // namespace bench
