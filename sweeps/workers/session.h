// What all points of one run share: the data, opened when it is first needed, and what was skipped of it.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>

#include "sweeps/workers/loader/data.h"
#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/pool.h"

namespace bench::sweeps {

class ColdData;

// How nice workers are, and where that is 0 because others want the cores, how many of them.
struct Nice {
  int wanted = 0;
  std::int64_t most_workers = std::numeric_limits<std::int64_t>::max();  // more of them are not nice
  double busy_elsewhere = 0;

  int of(std::int64_t workers) const { return workers <= most_workers ? wanted : 0; }
};
// As nice as can be, for the consumer's thread to get a core at once; not at all where other programs keep
// cores busy, which would be given all of the time. Looks for a third of a second.
Nice nice_beside_others(int cores);

struct Session {
  std::string data_name;  // --data
  std::optional<loader::StorageLimit> storage;
  bool cold = false;  // the system forgets the images before each is read
  loader::Progress progress = [](const std::string&, double) {};

  Nice nice;
  loader::BadFiles bad;
  std::set<std::string> verified;  // consumers whose answer was compared
  std::set<std::string> drawn;     // points whose first steps were kept as a time line
  // How often each point's pipeline was made: each time it reads the images in another order. A window sees
  // few of them, and were they always the same, one point would have the large ones for good and another the
  // small ones.
  std::map<std::string, std::uint64_t> visits;

  // Throws UsageError naming --data, and Unsupported where --cold is not permitted.
  const loader::Dataset& data();
  // Reads each image once, so that none comes from storage later on; not where that would take long, nor with
  // --cold. Throws as data().
  void warm();

  // With --cold: reads before which the system was asked to forget the image, and how many of them it held it
  // all the same, the first for that reason.
  struct Forgetting {
    std::int64_t asked = 0;
    std::int64_t refused = 0;
    std::string reason;
  };
  Forgetting forgetting() const;

 private:
  std::unique_ptr<loader::Dataset> data_;
  const loader::Dataset* unlimited_ = nullptr;  // of data_: what --storage slows down
  const ColdData* cold_ = nullptr;              // of data_
  std::stop_source stop_;                       // of waits for a storage that is only a what-if
  std::jthread watch_;                          // for Ctrl-C; last, for it uses the above
};

}  // namespace bench::sweeps
