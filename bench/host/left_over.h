// Whether a file or folder of a process that was killed is still in use.
#pragma once

namespace bench {

// Marks an open file or folder as in use, until its process ends, for is_left_over() in others. False where
// one of those was faster, and removes it.
bool mark_as_used(int file);
// Whether it belongs to this user and no living process marked it; on a file system without locks, whether
// it is unchanged for an hour. If so, this call marks it as used.
bool is_left_over(int file);

// Whether `path` names this very file or folder: another process may have taken it for left over before it
// was marked.
bool still_names(const char* path, int file);

}  // namespace bench
