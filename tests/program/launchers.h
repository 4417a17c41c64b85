// The launchers of both MPIs, for tests of sweeps over ranks.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "tests/program/process.h"
#include "tests/program/small_run.h"

namespace bench::testing {

struct Mpi {
  std::string name;
  std::string launcher;
  std::string together;       // option: more ranks than cores
  std::string survivors;      // option: ranks live on when one dies
  std::string rank_variable;  // of the environment
};

inline const Mpi kOpenMpi{"openmpi", "mpirun.openmpi", "--oversubscribe", "--enable-recovery",
                          "OMPI_COMM_WORLD_RANK"};
inline const Mpi kMpich{"mpich", "mpirun.mpich", "", "-disable-auto-cleanup", "PMI_RANK"};

inline std::filesystem::path build_folder() {
  return std::filesystem::path(BENCH_PROGRAM).parent_path();
}

inline bool has_module(const Mpi& mpi) {
  return std::filesystem::exists(build_folder() / ("bench_ranks_" + mpi.name + ".so"));
}

// `bench` with these arguments is "$@" in the script, which ends after two minutes at the latest.
inline Ended run_script(const std::string& script, const Arguments& arguments) {
  const std::string environment =
      "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader "
      "OMPI_MCA_btl_vader_single_copy_mechanism=none OMP_NUM_THREADS=1; ";
  return Process(
             Arguments{"--kill-after=5", "120", "/bin/sh", "-c", environment + script, "sh", BENCH_PROGRAM} +
                 arguments,
             std::nullopt, "/usr/bin/timeout")
      .wait();
}

inline std::string launch_of(const Mpi& mpi, int ranks) {
  return mpi.launcher + " " + mpi.together + " -n " + std::to_string(ranks) + " ";
}

// Why ranks cannot be started with it here; empty: they can.
inline std::string why_not(const Mpi& mpi) {
  if (!has_module(mpi)) {
    return "built without " + mpi.name + "; docs/collectives.md says how to install it";
  }
  Ended tried = run_script(launch_of(mpi, 2) + "true", {});
  for (int again = 0; tried.code != 0 && again < 2;
       ++again) {  // launchers that start at the same time may fail
    tried = run_script(launch_of(mpi, 2) + "true", {});
  }
  return tried.code == 0 ? "" : mpi.launcher + " starts nothing here: " + tried.err;
}

}  // namespace bench::testing
