// results/links.json (bench-links/2): how fast links between cards are, and how much longer published steps
// on several cards took than their replay.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/json.h"
#include "bench/model/gpu.h"
#include "bench/stats/estimate.h"

namespace bench {

// What two cards of a host reach, each of them and each way, where neither can reach the other's memory:
// every byte goes through the host's.
struct HostCopies {
  double bytes_per_s = 0;
  Interval bytes_per_s_range{};
  double of_8_cards = 1;  // see Link
  std::string source;

  bool operator==(const HostCopies&) const = default;
};

// What joins two cards of a host, or two hosts.
struct Link {
  std::string id;
  std::string name;
  double hop_ns = 0;  // of no bytes, from one card to the next
  // Of each card and direction; between hosts, of each host. What collectives reach, not the data sheet:
  // the bus bandwidth that nccl-tests defines.
  double bytes_per_s = 0;
  Interval bytes_per_s_range{};  // what is likely where it was not measured; else no wider than the value
  std::string source;
  std::string joins{};  // "cards" of a host, or "hosts"; empty: a user's link, which may join either
  // The share of two cards' rate that each of eight has left, who share the host's root ports and memory.
  double of_8_cards = 1;
  double data_sheet_bytes_per_s = 0;         // of PCI Express: a card with a slower bus is as much slower
  std::optional<HostCopies> through_host{};  // of PCI Express

  bool operator==(const Link&) const = default;
};

// Bandwidth of a PCI Express link each way; nullopt for a generation or width that is not known. The packets'
// headers, some 5 to 10 % of it, are not taken off: no copy reaches it.
std::optional<double> pcie_bytes_per_s(std::int64_t generation, std::int64_t lanes);
// Of "gen4 x16", as context.device.pcie has it; nullopt for anything else.
std::optional<double> pcie_bytes_per_s(std::string_view link);

// What is known of a card that a link is to join.
struct LinkedCard {
  std::optional<bool> peer_access{};        // over PCI Express; nullopt: not known
  std::optional<double> bus_bytes_per_s{};  // of its data sheet
};
// The link as it joins such cards. Where a card's peer access is not known, likely is the middle, and the
// range holds both.
Link link_of_cards(const Link& link, const LinkedCard& card);

// Of a rate of two cards, what each of so many has: as much less with each doubling, down to eight.
double share_of_cards(double of_8_cards, std::int64_t cards);

// What a step on several cards takes, over its replay: what is lost in the host, the loader and the
// framework, which no replay shows. From published measurements.
struct ParallelLoss {
  std::string where;            // see place_of_cards()
  std::string framework{};      // "PyTorch"; empty: any
  std::string numbers;          // "16-bit", "32-bit"; empty: any
  std::string micro_batches{};  // of a step: "one", "several"; empty: any number
  std::int64_t rows = 0;
  std::int64_t machines = 0;
  double likely = 1;  // the median
  // The rows' 5th to 95th percentile, within which 80 to 90 % of the steps lie of machines and networks that
  // the others had not shown: see docs/predict-cards.md.
  Interval interval80{1, 1};

  bool operator==(const ParallelLoss&) const = default;
  // "multiplied by 1.05 (0.95 to 1.34): 68 measured steps on 4 machines took so much longer than simulated
  // (one host, PyTorch, 32-bit)"
  std::string in_words() const;
};

// Gradients that are added up take a part of the card from the backward pass. From published measurements.
struct SlowedBackward {
  std::string where{};          // as of a ParallelLoss; elsewhere it is not slowed
  double speed = 1;             // of the backward pass meanwhile, where it has 1 alone
  double from_bytes_per_s = 1;  // over the slowest link that was measured, and faster ones

  bool operator==(const SlowedBackward&) const = default;
};

// The link in slots of fewer lanes: "pcie4-x8" of pcie4, which has 16.
Link with_lanes(const Link& link, std::int64_t lanes);
// The links of PCI Express of 16 lanes among them, slowest first.
std::vector<Link> buses_of(const std::vector<Link>& links);
// Where nobody said what slots the cards are in: ordinary boards have one of 16 lanes, or two of 8.
Link in_any_slots(const Link& link);

// A bridge joins two cards, and no third.
bool is_bridge(const Link& link);

// Throws UsageError naming --link where `link` is an NVLink and such cards are known to have none, or
// another.
void require_nvlink(const Link& link, const Gpu& gpu);

std::vector<std::string> ids_of(const std::vector<Link>& links);

// Whose losses are taken for the program's own steps: it launches kernels one by one from C++ and adds up
// gradients in buckets, as PyTorch does.
inline constexpr const char* kFrameworkLikeOurs = "PyTorch";

// Where there is no such measurement.
inline constexpr const char* kUnknownLoss =
    "Such steps may take longer than simulated (not measured): ≥ and ≤ are bounds, over the fastest such "
    "link, "
    "from the one card's median step.";
// Of several cards' predictions.
inline constexpr const char* kCardsIntervals =
    "Intervals hold the link's range, the factor's and the one card's, which cancels in ratios to one card.";

// results/links.json.
struct LinkCatalogue {
  std::vector<Link> links;
  std::vector<ParallelLoss> losses;
  SlowedBackward slowed{};

  // Throws UsageError naming the option, with the closest ids.
  const Link& get(const std::string& option, const std::string& id) const;
  // Of kFrameworkLikeOurs where frameworks are told apart; nullptr where nothing was measured.
  const ParallelLoss* loss(const std::string& where, const std::string& numbers,
                           const std::string& micro_batches) const;
};
// Throws UsageError that names what is wrong.
LinkCatalogue links_from_json(const Json& json);
// Of a file that has links and perhaps no losses, as one that a user wrote. Throws UsageError likewise, and
// where there is no link or two have one id.
std::vector<Link> own_links_from_json(const Json& json);

}  // namespace bench
