// Why a round differs from others of its point: a disturbance, or another session.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/result/result.h"

namespace bench {

// Why a round tells less than others; empty: nothing is known to have disturbed it.
//   "throttled"    the device, for one of round.throttled
//   "steal"        other virtual machines took more than 2 % of the cores' time
//   "other_load"   other programs kept more than a quarter of a core busy
//   "calibration"  a calibration kernel took more than 10 % longer than `typical`
std::vector<std::string> disturbances(const MeasuredRound& round,
                                      const std::map<std::string, SessionCalibration>& typical = {});

// Judges every round of the session again, now that its calibrations are known.
void mark_disturbances(ResultDocument& document, std::size_t session);

// A session's calibrations: medians over its readings, which several rounds may carry.
std::map<std::string, SessionCalibration> session_calibration(const ResultDocument& document,
                                                              std::size_t session);

inline constexpr std::string_view kContentionReason = "cpu_contention";      // of a round
inline constexpr std::string_view kContention = "throttled:cpu_contention";  // in most rounds
inline constexpr std::string_view kDisturbed = "disturbed";  // most rounds were, by more than throttling
inline constexpr std::string_view kMixedSessions = "mixed_sessions";  // that differ
// Those of the two that the point's rounds call for.
std::vector<std::string> flags_of_rounds(const Point& point, const std::vector<Session>& sessions);

// How the machine or the program of `now` differs from that of `before`, in words: "another build (a1 there,
// b2 now)", "another boot", "10 h later". What one of them does not know differs only where the other does.
// Less than an hour between their starts is no difference.
std::vector<std::string> differences(const Session& before, const Session& now);

// Seconds since 1970 of an ISO 8601 date such as "2026-03-01T12:34:56+01:00"; nullopt for another format.
std::optional<std::int64_t> seconds_of(std::string_view date);

}  // namespace bench
