// From which share on something counts as fed, busy or the whole.
#pragma once

namespace bench::sweeps {

inline constexpr double kFed = 0.95;      // AU of a consumer that is fed
inline constexpr double kStarved = 0.90;  // AU below which it waits for batches all along
inline constexpr double kBusy = 0.90;     // of the time, for a worker, storage, copies or the host's cores
inline constexpr double kNearly = 0.95;   // of a rate or of simulated cores: all of it

}  // namespace bench::sweeps
