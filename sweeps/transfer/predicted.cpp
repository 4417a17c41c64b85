#include "sweeps/transfer/predicted.h"

#include <algorithm>

#include <fmt/format.h>

#include "bench/error.h"
#include "bench/predicted_step.h"
#include "bench/result/result.h"
#include "bench/text/units.h"
#include "sweeps/transfer/findings.h"

namespace bench::sweeps {
namespace {

double least_copy_ns(const PredictedCopy& copy, double bytes_per_s) {
  return static_cast<double>(copy.bytes) / bytes_per_s * 1e9;
}

std::string step_in_words(const PredictedCopy& copy) {
  return fmt::format("{} ({} to {})", format_duration(copy.step_ns), format_duration(copy.step80_ns.low),
                     format_duration(copy.step80_ns.high));
}

Finding claim_input(const PredictedCopy& copy, const std::optional<double>& bytes_per_s) {
  Finding finding = finding_of(fmt::format("input/batch:{}", copy.batch), "share of step time");
  const std::string batch = fmt::format("a batch of {} ({})", copy.batch, format_bytes(copy.bytes));
  if (!copy.unsupported.empty()) {
    finding.claim = fmt::format("No step of {} at batch {} is predicted: {}.", copy.workload, copy.batch,
                                copy.unsupported);
    return finding;
  }
  finding.details = {{"bytes", copy.bytes},
                     {"step_ns", copy.step_ns},
                     {"step_interval80_ns", {copy.step80_ns.low, copy.step80_ns.high}}};
  if (!bytes_per_s) {
    finding.claim =
        fmt::format("A step of {} takes {}; what moving {} takes is not known.",
                    fmt::format("{} in {}", copy.workload, copy.dtype), step_in_words(copy), batch);
    return finding;
  }
  const double least_ns = least_copy_ns(copy, *bytes_per_s);
  finding.details["least_copy_ns"] = least_ns;
  finding.value = least_ns / copy.step_ns;
  finding.claim = fmt::format("Moving {} takes at least {}, {} of a step of {}; {}.", batch,
                              format_duration(least_ns), format_percent(*finding.value), step_in_words(copy),
                              least_ns < copy.step80_ns.low
                                  ? "overlapped with the step it may cost nothing [pin_memory=True, and a "
                                    "second stream]"
                              : least_ns > copy.step80_ns.high ? "the bus limits"
                                                               : "bus and GPU are about as fast");
  return finding;
}

}  // namespace

std::vector<PredictedCopy> predicted_copies(const SweepRequest& request,
                                            const std::vector<WorkloadSpec>& steps, Device& device) {
  std::vector<PredictedCopy> copies;
  for (const WorkloadSpec& spec : steps) {
    PredictedCopy& copy = copies.emplace_back(PredictedCopy{
        .workload = request.workload->name, .dtype = std::string(name_of(spec.dtype)), .batch = spec.batch});
    const auto workload = request.workload->configure(spec);
    try {
      const PredictedStep step = predicted_step(device, *workload, spec);
      copy.step_ns = step.step_ns;
      copy.step80_ns = step.interval80_ns;
      copy.bytes = plan_on(device, *workload, spec).at_peak[MemoryCategory::input];
    } catch (const Unsupported& error) {
      copy.unsupported = error.what();
    }
  }
  return copies;
}

std::vector<Finding> predicted_transfer_findings(const std::vector<PredictedCopy>& copies,
                                                 const std::string& link) {
  const std::optional<double> bytes_per_s = pcie_bytes_per_s(link);
  std::vector<Finding> findings;
  for (const PredictedCopy& copy : copies) {
    findings.push_back(claim_input(copy, bytes_per_s));
  }
  Finding& bus = findings.emplace_back(finding_of("bus", "B/s"));
  bus.value = bytes_per_s;
  bus.claim =
      bytes_per_s
          ? fmt::format(
                "The bus (PCIe {}) carries at most {} each way, from the data sheet; which share "
                "copies reach is not known [run this sweep on the machine].",
                link, byte_rate(*bytes_per_s))
          : "The data sheet names no bus: the device's memory is the host's, and no batch crosses one.";
  choose_transfer_headlines(findings);
  return findings;
}

std::vector<TextTable> predicted_transfer_tables(const std::vector<PredictedCopy>& copies,
                                                 const std::string& link) {
  const std::optional<double> bytes_per_s = pcie_bytes_per_s(link);
  TextTable table{.title = "Predicted steps, and the least that the copy of their batch takes",
                  .rows = {{"batch", "bytes", "copy at least", "step (80 %)", "share"}},
                  .lists_points = true};
  for (const PredictedCopy& copy : copies) {
    if (copy.unsupported.empty()) {
      const double least_ns = bytes_per_s ? least_copy_ns(copy, *bytes_per_s) : 0;
      table.rows.push_back({copy.batch, Cell::bytes(copy.bytes),
                            bytes_per_s ? Cell::time(least_ns) : Cell::none(),
                            Cell::time80(copy.step_ns, copy.step80_ns),
                            bytes_per_s ? Cell::share(least_ns / copy.step_ns) : Cell::none()});
    }
  }
  return {table};
}

}  // namespace bench::sweeps
