/// \file
/// The one suite that every store passes. A store joins by a factory in kStores of
/// store_conformance_test.cc.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "omnigraph/store/object_store.h"

namespace omnigraph::store {

/// A way of making an empty store, and what must be kept alive or cleaned up with it.
struct StoreUnderTest {
  std::shared_ptr<ObjectStore> store;
  std::shared_ptr<void> keeper;
};

struct StoreFactory {
  std::string name;
  std::function<StoreUnderTest()> make;
};

}  // namespace omnigraph::store
