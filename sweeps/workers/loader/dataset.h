// The encoded images of a data set, by number. Reading is what a loader's worker does first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench::loader {

// One image that cannot be used: unreadable, not a JPEG, corrupt, too large. It is counted, named and
// skipped.
class BadImage : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
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

}  // namespace bench::loader
