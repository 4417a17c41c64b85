#include "kernels/workloads/network/step.h"

#include <algorithm>
#include <chrono>

#include "bench/error.h"
#include "bench/text/fingerprint.h"
#include "kernels/networks/program/input.h"

namespace bench::kernels {

std::uint64_t distinct_samples(const Graph& graph) {
  constexpr std::int64_t kExpensive = 100'000'000'000;  // multiply-adds: some seconds on two cores
  return graph.macs() > kExpensive ? 1 : 2;
}

void set_seeded_batch(ProgramRunner& runner, std::uint64_t seed) {
  const Graph& graph = runner.plan().graph;
  runner.set_input(seeded_samples(graph, seed, 0, distinct_samples(graph)));
}

std::vector<std::int32_t> seeded_labels(const Graph& graph, const TrainingParts& step, std::uint64_t seed,
                                        std::uint64_t first, std::uint64_t count) {
  constexpr std::uint64_t kRun = 64;  // rows
  const auto& tokens = graph.tokens();
  std::vector<std::int32_t> labels;
  for (std::uint64_t index = first; index < first + count; ++index) {
    if (tokens && step.rows == tokens->sequence && step.classes == tokens->vocabulary) {
      const auto text = seeded_tokens(*tokens, tokens->sequence + 1, seed, index);
      labels.insert(labels.end(), text.begin() + 1, text.end());
      continue;
    }
    for (std::uint64_t row = 0; row < static_cast<std::uint64_t>(step.rows); ++row) {
      labels.push_back(static_cast<std::int32_t>((seed + 7 * index + row / kRun) %
                                                 static_cast<std::uint64_t>(step.classes)));
    }
  }
  return labels;
}

void set_seeded_batch(Trainer& trainer, std::uint64_t seed, std::uint64_t round, std::uint64_t rounds) {
  constexpr std::uint64_t kSamples = 8;  // distinct ones in a batch
  const Graph& graph = trainer.plan().graph;
  trainer.set_batch(
      seeded_samples(graph, seed, round * kSamples, rounds * kSamples),
      seeded_labels(graph, *trainer.plan().training, seed, round * kSamples, rounds * kSamples));
}

Verification not_checked(std::string why) {
  Verification verification;
  verification.not_checked = std::move(why);
  return verification;
}

std::string fingerprint_of(const std::vector<float>& values) {
  return fingerprint({reinterpret_cast<const char*>(values.data()), sizeof(float) * values.size()});
}

StepRanks::StepRanks(const NetworkPoint& point, RankGroup& ranks, Device& device)
    : ranks_(ranks), device_(device) {
  if (point.launch != Launch::stream) {
    throw Unsupported("a step that ranks do together is not recorded: give --launch stream");
  }
}

// On a card the messages are in the order of its other work.
void StepRanks::exchange(std::span<const Collective> messages) {
  if (!messages.empty()) {
    if (ranks_.carries_host_memory()) {
      device_.synchronize();
    }
    within_library([&] { ranks_.exchange(messages); });
  }
}

void StepRanks::run(CollectiveKind kind, std::vector<float>& values, int peer) {
  const auto bytes = static_cast<std::int64_t>(sizeof(float) * values.size());
  const auto in_place = [&](void* data) {
    ranks_.run({.kind = kind, .from = data, .to = data, .bytes = bytes, .peer = peer});
  };
  if (ranks_.carries_host_memory()) {
    return in_place(values.data());
  }
  const Buffer buffer = device_.allocate(bytes, MemoryCategory::other);
  device_.upload(buffer.data(), values.data(), bytes);
  in_place(buffer.data());
  device_.download(values.data(), buffer.data(), bytes);
}

bool StepRanks::have_the_same(const std::string& own) {
  const std::vector<std::string> all = texts_of(ranks_, own);
  return std::ranges::all_of(all, [&](const std::string& other) { return other == all.front(); });
}

void StepRanks::within_library(const std::function<void()>& call) {
  const auto start = std::chrono::steady_clock::now();
  call();
  within_library_ns_ +=
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace bench::kernels
