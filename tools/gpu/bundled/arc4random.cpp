// What g++ 12's C++ library draws std::random_device from, in place of glibc's, which has it from 2.36 on.
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

extern "C" std::uint32_t arc4random() noexcept {
  std::uint32_t value = 0;
  while (getrandom(&value, sizeof(value), 0) != sizeof(value)) {  // so few bytes come at once or not at all
    if (errno != EINTR) {
      std::abort();
    }
  }
  return value;
}
