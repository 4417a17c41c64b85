// Embeddings on fibers: tokens that repeat, that name no row, widths that fill an access and odd ones.
#include <cstring>

#include <fmt/format.h>

#include "kernels/operations/embedding/cuda.cuh"
#include "on_fibers.h"

namespace bench::kernels {
namespace {

using testing::expect_like_reference;
using testing::RunOptions;

testing::Bytes tokens_for(const Embedding& spec) {
  std::vector<std::int32_t> tokens;
  for (std::int64_t row = 0; row < spec.rows; ++row) {
    const std::int64_t token = row % 11 == 7   ? -1
                               : row % 13 == 9 ? spec.vocabulary
                               : row % 3 == 0  ? 1
                                               : row * 7 % spec.vocabulary;
    tokens.push_back(static_cast<std::int32_t>(std::min(token, spec.vocabulary)));
  }
  testing::Bytes stored(tokens.size() * sizeof tokens[0]);
  std::memcpy(stored.data(), tokens.data(), stored.size());
  return stored;
}

TEST(CudaEmbedding, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : kAllDtypes) {
    for (const std::int64_t rows : {1, 31, 100}) {
      for (const std::int64_t width : {1, 6, 24, 520}) {
        for (const std::int64_t offset : {0, 4}) {
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

TEST(CudaPositionEmbedding, BothPassesAreLikeTheReference) {
  for (const Dtype dtype : kAllDtypes) {
    for (const std::int64_t width : {1, 7, 16, 72}) {
      for (const std::int64_t offset : {0, 4}) {
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
