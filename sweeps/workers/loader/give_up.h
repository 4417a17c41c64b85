// Work that ends early, where its result is wanted no more.
#pragma once

#include <exception>
#include <functional>

namespace bench::loader {

// Asked every few milliseconds of work on an image, however large it is; once it says true, the work ends
// with GivenUp.
using GiveUp = std::function<bool()>;

struct GivenUp : std::exception {
  const char* what() const noexcept override { return "given up"; }
};

inline bool never() {
  return false;
}

}  // namespace bench::loader
