// What a profile is made of, each part from the measured points it shows in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sweeps/workers/points.h"
#include "sweeps/workers/profile.h"
#include "sweeps/workers/simulator/law.h"
#include "sweeps/workers/simulator/pipeline.h"

namespace bench::sweeps {

// Of fewer batches the spread is not known: those of more workers are taken too.
inline constexpr std::size_t kEnoughTimes = 48;

double number_or(const Json& json, double other);
bool flag_or(const Json& json, bool other);
std::string text_or(const Json& json, const std::string& other);

// Workers at work, in law_points.cpp.

// Of an image, a worker's time by its batches, or where workers share batches, by its stages; without the
// waits for storage where that is simulated. 0 where neither was measured.
double working_of(const LoaderPoint& point, bool storage);
// Workers at work on average, by Little's law: the rate times the time that an image takes. A worker that has
// no slot, because a slow batch holds back those behind it, does not count, nor does one that waits for
// storage.
double active_of(const LoaderPoint& point, bool storage);
// The part of its time that the only worker spends at work or on storage; the rest goes into handing over,
// which is work too. 1 where one worker was not measured: of several, some may lack a slot.
double share_at_work(const std::vector<const LoaderPoint*>& points);
// Starved consumers leave the loader's rate to be seen; where there is none, workers that rest now and then
// do not count in full.
std::vector<const LoaderPoint*> law_points(const LoaderPoints& points, std::optional<std::int64_t> left_out,
                                           std::string& from);
// Of a consumer's own thread, what it would make were that all it does.
simulator::CapacityPoint capacity_of(const LoaderPoint& point, bool storage, double at_work);

// Storage, in profile_storage.cpp.

// Of --storage, or with --cold as the fewest workers met it; nullopt: reads wait for nothing.
std::optional<simulator::Storage> storage_of(const ResultDocument& document, const LoaderPoint& fewest);
// Of an image, where nobody noted its mean: what the limit lets through, and what the only worker's reads
// take, are both at least that.
double bytes_by_time(const LoaderPoints& points, const simulator::Storage& storage);
// What a read takes of one worker beyond what the limit says: nobody queues, so it is the sleep that ends
// late.
double late_read_ns(const std::vector<const LoaderPoint*>& points, const Profile& profile);
// What reading and making an image takes beyond the latency goes with its size; of the fewest workers, which
// wait least for each other.
std::vector<double> sizes_by_time(const std::vector<const LoaderPoint*>& points, double latency_ns);

// Times, in profile_times.cpp.

// Each point's times in parts of their mean, of as few workers as give enough: beside others a batch's time
// also holds what they took from it.
std::vector<double> spread(const LoaderPoints& points, std::optional<std::int64_t> left_out,
                           std::vector<double> LoaderPoint::*times);
// To that mean, and few of them.
std::vector<double> scaled(std::vector<double> parts, double mean);

// The consumer, in profile_consumer.cpp.

// Computing with ready data; without that point, as it was with the fewest workers. False where there is
// neither.
bool measure_consumer(Profile& profile, const LoaderPoints& points);
// Of the consumers' own threads, where they slept until a step ended; where none did, of the thread beside
// the loader alone. Beyond what waking takes beside a loader that does nothing.
std::vector<simulator::WakeDelay> wake_delays(const LoaderPoints& points, const Profile& profile,
                                              std::optional<std::int64_t> left_out);
// Of the thread beside the loader alone, whose workers first do not give way and then do; nullopt where too
// few sleeps were noted of either.
struct WakeOfBoth {
  std::vector<simulator::WakeDelay> yielding;
  std::vector<simulator::WakeDelay> unyielding;
};
std::optional<WakeOfBoth> wake_of_both(const LoaderPoints& points, const Profile& profile);
// At the fewest workers, as many as cores, and the most.
void calibrate_beside(Profile& profile, const LoaderPoints& points, std::optional<std::int64_t> left_out);
// For the simulation of so many workers on so many cores; empty where the consumer is elsewhere.
std::vector<simulator::Beside> beside_of(const Profile& profile, std::int64_t workers, double cores);

}  // namespace bench::sweeps
