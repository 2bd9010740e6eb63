// The local store on the machine's own file system, and what only it promises.
#include "omnigraph/store/local_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "local_errno.h"
#include "local_file_system.h"
#include "omnigraph/runtime/thread.h"
#include "omnigraph/store/local_disk.h"
#include "omnigraph/store/simulated_disk.h"
#include "omnigraph/testing/status_matchers.h"
#include "omnigraph/testing/temp_folder.h"

namespace omnigraph::store {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Status PutNew(ObjectStore& store, std::string_view path, std::string text,
              PutStrength strength = PutStrength::kOrdered) {
  return store.PutIfAbsent(path, BytesOf(std::move(text)), strength);
}

std::vector<std::string> Names(ObjectStore& store) {
  std::vector<std::string> names;
  for (const ObjectInfo& info : ListAll(store, "").ValueOrDie()) {
    names.push_back(info.path);
  }
  return names;
}

std::string ReadAll(ObjectStore& store, std::string_view path) {
  const auto bytes = store.Get(path);
  return bytes.ok() ? (*bytes)->ToString() : bytes.status().ToString();
}

TEST(LocalStore, Root_IsMadeByTheFirstPutOnly) {
  const testing::TempFolder folder;
  const std::string root = folder.path() + "/not/yet";
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(root));
  OG_EXPECT_ERROR(store->Get("x"), ErrorKind::kNotFound, "store.not_found");
  EXPECT_THAT(Names(*store), IsEmpty());
  OG_ASSERT_OK(store->Delete("x"));
  EXPECT_FALSE(std::filesystem::exists(root));
  OG_ASSERT_OK(PutNew(*store, "a/x", "1"));
  EXPECT_TRUE(std::filesystem::exists(root + "/a/x"));
}

TEST(LocalStore, RootThatIsAFile_IsRefused) {
  const testing::TempFolder folder;
  std::ofstream(folder.path() + "/file") << "x";
  OG_EXPECT_ERROR(LocalStore::Open(folder.path() + "/file"), ErrorKind::kInvalid,
                  "store.not_a_folder");
  OG_EXPECT_ERROR(LocalStore::Open(folder.path() + "/file/below"), ErrorKind::kInvalid,
                  "store.not_a_folder");
}

TEST(LocalStore, RelativeRoot_StaysWhereItWas) {
  const testing::TempFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open("./r/"));
  std::filesystem::current_path(before);
  OG_ASSERT_OK(PutNew(*store, "x", "1"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/r/x"));
}

TEST(LocalStore, HiddenTemporaries_AreNoObjects) {
  const testing::TempFolder folder;
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(folder.path()));
  OG_ASSERT_OK(PutNew(*store, "f/x", "1"));
  std::ofstream(folder.path() + "/f/.og-put-0123456789abcdef.part") << "half";
  EXPECT_THAT(Names(*store), ElementsAre("f/x"));
}

TEST(LocalStore, Puts_LeaveNothingElseBehind) {
  const testing::TempFolder folder;
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(folder.path()));
  for (int i = 0; i < 20; ++i) {
    OG_ASSERT_OK(store->Put("f/hint", BytesOf(std::to_string(i))));
    EXPECT_TRUE(IsAlreadyExists(PutNew(*store, "f/hint", "x")));
  }
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path() + "/f")) {
    files.push_back(entry.path().filename());
  }
  EXPECT_THAT(files, ElementsAre("hint"));
  EXPECT_EQ(ReadAll(*store, "f/hint"), "19");
}

TEST(LocalStore, FolderRemovedUnderIt_IsMadeAnew) {
  const testing::TempFolder folder;
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(folder.path() + "/root"));
  for (int i = 0; i < 4; ++i) {
    OG_ASSERT_OK(PutNew(*store, "a/b/" + std::to_string(i), "1"));
  }
  std::filesystem::remove_all(folder.path() + "/root/a");
  OG_ASSERT_OK(PutNew(*store, "a/b/x", "2"));
  EXPECT_EQ(ReadAll(*store, "a/b/x"), "2");
  std::filesystem::remove_all(folder.path() + "/root");
  OG_ASSERT_OK(store->Put("a/b/x", BytesOf("3")));
  EXPECT_EQ(ReadAll(*store, "a/b/x"), "3");
}

TEST(LocalStore, KeptReaders_FollowTheName) {
  const testing::TempFolder folder;
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(folder.path()));
  OG_ASSERT_OK(PutNew(*store, "x", "old"));
  const ByteRange range{0, 3};
  OG_ASSERT_OK_AND_ASSIGN(auto read, store->GetRanges("x", std::span(&range, 1)));
  EXPECT_EQ(read[0]->ToString(), "old");
  // Another process replaces, then deletes.
  std::ofstream(folder.path() + "/other") << "new";
  std::filesystem::rename(folder.path() + "/other", folder.path() + "/x");
  OG_ASSERT_OK_AND_ASSIGN(read, store->GetRanges("x", std::span(&range, 1)));
  EXPECT_EQ(read[0]->ToString(), "new");
  std::filesystem::remove(folder.path() + "/x");
  OG_EXPECT_ERROR(store->GetRanges("x", std::span(&range, 1)), ErrorKind::kNotFound,
                  "store.not_found");
}

TEST(LocalStore, ManyObjects_ReadInRangesWithFewDescriptors) {
  const testing::TempFolder folder;
  LocalStoreOptions options;
  options.readers_max = 4;
  options.folders_max = 2;
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(folder.path(), options));
  for (int i = 0; i < 40; ++i) {
    const std::string path = "f" + std::to_string(i % 5) + "/" + std::to_string(i);
    OG_ASSERT_OK(PutNew(*store, path, "object " + std::to_string(i)));
  }
  size_t open_files = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string path = "f" + std::to_string(i % 5) + "/" + std::to_string(i);
    OG_ASSERT_OK_AND_ASSIGN(const ObjectTail tail, store->GetTail(path, 100));
    EXPECT_EQ(tail.bytes->ToString(), "object " + std::to_string(i));
  }
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(entry.path(), error);
    open_files += target.starts_with(folder.path()) ? 1 : 0;
  }
  EXPECT_LE(open_files, options.readers_max + options.folders_max * (1 + options.open_ahead));
}

TEST(LocalStore, ConcurrentPuts_AllStand) {
  const testing::TempFolder folder;
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(folder.path()));
  {
    std::vector<runtime::Thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.push_back(runtime::Thread::Start("putter", [&, t] {
        for (int i = 0; i < 50; ++i) {
          const std::string path = "f" + std::to_string(i % 3) + "/" + std::to_string(t * 100 + i);
          OG_EXPECT_OK(PutNew(*store, path, path));
          EXPECT_EQ(ReadAll(*store, path), path);
        }
      }));
    }
  }
  EXPECT_EQ(Names(*store).size(), 200u);
}

// P1 is paid once: a steady-state ordered put is a writeback and one sync, whatever was put before.
TEST(LocalStore, SteadyStatePut_SyncsOnce) {
  auto disk = std::make_shared<SimulatedDisk>();
  const auto store = LocalStore::Make(disk);
  OG_ASSERT_OK(PutNew(*store, "t/_mem_wal/s/wal/0", "x"));
  for (int i = 1; i < 50; ++i) {
    const uint64_t before = disk->syncs();
    OG_ASSERT_OK(PutNew(*store, "t/_mem_wal/s/wal/" + std::to_string(i), "x"));
    EXPECT_EQ(disk->syncs() - before, 2u);
  }
}

TEST(LocalStore, FullDisk_IsTypedAndLeavesNothing) {
  for (const bool unnamed : {true, false}) {
    auto disk = std::make_shared<SimulatedDisk>(
        SimulatedDiskOptions{.unnamed_files = unnamed, .capacity_bytes = 10'000});
    const auto store = LocalStore::Make(disk);
    OG_ASSERT_OK(PutNew(*store, "a", std::string(6'000, 'a')));
    const Status status = PutNew(*store, "b", std::string(6'000, 'b'));
    OG_EXPECT_ERROR(status, ErrorKind::kExhausted, "store.full");
    EXPECT_FALSE(GetErrorDetail(status)->effect_unknown());
    OG_EXPECT_ERROR(store->Put("a", BytesOf(std::string(6'000, 'b'))), ErrorKind::kExhausted,
                    "store.full");
    EXPECT_EQ(disk->Image().size(), 1u);
    OG_ASSERT_OK(store->Delete("a"));
    OG_ASSERT_OK(PutNew(*store, "b", std::string(6'000, 'b')));
  }
}

// Run by full_disk_test.sh inside a mount namespace with a tiny file system.
TEST(FullDisk, IsTypedAndLeavesNothing) {
  const char* folder = std::getenv("OMNIGRAPH_TEST_TINY_DISK");
  if (folder == nullptr) {
    GTEST_SKIP() << "needs a tiny disk: run by full_disk_test.sh";
  }
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(std::string(folder) + "/root"));
  OG_ASSERT_OK(PutNew(*store, "f/kept", "kept"));
  for (const PutStrength strength : {PutStrength::kStrict, PutStrength::kOrdered}) {
    const Status status = PutNew(*store, "f/big", std::string(16 << 20, 'x'), strength);
    OG_EXPECT_ERROR(status, ErrorKind::kExhausted, "store.full");
    EXPECT_FALSE(GetErrorDetail(status)->effect_unknown());
  }
  OG_EXPECT_ERROR(store->Put("f/kept", BytesOf(std::string(16 << 20, 'x'))), ErrorKind::kExhausted,
                  "store.full");
  EXPECT_THAT(Names(*store), ElementsAre("f/kept"));
  EXPECT_EQ(ReadAll(*store, "f/kept"), "kept");
  OG_ASSERT_OK(PutNew(*store, "f/small", "fits again"));
}

/// Acts as another user for the length of a scope.
class AsNobody {
 public:
  AsNobody() : ok_(setegid(65'534) == 0 && seteuid(65'534) == 0) {}
  ~AsNobody() {
    EXPECT_EQ(seteuid(0), 0);
    EXPECT_EQ(setegid(0), 0);
  }
  bool ok() const { return ok_; }

 private:
  const bool ok_;
};

TEST(LocalStore, WithoutPermission_IsTypedAndLeavesNothing) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can act as another user";
  }
  const testing::TempFolder folder;
  ASSERT_EQ(chmod(folder.path().c_str(), 0755), 0);
  const std::string root = folder.path() + "/root";
  {
    OG_ASSERT_OK_AND_ASSIGN(const auto owner, LocalStore::Open(root));
    OG_ASSERT_OK(PutNew(*owner, "f/x", "1"));
    ASSERT_EQ(mkdir((folder.path() + "/secret").c_str(), 0700), 0);
  }
  {
    const AsNobody nobody;
    ASSERT_TRUE(nobody.ok());
    OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(root));
    EXPECT_EQ(ReadAll(*store, "f/x"), "1");
    const auto denied = [](const Status& status) {
      OG_EXPECT_ERROR(status, ErrorKind::kInvalid, "store.permission_denied");
    };
    denied(PutNew(*store, "f/y", "2"));
    denied(PutNew(*store, "new/y", "2"));
    denied(store->Put("f/x", BytesOf("2")));
    denied(store->Delete("f/x"));
    denied(ProbeStore(*store));
    denied(LocalStore::Open(folder.path() + "/secret").status());
    denied(LocalStore::Open(folder.path() + "/secret/below").status());
    OG_ASSERT_OK_AND_ASSIGN(const auto absent, LocalStore::Open(folder.path() + "/absent"));
    denied(PutNew(*absent, "x", "1"));
  }
  OG_ASSERT_OK_AND_ASSIGN(const auto owner, LocalStore::Open(root));
  EXPECT_THAT(Names(*owner), ElementsAre("f/x"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/absent"));
}

TEST(FileSystem, TypeIsFoundByDevice) {
  const std::string mountinfo =
      "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
      "27 1 254:0 / / rw,relatime shared:1 master:2 - ext4 /dev/vda rw\n"
      "30 27 8:1 / /old rw - ext2 /dev/sda1 rw\n";
  EXPECT_EQ(internal::MountTypeOf(mountinfo, 254, 0), "ext4");
  EXPECT_EQ(internal::MountTypeOf(mountinfo, 8, 1), "ext2");
  EXPECT_EQ(internal::MountTypeOf(mountinfo, 8, 2), "");
  EXPECT_EQ(internal::MountTypeOf("", 8, 2), "");
}

TEST(FileSystem, UnknownKindGetsEverySync) {
  const int descriptor = open("/proc/self", O_RDONLY | O_DIRECTORY);
  ASSERT_GE(descriptor, 0);
  EXPECT_EQ(DetectFileSystem(descriptor), FileSystemKind::kOther);
  close(descriptor);
  OG_ASSERT_OK_AND_ASSIGN(const auto disk, OpenLocalDisk("/proc/self"));
  EXPECT_EQ(disk->PlanOf(PutStrength::kOrdered).name, "strict_both");
  EXPECT_EQ(disk->PlanOf(PutStrength::kStrict).name, "strict_both");
  EXPECT_FALSE(disk->OrdersUnlinks());
}

TEST(Errno, MapsToKindsACallerActsOn) {
  OG_EXPECT_ERROR(ErrnoStatus(ENOSPC, "write", "x"), ErrorKind::kExhausted, "store.full");
  OG_EXPECT_ERROR(ErrnoStatus(EDQUOT, "write", "x"), ErrorKind::kExhausted, "store.full");
  OG_EXPECT_ERROR(ErrnoStatus(EMFILE, "open", "x"), ErrorKind::kExhausted, "store.too_many_files");
  OG_EXPECT_ERROR(ErrnoStatus(EROFS, "make", "x"), ErrorKind::kInvalid, "store.permission_denied");
  OG_EXPECT_ERROR(ErrnoStatus(EIO, "read", "x"), ErrorKind::kUnavailable, "store.io");
  EXPECT_EQ(GetErrorDetail(ErrnoStatus(EIO, "read", "x"))->place().object, "x");
}

// A root below a link works like any other; what is above it is synced by its real path (P1).
TEST(LocalStoreRoot, BehindALink_IsTheFolderItself) {
  const testing::TempFolder folder;
  std::filesystem::create_directories(folder.path() + "/real/deep");
  std::filesystem::create_directory_symlink("real/deep", folder.path() + "/link");
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(folder.path() + "/link/s"));
  OG_ASSERT_OK(PutNew(*store, "f/x", "x"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/real/deep/s/f/x"));
  EXPECT_EQ(ReadAll(*store, "f/x"), "x");
}

// What a process left that died within a put goes away with a later listing; a put that runs stays.
TEST(LocalStoreHidden, OldLeftoversGo) {
  const testing::TempFolder folder;
  OG_ASSERT_OK_AND_ASSIGN(const auto store, LocalStore::Open(folder.path() + "/s"));
  OG_ASSERT_OK(PutNew(*store, "f/x", "x"));
  const std::filesystem::path old_name = folder.path() + "/s/f/.og-put-old.part";
  const std::filesystem::path new_name = folder.path() + "/s/f/.og-put-new.part";
  std::ofstream(old_name) << "old";
  std::ofstream(new_name) << "new";
  std::filesystem::last_write_time(
      old_name, std::filesystem::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_THAT(Names(*store), ElementsAre("f/x"));
  EXPECT_FALSE(std::filesystem::exists(old_name));
  EXPECT_TRUE(std::filesystem::exists(new_name));
}

}  // namespace
}  // namespace omnigraph::store
