#include "sweeps/workers/answer.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/result/finding.h"
#include "bench/result/result_json.h"
#include "bench/run/remedies.h"
#include "bench/text/intervals.h"
#include "bench/text/quote.h"
#include "bench/text/units.h"

namespace bench::sweeps {
namespace {

using Basis = Recommendation::Basis;

std::string workers_text(std::int64_t workers) {
  return workers == 0 ? "no workers" : fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
}

std::string rate_text(double per_s) {
  return fmt::format("{} samples/s", format_number(per_s));
}

constexpr double kDisturbed = 0.05;  // of a time: data that are ready, or no workers, cost no more than this
constexpr double kWhole = 0.995;     // an AU that is printed as 1.00, as are larger ones

// Noise may make an AU more than 1, which it cannot be. Close to 1 it has no interval.
std::string printed_au(const Estimate& au, std::string_view to) {
  const double value = std::min(au.value, 1.0);
  if (!au.ci95 || au.ci95->low >= kWhole) {
    return fmt::format("{:.2f}", value);
  }
  return au.ci95->high > 1 ? fmt::format("{:.2f} ({:.2f}{}1.00)", value, au.ci95->low, to)
                           : plus_minus(value, au.ci95, to);
}

std::string au_text(std::string_view name, const Estimate& au) {
  return fmt::format("{} {}", name, printed_au(au, kTo));
}

// The long name of AU where a reader meets it first: headlines take the word in the order they are printed
// in.
class AuWord {
 public:
  std::string operator()() { return std::exchange(word_, "AU"); }
  std::string operator()(const Estimate& au) { return au_text((*this)(), au); }

 private:
  std::string word_ = "accelerator utilisation (AU)";
};

std::vector<std::string> point_names(const std::vector<LoaderPoint>& points) {
  std::vector<std::string> names;
  for (const LoaderPoint& point : points) {
    names.push_back(point.name);
  }
  return names;
}

// ---------- how many workers

// "2 to 3", where the load times of a loader of the user's allow several counts.
std::vector<std::string> allowed_counts(const Profile& profile, const std::optional<Interval>& range) {
  std::vector<std::string> remarks;
  if (range && range->low < range->high) {
    remarks.push_back(fmt::format("{:.0f} to {:.0f}", range->low, range->high));
  }
  if (profile.law.workers.size() == 1) {
    remarks.emplace_back("assumes perfect scaling, for there are times with 1 worker only");
  }
  return remarks;
}

// "4 add 3.1 %", of fewer workers than those of the highest AU.
void add_best(std::vector<std::string>& remarks, const Knee& knee) {
  const double more = std::min(knee.best_per_s, 1.0) / knee.per_s - 1;
  constexpr double kNoticed = 0.005;
  if (knee.best_batch > knee.batch && more >= kNoticed) {
    remarks.push_back(fmt::format("{} add {}", knee.best_batch, format_percent(more)));
  }
}

std::string may_be_enough(std::int64_t workers) {
  return fmt::format("{} may be enough, within noise", workers);
}

std::vector<std::string> remarks_of(const Evidence& evidence, const WorkersAnswer& answer, AuWord& au) {
  const Recommendation& choice = *answer.recommendation;
  if (choice.basis == Basis::single) {
    const SimulatedPoint& simulated = *evidence.simulated_at(*answer.simulated_knee->batch);
    return {fmt::format("a single count was measured; simulated with {}: {}", workers_text(simulated.workers),
                        au({.value = simulated.au}))};
  }
  std::vector<std::string> remarks;
  if (choice.basis == Basis::simulated) {
    if (evidence.of_own_loader()) {
      remarks = allowed_counts(*evidence.profile, choice.range);
    }
    add_best(remarks, *answer.simulated_knee);
    if (!evidence.of_own_loader() && !evidence.points.pool.empty()) {
      remarks.emplace_back("a single count was measured");
    }
    return remarks;
  }
  if (choice.basis == Basis::knee) {
    add_best(remarks, *choice.knee);
  }
  if (choice.basis == Basis::noise || choice.basis == Basis::chosen) {
    const auto& [low, high] = std::pair(choice.knee->low, choice.knee->high);
    remarks.push_back(low == high ? "within noise"
                      : choice.basis == Basis::chosen
                          ? fmt::format("{} to {} are within noise; simulation chose", low, high)
                          : may_be_enough(low));
  }
  if (!evidence.not_measured.empty()) {
    remarks.push_back(fmt::format("{} not measured", fmt::join(evidence.not_measured, ", ")));
  }
  return remarks;
}

// " (0 to 4 are within noise; 8 not measured)"; empty where the measurement is clear.
std::string reason_of(const Evidence& evidence, const WorkersAnswer& answer, AuWord& au) {
  const std::vector<std::string> remarks = remarks_of(evidence, answer, au);
  return remarks.empty() ? "" : fmt::format(" ({})", fmt::join(remarks, "; "));
}

const std::string& consumer_of(const Evidence& evidence) {
  return evidence.profile ? evidence.profile->consumer : evidence.setup.consumer;
}

// The recommendation is for a consumer that a required throughput was given for, and says the same.
bool is_of_demand(const Evidence& evidence, const WorkersAnswer& answer) {
  return std::ranges::any_of(answer.demands, [&](const DemandAnswer& demand) {
    return required_text(demand.required) == consumer_of(evidence);
  });
}

bool is_said_by_demand(const Evidence& evidence, const WorkersAnswer& answer) {
  return std::ranges::any_of(answer.demands, [&](const DemandAnswer& demand) {
    return required_text(demand.required) == consumer_of(evidence) &&
           demand.verdict == DemandAnswer::Verdict::fed && demand.workers == answer.recommendation->workers;
  });
}

// " for resnet18": where the answer to a required throughput comes first, which is of another consumer.
std::string for_consumer(const Evidence& evidence, const WorkersAnswer& answer) {
  const std::string& consumer = consumer_of(evidence);
  const bool is_time =
      !consumer.empty() && consumer.front() >= '0' && consumer.front() <= '9' && !consumer.ends_with("/s");
  return answer.demands.empty() || consumer.empty()
             ? ""
             : fmt::format(" for {}{}", is_time ? "a step of " : "", printable(consumer));
}

// "Simulated: use 2 workers" of "Use 2 workers"; "Predicted: …" of a GPU that is not here.
std::string simulated_claim(const Evidence& evidence, std::string_view claim, std::string_view of = "") {
  return with_origin(fmt::format("{}{}", evidence.of_predicted_gpu ? "Predicted" : "Simulated", of), claim);
}

// Where workers are no faster for sure.
std::string without_workers_claim(const Evidence& evidence, const StepWithoutWorkers& without) {
  const LoaderPoint& with = *without.with;
  const std::string none = format_duration(without.step_ns);
  const std::string some =
      fmt::format("{} with {}", format_duration(with.step_ns), workers_text(with.workers));
  if (without.is_measured) {
    return fmt::format("Use no workers: a step takes {}, and {}, within noise [num_workers=0]", none, some);
  }
  const bool was_asked = std::ranges::find(evidence.not_measured, 0) != evidence.not_measured.end();
  return fmt::format(
      "Cannot tell whether workers pay: a step takes {}, which slow its computing down, and without workers "
      "about {} [{}]",
      some, none, was_asked ? std::string(give_time()) : fmt::format("--workers 0,{}", with.workers));
}

// Without the origin of a simulated one.
std::string recommendation_claim(const Evidence& evidence, const WorkersAnswer& answer, AuWord& word) {
  const Recommendation& choice = *answer.recommendation;
  const std::string whom = for_consumer(evidence, answer);
  const int gpus = evidence.simulated ? evidence.simulated->gpus : 1;
  if (choice.basis == Basis::cores) {
    return without_workers_claim(evidence, *choice.without);
  }
  if (choice.is_inconclusive()) {
    const std::string au = word(choice.au);
    return fmt::format("Inconclusive: {} with {}{}{} [{}]", au, workers_text(choice.workers),
                       reason_of(evidence, answer, word), whom, give_time());
  }
  const std::string reason = reason_of(evidence, answer, word);
  if (choice.feeds_none()) {
    return fmt::format("No number of workers feeds {}{}: {} with none, and workers gain less than 5 %",
                       whom.empty() ? fmt::format("the consumer{}", gpus > 1 ? "s" : "") : whom.substr(5),
                       reason, word(choice.au));
  }
  if (choice.workers == 0) {
    return choice.feeds()
               ? fmt::format(
                     "No workers needed{}{}: the device computes {} of the time without "
                     "[num_workers=0]",
                     reason, whom, format_percent(std::min(1.0, choice.au.value)))
               : fmt::format("Use no workers{}{}: {}, and workers {} [num_workers=0]", reason, whom,
                             word(choice.au), choice.more_harm ? "make it slower" : "gain less than 5 %");
  }
  if (choice.basis == Basis::simulated && is_said_by_demand(evidence, answer)) {
    return fmt::format("{}{} take {} of host memory [prefetch_factor={}]", workers_text(choice.workers),
                       gpus > 1 ? fmt::format(" for each of {} GPUs", gpus) : "",
                       format_bytes(std::llround(choice.host_bytes)), choice.prefetch);
  }
  const char* const pin = !choice.pin ? "" : *choice.pin ? ", pin_memory=True" : ", pin_memory=False";
  std::string claim =
      fmt::format("Use {}{}{}: {}, {} of host memory [num_workers={}, prefetch_factor={}{}]",
                  workers_text(choice.workers), gpus > 1 ? " a GPU" : "", reason + whom, word(choice.au),
                  format_bytes(std::llround(choice.host_bytes)), choice.workers, choice.prefetch, pin);
  if (evidence.host_memory_bytes > 0 && choice.host_bytes > evidence.host_memory_bytes) {
    claim += fmt::format("; that does not fit: the host has {}",
                         format_bytes(std::llround(evidence.host_memory_bytes)));
  }
  return claim;
}

std::optional<Finding> claim_recommended_workers(const Evidence& evidence, const WorkersAnswer& answer,
                                                 AuWord& au) {
  Finding finding = finding_of("recommended_workers", "workers");
  if (!answer.recommendation && !evidence.no_ready_data.empty()) {
    finding.claim = "No number of workers: the run with ready data " + evidence.no_ready_data;
    return finding;
  }
  if (!answer.recommendation) {
    return std::nullopt;
  }
  const Recommendation& choice = *answer.recommendation;
  finding.value = static_cast<double>(choice.workers);
  finding.set_interval(choice.range, kOfSizes);
  if (const LoaderPoint* const point = evidence.points.at(choice.workers)) {
    finding.evidence = {point->name};
  }
  finding.details = {{"workers", choice.workers}};
  if (is_of_demand(evidence, answer)) {
    finding.details["of_demand"] = true;
  }
  if (choice.workers > 0 && !choice.is_inconclusive()) {
    finding.details["prefetch"] = choice.prefetch;
    finding.details["host_bytes"] = choice.host_bytes;
    finding.details["slot_bytes"] = choice.slot_bytes;
    finding.details["pinned_bytes"] = choice.pinned_bytes;
  } else if (!choice.is_inconclusive() && !choice.feeds_none()) {
    finding.details["host_bytes"] = choice.host_bytes;
  }
  finding.claim = recommendation_claim(evidence, answer, au);
  if (choice.basis == Basis::simulated) {
    finding.claim =
        simulated_claim(evidence, finding.claim, evidence.of_own_loader() ? " for your loader" : "");
  }
  return finding;
}

std::optional<Finding> claim_pinning(const Evidence& /*evidence*/, const WorkersAnswer& answer) {
  if (!answer.pinning) {
    return std::nullopt;
  }
  const auto& [pinned, pageable, speedup, pays] = *answer.pinning;
  Finding finding = finding_of("pinning", "ratio", {pinned->name, pageable->name});
  finding.set(speedup);
  finding.claim = fmt::format(
      "Pinned vs pageable memory, ready data: {:.2f}× ({} and {}; a batch is copied in {} and {}) [{}]",
      speedup.value, rate_text(pinned->samples_per_s.value), rate_text(pageable->samples_per_s.value),
      format_duration(pinned->copy_ns), format_duration(pageable->copy_ns), pays ? "pin" : "don't pin");
  return finding;
}

// ---------- how the consumer is fed at each count, and which GPUs this host could feed

std::optional<Finding> claim_starvation(const Evidence& evidence, const WorkersAnswer& answer, AuWord& au) {
  if (!answer.starvation) {
    return std::nullopt;
  }
  const LoaderPoint& ready = *evidence.points.ready;
  const LoaderPoint& fewest = *answer.starvation->fewest;
  Finding finding = finding_of("starvation", "1", {fewest.name, ready.name});
  finding.value = std::clamp(1 - fewest.au->value, 0.0, 1.0);
  if (fewest.au->ci95) {
    finding.set_interval(Interval{1 - fewest.au->high(), 1 - fewest.au->low()}, kOfRounds);
  }
  finding.details = {
      {"workers", fewest.workers}, {"step_ns", fewest.step_ns}, {"ready_step_ns", ready.step_ns}};
  const std::string steps =
      fewest.step_ns < (1 - kDisturbed) * ready.step_ns
          ? fmt::format("the run with ready data was disturbed ({} a step, loading {})",
                        format_duration(ready.step_ns), format_duration(fewest.step_ns))
          : fmt::format("a step takes {}, and {} with ready data", format_duration(fewest.step_ns),
                        format_duration(ready.step_ns));
  finding.claim =
      !answer.starvation->is_known()
          ? fmt::format("Cannot tell whether {} {} enough: {}{}; {} [{}]", workers_text(fewest.workers),
                        fewest.workers == 1 ? "is" : "are", au(*fewest.au),
                        fewest.au->ci95 ? "" : " of fewer than 3 rounds", steps, give_time())
      : fewest.au->value >= kFed
          ? fmt::format("With {} the consumer is not starved: {}, {}", workers_text(fewest.workers),
                        au(*fewest.au), steps)
          : fmt::format("With {} the consumer is {}: {}, {} {} of a step's {}", workers_text(fewest.workers),
                        fewest.au->value < kStarved ? "starved" : "nearly fed", au(*fewest.au),
                        fewest.workers == 0 ? "loading and copying take" : "it waits",
                        format_duration(answer.starvation->lost_ns), format_duration(fewest.step_ns));
  return finding;
}

// Where no worker count was measured.
std::optional<Finding> claim_ready_data(const Evidence& evidence, const WorkersAnswer& /*answer*/) {
  const auto& ready = evidence.points.ready;
  if (!ready || !evidence.points.pool.empty()) {
    return std::nullopt;
  }
  Finding finding = finding_of("ready_data", "images/s", {ready->name});
  finding.set(ready->samples_per_s);
  finding.claim = fmt::format("Ready data: {} samples/s; no number of workers was measured [{}]",
                              plus_minus(*finding.value, finding.ci95), give_time());
  return finding;
}

std::optional<Finding> claim_knee(const Evidence& evidence, const WorkersAnswer& answer) {
  const auto& knee = answer.knee;
  if (!knee) {
    return std::nullopt;
  }
  Finding finding = finding_of("knee", "workers", point_names(evidence.points.pool));
  finding.set_interval(knee->range(), kOfSizes);
  finding.details = {{"plateau_au", knee->best_per_s}, {"plateau_workers", knee->best_batch}};
  const std::string plateau = au_text("AU", {.value = knee->best_per_s});
  if (!knee->batch) {
    finding.claim =
        knee->low == knee->high
            ? fmt::format("The knee is at {}, within noise (plateau: {})", workers_text(knee->low), plateau)
            : fmt::format("The knee lies between {} and {} workers, which are within noise (plateau: {})",
                          knee->low, knee->high, plateau);
    return finding;
  }
  finding.value = static_cast<double>(*knee->batch);
  finding.claim = fmt::format(
      "The knee is at {}: {}, at least 95 % of the plateau ({} with {})", workers_text(*knee->batch),
      au_text("AU", *evidence.points.at(*knee->batch)->au), plateau, workers_text(knee->best_batch));
  if (knee->low < *knee->batch) {
    finding.claim += "; " + may_be_enough(knee->low);
  }
  if (knee->at_largest) {
    finding.claim += "; it is the most that was measured, and the plateau may lie beyond";
  }
  if (const auto simulated = answer.knee_of_simulated) {
    finding.details["simulated"] = *simulated;
    finding.details["error_workers"] = *simulated - *knee->batch;
    finding.claim += fmt::format("; simulated at {} of these counts", *simulated);
  }
  return finding;
}

std::optional<Finding> claim_simulated_knee(const Evidence& evidence, const WorkersAnswer& answer) {
  const auto& knee = answer.simulated_knee;
  if (!knee) {
    return std::nullopt;
  }
  const Simulated& simulated = *evidence.simulated;
  Finding finding = finding_of("knee_simulated", "workers");
  finding.value = static_cast<double>(*knee->batch);
  finding.set_interval(knee_range(simulated.points), kOfSizes);
  finding.details = {{"plateau_au", knee->best_per_s}};
  finding.claim =
      simulated_claim(evidence, fmt::format("The knee is at {}{}: AU {:.2f} of at most {:.2f}",
                                            workers_text(*knee->batch), simulated.gpus > 1 ? " a GPU" : "",
                                            evidence.simulated_at(*knee->batch)->au, knee->best_per_s));
  if (simulated.gpus > 1) {
    finding.claim += fmt::format("; {} GPUs share the host", simulated.gpus);
  }
  if (simulated.cores != simulated.measured_cores) {
    finding.claim +=
        fmt::format("; {:g} cores is an extrapolation from {:g}", simulated.cores, simulated.measured_cores);
    finding.details["extrapolated"] = true;
  }
  return finding;
}

std::optional<Finding> claim_simulation_error(const WorkersAnswer& answer, AuWord& au) {
  if (!answer.simulation_error) {
    return std::nullopt;
  }
  const SimulationError& error = *answer.simulation_error;
  Finding finding = finding_of("simulation_error", "points");
  finding.value = std::abs(error.worst.points);
  finding.details = {{"points", Json::array()}};
  for (const SimulationError::Row& row : error.rows) {
    finding.details["points"].push_back({{"workers", row.measured->workers},
                                         {"measured_au", row.measured->au->value},
                                         {"simulated_au", row.simulated->au},
                                         {"held_out_au", *row.simulated->held_out_au},
                                         {"error_points", row.points}});
    finding.evidence.push_back(row.measured->name);
  }
  const LoaderPoint& worst = *error.worst.measured;
  const double half = (worst.au->high() - worst.au->low()) / 2;
  finding.details["mean_points"] = error.mean;
  if (half > 0) {
    finding.details["worst_measured_half_points"] = 100 * half;
  }
  finding.claim = fmt::format(
      "Simulated {} differs from the measured one by {:.3f} on average, {:.3f} at most (with {}{}); each "
      "count is simulated from the others",
      au(), error.mean / 100, *finding.value / 100, workers_text(worst.workers),
      half >= 0.0005 ? fmt::format(", measured ± {:.3f}", half) : "");
  return finding;
}

std::optional<Finding> claim_harm(const Evidence& evidence, const WorkersAnswer& answer) {
  if (!answer.harm) {
    return std::nullopt;
  }
  const std::int64_t from = answer.harm->from;
  const LoaderPoint& best = *answer.harm->best;
  const LoaderPoint& last = evidence.points.pool.back();
  const double loss = 1 - last.samples_per_s.value / best.samples_per_s.value;
  Finding finding = finding_of("harm", "workers", {best.name, evidence.points.at(from)->name});
  finding.value = static_cast<double>(from);
  finding.details = {{"best_workers", best.workers}, {"loss", loss}};
  finding.claim = fmt::format("From {} on more workers are slower: {} make {} less than {} ({} and {})",
                              workers_text(from), workers_text(last.workers), format_percent(loss),
                              workers_text(best.workers), rate_text(last.samples_per_s.value),
                              rate_text(best.samples_per_s.value));
  return finding;
}

// ---------- consumers elsewhere

const char* verdict_word(const DemandAnswer& answer) {
  using Verdict = DemandAnswer::Verdict;
  return answer.verdict == Verdict::fed       ? "fed"
         : answer.verdict == Verdict::not_fed ? "not_fed"
                                              : "undecided";
}

// "t4 (500 samples/s)", "2 × t4 (500 samples/s)".
std::string consumers_text(const DemandAnswer& answer) {
  const std::string one = required_text(answer.required);
  return answer.gpus > 1 ? fmt::format("{} × {}", answer.gpus, one) : one;
}

// What limits a loader that does not feed the consumer, and the way on.
LoaderLimit limit_of_demand(const Evidence& evidence, const DemandAnswer& answer) {
  if (answer.limited_by == "storage") {
    return {.why = "storage", .remedy = "faster storage, or the data in memory"};
  }
  if (answer.limited_by == "copy" && evidence.profile) {
    const double copy_ns = evidence.profile->pipeline.copy_ns;
    return {.why = fmt::format("copying a batch, which takes {}", format_duration(copy_ns)),
            .remedy = "pinned memory, --element uint8"};
  }
  return {.why = "the cores", .remedy = "more cores, or smaller images"};
}

// "3400" of 3436: where the second digit is not known for sure.
std::string in_two_digits(double value) {
  const double step = value > 0 ? std::pow(10, std::floor(std::log10(value)) - 1) : 1;
  return format_number(std::round(value / step) * step);
}

// "it gets 772 samples/s, " where the workers load less than the consumer takes.
std::string part_in_words(const DemandAnswer& answer) {
  const double share = answer.au.value;
  return share < kWhole ? fmt::format("{} gets {}, ", answer.gpus > 1 ? "each" : "it",
                                      rate_text(share * answer.required.samples_per_s))
                        : "";
}

std::string fed_claim(const DemandAnswer& answer, const std::string& at_most, AuWord& au) {
  return fmt::format(
      "Use {}{} for {}: {}{}{} [num_workers={}{}]", workers_text(answer.workers),
      answer.gpus > 1 ? " each" : "", consumers_text(answer), part_in_words(answer), au(answer.au),
      answer.is_measured ? "" : fmt::format(", and this host loads {}", at_most), answer.workers,
      answer.workers > 0 ? fmt::format(", prefetch_factor={}", answer.prefetch) : "");
}

std::string demand_claim(const Evidence& evidence, const DemandAnswer& answer, AuWord& au) {
  using Verdict = DemandAnswer::Verdict;
  const bool simulated = evidence.points.capacity_and_pool().empty();
  const std::string consumers = consumers_text(answer);
  if (!answer.at_most) {
    return fmt::format("Cannot tell whether this host feeds {}: too little of the loader was measured [{}]",
                       consumers, give_time());
  }
  const std::string at_most =
      fmt::format("at most {} samples/s{}", plus_minus(answer.at_most->value, answer.at_most->ci95),
                  simulated ? "" : " (simulated)");
  if (answer.verdict == Verdict::fed) {
    const std::string claim = fed_claim(answer, at_most, au);
    return simulated ? simulated_claim(evidence, claim) : claim;
  }
  const LoaderLimit limit = limit_of_demand(evidence, answer);
  const bool not_fed = answer.verdict == Verdict::not_fed;
  std::string claim =
      not_fed
          ? fmt::format("This host cannot feed {}: it loads {}, limited by {}", consumers, at_most, limit.why)
          : fmt::format("Cannot tell whether this host feeds {}: {} (95 %) are enough, and it loads {}",
                        consumers, format_number(kFed * answer.required.samples_per_s * answer.gpus),
                        at_most);
  if (simulated) {
    claim = simulated_claim(evidence, claim);
  }
  constexpr double kNoticed = 0.05;  // of the cores
  const bool is_busy = answer.lost_cores > kNoticed * evidence.setup.cores;
  if (is_busy) {
    claim += fmt::format("; about {} with the {:.1f} of its {} cores that other processes took",
                         in_two_digits(answer.on_idle_per_s), answer.lost_cores, evidence.setup.cores);
  }
  const std::string_view remedy = not_fed                    ? limit.remedy
                                  : is_busy                  ? "run on an idle machine"
                                  : evidence.of_own_loader() ? "give more load times"
                                  : simulated                ? "measure its profile longer"
                                                             : give_time();
  return fmt::format("{} [{}]", claim, remedy);
}

std::vector<Finding> claim_demands(const Evidence& evidence, const WorkersAnswer& answers, AuWord& au) {
  std::vector<Finding> findings;
  for (const DemandAnswer& answer : answers.demands) {
    const auto& [name, samples_per_s, source] = answer.required;
    Finding finding =
        finding_of(fmt::format("demand/{}", name), "workers", point_names(evidence.points.capacity));
    finding.details = {{"images_per_s", samples_per_s},
                       {"gpus", answer.gpus},
                       {"verdict", verdict_word(answer)},
                       {"source", source}};
    if (answer.at_most) {
      finding.details["au"] = answer.au.value;
      finding.details["tops_out_images_per_s"] = answer.at_most->value;
      finding.details["tops_out_ci95"] = interval_json(answer.at_most->ci95);
      finding.details["limited_by"] = answer.limited_by;
      finding.details["lost_cores"] = answer.lost_cores;
      finding.details["on_idle_images_per_s"] = answer.on_idle_per_s;
    }
    if (answer.verdict == DemandAnswer::Verdict::fed) {
      finding.value = static_cast<double>(answer.workers);
    }
    finding.claim = demand_claim(evidence, answer, au);
    findings.push_back(std::move(finding));
  }
  return findings;
}

// ---------- the limit of the loader, and what a sample and workers cost

std::optional<Finding> claim_plateau(const Evidence& evidence, const WorkersAnswer& answer) {
  if (!answer.plateau) {
    return std::nullopt;
  }
  const auto& [rate, workers, measured, limit] = *answer.plateau;
  Finding finding = finding_of("plateau", "images/s");
  finding.set(rate);
  if (measured != nullptr) {
    finding.evidence = {measured->name};
  }
  finding.details = {{"workers", workers}, {"limited_by", limit.name}};
  const std::string at =
      fmt::format("{} samples/s with {}", plus_minus(rate.value, rate.ci95), workers_text(workers));
  finding.claim = limit.name == "consumer"
                      ? fmt::format("The consumer itself is the limit: {} ({})", at, limit.why)
                      : fmt::format("At most {}: {}{}", at, limit.why,
                                    limit.remedy.empty() ? "" : fmt::format(" [{}]", limit.remedy));
  if (measured == nullptr) {
    finding.claim = simulated_claim(evidence, finding.claim);
  }
  return finding;
}

std::optional<Finding> claim_scaling(const Evidence& evidence, const WorkersAnswer& /*answer*/) {
  const auto rate = evidence.profile ? rate_on_all_cores(*evidence.profile) : std::nullopt;
  if (!rate) {
    return std::nullopt;
  }
  const Profile& profile = *evidence.profile;
  const simulator::ScalabilityLaw& law = profile.law.law;
  Finding finding = finding_of("scaling", "images/s", point_names(evidence.points.capacity));
  finding.set(*rate, kOfFit);
  finding.details = {{"one", law.one},     {"sigma", law.sigma},
                     {"kappa", law.kappa}, {"crowding", law.oversubscription},
                     {"cores", law.cores}, {"worst_error", profile.law.worst_error}};
  // Up to three numbers (λ, σ, κ) are fitted to the counts within the cores, one to those beyond: as many
  // counts are met exactly, right or wrong.
  const auto within = std::ranges::count_if(
      profile.law.workers, [&](std::int64_t workers) { return static_cast<double>(workers) <= law.cores; });
  const bool has_error = within > 3 || std::ssize(profile.law.workers) - within > 1;
  finding.claim = fmt::format(
      "One worker makes {}{}, workers on all {:g} cores {}: {:.2f} times as much (fitted to {} with {} "
      "workers{})",
      rate_text(law.one), profile.pipeline.storage ? " without waits for storage" : "", law.cores,
      rate_text(rate->value), rate->value / law.one, profile.law.from, fmt::join(profile.law.workers, ", "),
      has_error ? fmt::format("; off by at most {}", format_percent(profile.law.worst_error)) : "");
  if (profile.law.largest_active + 0.5 < law.cores) {
    finding.claim += profile.law.largest_active < 1
                         ? "; an extrapolation, for the workers were mostly idle"
                         : fmt::format("; beyond {} workers computing at once it is an extrapolation",
                                       format_number(profile.law.largest_active));
  }
  return finding;
}

std::optional<Finding> claim_stages(const Evidence& evidence, const WorkersAnswer& /*answer*/) {
  Finding finding = finding_of("stages", "ns");
  loader::StageTimes stages = evidence.profile ? evidence.profile->stages_ns : loader::StageTimes{};
  const auto points = evidence.points.capacity_and_pool();
  if (const auto timed =
          std::ranges::find_if(points, [](const LoaderPoint* point) { return point->stages_ns.total() > 0; });
      timed != points.end()) {
    stages = (*timed)->stages_ns;
    finding.evidence = {(*timed)->name};
  }
  if (!(stages.total() > 0)) {
    return std::nullopt;
  }
  finding.value = stages.total();
  finding.details = {{"largest", largest_stage(stages).key}, {"stages_ns", written_value(stages)}};
  std::vector<StageName> by_time(kStages.begin(), kStages.end());
  std::ranges::stable_sort(by_time, std::greater<>(),
                           [&](const StageName& stage) { return stages.*stage.time; });
  std::vector<std::string> parts;
  for (const StageName& stage : by_time) {
    parts.push_back(fmt::format("{} {}", stage.text, format_percent(stages.*stage.time / stages.total())));
  }
  finding.claim = fmt::format("A sample takes a worker {}{}: {}", format_duration(stages.total()),
                              finding.evidence.empty() ? " (as profiled)" : "", fmt::join(parts, ", "));
  return finding;
}

std::optional<Finding> claim_slowdown(const Evidence& evidence, const WorkersAnswer& answer) {
  if (!answer.slowdown) {
    return std::nullopt;
  }
  constexpr double kNoticed = 0.02;
  const LoaderPoint& ready = *answer.slowdown->ready;
  const LoaderPoint& worst = *answer.slowdown->worst;
  Finding finding = finding_of("consumer_slowdown", "1", {ready.name, worst.name});
  finding.value = answer.slowdown->of(worst);
  finding.details = {{"workers", worst.workers}, {"by_workers", Json::array()}};
  for (const LoaderPoint& point : evidence.points.pool) {
    finding.details["by_workers"].push_back(
        {{"workers", point.workers}, {"slowdown", answer.slowdown->of(point)}});
  }
  if (*finding.value < -kDisturbed) {
    finding.claim = fmt::format(
        "Inconclusive whether workers slow the consumer down: a step computes {} with ready data and at most "
        "{} with workers, so other work disturbed it",
        format_duration(ready.compute_ns), format_duration(worst.compute_ns));
  } else if (*finding.value < kNoticed) {
    finding.claim = fmt::format("Workers do not slow the consumer down: computing takes at most {} longer",
                                format_percent(std::max(0.0, *finding.value)));
  } else {
    finding.claim = fmt::format(
        "Workers slow the consumer down: a step computes {} with {}, and {} with ready data{}",
        format_duration(worst.compute_ns), workers_text(worst.workers), format_duration(ready.compute_ns),
        evidence.setup.consumer_on_cores ? "; both use the same cores" : "");
  }
  return finding;
}

std::optional<Finding> claim_bad_files(const Evidence& evidence) {
  constexpr std::int64_t kNamed = 10;
  constexpr std::size_t kLongestReason = 200;
  std::vector<std::string> named;
  std::int64_t count = 0;
  if (evidence.setup.found) {
    for (const auto& [file, reason] : evidence.setup.found->bad_files) {
      if (++count <= kNamed) {
        named.push_back(fmt::format("{} ({})", printable(file), printable(reason, kLongestReason)));
      }
    }
  }
  Finding finding = finding_of("bad_files", "files");
  for (const LoaderPoint* const point : evidence.points.capacity_and_pool()) {
    if (const std::int64_t bad = point->windows->bad_files; bad > 0) {
      count = std::max(count, bad);
      finding.evidence.push_back(point->name);
    }
  }
  if (count == 0) {
    return std::nullopt;
  }
  finding.value = static_cast<double>(count);
  const std::int64_t more = count - std::ssize(named);
  finding.claim = fmt::format("{} skipped as unusable{}{}{}",
                              count == 1 ? "1 file was" : fmt::format("{} files were", count),
                              named.empty() ? "" : ": ", fmt::join(named, ", "),
                              more > 0 && !named.empty() ? fmt::format(" and {} more", more) : "");
  return finding;
}

// ---------- tables

Cell estimate_cell(const Estimate& estimate) {
  return Cell::number(estimate.value, estimate.ci95);
}

Cell au_cell(const Estimate& au) {
  return Cell::figure(printed_au(au, kToInCell));
}

Cell stall_cell(std::optional<double> ns) {
  // Noise of the step with ready data may exceed the stall.
  return !ns ? Cell::none() : *ns < 1000 ? Cell(0) : Cell::time(*ns);
}

// "2 cores; data: synthetic, 256 images of 111 KiB, page cache warm".
std::string conditions(const LoaderSetup& setup) {
  std::string text = fmt::format("{} core{}; data: {}", setup.cores, setup.cores == 1 ? "" : "s", setup.data);
  if (setup.found) {
    text += fmt::format(", {} images of {}", setup.found->images,
                        format_bytes(std::llround(setup.found->mean_encoded_bytes)));
  }
  text += fmt::format(", page cache {}", setup.page_cache());
  if (setup.found && setup.found->still_cached > 0) {
    text += fmt::format(", but {} of {} reads found their image in it: {}", setup.found->still_cached,
                        setup.found->evicted, printable(setup.found->still_cached_reason));
  } else if (setup.found && setup.page_cache() == std::string("as found") && setup.found->from_storage) {
    text += fmt::format(" ({} of the images' bytes came from storage)",
                        format_percent(std::min(1.0, *setup.found->from_storage)));
  }
  return text;
}

TextTable points_table(const Evidence& evidence) {
  std::vector<const LoaderPoint*> points;
  const bool alone = evidence.points.pool.empty();
  const auto& first = alone ? evidence.points.capacity : evidence.points.pool;
  for (const auto* list : {&first, &evidence.points.other_order}) {
    for (const LoaderPoint& point : *list) {
      points.push_back(&point);
    }
  }
  const bool orders = !evidence.points.other_order.empty();
  TextTable table;
  table.rows.push_back(
      {"workers", "samples/s", "AU", "stall p99", "CPU/sample, all", "host memory", "simulated AU"});
  if (const auto& ready = evidence.points.ready) {  // AU is computing over total time, divided by this row's
    table.rows.push_back({fmt::format("ready data{}{}", ready->mark.empty() ? "" : " ", ready->mark),
                          estimate_cell(ready->samples_per_s), 1, Cell::none(), Cell::none(), Cell::none(),
                          Cell::none()});
  }
  for (const LoaderPoint* const point : points) {
    const SimulatedPoint* const simulated =
        point->order == first.front().order ? evidence.simulated_at(point->workers) : nullptr;
    table.rows.push_back(
        {Cell::figure(fmt::format("{}{}{}{}", orders ? point->order + " " : "", point->workers,
                                  point->mark.empty() ? "" : " ", point->mark)),
         estimate_cell(point->samples_per_s), point->au ? au_cell(*point->au) : Cell::none(),
         stall_cell(point->stall_p99_ns), Cell::time(point->cpu_ns), Cell::bytes(point->windows->host_bytes),
         simulated != nullptr && simulated->held_out_au ? au_cell({.value = *simulated->held_out_au})
                                                        : Cell::none()});
  }
  table.name = "measured workers";
  table.title =
      conditions(evidence.setup) + (alone                ? "; the loader alone, without its consumer"
                                    : evidence.simulated ? "; each count is simulated from the others"
                                                         : "");
  table.lists_points = true;
  return table;
}

// "; counts beyond 4 are extrapolated", of the user's own loader.
std::string extrapolated_text(const Simulated& simulated, const Profile& own) {
  const std::int64_t most = std::ranges::max(own.law.workers);
  const bool any = own.law.workers.size() > 1 &&
                   std::ranges::any_of(simulated.points,
                                       [&](const SimulatedPoint& point) { return point.workers > most; });
  return any ? fmt::format("; counts beyond {} are extrapolated", most) : "";
}

// "2", or where another is recommended, what that gains: "2 (8: 3.4 % faster)".
std::string prefetch_in_words(const Simulated& simulated, const std::optional<Recommendation>& choice) {
  const auto au = [&](std::int64_t prefetch) {
    const auto found = std::ranges::find(simulated.prefetches, prefetch, &SimulatedPrefetch::prefetch);
    return found == simulated.prefetches.end() ? 0 : found->au;
  };
  const double now = au(simulated.prefetch);
  const double then = choice ? au(choice->prefetch) : 0;
  return fmt::format("{}{}", simulated.prefetch,
                     now <= 0 || then <= now
                         ? ""
                         : fmt::format(" ({}: {} faster)", choice->prefetch, format_percent(then / now - 1)));
}

// Where nothing was measured.
TextTable simulated_table(const Evidence& evidence) {
  const Simulated& simulated = *evidence.simulated;
  const std::string consumer = evidence.profile ? evidence.profile->consumer : "";
  const Profile* const own = evidence.of_own_loader() ? &*evidence.profile : nullptr;
  TextTable table;
  table.name = "simulated workers";
  table.title =
      fmt::format("Simulated{}: {:g} cores, prefetch {}, {}{}{}{}",
                  own != nullptr ? fmt::format(" from the load times of {}", printable(own->loader)) : "",
                  simulated.cores, prefetch_in_words(simulated, answer_of(evidence).recommendation),
                  simulated.order == loader::Order::any ? "out-of-order" : "in-order",
                  simulated.gpus > 1 ? fmt::format(", {} GPUs on one host", simulated.gpus) : "",
                  consumer.empty() ? "" : fmt::format("; consumer: {}", printable(consumer)),
                  own != nullptr ? extrapolated_text(simulated, *own) : "");
  table.rows.push_back({simulated.gpus > 1 ? "workers a GPU" : "workers", "samples/s", "AU", "stall p99",
                        "workers busy", "host memory", "limited by"});
  for (const SimulatedPoint& point : simulated.points) {
    const double bytes =
        own == nullptr ? 0 : own->host_bytes(point.workers, simulated.prefetch) * simulated.gpus;
    table.rows.push_back({point.workers, Cell::number(point.samples_per_s), au_cell(point.printed_au()),
                          stall_cell(point.stall_p99_ns), Cell::share(point.worker_busy),
                          bytes > 0 ? Cell::bytes(std::llround(bytes)) : Cell(), point.limited_by});
  }
  table.lists_points = true;
  return table;
}

Cell demand_workers_cell(const DemandAnswer& answer) {
  using Verdict = DemandAnswer::Verdict;
  return answer.verdict == Verdict::fed       ? Cell(answer.workers)
         : answer.verdict == Verdict::not_fed ? Cell("cannot be fed")
                                              : Cell("undecided");
}

// Of a predicted GPU, which takes samples faster alone than from a loader that hands batches over.
std::string rate_from_loader(const Evidence& evidence) {
  const SimulatedPoint& most = evidence.simulated->points.back();
  return evidence.of_predicted_gpu && most.au > 0
             ? fmt::format("; from a loader the GPU takes at most {} (AU 1.00)",
                           rate_text(most.samples_per_s / most.au))
             : "";
}

TextTable demands_table(const std::vector<DemandAnswer>& demands, const Evidence& evidence) {
  TextTable table;
  table.title = "Required throughput (simulated): workers for 95 % of it" + rate_from_loader(evidence);
  table.name = "required throughput";
  table.rows.push_back(
      {"for", "samples/s", "GPUs", "workers a GPU", "delivered", "host's best", "limited by"});
  for (const DemandAnswer& answer : demands) {
    const bool is_undecided = answer.verdict == DemandAnswer::Verdict::undecided;
    const auto& [name, rate, source] = answer.required;
    const bool is_likely = source == "predicted" && name.find(' ') == std::string::npos;
    table.rows.push_back({is_likely ? name + " alone" : name, Cell::number(rate), answer.gpus,
                          demand_workers_cell(answer), Cell::share(std::min(1.0, answer.au.value)),
                          estimate_cell(*answer.at_most),
                          is_undecided ? Cell::none() : Cell(answer.limited_by)});
  }
  return table;
}

}  // namespace

void choose_workers_headlines(std::vector<Finding>& findings) {
  const auto has = [&](std::string_view name) { return find_finding(findings, name) != nullptr; };
  const std::size_t most = static_cast<std::size_t>(kHeadlines) - (has("simulation_error") ? 1 : 0);
  std::vector<std::string> names;
  const auto add = [&](const std::string& name, std::size_t places) {
    if (has(name) && names.size() < places) {
      names.push_back(name);
    }
  };
  const std::vector<const Finding*> demands = find_findings(findings, "demand/");
  const auto detail = [](const Finding& finding, const char* key) {
    return finding.details.is_object() ? finding.details.value(key, Json()) : Json();
  };
  std::vector<const Finding*> predicted;  // of the consumer itself: its likely and its fastest throughput
  for (const Finding* const demand : demands) {
    if (detail(*demand, "source") != "predicted") {
      add(demand->name, most - 1);  // one place is the recommendation's
    } else if (predicted.empty() || detail(*predicted.back(), "verdict") != detail(*demand, "verdict")) {
      predicted.push_back(demand);
    }
  }
  const Finding* const recommended = find_finding(findings, "recommended_workers");
  if (recommended != nullptr && detail(*recommended, "of_demand") != true) {
    add("recommended_workers", most);
  }
  for (const Finding* const demand : predicted) {
    add(demand->name, most);
  }
  add("bad_files", most);
  for (const char* const name : {"plateau", "harm", "starvation"}) {
    if (demands.empty()) {  // they are of the measured consumer
      add(name, most);
    }
  }
  add("stages", most);
  add("ready_data", most);
  names.emplace_back("simulation_error");
  // A GPU that this host cannot feed has no number of workers, and is an answer.
  set_headlines(findings, names, true);
}

std::vector<Finding> workers_findings(const Evidence& evidence) {
  const WorkersAnswer answer = answer_of(evidence);
  AuWord au;
  std::vector<Finding> demands = claim_demands(evidence, answer, au);
  auto recommended = claim_recommended_workers(evidence, answer, au);
  auto starvation = claim_starvation(evidence, answer, au);
  auto simulation_error = claim_simulation_error(answer, au);
  std::vector<Finding> findings = std::move(demands);
  const auto add = [&](std::optional<Finding> one) {
    if (one) {
      findings.push_back(std::move(*one));
    }
  };
  add(std::move(recommended));
  add(std::move(starvation));
  for (const auto claim : {claim_ready_data, claim_knee, claim_simulated_knee}) {
    add(claim(evidence, answer));
  }
  add(std::move(simulation_error));
  for (const auto claim : {claim_plateau, claim_harm, claim_stages, claim_scaling, claim_slowdown}) {
    add(claim(evidence, answer));
  }
  add(claim_pinning(evidence, answer));
  add(claim_bad_files(evidence));
  for (Finding& finding : findings) {
    finding.claim += '.';
    finding.says_origin = true;
  }
  choose_workers_headlines(findings);
  return findings;
}

std::vector<TextTable> workers_tables(const Evidence& evidence) {
  std::vector<TextTable> tables;
  if (!evidence.points.capacity_and_pool().empty()) {
    tables.push_back(points_table(evidence));
  } else if (evidence.simulated) {
    tables.push_back(simulated_table(evidence));
  }
  if (evidence.simulated && !evidence.simulated->requirements.empty()) {
    const std::vector<DemandAnswer> demands = answer_of(evidence).demands;
    // A single one is in the first finding.
    tables.insert(demands.size() > 1 ? tables.begin() : tables.end(), demands_table(demands, evidence));
  }
  return tables;
}

}  // namespace bench::sweeps
