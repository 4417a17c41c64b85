// Sentences of the program, compared whole with those that tests/golden/words holds.
#pragma once

#include <source_location>
#include <string>
#include <vector>

#include <gtest/gtest.h>

// Not in bench::testing: where that is not known, `testing` is GoogleTest.
namespace bench {

// Compares the text with the next line of the running test's section in tests/golden/words/SUITE.txt, which
// `make golden` writes. Only for text that every machine makes alike: no path, time, version or core count.
void expect_words(const std::string& text,
                  const std::source_location& from = std::source_location::current());
// All of them, in their order, as one line.
void expect_words(const std::vector<std::string>& texts,
                  const std::source_location& from = std::source_location::current());

// The message of the exception that the call throws.
template <class Error, class Call>
std::string message_of(const Call& call, const std::source_location& from = std::source_location::current()) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }  // another type ends the test, and GoogleTest says which
  ADD_FAILURE_AT(from.file_name(), static_cast<int>(from.line())) << "nothing is thrown";
  return "";
}

}  // namespace bench
