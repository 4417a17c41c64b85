// Plans that a library compiled at run time, on disk, so that a later process does not compile them again.
//
// A file holds one plan: a line that says what it is of, and the plan as the library wrote it. It is read
// only for the same machine (card, driver and libraries), work and plan, and only if its fingerprint holds. A
// file that is missing, damaged or of another format counts as none, and one that cannot be written is left
// out: neither is an error.
//
// Taking a plan removes its file, and whoever took it keeps it again once it has run. So a plan that ends the
// process, when it is loaded or when it first runs, is compiled by the next one. The plans that were not used
// for longest make room for new ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "kernels/devices/cuda/card.h"

namespace bench::kernels::cuda {

class CompiledPlans {
 public:
  static constexpr int kFormat = 1;
  static constexpr std::uintmax_t kMostBytes = 2 << 20;   // of a plan, which takes 40 to 200 KB
  static constexpr std::uintmax_t kMostInAll = 64 << 20;  // bytes
  static constexpr std::size_t kMostPlans = 2048;

  // As Card::keep() makes it: nothing is kept until there is a folder.
  explicit CompiledPlans(const Card& /*card*/) {}
  void keep_in(std::filesystem::path folder, std::string machine);
  bool is_kept() const { return !folder_.empty(); }

  std::optional<std::string> take(const std::string& work, const std::string& plan) const;
  void put(const std::string& work, const std::string& plan, std::string_view text) const;

 private:
  std::filesystem::path file_of(const std::string& work, const std::string& plan) const;
  std::string heading(const std::string& work, const std::string& plan, std::string_view text) const;
  void make_room(std::uintmax_t bytes) const;

  std::filesystem::path folder_;
  std::string machine_;
};

}  // namespace bench::kernels::cuda
