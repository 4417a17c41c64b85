// The wire format of protocol buffers (protobuf.dev/programming-guides/encoding), with lengths of 64 bits.
//
//   wire::Input input(source);
//   wire::Message message(input);
//   while (message.next()) {
//     switch (message.field()) { case 1: … = message.integer(); break; … }
//   }
//
// next() steps over a whole field; the bytes of one that nobody asks for are never read. Everything throws
// Refusal where the file is damaged: a field beyond its message, an unfinished number, another wire type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/networks/onnx/model.h"
#include "kernels/networks/onnx/reader/refusal.h"
#include "kernels/networks/onnx/reader/source.h"

namespace bench::kernels::onnx::wire {

// A source through a buffer, for many small reads that mostly follow each other.
class Input {
 public:
  explicit Input(const Source& source) : source_(source) {}
  std::uint64_t size() const { return source_.size(); }
  std::byte at(std::uint64_t offset) { return holds(offset) ? buffer_[offset - start_] : fetch(offset); }
  void read(std::uint64_t offset, std::span<std::byte> to);

 private:
  static constexpr std::size_t kBuffer = 65536;                                 // bytes
  bool holds(std::uint64_t offset) const { return offset - start_ < filled_; }  // below start_: wraps around
  std::byte fetch(std::uint64_t offset);

  const Source& source_;
  std::array<std::byte, kBuffer> buffer_{};
  std::uint64_t start_ = 0;
  std::uint64_t filled_ = 0;
};

enum class Type : std::uint8_t { varint = 0, fixed64 = 1, length = 2, fixed32 = 5 };

class Message {
 public:
  explicit Message(Input& input) : input_(&input), end_(input.size()) {}

  // The next field; false at the end.
  bool next();
  std::uint32_t field() const { return field_; }
  Type type() const { return type_; }

  std::int64_t integer() const;
  float real() const;
  std::string text(Allowance& allowance) const;
  Message message() const;
  FileRange range() const;

  // Appends this field's numbers, be they packed or one by one.
  void integers(std::vector<std::int64_t>& numbers, Allowance& allowance) const;
  void reals(std::vector<float>& numbers, Allowance& allowance) const;

  // For packed numbers: the next one, without a tag in front. False at the end.
  bool next_packed(Type type);
  std::uint64_t bits() const { return value_; }  // of a number

  [[noreturn]] void damaged(const std::string& why) const;

 private:
  Message(Input& input, FileRange range)
      : input_(&input), position_(range.offset), end_(range.offset + range.size) {}
  std::uint64_t varint();
  std::uint64_t fixed(std::size_t width);
  void number(Type type);
  void expect(Type type) const;

  Input* input_;
  std::uint64_t position_ = 0;
  std::uint64_t end_;
  std::uint64_t start_ = 0;  // of the field
  std::uint32_t field_ = 0;
  Type type_ = Type::varint;
  std::uint64_t value_ = 0;  // a number's bits
  FileRange range_;          // a length's bytes
};

}  // namespace bench::kernels::onnx::wire
