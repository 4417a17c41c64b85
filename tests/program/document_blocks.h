// The code that a document shows, run by the Python that PyTorch's packages belong to.
#pragma once

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/bench/support/temporary_folder.h"
#include "tests/program/process.h"

namespace bench::testing {

inline constexpr const char* kPython = "/usr/bin/python3";  // Debian's, which its packages belong to
inline constexpr int kNoTorch = 77;

// The blocks of that language in a document.
inline std::vector<std::string> blocks_in(const std::filesystem::path& document,
                                          const std::string& language) {
  std::vector<std::string> blocks;
  std::istringstream lines(read_file(document));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```" + language) {
      blocks.emplace_back();
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back() += line + "\n";
    }
  }
  return blocks;
}

// Ends with kNoTorch where PyTorch is not installed.
inline Ended run_with_torch(const std::string& code) {
  const std::string asking =
      "import os\ntry:\n  import torch, torchvision\nexcept ImportError:\n  os._exit(77)\n";
  return std::filesystem::exists(kPython) ? Process({"-c", asking + code}, std::nullopt, kPython).wait()
                                          : Ended{.code = kNoTorch, .out = {}, .err = {}};
}

inline constexpr const char* kInstallTorch =
    "PyTorch is not installed; apt install $(grep -v '#' tools/packages-peers.txt) installs it";

}  // namespace bench::testing
