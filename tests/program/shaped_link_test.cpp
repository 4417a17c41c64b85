// Two ranks of MPICH in network namespaces of their own, joined by a link of 100 Mbit/s: what is fitted must
// be that link, and training must wait for it. Skipped where namespaces cannot be made.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>

#include "bench/run/result_file.h"
#include "tests/bench/support/temporary_folder.h"
#include "tests/program/launchers.h"
#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Truly;

constexpr double kLinkBytesPerS = 100e6 / 8;
constexpr int kNoRights = 77;

// "$@" runs on both ranks, each on a host of its own as far as it can see.
const std::string kOverALink = R"(
n=b$$
trap 'ip netns del ${n}0; ip netns del ${n}1' EXIT
{ ip netns add ${n}0 && ip netns add ${n}1 &&
  ip link add link0 netns ${n}0 type veth peer name link1 netns ${n}1; } 2>/dev/null || exit 77
for i in 0 1; do
  ip -n $n$i addr add 10.77.0.$((i + 1))/24 dev link$i && ip -n $n$i link set link$i up &&
    ip -n $n$i link set lo up && unshare --uts true &&
    tc -n $n$i qdisc add dev link$i root tbf rate 100mbit burst 16kb latency 100ms || exit 77
done
for i in 0 1; do  # UCX takes no link that is still coming up
  for try in 1 2 3 4 5 6 7 8 9 10; do
    ip -n $n$i link show link$i | grep -q "state UP" && break
    sleep 0.1
  done
done
export n MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self FI_PROVIDER=tcp
mpirun.mpich -n 2 sh -c '
  i=$PMI_RANK
  exec ip netns exec $n$i unshare --uts sh -c "
    hostname rank$i; export UCX_NET_DEVICES=link$i FI_TCP_IFACE=link$i; exec \"\$@\"" sh "$@"' sh "$@"
)";

class ShapedLink : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string reason = why_not(kMpich); !reason.empty()) {
      GTEST_SKIP() << reason;
    }
  }

  // The result's findings; empty where there are no rights. The end may be missed: over some links MPICH
  // does not return from its own.
  std::vector<Finding> findings_of(const Arguments& arguments, const std::string& file) {
    const Ended ended = run_script(
        kOverALink, arguments + Arguments{"--device", "cpu", "--no-plot", "--no-cache", "--rank-timeout",
                                          "20s", "--out", folder_.path().string()});
    if (ended.code == kNoRights) {
      return {};
    }
    EXPECT_TRUE(ended.code == 0 || ended.code == 3) << ended.err << ended.out;
    return read_result(folder_.path() / file).findings;
  }

  const TemporaryFolder folder_;
};

const Finding& named(const std::vector<Finding>& findings, std::string_view name) {
  return *std::ranges::find(findings, name, &Finding::name);
}

// Other programs on the cores keep a rank from sending, and a bucket that filled meanwhile sends faster than
// the link: a run on an idle machine fits, and of five on a busy one some do.
TEST_F(ShapedLink, IsFittedWithin15Percent) {
  constexpr int kTries = 5;
  std::vector<double> rates;
  const auto fits = [](double rate) { return std::abs(rate / kLinkBytesPerS - 1) <= 0.15; };
  while (rates.size() < kTries && std::ranges::none_of(rates, fits)) {
    const auto findings = findings_of({"--sweep", "collectives", "--operations", "send-receive", "--sizes",
                                       "256KiB,512KiB,1MiB,2MiB", "--time-budget", "8s"},
                                      "collectives-2-ranks-cpu.json");
    if (findings.empty()) {
      GTEST_SKIP() << "no rights to make network namespaces and to shape a link between them";
    }
    const std::string model = "model/send-receive/hosts:2";
    ASSERT_EQ(std::ranges::count(findings, model, &Finding::name), 1);
    rates.push_back(named(findings, model).value.value());
  }
  EXPECT_THAT(rates, Contains(Truly(fits)));
}

TEST_F(ShapedLink, IsWhatTrainingWaitsFor) {
  const auto findings = findings_of(rounds(5) + Arguments{"--sweep", "cards", "--workload", "mobilenet_v2",
                                                          "--image-size", "32", "--batch", "4"},
                                    "cards-mobilenet_v2-2-ranks-cpu.json");
  if (findings.empty()) {
    GTEST_SKIP() << "no rights to make network namespaces and to shape a link between them";
  }
  ASSERT_EQ(std::ranges::count(findings, "limit", &Finding::name), 1);
  EXPECT_THAT(named(findings, "limit").claim, HasSubstr("The collective limits 2 ranks"));
}

}  // namespace
}  // namespace bench::testing
