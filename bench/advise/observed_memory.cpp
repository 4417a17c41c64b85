// How close a card's memory is to its end, by one reading, by several batches, and by an allocation to come.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/observed_parts.h"
#include "bench/stats/memory_line.h"
#include "bench/text/units.h"

namespace bench {
namespace {

void check_headroom(const Observed& observed, Advice& advice) {
  if (observed.memory.empty() || !observed.memory_cap) {
    return;
  }
  AdviceTable table{.question = "How close is each card's memory to its end?",
                    .table = {.rows = {{"card", "used", "of the card", "headroom"}}}};
  double sum = 0;
  for (std::size_t i = 0; i < observed.memory.size(); ++i) {
    const double share = observed.memory[i] / *observed.memory_cap;
    sum += share;
    table.table.rows.push_back({i, Cell::figure(gib_in_words(observed.memory[i])),
                                Cell::figure(share_in_words(share)), headroom(share)});
  }
  const double mean = sum / static_cast<double>(observed.memory.size());
  const double most = std::ranges::max(observed.memory) / *observed.memory_cap;
  const double least = std::ranges::min(observed.memory) / *observed.memory_cap;
  table.notes = {
      "Safe below 90 %, tight to 95 %, danger above: the rest is for fragmentation and libraries."};
  const double stated = observed.memory_stated_percent.value_or(0) / 100;
  constexpr double kRounding = 0.005;
  if (observed.memory_stated_percent && (stated < least - kRounding || stated > most + kRounding)) {
    advice.contradictions.push_back(fmt::format(
        "memory_stated_percent is {:.0f} %, but the readings are {} to {} of the card (mean {}).",
        *observed.memory_stated_percent, share_in_words(least), share_in_words(most), share_in_words(mean)));
  }
  if (const auto own =
          std::ranges::find(observed.memory_at_batch, observed.settings.batch, &MemoryPoint::batch);
      own != observed.memory_at_batch.end()) {
    const auto bytes = static_cast<double>(own->bytes);
    const double read =
        std::clamp(bytes, std::ranges::min(observed.memory), std::ranges::max(observed.memory));
    if (std::abs(read - bytes) > kMemoryTolerance * bytes) {
      advice.contradictions.push_back(
          fmt::format("memory_at_batch of batch {}, the current one, is {}, but the cards use {}.",
                      own->batch, gib_in_words(bytes), gib_in_words(read)));
    }
  }
  if (observed.reserved) {
    const double outside = std::ranges::max(observed.memory) - *observed.reserved;
    constexpr double kMostContext = 1.5 * 0x1p30;
    if (outside < -kMemoryTolerance * *observed.reserved) {
      advice.contradictions.push_back(
          fmt::format("PyTorch reserves {}, but the fullest card uses {}: the two are not of one moment.",
                      gib_in_words(*observed.reserved), gib_in_words(std::ranges::max(observed.memory))));
    } else {
      table.notes.push_back(
          fmt::format("{} of it lie outside PyTorch{}.", gib_in_words(std::max(0.0, outside)),
                      outside > kMostContext ? ", more than a context takes: another process "
                                               "is on the card"
                                             : ": the context and libraries"));
    }
  }
  const double emptiest = *observed.memory_cap - std::ranges::min(observed.memory);
  const double fullest = *observed.memory_cap - std::ranges::max(observed.memory);
  const double tolerance = kMemoryTolerance * *observed.memory_cap;
  if (observed.free && (*observed.free > emptiest + tolerance || *observed.free < fullest - tolerance)) {
    advice.contradictions.push_back(fmt::format(
        "{} is given as free, but the {} card has {} left of {}: the two are not of one moment.",
        gib_in_words(*observed.free), *observed.free > emptiest ? "emptiest" : "fullest",
        gib_in_words(*observed.free > emptiest ? emptiest : fullest), gib_in_words(*observed.memory_cap)));
  }
  if (headroom(most) == "danger") {
    advice.warnings.push_back(
        fmt::format("Memory: the fullest card is at {}, danger.", share_in_words(most)));
  }
  advice.tables.push_back(std::move(table));
}

// bytes(batch) by readings, and what a death adds to it.
struct ReadLine {
  MemoryLine fitted;
  double factor = 1;  // by which a batch that died needs more than the line says, at the least
  double excess = 0;  // the same in bytes

  // Next to which larger batches lie.
  const MemoryLine::Segment& last() const { return fitted.segments.back(); }
  double at(std::int64_t batch) const { return last().fixed + last().slope * static_cast<double>(batch); }
  // The largest that takes no more than these bytes; 0: none.
  std::int64_t largest(double bytes) const {
    return fitted.largest_batch(std::llround(std::min(bytes / factor, bytes - excess))).value_or(0);
  }
};

// nullopt: fewer than two batches were read, or what they take contradicts itself.
std::optional<ReadLine> line_of(const Observed& observed) {
  const auto& at = observed.memory_at_batch;
  const auto fitted = fit_memory_line(at);
  const double least = at.size() == 2 ? -kMemoryTolerance * static_cast<double>(at.back().bytes) : -INFINITY;
  if (!fitted || fitted->segments.back().slope <= 0 || fitted->segments.back().fixed < least) {
    return std::nullopt;
  }
  ReadLine line{*fitted};
  line.fitted.slope_bytes.value = line.last().slope;  // decides on larger batches, however few lie there
  if (const auto& died = observed.died_at; died && died->memory_cap > line.at(died->batch)) {
    line.factor = died->memory_cap / line.at(died->batch);
    line.excess = died->memory_cap - line.at(died->batch);
  }
  return line;
}

// The caps to answer for: those given, else the card's own.
std::vector<double> caps_of(const Observed& observed) {
  return !observed.other_caps.empty() ? observed.other_caps
         : observed.memory_cap        ? std::vector<double>{*observed.memory_cap}
                                      : std::vector<double>{};
}

Cell batch_cell(std::int64_t batch) {
  return batch > 0 ? Cell(batch) : Cell("none");
}

// "9.10 GiB + 159 MiB a sample", "1.00 GiB a sample − 512 MiB"
std::string line_in_words(const MemoryLine::Segment& line) {
  const std::string fixed = format_bytes(std::llround(std::abs(line.fixed)));
  const std::string sample = format_bytes(std::llround(line.slope)) + " a sample";
  return line.fixed < 0 ? fmt::format("{} − {}", sample, fixed) : fmt::format("{} + {}", fixed, sample);
}

// What batches that ran or died say of the line, in notes and warnings.
void compare_with_runs(const Observed& observed, const ReadLine& line, AdviceTable& table, Advice& advice) {
  const auto& died = observed.died_at;
  if (line.excess > 0) {
    table.notes.push_back(
        fmt::format("Batch {} died on {}, where the line puts it at {}: its peak lies {} above the line at "
                    "the least (loss, "
                    "validation, or a workspace that was not read), which the table counts for all batches.",
                    died->batch, gib_in_words(died->memory_cap), gib_in_words(line.at(died->batch)),
                    gib_in_words(line.excess)));
    advice.missing.push_back(
        fmt::format("memory_at_batch over a whole epoch with validation (max_memory_reserved): the peak that "
                    "ended batch {}",
                    died->batch));
  } else if (died && died->memory_cap > 0 && line.at(died->batch) > died->memory_cap) {
    advice.warnings.push_back(
        fmt::format("Batch {} started on {} of {}, but the line puts it at {}: the readings are not of one "
                    "setting, or hold the allocator's cache.",
                    died->batch, died->device.empty() ? "a card" : "a " + died->device,
                    gib_in_words(died->memory_cap), gib_in_words(line.at(died->batch))));
  }
  if (observed.runs_at_batch && observed.memory_cap &&
      line.at(*observed.runs_at_batch) > *observed.memory_cap) {
    advice.warnings.push_back(fmt::format(
        "Batch {} runs, but the line through the other readings puts it at {}, and the card has {}: the "
        "readings do not lie on one line.",
        *observed.runs_at_batch, gib_in_words(line.at(*observed.runs_at_batch)),
        gib_in_words(*observed.memory_cap)));
    table.notes.emplace_back(
        "Either the readings are too high: they count the allocator's cache, or workspaces that shrink when "
        "memory is short. max_memory_allocated leaves out the cache: read it instead.");
    table.notes.push_back(
        fmt::format("Or the line bends: another algorithm is chosen above the batches read, or a reading was "
                    "taken before the peak; read batch {} after some steps.",
                    *observed.runs_at_batch));
    advice.missing.push_back(
        fmt::format("memory_at_batch of batch {}: max_memory_allocated and max_memory_reserved",
                    *observed.runs_at_batch));
  }
}

void draw_line(const Observed& observed, Advice& advice) {
  const auto& at = observed.memory_at_batch;
  if (at.size() < 2) {
    if (at.size() == 1) {
      advice.missing.emplace_back("memory_at_batch: a second batch; one reading gives no line");
    }
    return;
  }
  const auto read = line_of(observed);
  if (!read) {
    const MemoryLine::Segment last = fit_memory_line(at).value().segments.back();
    advice.contradictions.push_back(
        last.slope <= 0
            ? fmt::format("memory_at_batch falls from batch {} to {}: a larger batch cannot take less.",
                          last.first_batch, at.back().batch)
            : fmt::format("memory_at_batch of batches {} and {} leave {} for the weights: one of them is "
                          "wrong, or in another unit.",
                          at.front().batch, at.back().batch, gib_in_words(last.fixed)));
    return;
  }
  const ReadLine& line = *read;
  AdviceTable table{.question = "Which batch fits which card, by the line of the readings?",
                    .table = {.rows = {{"card's memory", "largest batch", "safe (below 90 %)"}}}};
  for (const double cap : caps_of(observed)) {
    const BatchLimits limits = batch_limits(observed, cap).value();
    table.table.rows.push_back(
        {Cell::figure(gib_in_words(cap)), batch_cell(limits.largest), batch_cell(limits.safe)});
  }
  table.notes.push_back(
      line.fitted.segments.size() > 1
          ? fmt::format(
                "bytes(batch) = {}, from batch {} on: smaller ones lie off this line, so larger ones may.",
                line_in_words(line.last()), line.last().first_batch)
          : fmt::format("bytes(batch) = {}, through batches {} and {}{}.", line_in_words(line.last()),
                        at.front().batch, at.back().batch,
                        at.size() == 2 ? ", without an interval"
                                       : fmt::format("; {} readings lie within 2 % of it", at.size())));
  if (observed.no_faster_above_batch && observed.memory_cap &&
      line.at(*observed.no_faster_above_batch) > kSafeShare * *observed.memory_cap) {
    table.notes.push_back(fmt::format(
        "Throughput grows up to batch {}, which by this line takes {}: the card's memory stops it before.",
        *observed.no_faster_above_batch, gib_in_words(line.at(*observed.no_faster_above_batch))));
  } else if (observed.no_faster_above_batch) {
    table.notes.push_back(
        fmt::format("Sensible: batch {}; above it more memory buys no speed on the card that was read.",
                    *observed.no_faster_above_batch));
  }
  table.notes.push_back(fmt::format(
      "Speeds, cores and prices of cards: bench evaluate --gpu all {} --mode {} --price CARD=AMOUNT,…; "
      "bench predict for one card.",
      observed.stand_in.empty() ? "--onnx FILE" : "--workload " + observed.stand_in, observed.mode));
  compare_with_runs(observed, line, table, advice);
  // Where nothing was read of time, memory is the answer.
  if (!observed.step_s) {
    const auto& rows = table.table.rows;
    advice.reason = fmt::format("No time was read. Memory is {}{}.", line_in_words(line.last()),
                                rows.size() < 2 ? ""
                                : rows[1][1] == "none"
                                    ? fmt::format("; a card of {} does not hold batch 1", rows[1][0].text)
                                    : fmt::format("; a card of {} holds batch {} at most, {} below 90 %",
                                                  rows[1][0].text, rows[1][1].text, rows[1][2].text));
  }
  advice.tables.push_back(std::move(table));
}

std::optional<NamedBottleneck> check_allocation(const Observed& observed, Advice& advice) {
  if (!observed.allocation || !observed.free) {
    if (observed.allocation) {
      advice.missing.emplace_back("free_gib: what is free on the card that the allocation is asked of");
    }
    return std::nullopt;
  }
  const double short_of = *observed.allocation - *observed.free;
  AdviceTable table{.question = "Does the allocation to come fit?"};
  const std::string difference = format_bytes(std::llround(std::abs(short_of)));
  table.notes.push_back(fmt::format(
      "It asks for {}, and {} is free: {}.", gib_in_words(*observed.allocation), gib_in_words(*observed.free),
      short_of > 0 ? difference + " short" : "it fits, and leaves " + difference));
  if (observed.memory_cap) {
    table.notes.push_back(
        fmt::format("The peak of that card would be {} of {}.",
                    gib_in_words(*observed.memory_cap - *observed.free + *observed.allocation),
                    gib_in_words(*observed.memory_cap)));
  }
  if (short_of > 0) {
    table.notes.emplace_back(
        "A tensor and its replacement take memory together until the copy is done: make the new one in host "
        "memory, before the model moves to the cards, or free the old one first.");
  }
  advice.tables.push_back(std::move(table));
  if (short_of <= 0) {
    return std::nullopt;
  }
  return NamedBottleneck{Bottleneck::vram, fmt::format("An allocation of {} meets {} free: {} short.",
                                                       gib_in_words(*observed.allocation),
                                                       gib_in_words(*observed.free), difference)};
}

}  // namespace

std::optional<BatchLimits> batch_limits(const Observed& observed, double cap) {
  const auto line = line_of(observed);
  if (!line) {
    return std::nullopt;
  }
  BatchLimits limits{.safe = line->largest(kSafeShare * cap), .largest = line->largest(cap)};
  // Of a card on which it ran, or died.
  if (cap == observed.memory_cap) {
    limits.largest = std::max(limits.largest, observed.runs_at_batch.value_or(0));
  }
  if (const auto& died = observed.died_at; died && died->memory_cap >= cap) {
    limits.largest = std::min(limits.largest, died->batch - 1);
    limits.safe = std::min(limits.safe, died->batch - 1);
  }
  return limits;
}

std::optional<NamedBottleneck> advise_memory(const Observed& observed, Advice& advice) {
  check_headroom(observed, advice);
  draw_line(observed, advice);
  auto named = check_allocation(observed, advice);
  if (const auto& died = observed.died_at) {
    const std::string card = died->device.empty() ? "A card" : died->device;
    advice.warnings.push_back(
        died->iterations.value_or(0) > 0
            ? fmt::format(
                  "{} ran out of memory at batch {} after {} iterations: it starts below its peak, which a "
                  "larger sample, a cuDNN workspace or fragmentation brings later. Read the peak there "
                  "(max_memory_reserved), or take a smaller batch.",
                  card, died->batch, *died->iterations)
            : fmt::format("{} ran out of memory at batch {}: take a smaller batch there.", card,
                          died->batch));
  }
  if (!named && observed.no_faster_above_batch) {
    named = {Bottleneck::undecided,
             fmt::format("Batches above {} are no faster: {} limits the speed, not the fixed cost of a step.",
                         *observed.no_faster_above_batch,
                         observed.data_s ? "computing or copies"
                                         : "computing, copies or the loader (data_ms tells which)")};
  }
  return named;
}

}  // namespace bench
