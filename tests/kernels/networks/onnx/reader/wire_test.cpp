#include "kernels/networks/onnx/reader/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/onnx_writer.h"

namespace bench::kernels::onnx {
namespace {

using ::testing::ElementsAre;

// The bytes as a message, which lives as long as this.
struct Bytes {
  explicit Bytes(std::string content)
      : text(std::move(content)), source(in_memory(std::as_bytes(std::span(text)))), input(*source) {}
  wire::Message message() { return wire::Message(input); }

  std::string text;
  std::unique_ptr<Source> source;
  wire::Input input;
  Allowance allowance;
};

std::string refusal_of_fields(const std::string& content) {
  Bytes bytes(content);
  try {
    for (wire::Message message = bytes.message(); message.next();) {
    }
    return "";
  } catch (const Refusal& refusal) {
    return refusal.what();
  }
}

TEST(OnnxWire, ReadsEachKindOfField) {
  Bytes bytes(written::integer(1, -5) + written::bytes(2, "name") + written::real(3, 1.5F) +
              written::tag(4, 1) + std::string(8, '\0') + written::bytes(5, written::integer(1, 7)));
  wire::Message message = bytes.message();
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.field(), 1U);
  EXPECT_EQ(message.integer(), -5);
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.text(bytes.allowance), "name");
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.real(), 1.5F);
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.type(), wire::Type::fixed64);
  ASSERT_TRUE(message.next());
  wire::Message inner = message.message();
  ASSERT_TRUE(inner.next());
  EXPECT_EQ(inner.integer(), 7);
  EXPECT_FALSE(inner.next());
  EXPECT_FALSE(message.next());
}

TEST(OnnxWire, ReadsNumbersPackedOrOneByOne) {
  Bytes bytes(written::packed(1, {1, -2, 300}) + written::integer(1, 4) +
              written::bytes(2, written::raw(std::vector<float>{0.5F})) + written::real(2, -1));
  std::vector<std::int64_t> integers;
  std::vector<float> reals;
  for (wire::Message message = bytes.message(); message.next();) {
    if (message.field() == 1) {
      message.integers(integers, bytes.allowance);
    } else {
      message.reals(reals, bytes.allowance);
    }
  }
  EXPECT_THAT(integers, ElementsAre(1, -2, 300, 4));
  EXPECT_THAT(reals, ElementsAre(0.5F, -1.0F));
}

TEST(OnnxWire, RefusesDamagedFieldsWithThePlace) {
  const std::string four_gigabytes = written::tag(7, 2) + written::varint(std::uint64_t{1} << 32U);
  EXPECT_EQ(refusal_of_fields(written::integer(1, 3) + four_gigabytes),
            "is damaged or cut short (byte 2: a field of 4294967296 bytes where 0 are left); copy or export "
            "it again");
  expect_words(refusal_of_fields(written::tag(7, 2) + written::varint(~std::uint64_t{0})));
  expect_words(refusal_of_fields(std::string(11, '\xFF')));
  expect_words(refusal_of_fields("\x08"));
  expect_words(refusal_of_fields(written::tag(1, 1) + "1234567"));
  expect_words(refusal_of_fields(written::tag(0, 0) + "1"));
  expect_words(refusal_of_fields(written::tag(1, 3)));
  expect_words(refusal_of_fields(written::varint(std::uint64_t{1} << 35U)));
}

TEST(OnnxWire, RefusesAFieldOfAnotherWireType) {
  Bytes bytes(written::bytes(3, "x"));
  wire::Message message = bytes.message();
  ASSERT_TRUE(message.next());
  EXPECT_THROW(message.integer(), Refusal);
  EXPECT_THROW(message.real(), Refusal);
}

// Counts what is read of gigabytes that are not there.
class Sparse final : public Source {
 public:
  Sparse(std::string head, std::uint64_t size, std::string tail)
      : head_(std::move(head)), tail_(std::move(tail)), size_(head_.size() + size + tail_.size()) {}
  std::uint64_t size() const override { return size_; }
  void read(std::uint64_t offset, std::span<std::byte> to) const override {
    bytes_read += to.size();
    for (std::byte& byte : to) {
      const std::uint64_t from_tail = offset - (size_ - tail_.size());
      byte = static_cast<std::byte>(offset < head_.size()      ? head_[offset]
                                    : from_tail < tail_.size() ? tail_[from_tail]
                                                               : '\0');
      ++offset;
    }
  }

  mutable std::uint64_t bytes_read = 0;

 private:
  std::string head_;
  std::string tail_;
  std::uint64_t size_;
};

TEST(OnnxWire, SkipsWhatNobodyAsksFor) {
  constexpr std::uint64_t kBytes = std::uint64_t{5} << 30U;
  const Sparse source(written::tag(9, 2) + written::varint(kBytes), kBytes, written::integer(1, 42));
  wire::Input input(source);
  wire::Message message(input);
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.range().size, kBytes);
  ASSERT_TRUE(message.next());
  EXPECT_EQ(message.integer(), 42);
  EXPECT_LE(source.bytes_read, 2U * 65536U);
}

}  // namespace
}  // namespace bench::kernels::onnx
