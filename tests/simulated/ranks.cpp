#include "tests/simulated/ranks.h"

#include <smpi/smpi.h>
#include <simgrid/s4u.hpp>

#include <array>
#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <vector>

// kernels/ranks/mpi/plugin
extern "C" bench::RankGroup* bench_join_ranks();

namespace bench::testing {
namespace {

namespace s4u = simgrid::s4u;

class SimulatedClock final : public Clock {
 public:
  time_point now() const override {
    return time_point(std::chrono::duration_cast<time_point::duration>(
        std::chrono::duration<double>(s4u::Engine::get_clock())));
  }
  void sleep_until(time_point time) const override {
    s4u::this_actor::sleep_for(std::chrono::duration<double>(time - now()).count());
  }
};

std::vector<s4u::Host*> hosts_in_a_star(int size, const Link& link) {
  constexpr double kNanosecond = 1e-9;
  auto* const zone = s4u::create_star_zone("hosts");
  std::vector<s4u::Host*> hosts;
  for (int rank = 0; rank < size; ++rank) {
    const std::string name = std::to_string(rank);
    auto* const host = zone->create_host(name, 1e9);
    auto* const wire = zone->create_split_duplex_link("of " + name, link.bytes_per_s)
                           ->set_latency(link.hop_ns * kNanosecond / 2);  // a hop has two
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{wire, s4u::LinkInRoute::Direction::UP}}, true);
    wire->seal();
    host->seal();
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

}  // namespace

void simulate_ranks(int size, const Link& link, AllReduce all_reduce,
                    const std::function<void(RankGroup& group, const Clock& clock)>& body) {
  // The links as they are: other models correct them by what TCP over Gigabit Ethernet showed.
  std::array settings{"simulated_ranks",
                      "--log=root.thresh:error",
                      "--cfg=network/model:CM02",
                      "--cfg=network/TCP-gamma:0",
                      "--cfg=network/crosstraffic:0",
                      "--cfg=network/weight-S:0",
                      "--cfg=smpi/coll-selector:mpich",
                      "--cfg=smpi/privatization:no",
                      "--cfg=smpi/simulate-computation:no",
                      "--cfg=surf/precision:1e-12",
                      all_reduce == AllReduce::ring ? "--cfg=smpi/allreduce:lr" : "--cfg=smpi/allreduce:rdb"};
  std::vector<char*> arguments;
  for (const char* setting : settings) {
    arguments.push_back(const_cast<char*>(setting));
  }
  int count = static_cast<int>(arguments.size());
  smpi_init_options();  // SMPI has settings from now on
  s4u::Engine engine(&count, arguments.data());
  const std::vector<s4u::Host*> hosts = hosts_in_a_star(size, link);
  const SimulatedClock clock;
  std::exception_ptr thrown;
  SMPI_init();
  SMPI_app_instance_register("ranks", nullptr, size);
  for (int rank = 0; rank < size; ++rank) {
    const s4u::ActorPtr actor =
        s4u::Actor::init("rank " + std::to_string(rank), hosts[static_cast<std::size_t>(rank)]);
    actor->set_property("instance_id", "ranks");
    actor->set_property("rank", std::to_string(rank));
    actor->start([&] {
      try {
        const std::unique_ptr<RankGroup> group(bench_join_ranks());
        body(*group, clock);
      } catch (...) {
        thrown = std::current_exception();
      }
    });
  }
  engine.run();
  SMPI_finalize();
  if (thrown) {
    std::rethrow_exception(thrown);
  }
}

}  // namespace bench::testing
