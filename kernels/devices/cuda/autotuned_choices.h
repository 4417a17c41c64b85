// The choices of autotuning on disk, so that a later process times no candidates for the same work.
//
//   {"format": 1, "choices": [["NVIDIA H200, …", "cudnn forward fp16 …", "eng41_…"], …]}
//
// A choice is the name of one of the library's candidates. It holds for one machine: the card, the driver and
// the libraries' versions. The oldest choices make room for new ones.
//
// The file is read when the object is made, and read again and replaced whole with each new choice; of two
// processes that do so at the same moment, one loses its choice. A file that is missing, damaged or of
// another format counts as empty, and one that cannot be written is left as it is: neither is an error. This
// process remembers its choices either way.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace bench::kernels::cuda {

class AutotunedChoices {
 public:
  static constexpr int kFormat = 1;  // counts up when a choice's meaning changes
  static constexpr std::size_t kMostChoices = 4096;

  // Without a file: this process's choices alone.
  AutotunedChoices() = default;
  AutotunedChoices(std::filesystem::path file, std::string machine);

  // The candidate that was chosen for the work; nullopt where none was, or where no candidate has its name.
  // `work` names the library and all that describes the work.
  std::optional<std::size_t> find(const std::string& work, std::size_t candidates,
                                  const std::function<std::string(std::size_t)>& name) const;
  void add(const std::string& work, const std::string& choice);
  // A choice that cannot be run any more.
  void forget(const std::string& work);

 private:
  // In the file: `choice` in the place of what was chosen for the work, nullopt for nothing.
  void replace(const std::string& work, const std::optional<std::string>& choice) const;

  std::filesystem::path file_;
  std::string machine_;
  std::map<std::string, std::string> choices_;  // of this machine, by work
};

}  // namespace bench::kernels::cuda
