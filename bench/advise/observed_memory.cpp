// How close a card's memory is to its end, by one reading, by several batches, and by an allocation to come.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/advise/observed_parts.h"
#include "bench/measure/memory_line.h"

namespace bench {
namespace {

void check_headroom(const Observed& observed, Advice& advice) {
  if (observed.memory.empty() || !observed.memory_cap) {
    return;
  }
  AdviceTable table{.question = "How close is each card's memory to its end?", .table = {}, .notes = {}};
  table.table.rows = {{"card", "used", "of the card", "headroom"}};
  table.table.right = {true, true, true, false};
  double sum = 0;
  for (std::size_t i = 0; i < observed.memory.size(); ++i) {
    const double share = observed.memory[i] / *observed.memory_cap;
    sum += share;
    table.table.rows.push_back({fmt::format("{}", i), gib_in_words(observed.memory[i]), share_in_words(share),
                                std::string(headroom(share))});
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
          std::ranges::find(observed.memory_at_batch, observed.settings.batch, &MemoryAtBatch::batch);
      own != observed.memory_at_batch.end()) {
    const double read =
        std::clamp(own->bytes, std::ranges::min(observed.memory), std::ranges::max(observed.memory));
    if (std::abs(read - own->bytes) > kMemoryTolerance * own->bytes) {
      advice.contradictions.push_back(
          fmt::format("memory_at_batch of batch {}, the current one, is {}, but the cards use {}.",
                      own->batch, gib_in_words(own->bytes), gib_in_words(read)));
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

std::string batch_in_words(double cap, double fixed, double slope) {
  const double batch = std::floor((cap - fixed) / slope + 1e-9);
  return batch < 1 ? "none" : fmt::format("{:.0f}", batch);
}

void draw_line(const Observed& observed, Advice& advice) {
  const auto& at = observed.memory_at_batch;
  if (at.size() < 2) {
    if (at.size() == 1) {
      advice.missing.emplace_back("memory_at_batch: a second batch; one reading gives no line");
    }
    return;
  }
  const MemoryAtBatch& first = at.front();
  const MemoryAtBatch& last = at.back();
  const double slope = (last.bytes - first.bytes) / static_cast<double>(last.batch - first.batch);
  const double fixed = first.bytes - slope * static_cast<double>(first.batch);
  if (slope <= 0) {
    advice.contradictions.push_back(
        fmt::format("memory_at_batch falls from batch {} to {}: a larger batch cannot take less.",
                    first.batch, last.batch));
    return;
  }
  if (fixed < -kMemoryTolerance * last.bytes) {
    advice.contradictions.push_back(
        fmt::format("memory_at_batch of batches {} and {} leave {} for the weights: one of them is wrong, or "
                    "in another unit.",
                    first.batch, last.batch, gib_in_words(fixed)));
    return;
  }
  const auto line = [&](std::int64_t batch) { return fixed + slope * static_cast<double>(batch); };
  for (const MemoryAtBatch& one : at) {
    if (std::abs(one.bytes - line(one.batch)) > kMemoryTolerance * one.bytes) {
      advice.contradictions.push_back(
          fmt::format("The reading at batch {} lies {} from the line of the others.", one.batch,
                      gib_in_words(one.bytes - line(one.batch))));
    }
  }
  AdviceTable table{
      .question = "Which batch fits which card, by the line of the readings?", .table = {}, .notes = {}};
  table.table.rows = {{"card's memory", "largest batch", "safe (below 90 %)"}};
  table.table.right = {true, true, true};
  std::vector<double> caps = observed.other_caps;
  if (caps.empty() && observed.memory_cap) {
    caps.push_back(*observed.memory_cap);
  }
  for (const double cap : caps) {
    table.table.rows.push_back({gib_in_words(cap), batch_in_words(cap, fixed, slope),
                                batch_in_words(kSafeShare * cap, fixed, slope)});
  }
  table.notes.push_back(
      fmt::format("bytes(batch) = {} + {} a sample, through batches {} and {}, without an interval.",
                  gib_in_words(fixed), gib_in_words(slope), first.batch, last.batch));
  if (observed.no_faster_above_batch && observed.memory_cap &&
      line(*observed.no_faster_above_batch) > kSafeShare * *observed.memory_cap) {
    table.notes.push_back(fmt::format(
        "Throughput grows up to batch {}, which by this line takes {}: the card's memory stops it before.",
        *observed.no_faster_above_batch, gib_in_words(line(*observed.no_faster_above_batch))));
  } else if (observed.no_faster_above_batch) {
    table.notes.push_back(
        fmt::format("Sensible: batch {}; above it more memory buys no speed on the card that was read.",
                    *observed.no_faster_above_batch));
  }
  table.notes.push_back(fmt::format(
      "Speeds, cores and prices of cards: bench evaluate --gpu all {} --mode train --price CARD=AMOUNT,…; "
      "bench predict for one card.",
      observed.stand_in.empty() ? "--onnx FILE" : "--workload " + observed.stand_in));
  if (observed.runs_at_batch && observed.memory_cap && line(*observed.runs_at_batch) > *observed.memory_cap) {
    advice.contradictions.push_back(fmt::format(
        "Batch {} runs, but the line through the other readings puts it at {}, and the card has {}: the "
        "readings do not lie on one line.",
        *observed.runs_at_batch, gib_in_words(line(*observed.runs_at_batch)),
        gib_in_words(*observed.memory_cap)));
    table.notes.emplace_back(
        "Either the readings are too high: they count the allocator's cache, or workspaces that shrink when "
        "memory "
        "is short. max_memory_allocated leaves out the cache: read it instead.");
    table.notes.push_back(
        fmt::format("Or the line bends: another algorithm is chosen above the batches read, or a reading was "
                    "taken before "
                    "the peak; read batch {} after some steps.",
                    *observed.runs_at_batch));
    advice.missing.push_back(
        fmt::format("memory_at_batch of batch {}: max_memory_allocated and max_memory_reserved",
                    *observed.runs_at_batch));
  }
  const auto& died = observed.died_at;
  if (died && died->memory_cap > 0 && line(died->batch) > died->memory_cap) {
    advice.contradictions.push_back(
        fmt::format("Batch {} started on {} of {}, but the line puts it at {}: the readings are not of one "
                    "setting, or hold the "
                    "allocator's cache.",
                    died->batch, died->device.empty() ? "a card" : "a " + died->device,
                    gib_in_words(died->memory_cap), gib_in_words(line(died->batch))));
  }
  advice.tables.push_back(std::move(table));
}

// A resize keeps the old table until the new one is filled.
std::optional<NamedBottleneck> check_allocation(const Observed& observed, Advice& advice) {
  if (!observed.allocation || !observed.free) {
    if (observed.allocation) {
      advice.missing.emplace_back("free_gib: what is free on the card that the allocation is asked of");
    }
    return std::nullopt;
  }
  const double short_of = *observed.allocation - *observed.free;
  AdviceTable table{.question = "Does the allocation to come fit?", .table = {}, .notes = {}};
  table.notes.push_back(fmt::format(
      "It asks for {}, and {} is free: {} ({:.0f} bytes).", gib_in_words(*observed.allocation),
      gib_in_words(*observed.free),
      short_of > 0 ? gib_in_words(short_of) + " short" : "it fits, and leaves " + gib_in_words(-short_of),
      std::abs(short_of)));
  if (observed.memory_cap) {
    table.notes.push_back(
        fmt::format("The peak of that card would be {} of {}.",
                    gib_in_words(*observed.memory_cap - *observed.free + *observed.allocation),
                    gib_in_words(*observed.memory_cap)));
  }
  if (short_of > 0) {
    table.notes.emplace_back(
        "A table that is resized exists twice until it is copied: resize it in host memory, before the model "
        "moves "
        "to the cards.");
  }
  advice.tables.push_back(std::move(table));
  if (short_of <= 0) {
    return std::nullopt;
  }
  return NamedBottleneck{Bottleneck::vram, fmt::format("An allocation of {} meets {} free: {} short.",
                                                       gib_in_words(*observed.allocation),
                                                       gib_in_words(*observed.free), gib_in_words(short_of))};
}

}  // namespace

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
    named = {
        Bottleneck::compute,
        fmt::format("No faster above batch {}: {}.", *observed.no_faster_above_batch,
                    observed.data_s ? "the card computes as fast as it can"
                                    : "the card computes as fast as it can, unless the loader feeds it no "
                                      "faster, which data_ms would show")};
  }
  return named;
}

}  // namespace bench
