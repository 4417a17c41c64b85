// The transfer sweep's document for a made-up machine with exact copy times.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/result/result.h"
#include "sweeps/transfer/answer.h"

namespace bench::sweeps {

inline void add_copies(ResultDocument& document, const std::string& direction, const std::string& kind,
                       double latency_ns, double bytes_per_s, std::int64_t in_flight = 1,
                       const std::string& pages = "touched") {
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 30; bytes *= 4) {
    Point point;
    point.name = fmt::format("transfer/{}/{}/{}/{}/{}", direction, kind, pages, in_flight, bytes);
    point.params = {{"direction", direction},
                    {"host-memory", kind},
                    {"bytes", bytes},
                    {"in-flight", in_flight},
                    {"pages", pages}};
    const double moved = static_cast<double>(bytes * in_flight) * (direction == "both" ? 2 : 1);
    point.work.sample_bytes = moved;
    point.stats.median_ns = latency_ns + moved / bytes_per_s * 1e9;
    point.stats.ci95_ns = {0.99 * point.stats.median_ns, 1.01 * point.stats.median_ns};
    document.points.push_back(std::move(point));
  }
}

inline Estimate step_time(double ms) {
  return {.value = ms * 1e6, .ci95 = Interval{ms * 0.999e6, ms * 1.001e6}};
}

inline KindSteps kind_steps(const char* kind, double copy, double serial, double overlapped) {
  return {.name = kind,
          .copy_ns = step_time(copy),
          .serial_ns = step_time(serial),
          .overlapped_ns = step_time(overlapped),
          .compute_overlapped_ns = step_time(40)};
}

struct TransferMachine {
  ResultDocument document;
  TransferState state;
};

// A card behind PCIe 4 x16, with pageable copies at a quarter of what pinned ones do.
inline TransferMachine transfer_card() {
  TransferMachine card;
  card.document.context.device.details["pcie"] = "gen4 x16";
  add_copies(card.document, "h2d", "pinned", 10'000, 25e9);
  add_copies(card.document, "h2d", "pageable", 5000, 6e9);
  add_copies(card.document, "h2d", "staged", 30'000, 10e9);
  add_copies(card.document, "d2h", "pinned", 10'000, 26e9);
  add_copies(card.document, "both", "pinned", 12'000, 45e9);
  add_copies(card.document, "h2d", "pinned", 10'000, 25e9, 8);
  add_copies(card.document, "d2h", "pageable", 5000, 5e9);
  add_copies(card.document, "d2h", "pageable", 5000, 2e9, 1, "cold");
  card.state = {.crosses_bus = true, .workers = 4, .prefetch = 2, .node = "near"};
  card.state.pinning = {{.bytes = 1 << 20,
                         .pin_ns = {.value = 500e3},
                         .unpin_ns = 100e3,
                         .pageable_ns = 200e3,
                         .free_ns = 50e3,
                         .taken_bytes = 1 << 20},
                        {.bytes = 1 << 26,
                         .pin_ns = {.value = 30e6, .ci95 = Interval{28e6, 33e6}},
                         .unpin_ns = 8e6,
                         .pageable_ns = 14e6,
                         .free_ns = 4e6,
                         .taken_bytes = 1 << 27}};
  card.state.steps = {{.workload = "net",
                       .mode = "train",
                       .batch = 32,
                       .bytes = 8 << 20,
                       .rounds = 9,
                       .compute_ns = step_time(40),
                       .kinds = {kind_steps("pageable", 8, 48, 46), kind_steps("staged", 6, 46, 44),
                                 kind_steps("pinned", 4, 44, 41)}}};
  return card;
}

inline Finding transfer_finding(const TransferMachine& machine, const std::string& name) {
  const auto all = transfer_findings(machine.document, machine.state);
  const auto at = std::ranges::find(all, name, &Finding::name);
  EXPECT_NE(at, all.end()) << name;
  return at == all.end() ? Finding{} : *at;
}

}  // namespace bench::sweeps
