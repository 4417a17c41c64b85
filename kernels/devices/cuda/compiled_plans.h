// Plans that a library compiled at run time, on disk, so that a later process does not compile them again.
//
// A file holds one plan: a line that says what it is of, and the plan as the library wrote it. It is read
// only for the same machine (card, driver and libraries), work and plan, and only if its fingerprint holds. A
// file that is missing, damaged or of another format counts as none, and one that cannot be written (full
// disk, read-only folder) is left out: neither is an error. A write that fails leaves the earlier file.
//
// Taking a plan sets its file aside, and whoever took it puts it back once it has run. So a plan that ends
// the process, when it is loaded or when it first runs, is compiled by the next ones, for a day; so do
// processes that want it while another has it. No process waits for another: files are renamed as a whole, so
// that one of those that take a plan at once has it, and of those that put it the last one's stays. A plan
// that cannot be set aside is not taken. A file is read only if it is this user's and nobody else can write
// it: it holds code for the card. The plans that were not used for longest make room for new ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <set>
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

  std::optional<std::string> take(const std::string& work, const std::string& plan);
  // Of a plan that was taken: it has run; it cannot be used. The first is false for one that was not taken.
  bool put_back(const std::string& work, const std::string& plan);
  void drop(const std::string& work, const std::string& plan);
  // Of one that was compiled; left out while another process tries the file's.
  void put(const std::string& work, const std::string& plan, std::string_view text) const;

 private:
  std::filesystem::path file_of(const std::string& work, const std::string& plan) const;
  std::string heading(const std::string& work, const std::string& plan, std::string_view text) const;
  bool is_tried(const std::filesystem::path& file) const;
  void make_room(std::uintmax_t bytes) const;

  std::filesystem::path folder_;
  std::string machine_;
  std::set<std::filesystem::path> taken_;  // that are to be put back
};

}  // namespace bench::kernels::cuda
