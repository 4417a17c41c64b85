#include "sweeps/workers/loader/jpeg.h"

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/stats/random.h"
#include "jpegs.h"

#include "tests/bench/support/golden_words.h"

namespace bench::loader {
namespace {

using ::testing::ThrowsMessage;

constexpr std::int64_t kMostPixels = 89'478'485;
constexpr Box kWhole{.x = 0, .y = 0, .width = 64, .height = 48};

void open_and_decode(std::span<const std::byte> encoded) {
  JpegDecoder decoder;
  const ImageSize size = decoder.open(encoded, kMostPixels);
  decoder.decode({.x = 0, .y = 0, .width = size.width, .height = size.height}, 8);
}

// The largest difference in red, green and blue between the box's pixels and the same of the whole image.
int worst_difference(JpegDecoder& decoder, std::span<const std::byte> encoded, const ImageSize& size,
                     const Box& box, int eighths) {
  decoder.open(encoded, kMostPixels);
  const JpegDecoder::Decoded part = decoder.decode(box, eighths);
  const std::vector<std::uint8_t> whole = decoded_fully(encoded, eighths);
  const int width = (size.width * eighths + 7) / 8;
  const int left = box.x * eighths / 8;
  const int right = ((box.x + box.width) * eighths + 7) / 8;
  const int top = box.y * eighths / 8;
  const int bottom = ((box.y + box.height) * eighths + 7) / 8;
  EXPECT_LE(part.left, left);
  EXPECT_LE(part.top, top);
  EXPECT_GE(part.left + part.pixels.width, right);
  EXPECT_GE(part.top + part.pixels.height, bottom);
  int worst = 0;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < right; ++x) {
      for (int c = 0; c < 3; ++c) {
        const int a = whole[static_cast<std::size_t>(4 * (y * width + x) + c)];
        const int b = part.pixels.data[static_cast<std::size_t>(y - part.top) * part.pixels.stride +
                                       static_cast<std::size_t>(4 * (x - part.left) + c)];
        worst = std::max(worst, std::abs(a - b));
      }
    }
  }
  return worst;
}

TEST(JpegDecoder, GivesOfACropTheSamePixelsAsOfTheWholeImage) {
  std::mt19937_64 engine(11);
  JpegDecoder decoder;  // one for all: nothing may be left over from the image before
  for (const bool progressive : {false, true}) {
    for (const auto& [across, down] :
         {std::pair{2, 2}, {2, 1}, {1, 1}, {1, 2}, {4, 1}, {3, 1}, {1, 4}, {4, 2}}) {
      for (const auto& [width, height] : {std::pair{131, 97}, {64, 48}, {17, 200}, {200, 9}, {5, 3}}) {
        const JpegKind kind{.width = width,
                            .height = height,
                            .across = across,
                            .down = down,
                            .progressive = progressive,
                            .restart_rows = width == 64 ? 1 : 0};
        const auto encoded = make_jpeg(kind);
        for (int i = 0; i < 40; ++i) {
          Box box;
          box.width = 1 + static_cast<int>(bounded_draw(engine, static_cast<std::uint64_t>(width)));
          box.height = 1 + static_cast<int>(bounded_draw(engine, static_cast<std::uint64_t>(height)));
          box.x = static_cast<int>(bounded_draw(engine, static_cast<std::uint64_t>(width - box.width + 1)));
          box.y = static_cast<int>(bounded_draw(engine, static_cast<std::uint64_t>(height - box.height + 1)));
          const int eighths = 8 >> bounded_draw(engine, 4);
          ASSERT_EQ(worst_difference(decoder, encoded, {.width = width, .height = height}, box, eighths), 0)
              << width << "x" << height << (progressive ? " progressive " : " ") << across << "x" << down
              << " box " << box.x << "," << box.y << " " << box.width << "x" << box.height << " eighths "
              << eighths;
        }
      }
    }
  }
}

TEST(JpegDecoder, TakesImagesOfManyPortions) {
  for (const bool progressive : {false, true}) {
    const auto encoded =
        make_jpeg({.width = 900, .height = 700, .quality = 100, .across = 1, .progressive = progressive});
    ASSERT_GT(encoded.size(), 3 * kJpegPortion);
    JpegDecoder decoder;
    for (const Box& box : {Box{.x = 0, .y = 0, .width = 900, .height = 700},
                           {.x = 300, .y = 650, .width = 100, .height = 50},
                           {.x = 0, .y = 200, .width = 900, .height = 10}}) {
      EXPECT_EQ(worst_difference(decoder, encoded, {.width = 900, .height = 700}, box, 8), 0);
    }
  }
}

// A comment of another program, longer than a portion: libjpeg skips it.
TEST(JpegDecoder, SkipsOverPortions) {
  auto encoded = make_jpeg({});
  const auto at = encoded.begin() + 2;
  std::vector<std::byte> comments;
  for (int i = 0; i < 5; ++i) {
    comments.insert(comments.end(), {std::byte{0xFF}, std::byte{0xFE}, std::byte{0xFF}, std::byte{0xFF}});
    comments.resize(comments.size() + 0xFFFF - 2, std::byte{'x'});
  }
  encoded.insert(at, comments.begin(), comments.end());
  ASSERT_GT(comments.size(), 2 * kJpegPortion);
  JpegDecoder decoder;
  EXPECT_EQ(worst_difference(decoder, encoded, {.width = 64, .height = 48}, kWhole, 8), 0);
}

TEST(JpegDecoder, GivesUpAnywhereAndTakesTheNextImage) {
  for (const bool progressive : {false, true}) {
    const auto encoded = make_jpeg({.width = 400, .height = 300, .progressive = progressive});
    int asked = 0;
    int most = 1 << 30;
    JpegDecoder decoder([&] { return ++asked > most; });
    const Box whole{.x = 0, .y = 0, .width = 400, .height = 300};
    decoder.open(encoded, kMostPixels);
    decoder.decode(whole, 8);
    const int times = asked;
    EXPECT_GT(times, progressive ? 100 : 15);
    for (most = 0; most < times; most += 5) {
      asked = 0;
      EXPECT_THROW(
          {
            decoder.open(encoded, kMostPixels);
            decoder.decode(whole, 8);
          },
          Cancelled);
      EXPECT_EQ(asked, most + 1);
    }
    most = 1 << 30;
    EXPECT_EQ(worst_difference(decoder, encoded, {.width = 400, .height = 300}, whole, 8), 0);
  }
}

// Rows above a crop are skipped in one call, in which cancelling is not asked for.
TEST(JpegDecoder, GivesUpWhileItSkipsRows) {
  const auto encoded = make_jpeg({.width = 900, .height = 700, .quality = 100, .across = 1});
  bool give_up = false;
  JpegDecoder decoder([&] { return give_up; });
  decoder.open(encoded, kMostPixels);
  give_up = true;
  EXPECT_THROW(decoder.decode({.x = 0, .y = 690, .width = 900, .height = 10}, 8), Cancelled);
  int asked = 0;
  JpegDecoder counting([&] { return ++asked < 0; });
  counting.open(encoded, kMostPixels);
  counting.decode({.x = 0, .y = 699, .width = 900, .height = 1}, 8);
  EXPECT_GE(asked, static_cast<int>(encoded.size() / kJpegPortion));
}

TEST(JpegDecoder, MakesGreyToEqualColours) {
  const auto encoded = make_jpeg({.components = 1});
  JpegDecoder decoder;
  decoder.open(encoded, kMostPixels);
  const auto decoded = decoder.decode(kWhole, 8);
  const auto expected = decoded_fully(encoded);
  for (std::size_t i = 0; i < expected.size(); i += 4) {
    ASSERT_EQ(decoded.pixels.data[i], expected[i]);
    ASSERT_EQ(decoded.pixels.data[i + 1], expected[i]);
    ASSERT_EQ(decoded.pixels.data[i + 2], expected[i]);
  }
}

TEST(JpegDecoder, ConvertsInksAsPillowDoes) {
  for (const bool ycck : {false, true}) {
    // Stored inverted: cyan 40, magenta 80, yellow 160 and key 200 are light areas' values.
    std::vector<std::uint8_t> inks;
    for (int i = 0; i < 64 * 48; ++i) {
      inks.insert(inks.end(), {40, 80, 160, 200});
    }
    const auto encoded =
        encode({.components = 4, .quality = 100, .across = 1, .down = 1, .ycck = ycck}, inks);
    JpegDecoder decoder;
    decoder.open(encoded, kMostPixels);
    const auto decoded = decoder.decode(kWhole, 8);
    // Pillow: 200 - 215·200/255 = 31, 200 - 175·200/255 = 63, 200 - 95·200/255 = 125.
    EXPECT_NEAR(decoded.pixels.data[0], 31, 2);
    EXPECT_NEAR(decoded.pixels.data[1], 63, 2);
    EXPECT_NEAR(decoded.pixels.data[2], 125, 2);
  }
}

TEST(JpegDecoder, RefusesWhatIsNoJpegAndSaysWhatItIs) {
  const auto bytes = [](const std::string& text) {
    const auto* const data = reinterpret_cast<const std::byte*>(text.data());
    return std::vector<std::byte>(data, data + text.size());
  };
  expect_words(message_of<BadImage>([&] { open_and_decode({}); }));
  expect_words(message_of<BadImage>([&] { open_and_decode(bytes("\x89PNG\r\n\x1a\n----")); }));
  expect_words(message_of<BadImage>([&] { open_and_decode(bytes("GIF89a------")); }));
  expect_words(message_of<BadImage>([&] { open_and_decode(bytes("RIFF....WEBPVP8 ")); }));
  expect_words(message_of<BadImage>([&] { open_and_decode(bytes("RIFF")); }));
  expect_words(message_of<BadImage>([&] { open_and_decode(bytes("<html>")); }));
  expect_words(message_of<BadImage>([&] { open_and_decode(std::vector<std::byte>(100)); }));
  EXPECT_THROW(open_and_decode(bytes("\xFF\xD8\xFF")), BadImage);
}

TEST(JpegDecoder, RefusesAFileThatEndsAnywhereTooEarly) {
  for (const bool progressive : {false, true}) {
    const auto whole = make_jpeg({.progressive = progressive});
    for (std::size_t size = 0; size < whole.size(); size += 3) {
      EXPECT_THROW(open_and_decode(std::span(whole).first(size)), BadImage) << size << " of " << whole.size();
    }
    EXPECT_NO_THROW(open_and_decode(whole));
  }
}

TEST(JpegDecoder, RefusesATruncatedFileWhateverTheCrop) {
  const auto whole = make_jpeg({.width = 256, .height = 256});
  JpegDecoder decoder;
  expect_words(
      message_of<BadImage>([&] { decoder.open(std::span(whole).first(whole.size() - 2), kMostPixels); }));
}

TEST(JpegDecoder, TakesBytesAfterTheEnd) {
  auto encoded = make_jpeg({});
  encoded.resize(encoded.size() + 5000, std::byte{0x11});
  EXPECT_NO_THROW(open_and_decode(encoded));
}

TEST(JpegDecoder, RefusesDataThatAMarkerBreaksOff) {
  auto encoded = make_jpeg({.width = 256, .height = 256});
  const std::size_t scan = marker(encoded, 0xDA);
  encoded[scan + 800] = std::byte{0xFF};
  encoded[scan + 801] = std::byte{0xD9};
  EXPECT_THAT([&] { open_and_decode(encoded); },
              ThrowsMessage<BadImage>(::testing::HasSubstr("premature end of data")));
}

TEST(JpegDecoder, RefusesDataWithoutItsRestartMarkers) {
  auto encoded = make_jpeg({.width = 256, .height = 256, .restart_rows = 1});
  const std::size_t restart = marker(encoded, 0xD2);
  encoded.erase(encoded.begin() + static_cast<std::ptrdiff_t>(restart) - 40,
                encoded.begin() + static_cast<std::ptrdiff_t>(restart) + 1);
  EXPECT_THROW(open_and_decode(encoded), BadImage);
}

TEST(JpegDecoder, RefusesTwelveAndSixteenBits) {
  for (const int precision : {12, 16}) {
    auto encoded = make_jpeg({});
    encoded[marker(encoded, 0xC0) + 3] = static_cast<std::byte>(precision);
    EXPECT_THAT([&] { open_and_decode(encoded); },
                ThrowsMessage<BadImage>(::testing::HasSubstr(std::to_string(precision))));
  }
}

TEST(JpegDecoder, RefusesLosslessFrames) {
  auto encoded = make_jpeg({});
  encoded[marker(encoded, 0xC0)] = std::byte{0xC3};
  EXPECT_THROW(open_and_decode(encoded), BadImage);
}

std::vector<std::byte> with_size(std::vector<std::byte> encoded, int frame, int width, int height) {
  const std::size_t at = marker(encoded, frame);
  encoded[at + 4] = static_cast<std::byte>(height >> 8);
  encoded[at + 5] = static_cast<std::byte>(height & 255);
  encoded[at + 6] = static_cast<std::byte>(width >> 8);
  encoded[at + 7] = static_cast<std::byte>(width & 255);
  return encoded;
}

TEST(JpegDecoder, RefusesByTheHeaderWhatHasTooManyPixels) {
  const auto encoded = with_size(make_jpeg({}), 0xC0, 30'000, 30'000);
  JpegDecoder decoder;
  expect_words(message_of<BadImage>([&] { decoder.open(encoded, kMostPixels); }));
  EXPECT_EQ(decoder.scratch_bytes(), 0);
}

TEST(JpegDecoder, BoundsTheMemoryOfAProgressiveImage) {
  const auto encoded =
      with_size(make_jpeg({.across = 1, .down = 1, .progressive = true}), 0xC2, 30'000, 30'000);
  JpegDecoder decoder;
  decoder.open(encoded, 1'000'000'000);
  expect_words(message_of<BadImage>([&] { decoder.decode(kWhole, 8); }));
}

TEST(JpegDecoder, BoundsTheScansOfAProgressiveImage) {
  const auto encoded = make_jpeg({.components = 1, .many_scans = true});
  expect_words(message_of<BadImage>([&] { open_and_decode(encoded); }));
}

TEST(JpegDecoder, LeavesTheOrientationAsItIs) {
  const auto plain = make_jpeg({});
  const std::string exif(
      "\xFF\xE1\x00\x22"
      "Exif\0\0MM\0\x2A\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0",
      36);
  auto turned = plain;
  const auto* const data = reinterpret_cast<const std::byte*>(exif.data());
  turned.insert(turned.begin() + 2, data, data + exif.size());
  JpegDecoder decoder;
  const ImageSize size = decoder.open(turned, kMostPixels);
  EXPECT_EQ(size.width, 64);
  EXPECT_EQ(size.height, 48);
  EXPECT_EQ(worst_difference(decoder, turned, size, kWhole, 8), 0);
}

TEST(JpegDecoder, GoesOnAfterABadImage) {
  const auto good = make_jpeg({});
  JpegDecoder decoder;
  for (std::size_t cut = 20; cut < good.size(); cut += 100) {
    auto bad = good;
    bad.erase(bad.begin() + 20, bad.begin() + static_cast<std::ptrdiff_t>(cut));
    try {
      decoder.open(bad, kMostPixels);
      decoder.decode(kWhole, 8);
    } catch (const BadImage&) {
    }
    ASSERT_EQ(worst_difference(decoder, good, {.width = 64, .height = 48}, kWhole, 8), 0);
  }
}

}  // namespace
}  // namespace bench::loader
