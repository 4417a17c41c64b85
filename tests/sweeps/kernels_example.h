// Invented points of the kernels sweep, and the roofline and findings made of them.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sweeps/kernels/findings.h"
#include "sweeps/kernels/roofline.h"

namespace bench::sweeps::kernels_example {

struct Invented {
  std::string workload;
  std::string caches;
  double flops = 0;
  double bytes = 0;
  double ns = 1;
  std::string mode = "forward";
  std::string dtype = "fp32";
  std::string rest{};
  std::vector<std::string> flags{};
  double samples = 1;
};

inline MeasuredPoint point(const Invented& in) {
  MeasuredPoint measured;
  measured.name = "kernels/" + in.workload + "/" + in.mode + "/" + in.dtype + "/" + in.caches + "/" + in.rest;
  measured.params = {
      {"workload", in.workload}, {"mode", in.mode}, {"dtype", in.dtype}, {"caches", in.caches}};
  measured.parsed = read_kernel_params(measured.params).value();
  measured.work = {.samples = in.samples, .flops = in.flops, .sample_bytes = in.bytes, .launches = 1};
  measured.items_per_step = in.samples;
  measured.stats.median_ns = in.ns;
  measured.stats.ci95_ns = {0.99 * in.ns, 1.01 * in.ns};
  measured.validity.flags = in.flags;
  return measured;
}

// Memory: 10 GB/s, a hot cache of 4 MB 40; arithmetic 200 GFLOP/s. The ridge is at 20 FLOP/B.
inline ResultDocument example() {
  ResultDocument document;
  document.context.device.kind = "cpu";
  document.context.caches = {{.type = "Data", .level = 1, .size = 32768},
                             {.type = "Unified", .level = 3, .size = 4'000'000}};
  document.benchmarks = {
      point({.workload = "stream",
             .caches = "cold",
             .flops = 2e7,
             .bytes = 1e8,
             .ns = 1e7,
             .mode = "triad",
             .rest = "big"}),
      point({.workload = "stream",
             .caches = "cold",
             .bytes = 1e8,
             .ns = 1.25e7,
             .mode = "copy",
             .rest = "big"}),
      point(
          {.workload = "stream", .caches = "cold", .bytes = 1e6, .ns = 5e4, .mode = "copy", .rest = "small"}),
      point({.workload = "stream",
             .caches = "hot",
             .bytes = 1e6,
             .ns = 2.5e4,
             .mode = "copy",
             .rest = "small"}),
      point({.workload = "gemm", .caches = "hot", .flops = 1e10, .bytes = 1e8, .ns = 5e7, .rest = "n:1"}),
      point({.workload = "gemm", .caches = "cold", .flops = 1e10, .bytes = 1e8, .ns = 8e7, .rest = "n:1"}),
      point({.workload = "conv2d", .caches = "hot", .flops = 5e8, .bytes = 1e8, .ns = 2e7, .rest = "a"}),
      point({.workload = "conv2d", .caches = "hot", .flops = 1e10, .bytes = 1e8, .ns = 1e8, .rest = "b"})};
  return document;
}

inline Roofline roofline_in(const ResultDocument& document) {
  return roofline_of(read_results(document), last_cache_bytes(document.context));
}

inline std::vector<Finding> findings_in(const ResultDocument& document,
                                        const std::set<std::string>& references = {}) {
  return kernels_findings(document, references);
}

inline const Finding* named(const std::vector<Finding>& findings, const std::string& name) {
  const auto at = std::ranges::find(findings, name, &Finding::name);
  return at == findings.end() ? nullptr : &*at;
}

}  // namespace bench::sweeps::kernels_example
