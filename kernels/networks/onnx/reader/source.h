// The bytes of an ONNX file, asked for by position.
//
// A file is read, not mapped: a mapped file that another process cuts short ends the program with SIGBUS. The
// reader skips the weights, so that a file of gigabytes costs no more than its graph.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace bench::kernels::onnx {

class Source {
 public:
  virtual ~Source() = default;
  virtual std::uint64_t size() const = 0;
  // All of `to`, from `offset`; the caller keeps within size(). Throws Refusal where the file cannot be read
  // or has become shorter.
  virtual void read(std::uint64_t offset, std::span<std::byte> to) const = 0;
};

// Throws Refusal: not a file, empty, not to be opened.
std::unique_ptr<Source> open_file(const std::string& path);
// A source over bytes that outlive it.
std::unique_ptr<Source> in_memory(std::span<const std::byte> bytes);

}  // namespace bench::kernels::onnx
