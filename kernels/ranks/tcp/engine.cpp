// Ranks started by torchrun, or by anything that sets its variables.
#include <cstdlib>

#include "bench/ranks.h"
#include "bench/registry.h"
#include "kernels/ranks/tcp/rendezvous.h"

namespace bench::kernels {
namespace {

const Registration<RankEngine> BENCH_REGISTERED{
    {.name = "tcp",
     .title = "the rendezvous at MASTER_ADDR",
     .launcher = "torchrun",
     .packages = "",
     .rank_variable = "RANK",
     .size_variable = "WORLD_SIZE",
     .missing = [] { return std::string(); },
     .join =
         [](std::chrono::nanoseconds timeout) {
           Rendezvous rendezvous = rendezvous_of([](const char* name) { return std::getenv(name); });
           rendezvous.timeout = timeout;
           return meet(rendezvous);
         },
     .control_only = true}};

}  // namespace
}  // namespace bench::kernels
