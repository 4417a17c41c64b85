// What a reader is asked to do about figures that are missing or imprecise, where an interrupted run asks for
// something else.
#pragma once

#include <string>
#include <string_view>

namespace bench {

inline constexpr std::string_view kGiveTime = "give a larger --time-budget";
inline constexpr std::string_view kMeasureLarger = "measure larger batches";
inline constexpr std::string_view kGoOn = "go on with --resume";

// The text of a run that was interrupted: neither its time budget nor its batches had come to their end, so
// that kGoOn takes the place of both.
std::string advice_after_interrupt(std::string text);

}  // namespace bench
