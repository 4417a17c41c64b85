// What the transfer sweep would write about a machine whose copies are known by heart.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "bench/measure/result.h"
#include "sweeps/transfer/findings.h"

namespace bench::sweeps {

inline void add_copies(ResultDocument& document, const std::string& direction, const std::string& kind,
                       double latency_ns, double bytes_per_s, std::int64_t at_once = 1,
                       const std::string& pages = "touched") {
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{1} << 30; bytes *= 4) {
    MeasuredPoint point;
    point.name = fmt::format("transfer/{}/{}/{}/{}/{}", direction, kind, pages, at_once, bytes);
    point.params = {{"direction", direction},
                    {"host-memory", kind},
                    {"bytes", bytes},
                    {"in-flight", at_once},
                    {"pages", pages}};
    const double moved = static_cast<double>(bytes * at_once) * (direction == "both" ? 2 : 1);
    point.work = {{"sample_bytes", moved}};
    point.stats.median_ns = latency_ns + moved / bytes_per_s * 1e9;
    point.stats.ci95_ns = {0.99 * point.stats.median_ns, 1.01 * point.stats.median_ns};
    document.benchmarks.push_back(std::move(point));
  }
}

inline Json step_time(double ms) {
  return {{"median_ns", ms * 1e6}, {"ci95_ns", {ms * 0.999e6, ms * 1.001e6}}};
}

inline Json kind_steps(const char* kind, double copy, double serial, double beside) {
  return {{"host_memory", kind},
          {"copy", step_time(copy)},
          {"serial", step_time(serial)},
          {"beside", step_time(beside)},
          {"compute_beside", step_time(40)}};
}

// A card behind PCIe 4 x16, with pageable copies at a quarter of what pinned ones do.
inline ResultDocument transfer_card() {
  ResultDocument document;
  document.context["device"]["pcie"] = "gen4 x16";
  document.sweep["transfer"] = {{"crosses_bus", true}, {"workers", 4}, {"prefetch", 2}, {"node", "near"}};
  add_copies(document, "h2d", "pinned", 10'000, 25e9);
  add_copies(document, "h2d", "pageable", 5000, 6e9);
  add_copies(document, "h2d", "staged", 30'000, 10e9);
  add_copies(document, "d2h", "pinned", 10'000, 26e9);
  add_copies(document, "both", "pinned", 12'000, 45e9);
  add_copies(document, "h2d", "pinned", 10'000, 25e9, 8);
  add_copies(document, "d2h", "pageable", 5000, 5e9);
  add_copies(document, "d2h", "pageable", 5000, 2e9, 1, "cold");
  Json& transfer = document.sweep["transfer"];
  transfer["pinning"] = Json::array({{{"bytes", 1 << 20},
                                      {"pin_ns", 500e3},
                                      {"unpin_ns", 100e3},
                                      {"pageable_ns", 200e3},
                                      {"free_ns", 50e3},
                                      {"taken_bytes", 1 << 20}},
                                     {{"bytes", 1 << 26},
                                      {"pin_ns", 30e6},
                                      {"unpin_ns", 8e6},
                                      {"pageable_ns", 14e6},
                                      {"free_ns", 4e6},
                                      {"taken_bytes", 1 << 27}}});
  transfer["steps"] =
      Json::array({{{"workload", "net"},
                    {"mode", "train"},
                    {"dtype", "fp32"},
                    {"batch", 32},
                    {"bytes", 8 << 20},
                    {"rounds", 9},
                    {"compute", step_time(40)},
                    {"kinds", Json::array({kind_steps("pageable", 8, 48, 46), kind_steps("staged", 6, 46, 44),
                                           kind_steps("pinned", 4, 44, 41)})}}});
  return document;
}

inline Finding transfer_finding(const ResultDocument& document, const std::string& name) {
  const auto all = transfer_findings(document);
  const auto at = std::ranges::find(all, name, &Finding::name);
  EXPECT_NE(at, all.end()) << name;
  return at == all.end() ? Finding{} : *at;
}

}  // namespace bench::sweeps
