#include "sweeps/ranks/setup.h"

#include <algorithm>
#include <climits>
#include <set>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/host_info.h"
#include "bench/measure/quote.h"

namespace bench::sweeps {

std::vector<RankPlace> places_in(const SweepRequest& request) {
  return request.places.empty() ? std::vector<RankPlace>(2) : request.places;
}

RankSetup setup_of(const SweepRequest& request) {
  RankSetup setup{.hosts = {}, .near = 0, .cores = 0};
  std::set<int> cores;
  const std::vector<RankPlace> places = places_in(request);
  for (const RankPlace& place : places) {
    setup.hosts.push_back(place.host);
    if (place.host == places.front().host) {
      ++setup.near;
      cores.insert(place.cores.begin(), place.cores.end());
    }
  }
  const HostInfo host = host_info();
  const int quota = host.cpu_quota ? std::max(1, static_cast<int>(*host.cpu_quota)) : INT_MAX;
  setup.cores = cores.empty() ? host.usable_cores : std::min(quota, static_cast<int>(cores.size()));
  return setup;
}

void require_real_device(const std::string& sweep, const Device& device) {
  if (device.model() != nullptr) {
    throw UsageError(
        fmt::format("--device: {} was given, which is not here; accepted by --sweep {}: cpu, and the GPUs of "
                    "this machine (for others: bench predict --from RESULT --cards N)",
                    quote(device.info().id), sweep));
  }
}

Finding claim_ranks(const RankSetup& setup, int threads) {
  const std::set<std::string> hosts(setup.hosts.begin(), setup.hosts.end());
  Finding finding = finding_of("ranks", "ranks");
  finding.value = static_cast<double>(setup.hosts.size());
  finding.details = {{"hosts", hosts.size()},
                     {"ranks_on_first_host", setup.near},
                     {"cores", setup.cores},
                     {"threads", threads}};
  finding.claim = hosts.size() == 1
                      ? "All ranks are on one host: no network was crossed"
                      : fmt::format("{} ranks are on {} hosts", setup.hosts.size(), hosts.size());
  finding.claim +=
      setup.near * threads > setup.cores
          ? fmt::format("; {} ranks take turns on {} {}, which their times contain [start {} ranks a host].",
                        setup.near, setup.cores, setup.cores == 1 ? "core" : "cores", setup.cores)
          : ".";
  return finding;
}

}  // namespace bench::sweeps
