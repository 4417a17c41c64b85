// A sweep's result on disk: complete at every moment, never lost, written by one process at a time.
#pragma once

#include <filesystem>
#include <string>

#include "bench/measure/result.h"

namespace bench {

// "batch-resnet50-cuda-0.json": characters other than letters, digits, '_', '.' and '-' become '-'.
std::string result_file_name(const std::string& sweep, const std::string& workload,
                             const std::string& device);

class ResultFile {
 public:
  enum class Previous {
    keep_aside,  // at the first write, an older file moves to `<name>.<its date>.json`
    continue_it  // --resume: it is replaced by what it grew into
  };

  // Makes the folder, locks the file's name against other processes and tries a write, so that a folder that
  // cannot take the result is known before anything is measured. Changes no result.
  // Throws UsageError naming --out, the path and the reason.
  ResultFile(const std::filesystem::path& folder, const std::string& name, Previous previous);
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  ~ResultFile();

  const std::filesystem::path& path() const { return path_; }
  bool exists() const;

  // Replaces the file, or leaves it as it was and throws UsageError. A kill at any moment leaves the old or
  // the new file, whole.
  void write(const ResultDocument& document);

 private:
  void lock();
  void put_aside();

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::filesystem::path lock_path_;
  int lock_ = -1;
  bool aside_pending_;
};

// Throws UsageError, one sentence that names the file and what is wrong: missing, truncated, not JSON, of
// another schema version, a field of the wrong type.
ResultDocument read_result(const std::filesystem::path& path);

// Whether the points of `old` may stand beside points measured now: same sweep, workload, mode, options and
// seed, same device and host, same software. Throws UsageError naming the first difference and both values.
void check_resumable(const ResultDocument& old, const ResultDocument& fresh);

}  // namespace bench
