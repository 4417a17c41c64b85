// Files that belong to the program: the pictures' scripts, the catalogue of devices.
//
// The place of the program's own executable (/proc/self/exe) decides where they lie:
//  - within the build folder that it was built in: in the checkout that the folder was configured for;
//  - in a folder "bin": in "../share/bench";
//  - anywhere else: nowhere.
// So nothing is taken from the build's path once the program is elsewhere, from the folder of the program, or
// from the current folder.
//
// A script is run, so a file is only taken where nobody else can have put it: the file, the files next to it,
// which it may load, the checkout or share folder, and every folder between belong to root, to the user, or
// to the executable's owner, whose program runs already, and none of them can be written by everyone, or by a
// group other than root's and the owner's own. Neither the file nor one next to it may be a link that leads
// out of the checkout or share folder.
#pragma once

#include <filesystem>
#include <string>

namespace bench {

struct ProgramFile {
  std::filesystem::path path;  // empty where there is none that may be taken
  std::string problem;         // why not
};

ProgramFile program_file(const std::filesystem::path& relative);

// The same for an executable at this place, built in `build_folder` of `checkout`.
ProgramFile program_file(const std::filesystem::path& relative, const std::filesystem::path& executable,
                         const std::filesystem::path& build_folder, const std::filesystem::path& checkout);

}  // namespace bench
