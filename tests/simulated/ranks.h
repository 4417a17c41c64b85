// Many ranks on simulated hosts: the MPI engine compiled for SimGrid's SMPI, which runs each rank as a
// coroutine of one process and lets a message take the time that a model of the links gives it. Computing
// takes none.
#pragma once

#include <functional>

#include "bench/clock.h"
#include "bench/model/links.h"
#include "bench/ranks.h"

namespace bench::testing {

// Round a ring a simulation takes the square of the ranks in messages, by recursive doubling their logarithm
// for each.
enum class AllReduce { ring, doubling };

// Runs `body` once for each rank, each on a host of its own. Every host sends and receives at the link's
// rate, both at a time, through a switch that limits nothing; a message of no bytes takes a hop. Rethrows
// what one of the ranks throws, which must not leave others waiting. Once in a process.
void simulate_ranks(int size, const Link& link, AllReduce all_reduce,
                    const std::function<void(RankGroup& group, const Clock& clock)>& body);

}  // namespace bench::testing
