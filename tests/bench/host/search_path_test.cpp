#include "bench/host/search_path.h"

#include <gtest/gtest.h>

namespace bench {
namespace {

TEST(AbsoluteFolders, LeavesOutTheCurrentFolderHoweverItIsWritten) {
  EXPECT_EQ(absolute_folders("/opt/lib:/usr/lib"), "/opt/lib:/usr/lib");
  EXPECT_EQ(absolute_folders(":/opt/lib::.:lib:./lib:/usr/lib:"), "/opt/lib:/usr/lib");
  EXPECT_EQ(absolute_folders("."), "");
  EXPECT_EQ(absolute_folders(""), "");
  EXPECT_EQ(absolute_folders(";/opt/lib;.;:/usr/lib;", ":;"), "/opt/lib:/usr/lib");
}

}  // namespace
}  // namespace bench
