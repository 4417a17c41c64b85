#include "bench/result/result_sessions.h"

#include <fmt/format.h>

#include "bench/result/json_members.h"

namespace bench {

void members(auto& io, Of<Calibration> auto& calibration) {
  io("arithmetic_ns", calibration.arithmetic_ns);
  io("copy_ns", calibration.copy_ns);
}

void members(auto& io, Of<SessionCalibration> auto& calibration) {
  io("median", calibration.median);
  io("readings", calibration.readings);
  io.optional("usual", calibration.usual);
  io("usual_runs", calibration.usual_runs);
}

void members(auto& io, Of<BetweenRuns> auto& between) {
  io("runs", between.runs);
  io("since", between.since);
  io("common_sd", between.common_sd);
  io("own_sd", between.own_sd);
}

void members(auto& io, Of<Session> auto& session) {
  io("id", session.id);
  io("started", session.started);
  io.unless_empty("boot_id", session.boot_id);
  io.unless_empty("kernel", session.kernel);
  io.unless_empty("governor", session.governor);
  io.unless_empty("build", session.build);
  io.unless_empty("commit", session.commit);
  io.unless_empty("threads", session.threads);
  io.unless_empty("calibration", session.calibration);
  io.optional("history", session.history);
}

void members(auto& io, Of<MeasuredRound> auto& round) {
  io("samples", round.samples);
  io("session", round.session);
  io("round", round.round);
  io("order", round.order);
  io("start_ns", round.start_ns);
  io.optional("cpu_time_ns", round.cpu_time_ns);
  io.optional("clock_mhz", round.clock_mhz);
  io.optional("temperature_c", round.temperature_c);
  io.optional("power_w", round.power_w);
  io.unless_empty("throttled", round.throttled);
  io.optional("steal", round.steal);
  io.optional("other_cores", round.other_cores);
  io.optional("load", round.load);
  io.unless_empty("calibration", round.calibration);
  io.unless_empty("disturbed", round.disturbed);
}

Json to_json(const std::vector<Session>& sessions) {
  return written_value(sessions);
}

std::vector<Session> sessions_from_json(const Field& field) {
  std::vector<Session> sessions;
  read_value(field, sessions);
  return sessions;
}

Json to_json(const std::vector<MeasuredRound>& rounds) {
  return written_value(rounds);
}

std::vector<MeasuredRound> rounds_from_json(const Field& field, std::size_t sessions) {
  std::vector<MeasuredRound> rounds;
  read_value(field, rounds);
  for (std::size_t i = 0; i < rounds.size(); ++i) {
    if (static_cast<std::size_t>(rounds[i].session) >= sessions) {
      throw UsageError(fmt::format("{}[{}].session is {}, but the file has {} session{}", field.path(), i,
                                   rounds[i].session, sessions, sessions == 1 ? "" : "s"));
    }
  }
  return rounds;
}

}  // namespace bench
