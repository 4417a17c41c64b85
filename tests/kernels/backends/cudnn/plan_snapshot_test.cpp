// Plans every convolution of every network for cards that are not here, and compares cuDNN's answers with
// recorded ones. No GPU is needed.
//
// A line is one convolution without its batch, followed by the batches and their common answer: the engines
// of the plans that qualify (see plans.h) in the order of their first appearance, the number of plans, after
// "bare" the engines of the bare convolution where its plans are tried too, and the bytes of workspace that
// bench plans for. Another version of cuDNN has other answers: its lines must be recorded first.
//
// All batches for all cards take minutes (`make plans`); with BENCH_FEW_PLANS=1, as in `make test`, each card
// compares one of them.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/error.h"
#include "cards.h"
#include "kernels/backends/cudnn/convolution_operation.h"
#include "kernels/backends/cudnn/plans.h"
#include "network_convolutions.h"

namespace bench::kernels::testing {
namespace {

// Most answers differ by batch: powers of two would nearly double the files and the time.
constexpr std::array<std::int64_t, 5> kBatches{1, 4, 16, 64, 256};
constexpr std::size_t kTried = 8;
constexpr std::size_t kMostShown = 5;

std::string file_of(const Card& card) {
  std::string name;
  for (const char letter : card.name) {
    name += letter == ' ' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return fmt::format("{}/tests/kernels/backends/cudnn/plans/{}.txt", BENCH_TEST_SOURCE_DIR, name);
}

std::string heading() {
  return fmt::format("cuDNN {}", cudnn::plan_source().version());
}

// "forward fp16 c64 56x56 …": as described, without the batch.
std::string shape_of(const Conv2d& convolution) {
  std::string text = cudnn::described(convolution);
  const std::size_t batch = text.find(" n") + 1;
  return text.erase(batch, text.find(' ', batch) + 1 - batch);
}

void append_new(std::vector<std::int64_t>& engines, std::int64_t engine) {
  if (std::ranges::find(engines, engine) == engines.end()) {
    engines.push_back(engine);
  }
}

std::string answer_for(const Conv2d& convolution, const Card& card) {
  try {
    const std::int64_t cap = cudnn::workspace_cap(convolution);
    std::vector<std::int64_t> engines;
    int count = 0;
    for (const cudnn::Plan& plan : cudnn::plans_for(convolution, *card.card)->list()) {
      if (cudnn::keeps(plan, convolution.dtype) && plan.workspace <= cap) {
        ++count;
        append_new(engines, plan.engine);
      }
    }
    const cudnn::Candidates listed = cudnn::listed(convolution, *card.card);
    std::vector<std::int64_t> bare;
    for (const cudnn::Candidate& candidate : listed.all) {
      if (candidate.bare) {
        append_new(bare, candidate.plans->list()[candidate.plan].engine);
      }
    }
    return fmt::format("{} ({}){}{} {}", fmt::join(engines, " "), count, bare.empty() ? "" : " bare ",
                       fmt::join(bare, " "), listed.workspace);
  } catch (const Unsupported&) {
    return "none";
  }
}

// Line after line, sorted.
std::vector<std::string> plan_everything(const Card& card, std::span<const std::int64_t> of_batches) {
  std::map<std::string, std::map<std::string, std::vector<std::int64_t>>> lines;  // shape → answer → batches
  for (const Dtype dtype : kAllDtypes) {
    if (const auto reason = cudnn::unsupported(dtype, card.card->compute_capability())) {
      lines[fmt::format("{}: {}", name_of(dtype), *reason)];
      continue;
    }
    for (const std::int64_t batch : of_batches) {
      std::set<Conv2d> seen;
      for (const Conv2d& spec : network_convolutions(batch, dtype)) {
        // The bare one first: once it is listed next to fused plans, its other plans are freed.
        for (const Conv2d& convolution : {cudnn::bare(spec), cudnn::fused(spec)}) {
          if (seen.insert(convolution).second) {
            lines[shape_of(convolution)][answer_for(convolution, card)].push_back(batch);
          }
        }
      }
    }
  }
  std::vector<std::string> sorted;
  for (const auto& [shape, answers] : lines) {
    std::map<std::vector<std::int64_t>, std::string> by_batch;
    for (const auto& [answer, batches] : answers) {
      by_batch[batches] = answer;
    }
    std::string line = shape;
    for (const auto& [batches, answer] : by_batch) {
      line += fmt::format(" | n{}: {}", fmt::join(batches, ","), answer);
    }
    sorted.push_back(line);
  }
  return sorted;
}

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
  }
  return lines;
}

// A line's answer for this batch, as a line of its own; a line without batches unchanged.
std::string only_of(const std::string& line, std::int64_t batch) {
  constexpr std::string_view kBetween = " | n";
  std::size_t at = line.find(kBetween);
  const std::string shape = line.substr(0, at);
  while (at != std::string::npos) {
    const std::size_t from = at + kBetween.size();
    const std::size_t colon = line.find(':', from);
    at = line.find(kBetween, from);
    const std::string batches = fmt::format(",{},", line.substr(from, colon - from));
    if (batches.find(fmt::format(",{},", batch)) != std::string::npos) {
      return fmt::format("{} | n{}{}", shape, batch,
                         line.substr(colon, at == std::string::npos ? at : at - colon));
    }
  }
  return line;
}

// The compared lines: all batches of the file, line by line, or some, a line for each.
struct Compared {
  std::vector<std::string> before;
  std::vector<std::string> now;
};

// Another one for each card, among them the largest, where workspaces meet their cap.
std::int64_t batch_of(const Card& card) {
  const auto place = std::ranges::find(cards(), card.name, &Card::name) - cards().begin();
  return kBatches.at(kBatches.size() - 1 - static_cast<std::size_t>(place) % kBatches.size());
}

Compared compare(const Card& card, const std::vector<std::string>& lines) {
  if (!few_plans()) {
    return {.before = lines, .now = plan_everything(card, kBatches)};
  }
  const std::int64_t batch = batch_of(card);
  Compared compared{.before = {}, .now = plan_everything(card, std::span(&batch, 1))};
  for (const std::string& line : lines) {
    compared.before.push_back(only_of(line, batch));
  }
  return compared;
}

void write_lines(const std::string& path, const std::vector<std::string>& lines) {
  std::ofstream file(path);
  file << heading() << '\n' << fmt::format("{}\n", fmt::join(lines, "\n"));
  ASSERT_TRUE(file.good()) << path;
}

std::string difference(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  std::string text;
  std::size_t shown = 0;
  const auto show = [&](const auto& in, const auto& missing_from, char sign) {
    const std::set<std::string> others(missing_from.begin(), missing_from.end());
    for (const std::string& line : in) {
      if (!others.contains(line) && shown++ < 2 * kMostShown) {
        text += fmt::format("{} {}\n", sign, line);
      }
    }
  };
  show(before, now, '-');
  show(now, before, '+');
  return fmt::format("{} lines differ, among them\n{}", shown, text);
}

class CudnnPlans : public ::testing::TestWithParam<Card> {
 protected:
  void SetUp() override {
    if (cannot_plan()) {
      GTEST_SKIP() << *cannot_plan();
    }
  }
};

INSTANTIATE_TEST_SUITE_P(All, CudnnPlans, ::testing::ValuesIn(cards()), [](const auto& tested) {
  std::string name = tested.param.name;
  std::erase(name, ' ');
  return name;
});

TEST_P(CudnnPlans, AreAsBefore) {
  if (::testing::UnitTest::GetInstance()->test_to_run_count() > 1) {
    GTEST_SKIP()
        << "once cuDNN's heuristics have planned for one card they offer a few plans more for the next: "
           "this is compared in a process of its own, as ctest runs it";
  }
  const std::string path = file_of(GetParam());
  const bool update = std::getenv("BENCH_UPDATE_PLANS") != nullptr;
  std::vector<std::string> before = read_lines(path);
  if (!update && (before.empty() || before.front() != heading())) {
    GTEST_SKIP() << path << " was made with " << (before.empty() ? "nothing" : before.front()) << ", this is "
                 << heading()
                 << "; update it with: BENCH_UPDATE_PLANS=1 ctest --preset release -R CudnnPlans";
  }
  if (update) {
    write_lines(path, plan_everything(GetParam(), kBatches));
    return;
  }
  before.erase(before.begin());
  const Compared compared = compare(GetParam(), before);
  EXPECT_TRUE(compared.before == compared.now)
      << difference(compared.before, compared.now)
      << "If that is meant: BENCH_UPDATE_PLANS=1 ctest --preset release -R CudnnPlans";
}

// Whatever version answers: what a network needs must be there.
TEST_P(CudnnPlans, AreThereForEveryConvolutionWithinTheCap) {
  const Card& card = GetParam();
  for (const Dtype dtype : kAllDtypes) {
    if (cudnn::unsupported(dtype, card.card->compute_capability())) {
      continue;
    }
    for (const Conv2d& spec : network_convolutions(16, dtype)) {
      const Conv2d convolution = cudnn::bare(spec);
      const std::int64_t cap = cudnn::workspace_cap(convolution);
      const auto selection =
          cudnn::select(cudnn::plans_for(convolution, *card.card)->list(), dtype, cap, kTried);
      EXPECT_FALSE(selection.plans.empty()) << cudnn::described(convolution);
      EXPECT_LE(selection.workspace, cap) << cudnn::described(convolution);
    }
  }
}

// cuDNN has ready-made kernels for relu on tensor cores, not for relu6.
TEST_P(CudnnPlans, WithoutTensorCoresHideNoBareConvolution) {
  const Card& card = GetParam();
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16, Dtype::tf32}) {
    if (cudnn::unsupported(dtype, card.card->compute_capability())) {
      continue;
    }
    int beaten = 0;
    for (const Conv2d& spec : network_convolutions(64, dtype)) {
      const auto use_tensor_cores = [&](const Conv2d& convolution, std::int64_t within) {
        return std::ranges::any_of(
            cudnn::listed(convolution, *card.card).all, [&](const cudnn::Candidate& candidate) {
              const cudnn::Plan& plan = candidate.plans->list()[candidate.plan];
              return !candidate.reserve && plan.tensor_cores && plan.workspace <= within;
            });
      };
      const Conv2d convolution = cudnn::fused(spec);
      if (cudnn::fuses(convolution) && use_tensor_cores(cudnn::bare(spec), cudnn::kMostBareWorkspace)) {
        EXPECT_TRUE(use_tensor_cores(convolution, cudnn::workspace_cap(convolution)))
            << cudnn::described(convolution);
        beaten += convolution.activation == Activation::relu6 ? 1 : 0;
      }
    }
    EXPECT_GT(beaten, 5) << "else this proves little of " << name_of(dtype);
  }
}

}  // namespace
}  // namespace bench::kernels::testing
