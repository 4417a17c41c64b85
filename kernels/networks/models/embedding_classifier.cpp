// A bag of words: the mean of a text's word vectors, and one linear layer (as fastText's classifier, Joulin
// et al. 2016, arXiv:1607.01759). Nearly all of it is the table, of which a sample reads a few rows. The
// table has the size of the published GloVe vectors glove.6B.300d, 400,000 words of 300 (Pennington et al.
// 2014); the classes are the four topics of AG News.
#include "kernels/networks/models/network.h"

namespace bench::kernels {
namespace {

constexpr std::int64_t kWidth = 300;
constexpr std::int64_t kClasses = 4;

Graph embedding_classifier(const NetworkSizes& sizes) {
  Graph g(Tokens{.sequence = sizes.at("sequence"), .vocabulary = sizes.at("vocabulary")});
  const Graph::Value words = g.embedding("embedding", g.image(), {.width = kWidth});
  g.linear("fc", g.average_pool("mean", words), kClasses);
  return g;
}

const NetworkRegistration BENCH_REGISTERED{{
    .name = "embedding_classifier",
    .description = "mean of word vectors and a linear layer, 120 M parameters, 400,000 words",
    .build = nullptr,
    .published_parameters = 400'000 * kWidth + kWidth * kClasses + kClasses,
    .published_macs = static_cast<double>(kWidth * kClasses),
    .options = {{"sequence", 256, 1, 65536, "words a sample"},
                {"vocabulary", 400'000, 1, 10'000'000, "words in the table"}},
    .build_sized = embedding_classifier,
}};

}  // namespace
}  // namespace bench::kernels
