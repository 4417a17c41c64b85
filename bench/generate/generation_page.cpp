#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/evaluate/evaluation_words.h"
#include "bench/generate/prediction.h"
#include "bench/page/csv.h"
#include "bench/result/finding.h"
#include "bench/result/json_members.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"
#include "bench/text/units.h"

namespace bench {

void members(JsonWriter& io, const PredictedTime& time) {
  io("seconds", time.seconds);
  io("interval80", time.interval80);
}

namespace {

constexpr double kNsPerS = 1e9;
constexpr double kMsPerS = 1e3;

// Of something that takes these seconds, so many times a second.
Interval rates_of(const PredictedTime& time, double count) {
  return {.low = count / time.interval80.high, .high = count / time.interval80.low};
}

std::string_view words_of(Fits fit) {
  constexpr std::array<std::string_view, 3> kWords{"yes", "perhaps", "no"};
  return kWords.at(static_cast<std::size_t>(fit));
}

std::string bytes_text(double bytes) {
  constexpr double kMost = 9e18;
  return format_bytes(static_cast<std::int64_t>(std::min(bytes, kMost)));
}

// "47 (40–57) tokens/s".
std::string rate_text(const PredictedTime& time, double count) {
  return Cell::number80(count / time.seconds, rates_of(time, count)).text + " tokens/s";
}

std::string time_text(const PredictedTime& time) {
  return Cell::time80(time.seconds * kNsPerS,
                      {.low = time.interval80.low * kNsPerS, .high = time.interval80.high * kNsPerS})
      .text;
}

std::string card_name(const GenerationRequest& request, std::size_t gpu) {
  return (request.cards > 1 ? fmt::format("{} × ", request.cards) : "") + request.gpus[gpu].id;
}

std::string series_name(const GenerationRequest& request, std::size_t gpu, std::size_t format) {
  return request.formats.size() == 1
             ? card_name(request, gpu)
             : fmt::format("{}, {}", card_name(request, gpu), request.formats[format].name);
}

std::string users_text(std::int64_t users) {
  return users == 1 ? "one user" : fmt::format("{} users", users);
}

// "; room for 5 users or 47766 tokens of one user": by the upper end of the plan.
std::string room_text(const GenerationLimits& limits) {
  if (limits.largest_context == 0) {
    return "";
  }
  const std::string users =
      limits.largest_batch == 0
          ? ""
          : fmt::format("{}{} or ", limits.largest_batch == kMostBatch ? "at least " : "",
                        users_text(limits.largest_batch));
  return fmt::format("; room for {}{} tokens of one user", users, limits.largest_context);
}

// Empty where the title tells it.
std::string context_text(const GenerationRequest& request, std::int64_t context) {
  return request.contexts.size() == 1 ? "" : fmt::format(" with {} tokens of context", context);
}

// The answer for a card: does it fit, how fast for one, for how many.
std::string headline(const GenerationPrediction& prediction, const GenerationPoint& first,
                     const GenerationLimits& limits) {
  const GenerationRequest& request = prediction.request;
  const std::string who = series_name(request, first.gpu, first.format);
  if (!limits.refusal.empty()) {
    return fmt::format("{}: {}.", who, limits.refusal);
  }
  const double card = static_cast<double>(request.gpus[first.gpu].memory_bytes) * request.cards;
  constexpr double kGibibyteOfText = 1 << 30;
  const Interval in_gib{.low = first.memory80.low / kGibibyteOfText,
                        .high = first.memory80.high / kGibibyteOfText};
  const std::string needs = fmt::format(
      "{} GiB of {}", Cell::number80(first.memory.total() / kGibibyteOfText, in_gib).text, bytes_text(card));
  const std::string users = users_text(first.batch) + context_text(request, first.context);
  if (first.fit == Fits::no) {
    const std::string less =
        limits.bytes_in_int4 < first.memory.weights && limits.largest_context == 0
            ? fmt::format("; in int4 the weights take {}", bytes_text(limits.bytes_in_int4))
            : "";
    return fmt::format("{}: does not fit for {}: it takes {}, and the driver's share on top{}{}.", who, users,
                       needs, less, room_text(limits));
  }
  return fmt::format("{}: {}, {}: {} for {}, first token after {}{}.", who,
                     first.fit == Fits::yes ? "fits" : "may not fit", needs,
                     rate_text(first.step, static_cast<double>(first.batch)), users, time_text(first.first),
                     room_text(limits));
}

// Of several: how many hold it, and the fastest.
std::string summary(const GenerationPrediction& prediction, std::size_t per_series) {
  const GenerationPoint* best = nullptr;
  std::size_t held = 0;
  for (std::size_t series = 0; series < prediction.limits.size(); ++series) {
    const GenerationPoint& first = prediction.points[series * per_series];
    held += first.fit == Fits::yes ? 1 : 0;
    if (first.fit == Fits::yes && (best == nullptr || first.step.seconds < best->step.seconds)) {
      best = &first;
    }
  }
  if (best == nullptr) {
    return fmt::format("None of {} surely holds it.", prediction.limits.size());
  }
  return fmt::format("{} is the fastest that fits, {} for {}{}; {} of {} fit.",
                     series_name(prediction.request, best->gpu, best->format),
                     rate_text(best->step, static_cast<double>(best->batch)), users_text(best->batch),
                     context_text(prediction.request, best->context), held, prediction.limits.size());
}

// What decides the speed of one series, and what context takes.
std::vector<std::string> limit_sentences(const GenerationPrediction& prediction, const GenerationPoint& first,
                                         const GenerationLimits& limits) {
  const double fixed = std::max(0.0, 1 - std::max(first.step.memory_share, first.step.products_share));
  std::string text = fmt::format(
      "{}: reading weights and cache takes {} of a step at batch {}, what the engine does between operations "
      "{}",
      series_name(prediction.request, first.gpu, first.format), format_percent(first.step.memory_share),
      first.batch, format_percent(fixed));
  text += limits.ridge_batch > 0 ? fmt::format("; from batch {} on arithmetic limits it", limits.ridge_batch)
                                 : "; reading limits at every batch";
  return {text + ".", fmt::format("{}: 1000 tokens more of context take {} and {} a step for each sequence.",
                                  series_name(prediction.request, first.gpu, first.format),
                                  bytes_text(limits.kv_bytes), time_text(limits.kv_time))};
}

const GenerationPoint* point_at(const GenerationPrediction& prediction, std::size_t gpu, std::size_t format,
                                std::int64_t batch) {
  const auto found = std::ranges::find_if(prediction.points, [&](const GenerationPoint& point) {
    return point.gpu == gpu && point.format == format && point.batch == batch &&
           point.context == prediction.request.contexts.front() && point.fit != Fits::no;
  });
  return found == prediction.points.end() ? nullptr : &*found;
}

// How much faster fewer bits are at the first batch, and the batch from which they gain less than 5 %. Empty
// where one of the two formats does not fit.
std::string gain_sentence(const GenerationPrediction& prediction, std::size_t gpu, std::size_t few,
                          std::size_t many) {
  constexpr double kWorthwhile = 1.05;
  const GenerationRequest& request = prediction.request;
  std::string gain;
  for (const std::int64_t batch : request.batches) {
    const GenerationPoint* const fast = point_at(prediction, gpu, few, batch);
    const GenerationPoint* const slow = point_at(prediction, gpu, many, batch);
    if (fast == nullptr || slow == nullptr) {
      break;
    }
    const double speedup = slow->step.seconds / fast->step.seconds;
    if (gain.empty()) {
      gain = fmt::format("{}: {} is {:.2f}× as fast as {} at batch {}", card_name(request, gpu),
                         request.formats[few].name, speedup, request.formats[many].name, batch);
    }
    if (speedup < kWorthwhile) {
      return gain + fmt::format(", and brings less than 5 % from batch {} on.", batch);
    }
  }
  return gain.empty() ? "" : gain + ".";
}

void add_gains(const GenerationPrediction& prediction, std::vector<std::string>& findings) {
  const std::vector<WeightFormat>& formats = prediction.request.formats;
  for (std::size_t gpu = 0; gpu < prediction.request.gpus.size(); ++gpu) {
    for (std::size_t few = 0; few < formats.size(); ++few) {
      for (std::size_t many = 0; many < formats.size(); ++many) {
        if (formats[few].bits < formats[many].bits) {
          findings.push_back(gain_sentence(prediction, gpu, few, many));
        }
      }
    }
  }
}

std::size_t points_a_series(const GenerationRequest& request) {
  return request.contexts.size() * request.batches.size();
}

// The points as the table shows them: of many series the fastest at its first point first, and after those
// that hold it the ones that may.
std::vector<const GenerationPoint*> ordered_points(const GenerationPrediction& prediction, bool is_ranked) {
  const std::size_t per_series = points_a_series(prediction.request);
  std::vector<const GenerationPoint*> firsts;
  for (std::size_t first = 0; first < prediction.points.size(); first += per_series) {
    firsts.push_back(&prediction.points[first]);
  }
  if (is_ranked) {
    std::ranges::stable_sort(
        firsts, {}, [](const GenerationPoint* point) { return std::pair(point->fit, point->step.seconds); });
  }
  std::vector<const GenerationPoint*> points;
  for (const GenerationPoint* const first : firsts) {
    for (std::size_t i = 0; i < per_series; ++i) {
      points.push_back(first + i);
    }
  }
  return points;
}

// `has_many`: ranked, and without what does not fit.
TextTable generation_table(const GenerationPrediction& prediction, bool has_many) {
  const GenerationRequest& request = prediction.request;
  // A value that all rows share has no column: the title or the answers say it.
  const bool many_formats = request.formats.size() > 1;
  const bool many_contexts = request.contexts.size() > 1;
  const bool has_prices = request.prices.has_value();
  const bool many_users = request.batches.back() > 1;
  TextTable table;
  Cells header{"card"};
  const auto add_if = [](Cells& row, bool condition, Cell cell) {
    if (condition) {
      row.push_back(std::move(cell));
    }
  };
  add_if(header, many_formats, "weights");
  add_if(header, many_contexts, "context");
  header.insert(header.end(),
                {"batch", "fits", fmt::format("tokens/s ({})", level_in_words(Origin::predicted))});
  add_if(header, many_users, "a user");
  header.insert(header.end(), {"first token", "memory"});
  add_if(header, has_prices, "cost a million tokens");
  table.rows.push_back(std::move(header));
  for (const GenerationPoint* const shown : ordered_points(prediction, has_many)) {
    const GenerationPoint& point = *shown;
    const auto batch = static_cast<double>(point.batch);
    const bool is_out = point.fit == Fits::no;
    if (is_out && has_many) {
      continue;
    }
    Cells row{card_name(request, point.gpu)};
    add_if(row, many_formats, request.formats[point.format].name);
    add_if(row, many_contexts, Cell(point.context));
    row.insert(row.end(), {Cell(point.batch), words_of(point.fit),
                           is_out ? Cell::none()
                                  : Cell::number80(batch / point.step.seconds, rates_of(point.step, batch))});
    add_if(row, many_users, is_out ? Cell::none() : Cell::number(1 / point.step.seconds));
    row.insert(row.end(), {is_out ? Cell::none() : Cell::figure(time_text(point.first)),
                           Cell::bytes(static_cast<std::int64_t>(point.memory.total()))});
    add_if(row, has_prices,
           is_out || !point.cost_per_million
               ? Cell::none()
               : Cell::figure(amount_in_words(*point.cost_per_million, request.prices->currency)));
    table.rows.push_back(std::move(row));
  }
  table.below =
      "memory: weights, keys and values, activations, by plan; the driver and the libraries take 0.3 to 1 "
      "GiB more on each card";
  if (has_prices && request.prices->currency.empty()) {
    table.below += "; cost: in the currency of --price";
  }
  return table;
}

// The fastest, each series, what fewer bits gain, and what limits the speed.
std::vector<std::string> generation_findings(const GenerationPrediction& prediction, bool has_many,
                                             bool verbose) {
  const std::size_t per_series = points_a_series(prediction.request);
  const std::size_t count = prediction.limits.size();
  std::vector<std::string> findings;
  if (count > 1) {
    findings.push_back(summary(prediction, per_series));
  }
  for (std::size_t series = 0; series < (has_many ? 0 : count); ++series) {
    findings.push_back(
        headline(prediction, prediction.points[series * per_series], prediction.limits[series]));
  }
  add_gains(prediction, findings);
  for (std::size_t series = 0; series < (verbose || count == 1 ? count : 0); ++series) {
    const GenerationPoint& first = prediction.points[series * per_series];
    if (first.fit != Fits::no) {
      std::ranges::move(limit_sentences(prediction, first, prediction.limits[series]),
                        std::back_inserter(findings));
    }
  }
  std::erase(findings, "");
  return findings;
}

std::vector<Warning> generation_warnings(const GenerationPrediction& prediction) {
  const GenerationRequest& request = prediction.request;
  std::vector<Warning> warnings;
  if (request.contexts.back() > request.model.context) {
    warnings.push_back(
        {.text = fmt::format("{} was made for {} tokens of context; beyond them its answers may be wrong",
                             request.model.id, request.model.context)});
  }
  const std::size_t per_series = points_a_series(request);
  std::set<std::string> unmeasured;
  for (std::size_t series = 0; series < prediction.limits.size(); ++series) {
    const GenerationPoint& first = prediction.points[series * per_series];
    if (prediction.limits[series].rows == 0 && first.fit != Fits::no) {
      unmeasured.insert(
          fmt::format("{} on {}", request.formats[first.format].name, card_name(request, first.gpu)));
    }
  }
  if (!unmeasured.empty()) {
    warnings.push_back(
        {.text = fmt::format("no speed of {} was measured for {}: it is put together from other "
                             "engines, memories and weights, and its interval is wide",
                             request.engine, fmt::join(unmeasured, ", ")),
         .brief =
             fmt::format("no speed of {} was measured for {}", request.engine, fmt::join(unmeasured, ", "))});
  }
  if (request.cards > 1) {
    warnings.push_back(
        {.text =
             shares_tensors(request.engine)
                 ? fmt::format("the {} cards share each matrix, over NVLink in all that was measured; over "
                               "PCIe they are slower",
                               request.cards)
                 : fmt::format("the {} cards work one after the other: more memory, not more speed",
                               request.cards)});
  }
  return warnings;
}

}  // namespace

Page generation_page(const GenerationPrediction& prediction, bool verbose) {
  const GenerationRequest& request = prediction.request;
  std::vector<std::string> formats;
  for (const WeightFormat& format : request.formats) {
    formats.push_back(fmt::format("{} ({:.3g} bits)", format.name, format.bits));
  }
  Page page{.title = fmt::format(
                "{} generating text with {}, {}{}: predicted from data sheets and published measurements",
                request.model.id, request.engine, fmt::join(formats, ", "),
                request.contexts.size() == 1 ? fmt::format(", {} tokens of context", request.contexts.front())
                                             : "")};
  constexpr std::size_t kFew = 4;  // series of which each has a sentence
  const bool has_many = prediction.limits.size() > kFew;
  page.answer(generation_findings(prediction, has_many, verbose), {.is_shown = verbose});
  page.table(generation_table(prediction, has_many));
  page.warn(generation_warnings(prediction), verbose);
  return page;
}

std::string generation_csv(const GenerationPrediction& prediction) {
  const GenerationRequest& request = prediction.request;
  std::vector<Cells> rows{{"card",
                           "workload",
                           "weights",
                           "engine",
                           "cards",
                           "batch",
                           "context",
                           "prompt",
                           "prompt_tok_s",
                           "prompt_tok_s_low",
                           "prompt_tok_s_high",
                           "decode_tok_s",
                           "decode_tok_s_low",
                           "decode_tok_s_high",
                           "ttft_ms",
                           "ttft_ms_low",
                           "ttft_ms_high",
                           "tpot_ms",
                           "tpot_ms_low",
                           "tpot_ms_high",
                           "peak_bytes",
                           "peak_bytes_low",
                           "peak_bytes_high",
                           "weights_bytes",
                           "kv_bytes",
                           "fits",
                           "cost_per_million"}};
  for (const GenerationPoint& point : prediction.points) {
    const auto batch = static_cast<double>(point.batch);
    const auto prompt = static_cast<double>(point.prompt);
    Cells row{request.gpus[point.gpu].id,
              request.model.id,
              request.formats[point.format].name,
              request.engine,
              Cell(request.cards),
              Cell(point.batch),
              Cell(point.context),
              Cell(point.prompt)};
    const auto three = [&](double value, const Interval& interval) {
      row.push_back(Cell::figure(csv_number(value)));
      row.push_back(Cell::figure(csv_number(interval.low)));
      row.push_back(Cell::figure(csv_number(interval.high)));
    };
    const auto in_ms = [&](const PredictedTime& time) {
      three(time.seconds * kMsPerS,
            {.low = time.interval80.low * kMsPerS, .high = time.interval80.high * kMsPerS});
    };
    const auto bytes = [](double value) { return Cell(static_cast<std::int64_t>(value)); };
    three(prompt / point.first.seconds, rates_of(point.first, prompt));
    three(batch / point.step.seconds, rates_of(point.step, batch));
    in_ms(point.first);
    in_ms(point.step);
    for (const double value : {point.memory.total(), point.memory80.low, point.memory80.high,
                               point.memory.weights, point.memory.kv}) {
      row.push_back(bytes(value));
    }
    row.emplace_back(std::string(words_of(point.fit)));
    row.push_back(Cell::figure(csv_number(point.cost_per_million)));
    rows.push_back(std::move(row));
  }
  return csv_table(rows);
}

Json generation_json(const GenerationPrediction& prediction) {
  const GenerationRequest& request = prediction.request;
  JsonWriter io;
  io("schema", "bench-generation-prediction/1");
  io("workload", request.model.id);
  io("parameters", parameters(request.model));
  io("engine", request.engine);
  io("cards", request.cards);
  io.list("points", prediction.points, [&](JsonWriter& one, const GenerationPoint& point) {
    one("card", request.gpus[point.gpu].id);
    one("weights", request.formats[point.format].name);
    one("context", point.context);
    one("batch", point.batch);
    one("prompt", point.prompt);
    one("fits", words_of(point.fit));
    one("step", point.step);
    one("first_token", point.first);
    one.object("memory", [&](JsonWriter& memory) {
      memory("weights", static_cast<std::int64_t>(point.memory.weights));
      memory("kv", static_cast<std::int64_t>(point.memory.kv));
      memory("activations", static_cast<std::int64_t>(point.memory.activations));
      memory("total80", std::array{static_cast<std::int64_t>(point.memory80.low),
                                   static_cast<std::int64_t>(point.memory80.high)});
    });
    one.optional("cost_per_million", point.cost_per_million);
  });
  std::size_t series = 0;  // by card and format
  io.list("limits", prediction.limits, [&](JsonWriter& one, const GenerationLimits& of) {
    one("card", request.gpus[series / request.formats.size()].id);
    one("weights", request.formats[series % request.formats.size()].name);
    one("largest_context", of.largest_context);
    one("largest_batch", of.largest_batch);
    one("ridge_batch", of.ridge_batch);
    one("rows_measured", of.rows);
    ++series;
  });
  if (request.prices) {
    io("currency", request.prices->currency);
  }
  return io.take();
}

}  // namespace bench
