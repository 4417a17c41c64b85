// What the sweep finds of a machine that is known.
#pragma once

#include <algorithm>
#include <string>

#include "sweeps/workers/findings.h"
#include "sweeps/workers/what_if.h"
#include "tests/sweeps/workers/loader_machine.h"

namespace bench::sweeps::testing {

inline ResultDocument measured_by(const LoaderMachine& machine) {
  ResultDocument document = machine.document();
  note_simulation(document);
  document.findings = workers_findings(document);
  return document;
}

inline const Finding* found(const ResultDocument& document, const std::string& name) {
  const auto at = std::ranges::find(document.findings, name, &Finding::name);
  return at == document.findings.end() ? nullptr : &*at;
}

inline std::string claim(const ResultDocument& document, const std::string& name) {
  const Finding* const finding = found(document, name);
  return finding == nullptr ? "no finding " + name : finding->claim;
}

}  // namespace bench::sweeps::testing
