#include "bench/evaluate/answers.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/evaluate/contest.h"
#include "bench/evaluate/evaluation_words.h"
#include "bench/result/finding.h"
#include "bench/run/remedies.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench {
namespace {

std::vector<const EvaluatedRow*> rows_in(const Evaluation& evaluation, const std::string& dtype) {
  std::vector<const EvaluatedRow*> rows;
  for (const EvaluatedRow& row : evaluation.rows) {
    if (row.dtype == dtype) {
      rows.push_back(&row);
    }
  }
  return rows;
}

// Those whose throughput is known: who may do at most so much wins nothing by it.
std::vector<const EvaluatedRow*> known_rows_in(const Evaluation& evaluation, const std::string& dtype) {
  std::vector<const EvaluatedRow*> rows = rows_in(evaluation, dtype);
  std::erase_if(rows, [](const EvaluatedRow* row) { return row->point.is_bound; });
  return rows;
}

const std::string& label_of(const Evaluation& evaluation, const EvaluatedRow& row) {
  return evaluation.device_of(row).label;
}

Contest contest_of(const Evaluation& evaluation, const std::vector<const EvaluatedRow*>& rows,
                   const std::function<std::optional<double>(const EvaluatedRow&)>& cost) {
  std::vector<Contestant> contestants;
  for (const EvaluatedRow* const row : rows) {
    if (const std::optional<double> of = cost(*row)) {
      contestants.push_back({.label = label_of(evaluation, *row), .point = row->point, .cost = *of});
    }
  }
  return Contest(std::move(contestants));
}

// "t4 processes 280 (170 to 440) samples/s in fp16 at batch 64".
std::string alone_in_words(const Contestant& device, const std::string& dtype) {
  const CurvePoint& point = device.point;
  return fmt::format("{} processes {} samples/s in {} at batch {}{}", device.label,
                     plus_minus(point.per_s, point.interval), dtype, point.batch,
                     point.cards ? " a card" : "");
}

// "; 2×t4 at most 450", of those that may do at most so much.
std::string bounds_in_words(const Evaluation& evaluation, const std::string& dtype) {
  std::string words;
  for (const EvaluatedRow* const row : rows_in(evaluation, dtype)) {
    if (row->point.is_bound) {
      words += fmt::format("; {} at most {}", label_of(evaluation, *row), format_number(row->point.per_s));
    }
  }
  return words;
}

// "; too few rounds on AMD EPYC to be sure of its batch [larger --time-budget]".
std::string few_rounds_in_words(const Evaluation& evaluation, const std::string& dtype) {
  std::vector<std::string> labels;
  for (const EvaluatedRow* const row : rows_in(evaluation, dtype)) {
    if (!row->point.cards && std::ranges::any_of(evaluation.curve_of(*row).points, &CurvePoint::few_rounds)) {
      labels.push_back(label_of(evaluation, *row));
    }
  }
  return labels.empty() ? ""
                        : fmt::format("; too few rounds on {} to be sure of {} [{}]", list_in_words(labels),
                                      labels.size() == 1 ? "its batch" : "their batches", give_time());
}

Answer speed_answer(const Evaluation& evaluation, const std::string& dtype) {
  const Contest contest =
      contest_of(evaluation, known_rows_in(evaluation, dtype), [](const EvaluatedRow&) { return 1.0; });
  Answer answer{.question = "speed", .dtype = dtype, .claim = ""};
  if (contest.size() > 1) {
    answer.ratio = contest.lead_over(1);
    answer.claim = ranking_in_words(contest, " in " + dtype);
  } else if (contest.size() == 1) {
    answer.claim = alone_in_words(contest[0], dtype) + bounds_in_words(evaluation, dtype) + ".";
  }
  if (contest.size() > 0) {
    answer.claim.insert(answer.claim.size() - 1, few_rounds_in_words(evaluation, dtype));
  }
  return answer;
}

// Where devices are fastest in different dtypes.
Answer best_dtype_answer(const Evaluation& evaluation, const std::string& dtype) {
  Answer answer{.question = "best dtype", .dtype = "", .claim = ""};
  std::vector<Contestant> contestants;
  std::set<std::string> dtypes;
  for (std::size_t i = 0; i < evaluation.devices.size(); ++i) {
    const EvaluatedRow* best = nullptr;
    for (const EvaluatedRow& row : evaluation.rows) {
      if (row.device != i || row.point.is_bound) {
        continue;
      }
      // bf16 is predicted as fp16 is: of equals the one that the other answers are of.
      const double lead = best == nullptr ? 1 : row.point.per_s - best->point.per_s;
      if (lead > 0 || (lead == 0 && row.dtype == evaluation.dtype)) {
        best = &row;
      }
    }
    if (best != nullptr) {
      dtypes.insert(best->dtype);
      contestants.push_back(
          {.label = fmt::format("{} ({})", label_of(evaluation, *best), best->dtype), .point = best->point});
    }
  }
  if (dtype != evaluation.dtype || dtypes.size() < 2) {
    return answer;
  }
  const Contest contest(std::move(contestants));
  answer.ratio = contest.lead_over(1);
  answer.claim = "Each in its fastest dtype: " + ranking_in_words(contest, "");
  return answer;
}

Answer memory_answer(const Evaluation& evaluation, const std::string& dtype) {
  std::vector<const EvaluatedRow*> rows = rows_in(evaluation, dtype);
  std::erase_if(rows, [&](const EvaluatedRow* row) { return !evaluation.curve_of(*row).largest; });
  Answer answer{.question = "memory", .dtype = dtype, .claim = ""};
  if (rows.empty()) {
    return answer;
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [&](const EvaluatedRow* row) { return *evaluation.curve_of(*row).largest; });
  const char* const of_card = evaluation.has_several_cards() ? " a card" : "";
  const auto batch = [&](const EvaluatedRow& row) {
    return evaluation.curve_of(row).largest_in_words() + of_card;
  };
  const std::string& most = label_of(evaluation, *rows.front());
  if (rows.size() == 1) {
    answer.claim = fmt::format("{} holds a batch of {} in {}.", most, batch(*rows.front()), dtype);
  } else if (batch(*rows.front()) == batch(*rows.back())) {
    answer.claim = fmt::format("{} hold the same batch in {}, {}.", rows.size() == 2 ? "Both" : "All", dtype,
                               batch(*rows.front()));
  } else if (rows.size() == 2) {
    answer.claim = fmt::format("{} holds a batch of {} in {}, {} one of {}.", most, batch(*rows[0]), dtype,
                               label_of(evaluation, *rows[1]), batch(*rows[1]));
  } else {
    answer.claim = fmt::format("{} holds the largest batch in {}, {}; {} the smallest, {}.", most, dtype,
                               batch(*rows.front()), label_of(evaluation, *rows.back()), batch(*rows.back()));
  }
  return answer;
}

// "t4 is cheaper in fp16: 0.35 for a million samples; 0.53 on v100, 1.5× (1.2–1.9×)." `figure`: a
// contestant's, which ranks low where it is better; `of_what`: " for a million samples".
void rank(Answer& answer, const Contest& contest, const std::string& adjective,
          const std::function<std::string(const Contestant&)>& figure, const std::string& of_what,
          const std::string& over = "") {
  const std::string in = answer.dtype + over;
  const std::string best = figure(contest[0]) + of_what;
  if (contest.size() == 1) {
    answer.claim =
        fmt::format("{} {} {} in {}.", contest[0].label, adjective == "cheap" ? "costs" : "takes", best, in);
    return;
  }
  const bool is_pair = contest.size() == 2;
  const std::string compared =
      adjective == "cheap" ? (is_pair ? "cheaper" : "cheapest") : (is_pair ? "more " : "most ") + adjective;
  answer.ratio = contest.lead_over(1);
  const std::size_t leaders = contest.leaders();
  answer.claim = fmt::format("{} in {}: {}{}; {} on {}{}, {}.",
                             leaders > 1 ? tie_in_words(contest, adjective, compared)
                                         : fmt::format("{} is {}", contest[0].label, compared),
                             in, best, leaders > 1 ? " on " + contest[0].label : "", figure(contest[1]),
                             contest[1].label, is_pair ? "" : ", the next", ratio_in_words(*answer.ratio));
}

Answer job_answer(const Evaluation& evaluation, const std::string& dtype) {
  const std::string claim =
      evaluation.job && dtype == evaluation.dtype ? job_in_words(evaluation) : std::string();
  return {.question = "job", .dtype = dtype, .claim = claim.empty() ? "" : claim + "."};
}

// "; buying rtx3060-12gb pays from 800 hours of use", of the cheapest purchase and hire.
std::string break_even_of(const Evaluation& evaluation, const std::vector<const EvaluatedRow*>& rows) {
  const EvaluatedRow* cheapest_hire = nullptr;
  const EvaluatedRow* cheapest_purchase = nullptr;
  for (const EvaluatedRow* const row : rows) {
    if (row->price) {
      const EvaluatedRow*& cheapest = row->price->is_hire ? cheapest_hire : cheapest_purchase;
      const auto cost = [](const EvaluatedRow& of) {
        return of.price->is_hire ? *of.cost_per_million : of.price->amount;
      };
      cheapest = cheapest == nullptr || cost(*row) < cost(*cheapest) ? row : cheapest;
    }
  }
  const auto of = cheapest_hire == nullptr || cheapest_purchase == nullptr
                      ? std::nullopt
                      : break_even(evaluation, *cheapest_purchase, *cheapest_hire);
  return of ? "; " + break_even_in_words(*of, label_of(evaluation, *cheapest_purchase)) : "";
}

Answer cost_answer(const Evaluation& evaluation, const std::string& dtype) {
  const std::vector<const EvaluatedRow*> rows = known_rows_in(evaluation, dtype);
  std::vector<Contestant> contestants;
  bool buys = false;
  for (const EvaluatedRow* const row : rows) {
    if (row->cost_per_hour) {
      buys = buys || !row->price->is_hire;
      contestants.push_back(used_contestant(evaluation, *row));
      contestants.back().cost = *row->cost_per_hour;
    }
  }
  const Contest contest(std::move(contestants));
  Answer answer{.question = "cost", .dtype = dtype, .claim = ""};
  if (contest.size() == 0) {
    return answer;
  }
  const auto cost = [&](const Contestant& of) {
    constexpr double kMillionOverHour = 1e6 / 3600;
    return amount_in_words(kMillionOverHour / of.score(), evaluation.prices.currency);
  };
  rank(answer, contest, "cheap", cost, " for a million samples",
       buys ? fmt::format(" over {:.0f} hours of use", hours_of_use(evaluation.prices)) : "");
  if (!evaluation.job) {  // whose answer has it
    answer.claim.insert(answer.claim.size() - 1, break_even_of(evaluation, rows));
  }
  return answer;
}

Answer energy_answer(const Evaluation& evaluation, const std::string& dtype) {
  const std::vector<const EvaluatedRow*> rows = known_rows_in(evaluation, dtype);
  const Contest contest = contest_of(evaluation, rows, [](const EvaluatedRow& row) { return row.power_w; });
  Answer answer{.question = "energy", .dtype = dtype, .claim = ""};
  if (contest.size() == 0) {
    return answer;
  }
  const auto joules = [](const Contestant& of) { return format_number(1 / of.score()) + " J"; };
  const auto is_measured = [&](const std::string& label) {
    return std::ranges::all_of(rows, [&](const EvaluatedRow* row) {
      return label_of(evaluation, *row) != label || row->power_measured;
    });
  };
  constexpr std::size_t kMost = 4;
  std::vector<std::string> figures;
  bool has_bounds = false;  // which rank nothing
  for (std::size_t i = 0; i < contest.size(); ++i) {
    const std::string& label = contest[i].label;
    has_bounds = has_bounds || !is_measured(label);
    if (contest.size() <= kMost || i == 0 || i + 1 == contest.size()) {
      figures.push_back(
          fmt::format("{}{} a sample on {}", is_measured(label) ? "" : "≤ ", joules(contest[i]), label));
    }
  }
  if (!has_bounds) {
    rank(answer, contest, "frugal", joules, " a sample");
    return answer;
  }
  answer.claim = fmt::format("Energy in {}: {} (≤: by the data sheet's power).", dtype,
                             fmt::join(figures, contest.size() > kMost ? " to " : ", "));
  return answer;
}

Answer host_answer(const Evaluation& evaluation, const std::string& dtype) {
  Answer answer{.question = "host", .dtype = dtype, .claim = ""};
  if (!evaluation.host) {
    return answer;
  }
  const HostLimit& host = *evaluation.host;
  std::vector<std::string> fed;
  std::vector<std::string> limited;
  for (const EvaluatedRow* const row : rows_in(evaluation, dtype)) {
    const std::string& label = label_of(evaluation, *row);
    switch (row->feed->limit) {
      case FeedLimit::device:
        fed.push_back(label);
        break;
      case FeedLimit::loader:
        limited.push_back(fmt::format("{} could use {}{} ({:.0f} such cores)", label,
                                      row->point.is_bound ? "at most " : "", format_number(row->point.per_s),
                                      *row->cores_to_feed));
        break;
      case FeedLimit::bus:
        limited.push_back(fmt::format("its bus limits {} to {}", label, format_number(row->feed->per_s)));
        break;
    }
  }
  std::vector<std::string> parts;
  if (!fed.empty()) {
    parts.push_back(fmt::format("enough for {} in {}", list_in_words(fed), dtype));
  }
  if (!limited.empty()) {
    parts.push_back(fmt::format("{}", fmt::join(limited, ", ")));
  }
  answer.claim = fmt::format("The loader makes {} samples/s on {} cores ({}): {}.",
                             plus_minus(host.per_s, host.interval), plain_number(host.cores),
                             short_name(host.host), fmt::join(parts, "; "));
  return answer;
}

// A part for each device; of many the first few.
std::string parts_in_words(std::vector<std::string> parts, std::string_view between = "; ") {
  constexpr std::size_t kMostDevices = 4;
  const std::size_t count = parts.size();
  parts.resize(std::min(count, kMostDevices));
  return fmt::format("{}{}", fmt::join(parts, between),
                     count > kMostDevices ? fmt::format("; {} more in the file", count - kMostDevices) : "");
}

Answer gain_answer(const Evaluation& evaluation, const std::string& dtype) {
  Answer answer{.question = "gain", .dtype = dtype, .claim = ""};
  std::vector<std::string> parts;
  for (const EvaluatedRow* const row : rows_in(evaluation, dtype)) {
    if (row->over_fp32) {
      parts.push_back(fmt::format("{} {}{}", label_of(evaluation, *row), ratio_in_words(*row->over_fp32),
                                  row->over_fp32->differs_from_one() ? "" : ", not significant"));
    }
  }
  if (!parts.empty()) {
    answer.claim = fmt::format("{} compared with fp32: {}.", dtype, parts_in_words(std::move(parts)));
  }
  return answer;
}

// "fp16 with sums in fp32 reaches 13 % of the data sheet's fp16 peak on t4, 34 % on v100."
Answer peak_answer(const Evaluation& evaluation, const std::string& dtype) {
  Answer answer{.question = "peak", .dtype = dtype, .claim = ""};
  std::vector<std::string> shares;
  std::string last;
  for (const EvaluatedRow* const row : known_rows_in(evaluation, dtype)) {
    if (row->peak_share) {
      const Curve& curve = evaluation.curve_of(*row);
      const std::string peak = fmt::format(
          " of the {} {} peak", curve.peak_measured ? "measured" : "data sheet's", curve.peak_dtype);
      shares.push_back(fmt::format("{}{} on {}", format_percent(*row->peak_share), peak == last ? "" : peak,
                                   label_of(evaluation, *row)));
      last = peak;
    }
  }
  if (!shares.empty()) {
    answer.claim =
        fmt::format("{} with sums in fp32 reaches {}.", dtype, parts_in_words(std::move(shares), ", "));
  }
  return answer;
}

}  // namespace

bool names_currency(const Answer& answer) {
  return answer.headline > 0 && (answer.question == "job" || answer.question == "cost");
}

std::vector<Answer> answers_of(const Evaluation& evaluation) {
  // In the order of the headlines.
  constexpr std::array kQuestions{job_answer,  speed_answer,  best_dtype_answer, memory_answer, cost_answer,
                                  host_answer, energy_answer, gain_answer,       peak_answer};
  std::vector<std::string> dtypes = dtypes_of(evaluation.devices);
  std::ranges::stable_partition(dtypes, [&](const std::string& dtype) { return dtype == evaluation.dtype; });
  std::vector<Answer> answers;
  int place = 1;
  for (const std::string& dtype : dtypes) {
    for (const auto& question : kQuestions) {
      Answer answer = question(evaluation, dtype);
      if (answer.claim.empty()) {
        continue;
      }
      const bool is_for_job = evaluation.job && answer.question == "cost";
      answer.headline = dtype == evaluation.dtype && place <= kHeadlines && !is_for_job ? place++ : 0;
      answers.push_back(std::move(answer));
    }
  }
  // Where the headlines' dtype is fp32, the gain of the fastest other dtype takes a free place.
  if (const auto gain = std::ranges::find(answers, "gain", &Answer::question);
      gain != answers.end() && evaluation.dtype == "fp32" && place <= kHeadlines) {
    gain->headline = place;
  }
  if (!evaluation.prices.by_device.empty() && evaluation.prices.currency.empty()) {
    const auto first = std::ranges::find_if(answers, names_currency);
    if (first != answers.end()) {
      first->claim.insert(first->claim.size() - 1, " (amounts in the currency of --price)");
    }
  }
  return answers;
}

}  // namespace bench
