// Ranks by MPI: Open MPI or MPICH, by modules that are opened at run time, so that the
// program runs without either.
#include <dlfcn.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "bench/error.h"
#include "bench/host/shared_library.h"
#include "bench/ranks.h"
#include "bench/registry.h"

namespace bench::kernels {
namespace {

// Next to the program in the build folder; of an installed program, in libexec, in lib next to that.
std::filesystem::path module_of(const std::string& name) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  return (folder.filename() == "libexec" ? folder.parent_path() / "lib" : folder) /
         ("bench_ranks_" + name + ".so");
}

// Never closed: MPI's own threads and exit handlers live in it.
std::unique_ptr<RankGroup> join(const std::string& name) {
  const std::string module = module_of(name).string();
  if (const std::string why = why_cut_short(module); !why.empty()) {
    throw UsageError("the MPI module cannot be opened: " + why);
  }
  // Open MPI opens modules of its own, which look for its symbols in the program.
  void* const library = dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    throw UsageError(std::string("the MPI module cannot be opened: ") + dlerror());
  }
  using Join = RankGroup*();
  return std::unique_ptr<RankGroup>(reinterpret_cast<Join*>(dlsym(library, "bench_join_ranks"))());
}

RankEngine mpi_engine(RankEngine engine) {
  engine.missing = [name = engine.name, title = engine.title] {
    std::error_code error;
    return std::filesystem::exists(module_of(name), error)
               ? std::string()
               : module_of(name).filename().string() +
                     " is missing: install this program again, or build it where " + title + " is installed";
  };
  engine.join = [name = engine.name](std::chrono::nanoseconds /*timeout*/) { return join(name); };
  return engine;
}

const Registration<RankEngine> openmpi{mpi_engine({.name = "openmpi",
                                                   .title = "Open MPI",
                                                   .launcher = "mpirun.openmpi",
                                                   .packages = "libopenmpi-dev openmpi-bin",
                                                   .rank_variable = "OMPI_COMM_WORLD_RANK",
                                                   .size_variable = "OMPI_COMM_WORLD_SIZE",
                                                   .manager_variable = "PMIX_RANK",
                                                   .missing = {},
                                                   .join = {}})};
const Registration<RankEngine> mpich{mpi_engine({.name = "mpich",
                                                 .title = "MPICH",
                                                 .launcher = "mpirun.mpich",
                                                 .packages = "libmpich-dev mpich",
                                                 .rank_variable = "PMI_RANK",
                                                 .size_variable = "PMI_SIZE",
                                                 .missing = {},
                                                 .join = {}})};

}  // namespace
}  // namespace bench::kernels
