// Ends work early whose result is no longer wanted.
#pragma once

#include <exception>
#include <functional>

namespace bench::loader {

// Asked every few milliseconds of work on an image, however large it is. Once it returns true, the work ends
// with Cancelled.
using CancelToken = std::function<bool()>;

struct Cancelled : std::exception {
  const char* what() const noexcept override { return "cancelled"; }
};

inline bool never() {
  return false;
}

}  // namespace bench::loader
