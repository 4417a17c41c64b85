// Predicts a data-parallel training step from one card's step: the backward pass is replayed, and its
// gradients are added up between the cards meanwhile. Pure arithmetic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "bench/model/links.h"
#include "bench/result/gradient_timeline.h"

namespace bench {

// Cards in a ring: those of a host side by side.
struct CardLinks {
  Link inside;
  std::optional<Link> between{};  // hosts, of `per_host` cards each
  std::int64_t per_host = 0;      // 0: all cards are in one host
  // Where `inside` is a bridge, which joins pairs: the links that may join the pairs, slowest first, and the
  // one that does, which is the slowest of the ring.
  std::vector<Link> buses{};
  std::optional<Link> pairs{};

  // The slowest link in a host of so many cards.
  const Link& slowest(std::int64_t of_host) const { return pairs && of_host > 2 ? *pairs : inside; }
};

// Of each byte that a ring of so many cards adds up, how often a card sends one: 2(n−1)/n. Sharing it out, or
// gathering the shares, sends half of that.
double times_sent(std::int64_t cards);

enum class Bandwidth { low, likely, high };

// An all-reduce of `bytes` on each of `cards` cards: 2(n−1) hops, in each of which a card sends bytes/n
// (Patarasuk and Yuan 2009). Between hosts the slowest link of the ring counts. NCCL's trees have fewer hops:
// of small sizes on many cards this tells too much.
double ring_all_reduce_ns(const CardLinks& links, std::int64_t cards, double bytes,
                          Bandwidth bandwidth = Bandwidth::likely);

// All-reduces as they were measured, of so many ranks.
struct MeasuredAllReduce {
  struct Point {
    double bytes = 0;
    double ns = 0;
  };
  std::int64_t ranks = 0;
  std::vector<Point> points;  // growing
  std::int64_t hosts = 1;     // that the ranks were on
};
// Straight lines between the measured sizes, and on beyond them. For another number of ranks it grows as a
// ring does: what no bytes take by n−1, the rest by 2(n−1)/n, so that latency a hop and bus bandwidth stay.
// The measurement has two sizes at least.
double measured_all_reduce_ns(const MeasuredAllReduce& measured, std::int64_t cards, double bytes);

struct ReplayedStep {
  double step_ns = 0;
  double all_reduce_ns = 0;  // of all buckets
  double exposed_ns = 0;     // that they make the step longer: after the backward pass, and by slowing it
  std::size_t buckets = 0;
  std::int64_t bytes = 0;  // of gradients
};
// Gradients are added up in buckets of at least `bucket` bytes. A bucket starts when all of it is ready and
// the one before is done; parameters are updated after the last. The backward pass goes on meanwhile at
// `speed`: 1 as if alone, 0 where it stands still, as with MPI, which moves data within its calls.
ReplayedStep replay_step(const GradientTimeline& timeline, std::int64_t bucket, double speed,
                         const std::function<double(double bytes)>& all_reduce_ns);

// Gradients spread evenly over the last two thirds of the last of `accumulate` micro-batches, which is what
// is assumed where no timeline was measured.
GradientTimeline even_timeline(double micro_ns, std::int64_t accumulate, double bytes);

// How the cards of a training run are joined.
struct CardsLink {
  std::variant<CardLinks, MeasuredAllReduce> link;
  std::string path{};                            // of what was measured
  std::string warning{};                         // of that result, a sentence
  std::string device_kind{};                     // that it was measured on; empty: a named link
  std::int64_t bucket = std::int64_t{25} << 20;  // bytes, as PyTorch's

  // As it joins such cards.
  CardsLink of_cards(const LinkedCard& card) const;

  // On CPUs a named link joins hosts of one CPU each: ranks of one CPU have no link.
  bool joins_hosts(std::int64_t cards, bool on_cpu) const;
  double bytes_per_s(std::int64_t cards) const;  // within a host, or of the largest size that was measured
  std::int64_t cards_of_a_host(std::int64_t cards, bool on_cpu) const;
  std::string name() const;  // short: "PCIe 3.0 x16"
  std::string in_words() const;
  std::string source() const;  // of its rates
  // Sentences: what that result warns of, and that other numbers of cards follow from its ranks.
  std::vector<std::string> cautions(const std::vector<std::int64_t>& cards) const;
  // Throws UsageError naming --link where it was measured on another kind of device than the step, or joins
  // the GPUs of a host and the step is a CPU's.
  void require_kind(const std::string& of_step) const;
};

// One card's step as it was measured or predicted.
struct OneCard {
  GradientTimeline timeline;
  double step_ns = 0;           // the timeline is scaled to it
  bool overlap = true;          // of all-reduces with the backward pass: not on a CPU
  bool narrow = false;          // computed in 16-bit numbers
  std::int64_t accumulate = 1;  // micro-batches of a step
};

// Where cards train together, as ParallelLoss::where says it. `apart`: on several hosts.
std::string place_of_cards(bool on_cpu, bool apart);

// Of the backward pass while gradients are added up. Nobody measured how much they slow it over links that
// are slower than those of the published steps: between not at all and as much. As much is likely: fitted to
// the steps over NVLink 2 alone, or over NVLink 3 alone, which is twice as fast, the speed is the same.
struct BackwardSpeed {
  double low = 1;
  double likely = 1;
  double high = 1;
};
BackwardSpeed backward_speed(const SlowedBackward& slowed, const std::string& where, double bytes_per_s);

// The largest share of a published step by which gradients made its replay longer.
double most_published_exposed(const std::string& where);

struct ParallelStep {
  ReplayedStep replay;
  double step_ns = 0;
  // Of the link, the slowing and the loss, which are independent; the one card's own error is not in it.
  Interval step80_ns{};
  const ParallelLoss* loss = nullptr;  // that was used; nullptr: nobody measured it

  double deviation() const;  // of the step's logarithm, from step80_ns
};
// `link` as it joins such cards: see CardsLink::of_cards().
ParallelStep parallel_step(const OneCard& one, std::int64_t cards, const CardsLink& link,
                           const LinkCatalogue& catalogue);

}  // namespace bench
