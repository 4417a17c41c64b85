#include "bench/host/left_over.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

namespace bench {

bool mark_as_used(int file) {
  return ::flock(file, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
}

bool is_left_over(int file) {
  constexpr std::time_t kLongAgo = 3600;  // seconds
  struct stat facts {};
  if (::fstat(file, &facts) != 0 || facts.st_uid != ::geteuid()) {
    return false;
  }
  if (::flock(file, LOCK_EX | LOCK_NB) == 0) {
    return true;
  }
  return errno != EWOULDBLOCK && facts.st_mtime < std::time(nullptr) - kLongAgo;
}

bool still_names(const char* path, int file) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::lstat(path, &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

}  // namespace bench
