// A sweep's result on disk: complete at every moment, never lost, written by one process at a time.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "bench/host/file_descriptor.h"
#include "bench/result/result.h"
#include "bench/result/result_json.h"

namespace bench {

class ResultFile {
 public:
  // `<folder>/<sweep>-<workload>-<device>.json`; characters other than letters, digits, '_', '.' and '-'
  // become '-' ("cuda:0" is "cuda-0"). Touches nothing yet. An empty folder: path() is empty, and nothing is
  // ever written.
  ResultFile(const std::filesystem::path& folder, const std::string& sweep, const std::string& workload,
             const std::string& device);
  ResultFile(const ResultFile&) = delete;
  ResultFile& operator=(const ResultFile&) = delete;
  ~ResultFile();

  const std::filesystem::path& path() const { return path_; }

  // Makes the folder, locks the file's name against other processes until this object ends, tries a write,
  // and looks whether an older file can be replaced, so that a folder that cannot take the result is known
  // before anything is measured. Removes what killed processes left, but no result. Throws UsageError naming
  // --out, the path and the reason.
  void check_writable();

  // --resume: the file at path() grows into the new result. Without this call the first write() keeps it
  // as `<name>.<its own date>.json`.
  void continue_previous() { keep_previous_ = false; }

  // Replaces the file, or leaves it as it was and throws UsageError. A kill at any moment leaves the old or
  // the new file, whole.
  void write(const ResultDocument& document);
  void write(const std::string& text);  // another document
  // Whether this object has replaced the file, or has been given a document that no file takes.
  bool written() const { return written_; }
  // Where the older result went that the first write() found; empty: there was none.
  const std::filesystem::path& earlier() const { return earlier_; }

 private:
  void lock();
  void require_replaceable() const;
  void put_aside();

  std::filesystem::path path_;
  std::filesystem::path lock_path_;
  std::filesystem::path earlier_;
  FileDescriptor lock_{-1};
  ResultText text_;
  bool keep_previous_ = true;
  bool written_ = false;
};

// Behind the path of a file that was there before and is made again from the same files.
inline constexpr const char* kReplaced = "(the older one is replaced)";

// Throws UsageError, one sentence that names the file and what is wrong: missing, too large, truncated, not
// JSON, a key twice in one object, another schema version, a field of the wrong type or out of its range, a
// name given twice.
ResultDocument read_result(const std::filesystem::path& path);

// Of any that this program reads: a result of 100 points with 10,000 samples each has 10 MB. What is larger
// would take all of the memory.
inline constexpr std::size_t kMostJsonBytes = std::size_t{64} << 20U;

// Its two halves: the file as JSON, whatever it says; and the result that it holds. Both throw as
// read_result().
Json read_json(const std::filesystem::path& path);
ResultDocument document_of(const Json& json, const std::filesystem::path& path);

}  // namespace bench
