// The files of the checkout that the program reads: the pictures' scripts, the data of GPUs, the model's
// page. cmake/EmbedFiles.cmake compiles their text into the program, so that the program runs from anywhere
// and takes a script from nobody.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct EmbeddedFile {
  std::string_view path;  // within the checkout: "results/gpus.json"
  std::string_view text;
};

std::span<const EmbeddedFile> embedded_files();

// Throws std::logic_error where no such file was compiled in.
std::string_view embedded_text(std::string_view path);

// Of the JSON Schemas in results/: "result" for schema.json, "compare" for compare-schema.json.
std::vector<std::string> schema_names();
std::string_view schema_text(std::string_view name);

}  // namespace bench
