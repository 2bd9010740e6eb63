#include "local_file_system.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <sstream>

namespace omnigraph::store {
namespace {

/// The text of a small file below /proc or /sys; empty when it cannot be read.
std::string ReadSmallFile(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return {};
  }
  std::string text;
  char block[4096];
  ssize_t got = 0;
  while ((got = read(descriptor, block, sizeof(block))) > 0) {
    text.append(block, static_cast<size_t>(got));
  }
  close(descriptor);
  return text;
}

/// The kernel's name of a block device, such as `sda1` or `dm-0`.
std::string BlockDeviceName(uint32_t major_number, uint32_t minor_number) {
  const std::string link =
      "/sys/dev/block/" + std::to_string(major_number) + ":" + std::to_string(minor_number);
  char target[1024];
  const ssize_t size = readlink(link.c_str(), target, sizeof(target));
  if (size <= 0) {
    return {};
  }
  const std::string path(target, static_cast<size_t>(size));
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

namespace internal {

std::string MountTypeOf(const std::string& mountinfo, uint32_t major_number,
                        uint32_t minor_number) {
  const std::string wanted = std::to_string(major_number) + ":" + std::to_string(minor_number);
  std::istringstream lines(mountinfo);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string id;
    std::string parent;
    std::string device;
    fields >> id >> parent >> device;
    if (device != wanted) {
      continue;
    }
    // Optional fields end with a lone '-'; the type follows.
    std::string field;
    while (fields >> field && field != "-") {
    }
    std::string type;
    fields >> type;
    return type;
  }
  return {};
}

}  // namespace internal

FileSystemKind DetectFileSystem(int descriptor) {
  struct statfs system{};
  struct stat folder{};
  if (fstatfs(descriptor, &system) != 0 || fstat(descriptor, &folder) != 0 ||
      system.f_type != EXT4_SUPER_MAGIC) {
    return FileSystemKind::kOther;
  }
  // ext2 has the same magic number, and its own driver has no journal and other rules.
  const uint32_t major_number = major(folder.st_dev);
  const uint32_t minor_number = minor(folder.st_dev);
  const std::string type =
      internal::MountTypeOf(ReadSmallFile("/proc/self/mountinfo"), major_number, minor_number);
  if (type != "ext4" && type != "ext3") {
    return FileSystemKind::kOther;
  }
  const std::string name = BlockDeviceName(major_number, minor_number);
  const std::string task = ReadSmallFile("/sys/fs/ext4/" + name + "/journal_task");
  const bool journal = !name.empty() && !task.empty() && task[0] >= '1' && task[0] <= '9';
  return journal ? FileSystemKind::kExt4Journal : FileSystemKind::kExt4NoJournal;
}

}  // namespace omnigraph::store
