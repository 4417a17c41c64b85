#include "bench/run/session.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "bench/result/between_runs.h"
#include "bench/result/sessions.h"
#include "bench/run/history.h"
#include "bench/text/fingerprint.h"

namespace bench {
namespace {

// Sorts by time, and is drawn, so that no two are alike.
std::string new_id() {
  std::random_device device;
  const auto draw = [&] { return static_cast<std::uint32_t>(device()); };
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{:08x}{:08x}", fmt::gmtime(now), draw(), draw());
}

// The device among them: its driver and clocks make another machine of the same host.
std::string name_of_machine(const RunContext& context, const SystemState& system) {
  return fingerprint(fmt::format("{}\n{}\n{}\n{}\n{}\n{}", system.machine_id, context.host.cpu,
                                 context.host.usable_cores, context.device.id, context.device.name,
                                 context.detail("uuid")));
}

void enter_between_runs(ResultDocument& document, std::size_t session, std::span<const PastRun> earlier) {
  auto fit = fit_between_runs(earlier, medians_of(document, session));
  Session& now = document.sessions[session];
  if (!fit) {
    return;
  }
  fit->spread.since = earlier.empty() ? now.started : earlier.front().started;
  now.history = fit->spread;
  const PointKeys keys(document, now);
  for (Point& point : measured_points(document)) {
    if (const auto found = fit->ci95_ns.find(keys.of(point)); found != fit->ci95_ns.end()) {
      point.stats.ci95_between_ns = found->second;
    }
  }
}

}  // namespace

void begin_session(ResultDocument& document, const SystemState& system) {
  RunContext& context = document.context;
  Session session{.id = new_id(),
                  .started = context.google_benchmark.value("date", ""),
                  .boot_id = system.boot_id,
                  .kernel = system.kernel,
                  .governor = system.governor,
                  .build = build_id(),
                  .threads = thread_settings()};
  if (const auto commit = context.software.find("git"); commit != context.software.end()) {
    session.commit = commit->second;
  }
  context.run_id = session.id;
  context.machine = name_of_machine(context, system);
  document.sessions = {std::move(session)};
}

std::string end_session(ResultDocument& document, std::size_t session,
                        const std::optional<std::filesystem::path>& history, SessionEnd end) {
  mark_disturbances(document, session);
  Session& now = document.sessions.at(session);
  now.calibration = session_calibration(document, session);
  if (!history) {
    return "";
  }
  HistoryFile file(*history);
  std::vector<PastRun> earlier = file.runs(document.context.machine);
  std::erase_if(earlier, [&](const PastRun& run) { return run.id == now.id; });
  if (end.ranks_share_host) {
    for (PastRun& run : earlier) {
      run.calibration.erase(std::string(kHostCalibration));
    }
  }
  now.calibration = with_usual(std::move(now.calibration), earlier);
  enter_between_runs(document, session, earlier);
  if (end.keep) {
    PastRun run{
        .id = now.id, .started = now.started, .calibration = {}, .points = medians_of(document, session)};
    for (const auto& [processor, calibration] : now.calibration) {
      if (!end.ranks_share_host || processor != kHostCalibration) {
        run.calibration[processor] = calibration.median;
      }
    }
    if (!run.points.empty() || !run.calibration.empty()) {
      file.add(document.context.machine, std::move(run));
    }
  }
  return file.problem();
}

}  // namespace bench
