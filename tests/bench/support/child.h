// Runs part of a test in a child process, so that signals and another user do not affect the other tests.
#pragma once

#include <grp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>
#include <functional>
#include <stdexcept>
#include <string>

namespace bench::testing {

// How waitpid() says the process ended: it exits with 0 unless `body` ends it otherwise.
inline int status_of(const std::function<void()>& body) {
  const pid_t child = ::fork();
  if (child < 0) {
    throw std::runtime_error("fork failed");
  }
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status;
}

// What `body` answers, or the message it throws, as the user `user`; only root can be another one.
inline std::string answer_as(uid_t user, const std::function<std::string()>& body) {
  int ends[2];
  if (::pipe(ends) != 0) {
    throw std::runtime_error("no pipe");
  }
  status_of([&] {
    std::string answer = "the user could not be changed";
    try {
      if (::setgroups(0, nullptr) == 0 && ::setgid(user) == 0 && ::setuid(user) == 0) {
        answer = body();
      }
    } catch (const std::exception& error) {
      answer = error.what();
    }
    [[maybe_unused]] const ssize_t written = ::write(ends[1], answer.data(), answer.size());
  });
  ::close(ends[1]);
  std::string answer(64 * 1024, '\0');
  const ssize_t got = ::read(ends[0], answer.data(), answer.size());
  ::close(ends[0]);
  answer.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return answer;
}

inline constexpr uid_t kOtherUser = 65534;  // nobody
inline bool can_be_another_user() {
  return ::geteuid() == 0;
}

}  // namespace bench::testing
