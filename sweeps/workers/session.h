// Shared by all points of a run: the data, opened when first needed, and what was found of it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "bench/clock.h"
#include "sweeps/workers/loader/dataset.h"
#include "sweeps/workers/loader/pool.h"
#include "sweeps/workers/loader/storage.h"
#include "sweeps/workers/record.h"

namespace bench::sweeps {

class ColdData;

struct LoaderSession {
  explicit LoaderSession(const Clock& time) : clock(time) {}

  const Clock& clock;
  std::string data_name;  // --data
  std::optional<loader::Storage> storage;
  bool cold = false;  // the system drops each image from its page cache before it is read
  loader::ProgressCallback progress = [](const std::string&, double) {};

  // Up to this many workers run at the lowest priority, so that the consumer thread is scheduled at once. 0
  // if the consumer or other programs compute on the same cores: low-priority workers would get no time
  // there. More workers keep the usual priority: each needs one more turn on a core to end.
  std::int64_t most_low_priority_workers = 0;

  loader::BadFiles bad;
  std::set<std::string> verified;   // consumers whose answer was compared
  std::set<std::string> timelines;  // points whose first steps were kept
  // How often each point's pipeline was made. Each time it reads the images in another order: a window holds
  // few images, and always the same ones would bias the point.
  std::map<std::string, std::uint64_t> repetitions;

  // Throws UsageError naming --data, and Unsupported where --cold is not permitted.
  const loader::Dataset& data();
  // Reads each image once, so that none comes from storage later on; not where that would take long, nor with
  // --cold. Throws as data().
  void warm();
  // Facts of the images read so far; without from_storage. Throws as data().
  DataFound found();

 private:
  std::unique_ptr<loader::Dataset> data_;
  const loader::Dataset* unlimited_ = nullptr;  // of data_, without --storage
  const ColdData* cold_ = nullptr;              // of data_
};

// Mean of the first images'.
double mean_encoded_bytes(const loader::Dataset& data, std::int64_t most_asked);

}  // namespace bench::sweeps
