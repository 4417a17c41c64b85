// A job of so many samples: what it takes on each device, and whether to hire or to buy for it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/stats/estimate.h"

namespace bench {

struct Evaluation;
struct EvaluatedRow;

struct Job {
  double samples = 0;
  std::string words;  // as it was given: "115.2M samples", "90 epochs of 1.28M samples"
};

// "115.2M": a positive number; k: 10^3, M: 10^6, G: 10^9. Throws UsageError that names the option.
double parse_samples(std::string_view option, std::string_view text);
// As --samples says it.
Job job_of_samples(std::string_view samples);
// As --epochs and --images say it.
Job job_of_epochs(std::string_view epochs, std::string_view images);

// The job on one device, in the headlines' dtype, or the device's fastest where it lacks that.
struct DeviceJob {
  std::size_t row = 0;             // of Evaluation::rows
  Estimate hours{};                // the least that it can be where the row's point is a bound
  std::optional<Estimate> cost{};  // of hire, or of the purchase and its energy
  std::optional<double> kwh{};     // an upper bound where power was not measured
};

// A purchase compared with hire.
struct BreakEven {
  std::size_t bought = 0;  // of Evaluation::rows
  std::size_t hired = 0;
  Estimate hours{};  // of use of what is bought, from which it costs less; infinite: never
};

// In the order of the devices.
std::vector<DeviceJob> job_on_devices(const Evaluation& evaluation, const Job& job);
// None unless `bought` has a purchase's price and `hired` one of hire.
std::optional<BreakEven> break_even(const Evaluation& evaluation, const EvaluatedRow& bought,
                                    const EvaluatedRow& hired);
// Of each purchase and each hire, in the rows that a job would run in.
std::vector<BreakEven> break_evens_of(const Evaluation& evaluation);

// "buying rtx3060-12gb pays from 800 ± 90 hours of use". `bought`: how the sentence calls the device.
std::string break_even_in_words(const BreakEven& of, const std::string& bought);
// One sentence without its stop: what to hire or to buy for the job.
std::string job_in_words(const Evaluation& evaluation);

}  // namespace bench
