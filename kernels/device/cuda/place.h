// Where in the source a call stands: std::source_location, which clang-tidy 14 does not know yet.
#pragma once

namespace bench::kernels::cuda {

class Place {
 public:
  // As a default argument it names the line of the call, as std::source_location::current() does.
  static constexpr Place current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }
  constexpr const char* file_name() const { return file_; }
  constexpr int line() const { return line_; }

 private:
  constexpr Place(const char* file, int line) : file_(file), line_(line) {}

  const char* file_;
  int line_;
};

}  // namespace bench::kernels::cuda
