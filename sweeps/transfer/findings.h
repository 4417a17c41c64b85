// Findings and tables of the transfer sweep, from its points and studies.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"
#include "bench/sweep.h"
#include "sweeps/transfer/copies.h"
#include "sweeps/transfer/studies.h"

namespace bench::sweeps {

// The verdicts first. Pure; copes with few points.
std::vector<Finding> transfer_findings(const ResultDocument& document, const TransferState& state);
std::vector<TextTable> transfer_tables(const ResultDocument& document, const TransferState& state);

// The verdicts first, with the caveat next to them where no bus was crossed; of a device that is not here the
// copy that takes the largest share of its step, then the bus. Of a file's findings too.
void choose_transfer_headlines(std::vector<Finding>& findings);
// The claim of the finding `bus` begins with it then.
inline constexpr std::string_view kNoBusCrossed = "No bus was crossed";

// The claims rest on these.
struct TransferFacts {
  const ResultDocument& document;
  const TransferState& state;
  std::vector<CopySeries> series;

  const std::string pcie{document.context.detail("pcie")};
  // Of a device that is not here no copy is timed: its bus is the data sheet's.
  const bool is_modelled{document.context.device.kind == "modelled"};
  // The bus's rate each way; nullopt if none is crossed or its generation is unknown.
  std::optional<double> bus_bytes_per_s() const;
};
// From the studies: the verdicts on a workload's steps and what they overlap; the costs of pinning and of
// calls that hold their thread.
void claim_steps(const TransferFacts& facts, std::vector<Finding>& findings);
void claim_host_costs(const TransferFacts& facts, std::vector<Finding>& findings);

// "to the device", "to the host", "both ways at once".
std::string copy_way(const std::string& direction);
// "12.3 GB/s".
std::string byte_rate(double bytes_per_s);
// "1.00 MiB" of a whole number of bytes.
std::string size_text(double bytes);

}  // namespace bench::sweeps
