#include "bench/result/result_sessions.h"

#include <fmt/format.h>

#include "bench/result/json_members.h"

namespace bench {

void members(auto& io, Of<Calibration> auto& calibration) {
  io("arithmetic_ns", calibration.arithmetic_ns, check::not_negative);
  io("copy_ns", calibration.copy_ns, check::not_negative);
}

void members(auto& io, Of<SessionCalibration> auto& calibration) {
  io("median", calibration.median);
  io("readings", calibration.readings, check::not_negative);
  io.optional("usual", calibration.usual);
  io("usual_runs", calibration.usual_runs, check::not_negative);
}

void members(auto& io, Of<BetweenRuns> auto& between) {
  io("runs", between.runs, check::at_least_one);
  io("since", between.since);
  io("common_sd", between.common_sd, check::not_negative);
  io("own_sd", between.own_sd, check::not_negative);
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
  io("samples", round.samples, check::not_negative);
  io("session", round.session, check::not_negative);
  io("round", round.round, check::not_negative);
  io("order", round.order, check::not_negative);
  io("start_ns", round.start_ns, check::not_negative);
  io.optional("cpu_time_ns", round.cpu_time_ns, check::not_negative);
  io.optional("clock_mhz", round.clock_mhz);
  io.optional("temperature_c", round.temperature_c);
  io.optional("power_w", round.power_w);
  io.unless_empty("throttled", round.throttled);
  io.optional("steal", round.steal, check::not_negative);
  io.optional("other_cores", round.other_cores, check::not_negative);
  io.optional("load", round.load, check::not_negative);
  io.unless_empty("calibration", round.calibration);
  io.unless_empty("disturbed", round.disturbed);
}

Json to_json(const std::vector<Session>& sessions) {
  return written_value(sessions);
}

std::vector<Session> sessions_from_json(const Field& field) {
  std::vector<Session> sessions;
  field.size();  // an array
  read_value(field, sessions);
  return sessions;
}

Json to_json(const std::vector<MeasuredRound>& rounds) {
  return written_value(rounds);
}

std::vector<MeasuredRound> rounds_from_json(const Field& field, std::size_t sessions) {
  std::vector<MeasuredRound> rounds;
  field.size();  // an array
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
