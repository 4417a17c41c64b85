#include "sweeps/ranks/setup.h"

#include <algorithm>
#include <climits>
#include <set>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/host/host_info.h"
#include "bench/result/finding.h"
#include "bench/result/shared_cores.h"
#include "bench/text/quote.h"

namespace bench::sweeps {
RankSetup setup_of(const SweepRequest& request) {
  RankSetup setup{.hosts = {}, .near = 0, .cores = 0};
  std::set<int> cores;
  const std::vector<RankPlace>& places = request.places;
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

RankSetup rank_setup_in(const ResultDocument& document) {
  RankSetup setup;
  const Json state = document.sweep.state.value(document.sweep.name, Json::object());
  setup.hosts = state.value("hosts", std::vector<std::string>());
  if (const Finding* const ranks = find_finding(document.findings, kRanksFinding);
      ranks != nullptr && ranks->details.is_object()) {
    setup.near = ranks->details.value("ranks_on_first_host", 0);
    setup.cores = ranks->details.value("cores", 0);
  }
  return setup;
}

void require_real_device(const std::string& sweep, const Device& device) {
  if (device.model() != nullptr) {
    throw UsageError(
        fmt::format("--device: {} was given, which is not here; accepted by --sweep {}: cpu, and the GPUs of "
                    "this machine (for others: bench predict --gpu ID --cards N)",
                    quote(device.info().id), sweep));
  }
}

Finding claim_ranks(const RankSetup& setup, int threads) {
  const std::set<std::string> hosts(setup.hosts.begin(), setup.hosts.end());
  Finding finding = finding_of(kRanksFinding, "ranks");
  finding.value = static_cast<double>(setup.hosts.size());
  finding.details = {{"hosts", hosts.size()},
                     {"ranks_on_first_host", setup.near},
                     {"cores", setup.cores},
                     {"threads", threads}};
  if (setup.takes_turns(threads)) {
    finding.details[kTakesTurns] = true;
    finding.claim = fmt::format(
        "Warning: {} ranks of {} {} take turns on the {} of {}, which their times contain {}.", setup.near,
        threads, threads == 1 ? "thread" : "threads",
        setup.cores == 1 ? "one core" : fmt::format("{} cores", setup.cores),
        hosts.size() == 1 ? "one host" : setup.hosts.front(), fewer_in_words(setup.sharing(threads)));
    return finding;
  }
  finding.claim = hosts.size() == 1
                      ? "All ranks are on one host: no network was crossed."
                      : fmt::format("{} ranks are on {} hosts.", setup.hosts.size(), hosts.size());
  return finding;
}

}  // namespace bench::sweeps
