// What only the real machine can show: /proc, and other processes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "omnigraph/runtime/process.h"
#include "threads/proc_stat.h"

namespace omnigraph::runtime {
namespace {

TEST(ProcStat, Parse_TakesStateAndStartTimeWhateverTheCommandIsCalled) {
  const auto stat = internal::ParseProcStat(
      "42 (a) b (c) S 1 42 42 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 98765 1000 10");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->start_time, 98765);
  EXPECT_FALSE(stat->ended);
  const auto zombie =
      internal::ParseProcStat("42 (x) Z 1 42 42 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 98765 0 0");
  ASSERT_TRUE(zombie.has_value());
  EXPECT_TRUE(zombie->ended);
}

TEST(ProcStat, Parse_WhenCutShort_SaysNothing) {
  const std::string whole = "42 (x) S 1 42 42 0 -1 4194304 100 0 0 0 1 2 0 0 20 0 1 0 98765";
  for (size_t size = 0; size + 5 < whole.size(); ++size) {
    EXPECT_FALSE(internal::ParseProcStat(whole.substr(0, size)).has_value()) << size;
  }
  EXPECT_TRUE(internal::ParseProcStat(whole).has_value());
}

// S9: an owner on the same host that was killed counts as gone at once, also while nobody has
// waited for it.
TEST(Process, IsRunning_WhenAChildWasKilled_IsFalse) {
  std::array<int, 2> pipe_ends;
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    char byte;
    _exit(read(pipe_ends[0], &byte, 1) == 1 ? 0 : 1);
  }
  std::string path = "/proc/" + std::to_string(child) + "/stat";
  FILE* file = std::fopen(path.c_str(), "r");
  ASSERT_NE(file, nullptr);
  std::array<char, 1024> text{};
  ASSERT_GT(std::fread(text.data(), 1, text.size() - 1, file), 0u);
  std::fclose(file);
  ProcessIdentity identity = CurrentProcess();
  identity.pid = child;
  identity.start_time = internal::ParseProcStat(text.data())->start_time;
  EXPECT_TRUE(IsRunning(identity));

  ASSERT_EQ(kill(child, SIGKILL), 0);
  siginfo_t info;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_FALSE(IsRunning(identity)) << "a zombie";
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(IsRunning(identity));
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

}  // namespace
}  // namespace omnigraph::runtime
