#include "kernels/networks/onnx/reader/wire.h"

#include <algorithm>
#include <bit>
#include <limits>

#include <fmt/format.h>

namespace bench::kernels::onnx::wire {

std::byte Input::fetch(std::uint64_t offset) {
  filled_ = 0;
  const std::uint64_t count = std::min<std::uint64_t>(kBuffer, size() - offset);
  source_.read(offset, std::span(buffer_).first(count));
  start_ = offset;
  filled_ = count;
  return buffer_[0];
}

void Input::read(std::uint64_t offset, std::span<std::byte> to) {
  if (to.size() > kBuffer / 2) {
    return source_.read(offset, to);
  }
  for (std::byte& byte : to) {
    byte = at(offset++);
  }
}

void Message::damaged(const std::string& why) const {
  throw Refusal(fmt::format("is damaged or cut short (byte {}: {}); copy or export it again", start_, why));
}

// Seven bits a byte, the lowest first; the last byte's highest bit is 0.
std::uint64_t Message::varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (position_ == end_) {
      damaged("a number that does not end");
    }
    const auto byte = std::to_integer<std::uint64_t>(input_->at(position_++));
    value |= (byte & 0x7FU) << shift;
    if (byte < 0x80U) {
      return value;
    }
  }
  damaged("a number of more than ten bytes");
}

std::uint64_t Message::fixed(std::size_t width) {
  if (end_ - position_ < width) {
    damaged("a number that does not end");
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) {
    value |= std::to_integer<std::uint64_t>(input_->at(position_++)) << (8 * i);
  }
  return value;
}

void Message::number(Type type) {
  value_ = type == Type::varint ? varint() : fixed(type == Type::fixed64 ? 8 : 4);
}

bool Message::next() {
  if (position_ == end_) {
    return false;
  }
  start_ = position_;
  const std::uint64_t tag = varint();
  const std::uint64_t kind = tag & 7U;
  if (tag >> 3U == 0 || tag > std::numeric_limits<std::uint32_t>::max() || kind == 3 || kind == 4 ||
      kind > 5) {
    damaged(fmt::format("{} is no field of a network", tag));
  }
  field_ = static_cast<std::uint32_t>(tag >> 3U);
  type_ = static_cast<Type>(kind);
  if (type_ != Type::length) {
    number(type_);
    return true;
  }
  const std::uint64_t size = varint();
  if (size > end_ - position_) {
    damaged(fmt::format("a field of {} bytes where {} are left", size, end_ - position_));
  }
  range_ = {position_, size};
  position_ += size;
  return true;
}

bool Message::next_packed(Type type) {
  if (position_ == end_) {
    return false;
  }
  start_ = position_;
  number(type);
  return true;
}

void Message::expect(Type type) const {
  if (type_ != type) {
    damaged(fmt::format("field {} has the wire type {}, not {}", field_, static_cast<int>(type_),
                        static_cast<int>(type)));
  }
}

std::int64_t Message::integer() const {
  expect(Type::varint);
  return static_cast<std::int64_t>(value_);
}

float Message::real() const {
  expect(Type::fixed32);
  return std::bit_cast<float>(static_cast<std::uint32_t>(value_));
}

FileRange Message::range() const {
  expect(Type::length);
  return range_;
}

Message Message::message() const {
  return {*input_, range()};
}

std::string Message::text(Allowance& allowance) const {
  const FileRange bytes = range();
  allowance.keep(bytes.size);
  std::string text(bytes.size, '\0');
  input_->read(bytes.offset, std::as_writable_bytes(std::span(text)));
  return text;
}

void Message::integers(std::vector<std::int64_t>& numbers, Allowance& allowance) const {
  if (type_ != Type::length) {
    allowance.keep(sizeof(std::int64_t));
    numbers.push_back(integer());
    return;
  }
  for (Message packed = message(); packed.next_packed(Type::varint);) {
    allowance.keep(sizeof(std::int64_t));
    numbers.push_back(static_cast<std::int64_t>(packed.bits()));
  }
}

void Message::reals(std::vector<float>& numbers, Allowance& allowance) const {
  if (type_ != Type::length) {
    allowance.keep(sizeof(float));
    numbers.push_back(real());
    return;
  }
  for (Message packed = message(); packed.next_packed(Type::fixed32);) {
    allowance.keep(sizeof(float));
    numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(packed.bits())));
  }
}

}  // namespace bench::kernels::onnx::wire
