// Invented points of the kernels sweep, and the roofline and findings made of them.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sweeps/kernels/answer.h"
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

inline Point point(const Invented& in) {
  Point measured;
  measured.name = "kernels/" + in.workload + "/" + in.mode + "/" + in.dtype + "/" + in.caches + "/" + in.rest;
  measured.params = {
      {"workload", in.workload}, {"mode", in.mode}, {"dtype", in.dtype}, {"caches", in.caches}};
  measured.work = {.samples = in.samples, .flops = in.flops, .sample_bytes = in.bytes, .launches = 1};
  measured.items_per_step = in.samples;
  measured.stats.median_ns = in.ns;
  measured.stats.ci95_ns = {0.99 * in.ns, 1.01 * in.ns};
  measured.validity.flags = in.flags;
  return measured;
}

// A stream kernel, which moves data and computes nothing.
inline Point stream(const std::string& mode, const std::string& caches, double bytes, double ns,
                    const std::string& rest) {
  return point(
      {.workload = "stream", .caches = caches, .bytes = bytes, .ns = ns, .mode = mode, .rest = rest});
}

// An operation on 100 MB.
inline Point operation(const std::string& workload, const std::string& caches, double flops, double ns,
                       const std::string& rest) {
  return point(
      {.workload = workload, .caches = caches, .flops = flops, .bytes = 1e8, .ns = ns, .rest = rest});
}

// Memory: 10 GB/s, a hot cache of 4 MB 40; arithmetic 200 GFLOP/s. The ridge is at 20 FLOP/B.
inline ResultDocument example() {
  ResultDocument document;
  document.context.device.kind = "cpu";
  document.context.caches = {{.type = "Data", .level = 1, .size = 32768},
                             {.type = "Unified", .level = 3, .size = 4'000'000}};
  document.points = {stream("triad", "cold", 1e8, 1e7, "big"),   stream("copy", "cold", 1e8, 1.25e7, "big"),
                     stream("copy", "cold", 1e6, 5e4, "small"),  stream("copy", "hot", 1e6, 2.5e4, "small"),
                     operation("gemm", "hot", 1e10, 5e7, "n:1"), operation("gemm", "cold", 1e10, 8e7, "n:1"),
                     operation("conv2d", "hot", 5e8, 2e7, "a"),  operation("conv2d", "hot", 1e10, 1e8, "b")};
  document.points[0].work.flops = 2e7;  // a triad multiplies and adds
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
