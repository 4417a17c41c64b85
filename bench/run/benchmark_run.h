// What Google Benchmark's versions name differently in a run that they report.
#pragma once

namespace bench {

// Whether the run failed or was left out. Google Benchmark 1.8 renamed error_occurred to skipped.
template <typename Run>
bool was_skipped(const Run& run) {
  if constexpr (requires { run.skipped; }) {
    return run.skipped != 0;
  } else {
    return run.error_occurred;
  }
}

}  // namespace bench
