// results/links.json (bench-links/1): how fast links between cards are, and how much longer published steps
// on several cards took than their replay.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/json.h"
#include "bench/measure/estimate.h"

namespace bench {

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

  bool operator==(const Link&) const = default;
};

// What a step on several cards takes, over its replay: what is lost in the host, the loader and the
// framework, which no replay shows. From published measurements.
struct ParallelLoss {
  std::string where;    // "one host", "several hosts"
  std::string numbers;  // "16-bit", "32-bit"; empty: any
  std::int64_t rows = 0;
  std::int64_t machines = 0;
  double likely = 1;  // the median
  Interval interval80{1, 1};
};

// results/links.json.
struct LinkCatalogue {
  std::vector<Link> links;
  std::vector<ParallelLoss> losses;

  // Throws UsageError naming the option, with the closest ids.
  const Link& get(const std::string& option, const std::string& id) const;
  // nullptr where nothing was measured.
  const ParallelLoss* loss(const std::string& where, const std::string& numbers) const;
};
// Throws UsageError that names what is wrong.
LinkCatalogue links_from_json(const Json& json);

}  // namespace bench
