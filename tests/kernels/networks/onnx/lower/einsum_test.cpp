// Einstein sums against loops over all letters.
#include <map>

#include <gmock/gmock.h>

#include "tests/bench/support/golden_words.h"
#include "tests/kernels/networks/onnx/imported.h"
#include "tests/kernels/networks/onnx/lower/operands.h"

namespace bench::kernels::onnx {
namespace {

// Sizes of the letters; n is the batch.
const std::map<char, std::int64_t> kLetters{{'n', 1}, {'h', 2}, {'i', 3}, {'j', 4}, {'k', 5}, {'m', 2}};

struct Equation {
  std::vector<std::string> operands;
  std::string result;

  std::string text() const {
    return operands[0] + (operands.size() > 1 ? "," + operands[1] : "") + "->" + result;
  }
};

std::vector<std::int64_t> sizes_of(const std::string& letters) {
  std::vector<std::int64_t> sizes;
  for (const char letter : letters) {
    sizes.push_back(kLetters.at(letter));
  }
  return sizes;
}

Values summed(const Equation& equation, const std::vector<Operand>& operands) {
  std::string letters = equation.result;
  for (const std::string& operand : equation.operands) {
    std::ranges::copy_if(operand, std::back_inserter(letters),
                         [&](char letter) { return letters.find(letter) == std::string::npos; });
  }
  std::vector<double> sums(static_cast<std::size_t>(elements_in(sizes_of(equation.result))), 0);
  for_each_index(sizes_of(letters), [&](const std::vector<std::int64_t>& index) {
    const auto place = [&](const std::string& of) {
      std::int64_t at = 0;
      for (const char letter : of) {
        at = at * kLetters.at(letter) + index[letters.find(letter)];
      }
      return static_cast<std::size_t>(at);
    };
    double product = 1;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      product *= operands[i].values[place(equation.operands[i])];
    }
    sums[place(equation.result)] += product;
  });
  return {sums.begin(), sums.end()};
}

class Einsum : public OperandAnswers, public ::testing::WithParamInterface<Equation> {};

TEST_P(Einsum, IsTheSumOverTheLetters) {
  const Equation& equation = GetParam();
  SCOPED_TRACE(equation.text());
  std::vector<Operand> operands;
  std::vector<std::string> names;
  for (const std::string& letters : equation.operands) {
    operands.push_back({.dims = sizes_of(letters), .of_samples = letters.find('n') != std::string::npos});
    names.push_back(name_of_operand(names.size()));
  }
  OnnxWriter net = with_operands(operands);
  net.node("Einsum", names, {"y"}, {written::s("equation", equation.text())});
  expect_of_operands(net, operands, [&](const auto& of) { return summed(equation, of); });
}

INSTANTIATE_TEST_SUITE_P(All, Einsum,
                         ::testing::Values(Equation{{"nij"}, "nji"},             // transposed
                                           Equation{{"nhij"}, "nj"},             // summed
                                           Equation{{"nij", "njk"}, "nik"},      // a product of matrices
                                           Equation{{"nij", "nkj"}, "nik"},      // by rows
                                           Equation{{"njk", "nij"}, "nik"},      // turned round
                                           Equation{{"nhij", "nhkj"}, "nhik"},   // of each head
                                           Equation{{"nihj", "nkhj"}, "nhik"},   // heads within rows
                                           Equation{{"nhik", "nkhj"}, "nihj"},   // and back
                                           Equation{{"nij", "nij"}, "nij"},      // element by element
                                           Equation{{"nij", "ni"}, "nij"},       // rows by numbers
                                           Equation{{"nij", "ni"}, "nj"},        // by a vector
                                           Equation{{"ni", "nj"}, "nij"},        // every pair
                                           Equation{{"nhj", "nik"}, "nij"},      // each summed by itself
                                           Equation{{"nhij", "nhij"}, "n"},      // to a number
                                           Equation{{"nij", "jk"}, "nik"},       // weights
                                           Equation{{"jk", "nij"}, "nki"},       // weights first
                                           Equation{{"nihj", "hjk"}, "nik"},     // heads joined
                                           Equation{{"nhijm", "kjm"}, "nhikj"},  // relative positions
                                           Equation{{"nij", "j"}, "ni"},         // a vector of weights
                                           Equation{{"nij", "hi"}, "nhj"}),      // weights of positions
                         [](const auto& tested) {
                           std::string name;
                           std::ranges::copy_if(tested.param.text(), std::back_inserter(name), ::isalnum);
                           return name;
                         });

TEST(EinsumRefused, InOneSentence) {
  const auto why = [](const std::string& equation, std::size_t inputs) {
    OnnxWriter net;
    net.input("x", {-1, 3, 3});
    net.weight("w", {3, 4});
    net.node("Einsum", inputs == 1 ? std::vector<std::string>{"x"} : std::vector<std::string>{"x", "w"},
             {"y"}, {written::s("equation", equation)});
    net.output("y");
    return import_refusal(net);
  };
  EXPECT_THAT(why("nij,jk->nik", 2), ::testing::StrEq("imported"));
  expect_words(why("nii->ni", 1));
  expect_words(why("nij,jk,kl->nil", 2));
  expect_words(why("ni->n", 1));
  expect_words(why("nij,kj->nik", 2));
  expect_words(why("nij->nijk", 1));
}

}  // namespace
}  // namespace bench::kernels::onnx
