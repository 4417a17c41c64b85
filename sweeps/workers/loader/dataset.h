// The encoded images of a data set, by number. Reading is what a loader's worker does first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench/clock.h"

namespace bench::loader {

// One image that cannot be used: unreadable, not a JPEG, corrupt, too large. It is counted, named and
// skipped.
class BadImage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The images of a data set that were skipped, and why. Any number of threads may call it at once.
class BadFiles {
 public:
  void add(std::int64_t number, const std::string& reason) {
    const std::scoped_lock lock(mutex_);
    files_.emplace(number, reason);
  }
  bool contains(std::int64_t number) const {
    const std::scoped_lock lock(mutex_);
    return files_.contains(number);
  }
  std::map<std::int64_t, std::string> all() const {
    const std::scoped_lock lock(mutex_);
    return files_;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::int64_t, std::string> files_;
};

// Constant after it was opened: any number of threads may call it at once.
class Dataset {
 public:
  Dataset() = default;
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;
  virtual ~Dataset() = default;

  virtual std::int64_t size() const = 0;                              // images; at least one
  virtual std::string name(std::int64_t number) const = 0;            // of its file, for people
  virtual std::int64_t encoded_bytes(std::int64_t number) const = 0;  // as listed when it was opened
  // The encoded bytes into `bytes`, whose memory is used again. Throws BadImage.
  virtual void read(std::int64_t number, std::vector<std::byte>& bytes) const = 0;
  // Drops the image from the page cache, so that the next read goes to storage.
  // Returns the reason where that is not permitted.
  virtual std::optional<std::string> evict(std::int64_t number) const = 0;
};

// May throw to end the work.
using ProgressCallback = std::function<void(const std::string& what, double fraction)>;

// The values of --data:
// - a folder tree: its .jpg and .jpeg files in the order of their paths. Symbolic links are followed, into
//   each folder once on the way down; subfolders that may not be listed are left out;
// - a .tar file, or a folder of them: the JPEG members, each read from its place in the shard, in any order;
// - "synthetic" or "synthetic:heavy": natural-looking images that are made once into the user's cache folder,
//   all alike or of very different sizes.
// Throws UsageError naming --data where there is nothing to read.
std::unique_ptr<Dataset> open_data(const std::string& data, const ProgressCallback& progress,
                                   const Clock& clock = steady_clock());

// How many images, of how many bytes, and a number made of their names and sizes: another one means that the
// folder's contents changed. The files themselves are not read.
std::string contents_of(const Dataset& data);

}  // namespace bench::loader
