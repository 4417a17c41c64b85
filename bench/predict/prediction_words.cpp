#include "bench/predict/prediction_words.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/evaluate/evaluation.h"
#include "bench/model/step_limit.h"
#include "bench/result/finding.h"
#include "bench/result/result.h"
#include "bench/text/intervals.h"
#include "bench/text/units.h"

namespace bench {
namespace {

constexpr std::size_t kMostListed = 4;

// "a, b and c"; of many the first few, and how many more.
std::string listed(const std::vector<std::string>& names) {
  if (names.size() > kMostListed) {
    return fmt::format("{} and {} more", fmt::join(names.begin(), names.begin() + (kMostListed - 1), ", "),
                       names.size() - (kMostListed - 1));
  }
  if (names.size() < 2) {
    return names.empty() ? "" : names.front();
  }
  return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

const std::string& id_of(const Prediction& prediction, const CardPrediction& card) {
  return prediction.gpus[card.gpu].id;
}

std::string rate_of(const CurvePoint& point) {
  return with_interval80(point.per_s, point.interval.value()) + " samples/s";
}

std::string factor(double value) {
  constexpr double kTen = 10;
  return value < kTen ? fmt::format("{:.2f}", value) : format_number(value);
}

// "1.21× t4 (1.02–1.46×)".
std::string times(const Ratio& ratio, const std::string& other) {
  return fmt::format("{}× {} ({}–{}×{})", factor(ratio.value), other, factor(ratio.interval->low),
                     factor(ratio.interval->high), ratio.differs_from_one() ? "" : ", not significant");
}

// One card alone, or the fastest compared with the next and with the slowest.
std::string fastest_in(const Prediction& prediction, const std::string& dtype,
                       const std::vector<const CardPrediction*>& ranked) {
  const CardPrediction& first = *ranked.front();
  const CurvePoint& best = first.curve.at_saturation();
  std::string text =
      fmt::format("{}: {}, {} at batch {}", dtype, id_of(prediction, first), rate_of(best), best.batch);
  const auto compared = [&](const CardPrediction& other) {
    return times(throughput_ratio_of(best, other.curve.at_saturation()), id_of(prediction, other));
  };
  if (ranked.size() == 1) {
    return text + fmt::format("; most of the step's time: {}", most_time_in_words(best.step));
  }
  const CurvePoint& next = ranked[1]->curve.at_saturation();
  if (const Ratio lead = throughput_ratio_of(best, next); !lead.differs_from_one()) {
    const std::string both =
        fmt::format("{} and {}", id_of(prediction, first), id_of(prediction, *ranked[1]));
    text = fmt::format("{}: {}, {} and {} at batch {}; ratio {} ({}–{})", dtype,
                       lead.is_about_one() ? both + " are about equally fast"
                                           : fmt::format("cannot tell which of {} is faster", both),
                       with_interval80(best.per_s, best.interval.value()), rate_of(next),
                       best.batch == next.batch ? fmt::format("{}", best.batch)
                                                : fmt::format("{} and {}", best.batch, next.batch),
                       factor(lead.value), factor(lead.interval->low), factor(lead.interval->high));
  } else {
    text += fmt::format("; {}", compared(*ranked[1]));
  }
  return ranked.size() == 2 ? text : text + fmt::format(", {}", compared(*ranked.back()));
}

const CardPrediction* find_card(const Prediction& prediction, std::size_t gpu, const std::string& dtype) {
  const auto found = std::ranges::find_if(prediction.cards, [&](const CardPrediction& card) {
    return card.gpu == gpu && card.dtype == dtype && !card.curve.points.empty();
  });
  return found == prediction.cards.end() ? nullptr : &*found;
}

// The second dtype's throughput over the first's, each at its saturation batch.
std::string gains_of(const Prediction& prediction) {
  std::vector<std::string> gains;
  for (std::size_t gpu = 0; gpu < prediction.gpus.size(); ++gpu) {
    const CardPrediction* const wide = find_card(prediction, gpu, prediction.dtypes[0]);
    const CardPrediction* const narrow = find_card(prediction, gpu, prediction.dtypes[1]);
    if (wide != nullptr && narrow != nullptr) {
      const Ratio gain = gain_of(narrow->curve.at_saturation(), wide->curve.at_saturation());
      gains.push_back(fmt::format("{:.1f}× ({:.1f}–{:.1f}×{}) on {}", gain.value, gain.interval->low,
                                  gain.interval->high, gain.differs_from_one() ? "" : ", not significant",
                                  prediction.gpus[gpu].id));
    }
  }
  return gains.empty()
             ? ""
             : fmt::format("{} instead of {}: {}", prediction.dtypes[1], prediction.dtypes[0], listed(gains));
}

std::string largest_batches(const Prediction& prediction, const std::string& dtype) {
  std::vector<std::string> largest;
  for (const CardPrediction& card : prediction.cards) {
    if (card.dtype == dtype && card.curve.limits.safe > 0) {
      largest.push_back(fmt::format("{} on {}", card.curve.limits.safe, id_of(prediction, card)));
    }
  }
  return largest.empty()
             ? ""
             : fmt::format("Largest batch in {}{} (by the upper end of memory's interval): {}", dtype,
                           prediction.optimizer.empty()
                               ? ""
                               : fmt::format(", training with {}", prediction.optimizer),
                           listed(largest));
}

std::string runs_by(Framework framework) {
  return framework == Framework::pytorch            ? "eager PyTorch"
         : framework == Framework::pytorch_compiled ? "PyTorch with torch.compile"
                                                    : "this program's own engine";
}

std::string calibration_of(const Prediction& prediction) {
  std::vector<std::string> sets;
  for (const CalibrationRows& rows : prediction.calibration) {
    sets.push_back(fmt::format("{} by {} rows of {} machines", rows.set, rows.rows, rows.machines));
  }
  return fmt::format("Calibration: {}, published by others.", fmt::join(sets, ", "));
}

// Cards of whose chip nothing was measured.
std::vector<std::string> unmeasured_cards(const Prediction& prediction) {
  std::vector<std::string> ids;
  for (std::size_t gpu = 0; gpu < prediction.gpus.size(); ++gpu) {
    const bool is_known = std::ranges::any_of(prediction.cards, [&](const CardPrediction& card) {
      return card.gpu == gpu && (card.family_rows > 0 || card.has_own_result);
    });
    if (!is_known) {
      ids.push_back(prediction.gpus[gpu].id);
    }
  }
  return ids;
}

std::string attention_of(const Prediction& prediction) {
  return !prediction.has_attention || !prediction.attention ? ""
         : *prediction.attention == AttentionForm::eager
             ? " Attention counts as written out (else --attention fused)."
             : " Attention counts as fused (else --attention eager).";
}

// Each caveat once, with the cards that it is of where it is not of all.
std::vector<std::string> caveats_of(const Prediction& prediction) {
  std::vector<std::pair<std::string, std::vector<std::string>>> cards_by_caveat;
  std::size_t predicted = 0;
  for (const CardPrediction& card : prediction.cards) {
    if (card.curve.points.empty()) {
      continue;
    }
    ++predicted;
    for (const std::string& caveat : card.curve.at_saturation().step.caveats) {
      auto known = std::ranges::find(cards_by_caveat, caveat, &decltype(cards_by_caveat)::value_type::first);
      if (known == cards_by_caveat.end()) {
        known = cards_by_caveat.insert(known, {caveat, {}});
      }
      known->second.push_back(prediction.dtypes.size() > 1
                                  ? fmt::format("{} in {}", id_of(prediction, card), card.dtype)
                                  : id_of(prediction, card));
    }
  }
  const bool are_few = prediction.gpus.size() <= kMostListed;
  std::vector<std::string> caveats;
  std::set<std::string> others;
  for (const auto& [caveat, cards] : cards_by_caveat) {
    if (cards.size() == predicted) {
      caveats.push_back(caveat);
    } else if (are_few) {
      caveats.push_back(fmt::format("{} ({})", caveat, listed(cards)));
    } else {
      others.insert(cards.begin(), cards.end());
    }
  }
  if (!others.empty()) {
    caveats.push_back(
        fmt::format("{} of {} predictions have their own (--format json)", others.size(), predicted));
  }
  return caveats;
}

}  // namespace

std::string subject_in_words(const Prediction& prediction) {
  std::vector<std::string> ids;
  for (const Gpu& gpu : prediction.gpus) {
    ids.push_back(gpu.id);
  }
  const std::string host =
      prediction.framework != Framework::pytorch ? ""
      : prediction.host_launch_s
          ? fmt::format(", {} of host time an operation", format_duration(*prediction.host_launch_s * 1e9))
          : fmt::format(", {} of host time an operation, as on the machines measured",
                        format_duration(prediction.assumed_launch_s * 1e9));
  return fmt::format("{} ({}) on {}, predicted: {}{}; intervals hold {} of measured steps",
                     prediction.workload, prediction.mode, listed(ids), runs_by(prediction.framework), host,
                     level_in_words(Origin::predicted));
}

std::string most_time_of(const PredictedStep& step) {
  switch (longest_part(step).limit) {
    case StepLimit::launch:
      return "the host";
    case StepLimit::compute:
      return "products";
    case StepLimit::memory:
      return "memory";
    case StepLimit::implementation:
    case StepLimit::unknown:
      break;
  }
  return "short kernels";
}

std::string most_time_in_words(const PredictedStep& step) {
  const std::string part = most_time_of(step);
  return part == "products" ? "arithmetic" : part;
}

std::vector<std::string> prediction_findings(const Prediction& prediction) {
  std::vector<std::string> findings;
  std::string narrowest;
  for (const std::string& dtype : prediction.dtypes) {
    const std::vector<const CardPrediction*> ranked = prediction.ranked(dtype);
    if (!ranked.empty() && findings.size() < kHeadlines - 2) {
      findings.push_back(fastest_in(prediction, dtype, ranked));
      narrowest = dtype;
    }
  }
  if (prediction.gpus.size() <= kMostListed) {  // of more the table tells
    findings.push_back(prediction.dtypes.size() > 1 ? gains_of(prediction) : "");
    findings.push_back(largest_batches(prediction, narrowest));
  }
  std::erase(findings, "");
  return findings;
}

std::vector<std::string> prediction_notes(const Prediction& prediction) {
  std::vector<std::string> notes{calibration_of(prediction)};
  if (!prediction.references.empty()) {
    notes.push_back(
        fmt::format("Measured: {}. A card without a result of its own takes the engine's factor "
                    "from the others, with a wider interval; memory is not predicted of this engine.",
                    listed(prediction.references)));
  }
  if (prediction.framework != Framework::bench) {
    notes.push_back(
        "Memory is as nvidia-smi shows it, with cuDNN's workspaces estimated and not planned; "
        "torch.cuda.max_memory_allocated() shows less by the context, 0.5 to 1.3 GiB, and by what the "
        "allocator "
        "keeps." +
        attention_of(prediction) + (prediction.counts_dropout ? " Dropout and its masks count." : "") +
        (prediction.channels_last.value_or(false) ? " Images count as channels last." : ""));
  }
  return notes;
}

std::vector<Warning> prediction_warnings(const Prediction& prediction) {
  std::vector<Warning> warnings;
  if (const std::vector<std::string> cards = unmeasured_cards(prediction); !cards.empty()) {
    warnings.push_back({.text = fmt::format("no measurements of {}: intervals may hold fewer than {}",
                                            listed(cards), level_in_words(Origin::predicted)),
                        .brief = cards.size() <= 2 ? ""
                                                   : fmt::format("no measurements of {} of {} cards",
                                                                 cards.size(), prediction.gpus.size())});
  }
  for (std::string& caveat : caveats_of(prediction)) {
    warnings.push_back({.text = std::move(caveat)});
  }
  if (prediction.framework != Framework::bench && prediction.has_attention && !prediction.attention) {
    warnings.push_back({.text = "time and memory span attention fused and written out",
                        .action = "--attention fused or eager"});
  }
  if (prediction.framework != Framework::bench && !prediction.channels_last.value_or(true)) {
    warnings.push_back({.text = "images count as channels first", .action = "or --channels-last"});
  }
  return warnings;
}

}  // namespace bench
