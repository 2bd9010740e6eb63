// Puts objects into a file system that lies in an image file, and copies the image after each ack:
// the copy is what a power cut at that moment leaves (less the device's own cache).
// power_cut_test.sh judges the copies.
//   store_power_cut <root of the mounted file system> <image file> <folder for copies>
// Prints for each copy: <copy> <object> <size> for every object acked so far.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "omnigraph/store/local_store.h"

namespace omnigraph::store {
namespace {

std::string Content(size_t size) {
  std::string text(size, '\0');
  for (size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>('a' + (i / 512 + size) % 26);
  }
  return text;
}

struct Acked {
  std::string path;
  size_t size = 0;
};

void Copy(const std::string& image, const std::string& folder, const std::vector<Acked>& acked) {
  static int copies = 0;
  const std::string copy = folder + "/" + std::to_string(copies++);
  const std::string command = "cp --sparse=always '" + image + "' '" + copy + "'";
  OG_CHECK(std::system(command.c_str()) == 0);
  for (const Acked& one : acked) {
    std::printf("%s %s %zu\n", copy.c_str(), one.path.c_str(), one.size);
  }
}

int Main(const std::string& root, const std::string& image, const std::string& folder) {
  // Some more folders than the store keeps open, so that folders are anchored more than once.
  LocalStoreOptions options;
  options.folders_max = 3;
  const auto store = LocalStore::Open(root + "/graph/root", options).ValueOrDie();
  std::vector<Acked> acked;
  const size_t sizes[] = {0, 1, 5'000, 70'000, 1'500'000};
  for (int round = 0; round < 2; ++round) {
    for (size_t i = 0; i < 5; ++i) {
      const PutStrength strength =
          (i + static_cast<size_t>(round)) % 2 == 0 ? PutStrength::kOrdered : PutStrength::kStrict;
      const std::string path =
          "t" + std::to_string(i % 4) + "/log/" + std::to_string(round * 10) + std::to_string(i);
      OG_CHECK_OK(store->PutIfAbsent(path, BytesOf(Content(sizes[i])), strength));
      acked.push_back({path, sizes[i]});
      Copy(image, folder, acked);
    }
    // The newest hint of two; an older one must not come back.
    OG_CHECK_OK(store->Put("t0/hint", BytesOf(Content(10 + static_cast<size_t>(round)))));
    std::vector<Acked> with_hint = acked;
    with_hint.push_back({"t0/hint", 10 + static_cast<size_t>(round)});
    Copy(image, folder, with_hint);
  }
  return 0;
}

}  // namespace
}  // namespace omnigraph::store

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: store_power_cut ROOT IMAGE COPIES\n");
    return 2;
  }
  return omnigraph::store::Main(argv[1], argv[2], argv[3]);
}
