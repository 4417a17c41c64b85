// Embeddings on fibers: tokens that repeat, that name no row, widths that fill an access and odd ones.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "kernels/operations/embedding/cuda.cu"
#include "on_fibers.h"
#include "tests/bench/support/golden_words.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::few_under_thread_sanitizer;
using testing::RunOptions;

testing::Bytes stored(const std::vector<std::int32_t>& tokens) {
  testing::Bytes bytes(tokens.size() * sizeof tokens[0]);
  std::memcpy(bytes.data(), tokens.data(), bytes.size());
  return bytes;
}

testing::Bytes tokens_for(const Embedding& spec) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t row = 0; row < spec.rows; ++row) {
    const std::int64_t token = row % 11 == 7   ? -1
                               : row % 13 == 9 ? spec.vocabulary
                               : row % 3 == 0  ? 1
                                               : row * 7 % spec.vocabulary;
    tokens.push_back(static_cast<std::int32_t>(std::min(token, spec.vocabulary)));
  }
  return stored(tokens);
}

// No multiple of a large power of two is likely in a row; a tenth of the tokens repeat one of three.
std::vector<std::int32_t> scattered(std::int64_t rows, std::int64_t vocabulary) {
  std::vector<std::int32_t> tokens;
  std::uint32_t state = 1;
  for (std::int64_t row = 0; row < rows; ++row) {
    state = state * 1664525U + 1013904223U;
    const std::int64_t token = state % 10 == 0 ? state % 3 : (state >> 8) % vocabulary;
    tokens.push_back(static_cast<std::int32_t>(std::min(token, vocabulary - 1)));
  }
  return tokens;
}

// The places as kernels sort them, on fibers.
std::vector<std::pair<std::uint32_t, std::uint32_t>> sorted(const std::vector<std::int32_t>& tokens,
                                                            std::int64_t vocabulary) {
  const cuda::TokenSort sort(static_cast<std::int64_t>(tokens.size()), vocabulary);
  std::vector<std::uint64_t> scratch(static_cast<std::size_t>(sort.scratch_bytes() + 7) / 8,
                                     ~std::uint64_t{0});
  const cuda::TokenPlace* const found =
      sort.run(testing::FiberQueue(testing::cpu()), tokens.data(), scratch.data());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> places;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    places.emplace_back(found[i].token, found[i].place);
  }
  return places;
}

TEST(CudaEmbedding, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const std::int64_t rows : {1, 31, 100}) {
      for (const std::int64_t width : {1, 6, 24, 520}) {
        for (const std::int64_t offset : few_under_thread_sanitizer(std::array{4, 0})) {
          SCOPED_TRACE(
              fmt::format("{} {} tokens, width {}, {} bytes off", name_of(dtype), rows, width, offset));
          Embedding spec{.rows = rows, .vocabulary = 23, .width = width, .dtype = dtype};
          const RunOptions options{.opaque = {{Slot::src, tokens_for(spec)}}, .offset = offset};
          expect_like_reference<cuda::EmbeddingOperation>(spec, dtype, options);
          spec.direction = Direction::backward;
          expect_like_reference<cuda::EmbeddingOperation>(spec, dtype, options);
          spec.add = true;
          expect_like_reference<cuda::EmbeddingOperation>(spec, dtype, options);
        }
      }
    }
  }
}

TEST(CudaEmbedding, SortsPlacesByTokenAndEqualOnesByPlace) {
  struct Case {
    std::vector<std::int32_t> tokens;
    std::int64_t vocabulary;
  };
  std::vector<std::int32_t> falling(2049);
  for (std::size_t i = 0; i < falling.size(); ++i) {
    falling[i] = static_cast<std::int32_t>(falling.size() - i);
  }
  // A pass and several, a tile of 2048 places and its neighbours.
  for (const Case& tested :
       {Case{{0}, 1}, Case{{-1, 5, 0, 7, 5}, 6}, Case{std::vector<std::int32_t>(5000, 41), 50257},
        Case{falling, 4096}, Case{scattered(2048, 63), 63}, Case{scattered(6145, 50257), 50257},
        Case{scattered(4000, std::int64_t{1} << 30), std::int64_t{1} << 30}}) {
    SCOPED_TRACE(fmt::format("{} tokens of {}", tested.tokens.size(), tested.vocabulary));
    std::vector<std::pair<std::uint32_t, std::uint32_t>> expected;
    for (std::size_t i = 0; i < tested.tokens.size(); ++i) {
      const bool known = tested.tokens[i] >= 0 && tested.tokens[i] < tested.vocabulary;
      expected.emplace_back(known ? tested.tokens[i] : tested.vocabulary, i);
    }
    std::ranges::sort(expected);
    EXPECT_EQ(sorted(tested.tokens, tested.vocabulary), expected);
  }
}

// So many that a gradient which compares each place with each other one would not end.
TEST(CudaEmbedding, TheGradientOfManyTokensIsLikeTheReference) {
  const std::int64_t rows = testing::under_thread_sanitizer() ? 3000 : 1 << 16;
  for (const bool repeated : {false, true}) {
    SCOPED_TRACE(repeated ? "one token" : "many tokens");
    const Embedding spec{.rows = rows,
                         .vocabulary = 50257,
                         .width = 3,
                         .direction = Direction::backward,
                         .dtype = Dtype::fp32};
    const std::vector<std::int32_t> tokens =
        repeated ? std::vector<std::int32_t>(static_cast<std::size_t>(rows), 17) : scattered(rows, 50257);
    const RunOptions options{.opaque = {{Slot::src, stored(tokens)}}};
    expect_like_reference<cuda::EmbeddingOperation>(spec, Dtype::fp32, options, 1e-4);
  }
}

// Runs that begin and end at the borders of pieces, and next to them; some cross several.
TEST(CudaEmbedding, TheGradientOfLongRunsIsLikeTheReference) {
  constexpr std::int64_t kPiece = cuda::TokenRuns::kPiece;
  for (const Dtype dtype : few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const std::int64_t before : {std::int64_t{0}, std::int64_t{1}, kPiece - 1, kPiece, kPiece + 1}) {
      for (const std::int64_t run :
           {std::int64_t{1}, kPiece - 1, kPiece, kPiece + 1, 3 * kPiece, 6 * kPiece + 5}) {
        for (const std::int64_t after : {0, 1, 70}) {
          SCOPED_TRACE(fmt::format("{} {} + {} + {}", name_of(dtype), before, run, after));
          std::vector<std::int32_t> tokens(static_cast<std::size_t>(before), 2);
          tokens.insert(tokens.end(), static_cast<std::size_t>(run), 3);
          tokens.insert(tokens.end(), static_cast<std::size_t>(after), after == 1 ? 7 : -1);
          Embedding spec{.rows = before + run + after,
                         .vocabulary = 7,
                         .width = 8,
                         .direction = Direction::backward,
                         .dtype = dtype};
          const RunOptions options{.opaque = {{Slot::src, stored(tokens)}}};
          expect_like_reference<cuda::EmbeddingOperation>(spec, dtype, options,
                                                          2 * testing::tolerance_of(dtype));
        }
      }
    }
  }
}

// No warp adds up more than a piece, one place after the other, and the sums of pieces.
TEST(CudaEmbedding, TheGradientOfALongRunIsSharedByWarps) {
  EXPECT_EQ(cuda::TokenRuns::pieces(1), 0);
  EXPECT_EQ(cuda::TokenRuns::pieces(cuda::TokenRuns::kPiece), 0);
  EXPECT_EQ(cuda::TokenRuns::pieces(cuda::TokenRuns::kPiece + 1), 1);
  constexpr std::int64_t kRows = 1000;
  std::vector<cuda::TokenPlace> sorted;
  for (std::uint32_t place = 0; place < kRows; ++place) {
    sorted.push_back({.token = 5, .place = place});
  }
  const cuda::TokenRuns runs{sorted.data(), kRows, 50, 1, 1};
  std::vector<float> gradients(kRows, 1);
  std::vector<float> partial(static_cast<std::size_t>(cuda::TokenRuns::pieces(kRows)), -1);
  testing::FiberQueue(testing::cpu())
      .launch(
          cuda::EmbeddingPieces<testing::FiberFp32, 1>{
              runs, reinterpret_cast<const std::uint32_t*>(gradients.data()), partial.data()},
          cuda::TokenRuns::blocks(cuda::TokenRuns::pieces(kRows)));
  EXPECT_EQ(partial, (std::vector<float>{128, 128, 128, 128, 128, 128, 104}));
}

// Fibers take turns in another order each time.
TEST(CudaEmbedding, TheGradientHasTheSameBitsEachTime) {
  const Embedding spec{
      .rows = 3000, .vocabulary = 97, .width = 8, .direction = Direction::backward, .dtype = Dtype::fp32};
  const RunOptions options{.opaque = {{Slot::src, stored(scattered(spec.rows, spec.vocabulary))}}};
  const auto run = [&] {
    const auto operation = testing::on_fibers<cuda::EmbeddingOperation>(spec);
    return testing::run_exactly(*operation, Dtype::fp32, options).at(Slot::diff_weights);
  };
  EXPECT_EQ(run(), run());
}

TEST(CudaEmbedding, PlacesThatDoNotFitTheirNumberAreRefused) {
  const auto made = cuda::implementation<testing::Fibers, cuda::EmbeddingOperation>();
  Embedding spec{.rows = std::int64_t{1} << 31, .vocabulary = 5, .direction = Direction::backward};
  expect_words(made.unsupported(spec, testing::cpu()).value_or(""));
  spec.rows = 100;
  EXPECT_EQ(made.unsupported(spec, testing::cpu()), std::nullopt);
}

TEST(CudaPositionEmbedding, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : few_under_thread_sanitizer(testing::kStoredDtypes)) {
    for (const std::int64_t width : {1, 7, 16, 72}) {
      for (const std::int64_t offset : few_under_thread_sanitizer(std::array{4, 0})) {
        SCOPED_TRACE(fmt::format("{} width {}, {} bytes off", name_of(dtype), width, offset));
        Embedding spec{.rows = 15,
                       .vocabulary = 9,
                       .width = width,
                       .dtype = dtype,
                       .kind = Embedding::Kind::positions,
                       .sequence = 5};
        RunOptions options{.in_place = {{Slot::dst, Slot::src}}, .offset = offset};
        expect_like_reference<cuda::EmbeddingOperation>(spec, dtype, options);
        spec.direction = Direction::backward;
        options.in_place.clear();
        expect_like_reference<cuda::EmbeddingOperation>(spec, dtype, options);
      }
    }
  }
}

}  // namespace
}  // namespace bench::kernels
