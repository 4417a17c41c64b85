// Embeddings of tokens and of positions: the references by hand, our own against them.
#include <gmock/gmock.h>

#include <algorithm>

#include <fmt/format.h>

#include "kernels/operations/embedding/embedding.h"
#include "run_operation.h"

namespace bench::kernels {
namespace {

using ::testing::ElementsAre;
using testing::Values;

// As testing::run_operation, with tokens for src; `before` is what diff_weights holds where it is added to.
std::vector<float> run(const Embedding& spec, std::string_view implementation,
                       const std::vector<std::int32_t>& tokens, const std::vector<float>& values,
                       const std::vector<float>& before = {}) {
  const auto operation = make_operation(spec, testing::cpu(), implementation);
  operation->prepare();
  std::map<Slot, Buffer> buffers;
  SlotPointers pointers;
  for (const SlotInfo& slot : operation->slots()) {
    buffers[slot.slot] = testing::cpu().allocate(slot.bytes, MemoryCategory::other);
    pointers[slot.slot] = buffers[slot.slot].data();
    testing::cpu().fill(pointers[slot.slot], std::byte{0xff}, slot.bytes);
  }
  EXPECT_EQ(operation->find(Slot::src)->bytes, 4 * spec.rows);
  testing::cpu().upload(pointers[Slot::src], tokens.data(), 4 * spec.rows);
  std::vector<float> out;
  if (spec.direction == Direction::forward) {
    operation->pack(Slot::weights, values, pointers[Slot::weights]);
    operation->run(pointers);
    out.resize(static_cast<std::size_t>(spec.rows * spec.width));
    load(spec.dst(), pointers[Slot::dst], out);
  } else {
    store(spec.dst(), values, pointers[Slot::diff_dst]);
    if (spec.add) {
      operation->pack(Slot::diff_weights, before, pointers[Slot::diff_weights]);
    }
    operation->run(pointers);
    out.resize(static_cast<std::size_t>(spec.weight_count()));
    operation->unpack(Slot::diff_weights, pointers[Slot::diff_weights], out);
  }
  return out;
}

std::vector<float> random(std::int64_t count, std::uint64_t stream, Dtype dtype) {
  std::vector<float> values(static_cast<std::size_t>(count));
  fill_random(values, 1, stream);
  const TensorDesc row{.n = 1, .c = count, .dtype = dtype};
  std::vector<std::byte> stored(static_cast<std::size_t>(row.bytes()));
  store(row, values, stored.data());
  load(row, stored.data(), values);
  return values;
}

class EmbeddingLayer : public ::testing::TestWithParam<Dtype> {};

INSTANTIATE_TEST_SUITE_P(All, EmbeddingLayer, ::testing::Values(Dtype::fp32, Dtype::bf16, Dtype::fp16),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

TEST_P(EmbeddingLayer, IsLikeItsReferenceInBothDirections) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  // Few words for many places, so that most repeat; many words for few; one of each; past the threads' limit.
  for (const auto& [rows, vocabulary, width] :
       {std::tuple{40, 7, 5}, {9, 1000, 70}, {1, 1, 1}, {600, 13, 129}, {33, 1 << 16, 3}}) {
    SCOPED_TRACE(fmt::format("{} of {}x{}", rows, vocabulary, width));
    Embedding spec{.rows = rows, .vocabulary = vocabulary, .width = width, .dtype = GetParam()};
    std::vector<std::int32_t> tokens;
    for (const float value : random(rows, 9, Dtype::fp32)) {
      tokens.push_back(static_cast<std::int32_t>((value + 1) / 2 * static_cast<float>(vocabulary)));
    }
    const auto table = random(spec.weight_count(), 1, GetParam());
    EXPECT_EQ(run(spec, "openmp", tokens, table), run(spec, "reference", tokens, table));

    spec.direction = Direction::backward;
    const auto diff = random(rows * width, 2, GetParam());
    const double tolerance = testing::tolerance_of(GetParam());
    EXPECT_LT(relative_error(run(spec, "openmp", tokens, diff), run(spec, "reference", tokens, diff)),
              tolerance);
    spec.add = true;
    EXPECT_LT(
        relative_error(run(spec, "openmp", tokens, diff, table), run(spec, "reference", tokens, diff, table)),
        tolerance);
  }
}

// In bf16 a hundred small summands would vanish next to a large one if the sum itself were 16-bit.
TEST(Embedding, SumsInFullPrecision) {
  if (testing::cpu().unsupported(Dtype::bf16)) {
    GTEST_SKIP();
  }
  const Embedding spec{.rows = 101, .vocabulary = 2, .direction = Direction::backward, .dtype = Dtype::bf16};
  std::vector<float> diff(101, 1.0F / 64);
  diff[0] = 16;
  EXPECT_THAT(run(spec, "openmp", std::vector<std::int32_t>(101, 1), diff), ElementsAre(0, 17.5F));
}

TEST(Embedding, ByHand) {
  for (const char* implementation : {"reference", "openmp"}) {
    Embedding spec{.rows = 4, .vocabulary = 3, .width = 2};
    const std::vector<std::int32_t> tokens{2, 0, 2, 7};  // the last names no row
    EXPECT_THAT(run(spec, implementation, tokens, {1, 2, 3, 4, 5, 6}), ElementsAre(5, 6, 1, 2, 5, 6, 0, 0));
    spec.direction = Direction::backward;
    const std::vector<float> diff{1, 2, 10, 20, 100, 200, 9, 9};
    EXPECT_THAT(run(spec, implementation, tokens, diff), ElementsAre(10, 20, 0, 0, 101, 202));
    spec.add = true;
    EXPECT_THAT(run(spec, implementation, tokens, diff, {1, 1, 1, 1, 1, 1}),
                ElementsAre(11, 21, 1, 1, 102, 203));
  }
}

// A step's traffic depends on its samples, not on the table's size.
TEST(Embedding, ReadsTheRowsNamedOnly) {
  const Embedding spec{.rows = 10, .vocabulary = 1000, .width = 4};
  for (const char* implementation : {"reference", "openmp"}) {
    const auto operation = make_operation(spec, testing::cpu(), implementation);
    EXPECT_EQ(operation->find(Slot::weights)->bytes, 16000);
    EXPECT_EQ(operation->find(Slot::weights)->looked_up, 160);
  }
}

TEST_P(EmbeddingLayer, OfPositionsIsLikeItsReference) {
  BENCH_SKIP_UNSUPPORTED(GetParam());
  for (const auto& [batch, sequence, positions, width] :
       {std::tuple{2, 5, 9, 7}, {1, 1, 1, 1}, {3, 64, 64, 200}, {4, 3, 70, 65}}) {
    for (const auto direction : {Direction::forward, Direction::backward}) {
      SCOPED_TRACE(fmt::format("{}x{} of {}x{}", batch, sequence, positions, width));
      const Embedding spec{.rows = batch * sequence,
                           .vocabulary = positions,
                           .width = width,
                           .direction = direction,
                           .dtype = GetParam(),
                           .kind = Embedding::Kind::positions,
                           .sequence = sequence};
      const auto reference = make_operation(spec, testing::cpu(), "reference");
      const Values inputs = testing::inputs_for(*reference, GetParam());
      EXPECT_TRUE(
          testing::close_to(testing::run_operation(*reference, inputs),
                            testing::run_operation(*make_operation(spec, testing::cpu(), "openmp"), inputs),
                            testing::tolerance_of(GetParam())));
    }
  }
}

TEST(PositionEmbeddingReference, ByHand) {
  Embedding spec{.rows = 4, .vocabulary = 3, .width = 1, .kind = Embedding::Kind::positions, .sequence = 2};
  const auto run_reference = [&](const Values& inputs) {
    return testing::run_operation(*make_operation(spec, testing::cpu(), "reference"), inputs);
  };
  EXPECT_THAT(run_reference({{Slot::src, {1, 2, 3, 4}}, {Slot::weights, {10, 20, 30}}}).at(Slot::dst),
              ElementsAre(11, 22, 13, 24));
  spec.direction = Direction::backward;
  EXPECT_THAT(run_reference({{Slot::diff_dst, {1, 2, 3, 4}}}).at(Slot::diff_weights), ElementsAre(4, 6, 0));
}

}  // namespace
}  // namespace bench::kernels
