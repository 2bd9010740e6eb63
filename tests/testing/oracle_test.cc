// The oracle must find each break of a guarantee, and accept everything that the guarantees allow.
#include "omnigraph/testing/oracle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace omnigraph::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Oracle::Ticket Acked(Oracle* oracle, const std::string& key, std::optional<std::string> value) {
  const Oracle::Ticket ticket = oracle->Intend(key, std::move(value));
  oracle->Settle(ticket, Outcome::kAcked);
  return ticket;
}

TEST(Oracle, WhenEveryRowHasItsEnd_CountsAddUp) {
  Oracle oracle;
  Acked(&oracle, "a", "1");
  Acked(&oracle, "a", "2");
  Acked(&oracle, "b", "1");
  Acked(&oracle, "c", "1");
  oracle.Settle(oracle.Intend("d", "1"), Outcome::kRefused);
  oracle.Settle(oracle.Intend("e", "1"), Outcome::kUnknown);
  const Verdict verdict =
      oracle.Judge({.visible = {{"a", "2"}}, .rejected = {{"b", "1"}}, .pending = {{"c", "1"}}});
  EXPECT_TRUE(verdict.ok()) << verdict.ToString();
  EXPECT_EQ(verdict.counts.acked, 4u);
  EXPECT_EQ(verdict.counts.visible, 1u);
  EXPECT_EQ(verdict.counts.superseded, 1u);
  EXPECT_EQ(verdict.counts.rejected, 1u);
  EXPECT_EQ(verdict.counts.pending, 1u);
  EXPECT_EQ(verdict.counts.refused, 1u);
  EXPECT_EQ(verdict.counts.unknown, 1u);
}

// G1
TEST(Oracle, WhenAnAckedRowIsNowhere_SaysSo) {
  Oracle oracle;
  Acked(&oracle, "a", "1");
  EXPECT_THAT(oracle.Judge({}).problems, ElementsAre(HasSubstr("G1: 'a' is nowhere")));
}

// G1, G4
TEST(Oracle, WhenAnOlderValueIsVisible_SaysSo) {
  Oracle oracle;
  Acked(&oracle, "a", "1");
  Acked(&oracle, "a", "2");
  EXPECT_THAT(oracle.Judge({.visible = {{"a", "1"}}}).problems,
              ElementsAre(HasSubstr("G1, G4: 'a' = '1' is visible")));
  EXPECT_TRUE(oracle.Judge({.visible = {{"a", "1"}}, .pending = {{"a", "2"}}}).ok());
  EXPECT_TRUE(oracle.Judge({.visible = {{"a", "1"}}, .rejected = {{"a", "2"}}}).ok());
}

// G4: the fold takes rows in log order.
TEST(Oracle, WhenAnEarlierWriteIsPendingBehindAVisibleOne_SaysSo) {
  Oracle oracle;
  Acked(&oracle, "a", "1");
  Acked(&oracle, "a", "2");
  EXPECT_THAT(oracle.Judge({.visible = {{"a", "2"}}, .pending = {{"a", "1"}}}).problems,
              ElementsAre(HasSubstr("a write before it is pending")));
}

// G4: writes that overlap in time may come in either order.
TEST(Oracle, WhenWritesOverlap_AcceptsEither) {
  Oracle oracle;
  const Oracle::Ticket first = oracle.Intend("a", "1");
  const Oracle::Ticket second = oracle.Intend("a", "2");
  oracle.Settle(first, Outcome::kAcked);
  oracle.Settle(second, Outcome::kAcked);
  EXPECT_TRUE(oracle.Judge({.visible = {{"a", "1"}}}).ok());
  EXPECT_TRUE(oracle.Judge({.visible = {{"a", "2"}}}).ok());
}

// G3
TEST(Oracle, WhenTheOutcomeIsUnknown_AcceptsBoth) {
  Oracle oracle;
  Acked(&oracle, "a", "1");
  oracle.Intend("a", "2");
  oracle.SettleOpenAsUnknown();
  EXPECT_TRUE(oracle.Judge({.visible = {{"a", "1"}}}).ok());
  EXPECT_TRUE(oracle.Judge({.visible = {{"a", "2"}}}).ok());
  Acked(&oracle, "a", "3");
  EXPECT_FALSE(oracle.Judge({.visible = {{"a", "2"}}}).ok()) << "settled before 3 was sent";
  EXPECT_TRUE(oracle.Judge({.visible = {{"a", "3"}}}).ok());
}

// G3
TEST(Oracle, WhenARefusedOrUnsentRowIsSeen_SaysSo) {
  Oracle oracle;
  oracle.Settle(oracle.Intend("a", "1"), Outcome::kRefused);
  EXPECT_THAT(oracle.Judge({.visible = {{"a", "1"}}}).problems,
              ElementsAre(HasSubstr("was refused")));
  EXPECT_THAT(oracle.Judge({.rejected = {{"b", "1"}}}).problems,
              ElementsAre(HasSubstr("was never sent")));
  EXPECT_TRUE(oracle.Judge({}).ok());
}

// G2, G6
TEST(Oracle, WhenARowIsInTwoPlaces_SaysSo) {
  Oracle oracle;
  Acked(&oracle, "a", "1");
  const std::vector<OracleRow> row = {{"a", "1"}};
  EXPECT_FALSE(oracle.Judge({.visible = {{"a", "1"}}, .rejected = row}).ok());
  EXPECT_FALSE(oracle.Judge({.visible = {{"a", "1"}}, .pending = row}).ok());
  EXPECT_FALSE(oracle.Judge({.rejected = row, .pending = row}).ok());
  EXPECT_FALSE(oracle.Judge({.rejected = {{"a", "1"}, {"a", "1"}}}).ok());
}

TEST(Oracle, Deletes_LeaveTheKeyAbsent) {
  Oracle oracle;
  Acked(&oracle, "a", "1");
  Acked(&oracle, "a", std::nullopt);
  EXPECT_TRUE(oracle.Judge({}).ok());
  EXPECT_FALSE(oracle.Judge({.visible = {{"a", "1"}}}).ok());
  EXPECT_FALSE(oracle.Judge({.pending = {{"a", std::nullopt}}}).ok()) << "where is 1?";
  EXPECT_TRUE(oracle.Judge({.visible = {{"a", "1"}}, .pending = {{"a", std::nullopt}}}).ok());
  Acked(&oracle, "a", "2");
  EXPECT_FALSE(oracle.Judge({}).ok());
  EXPECT_TRUE(oracle.Judge({.visible = {{"a", "2"}}}).ok());
}

// F4: an edge may go with its endpoint; one that was put again before the edge was sent excuses
// nothing.
TEST(Oracle, WhenAnEndpointMayHaveBeenDeleted_TheEdgeMayBeGone) {
  Oracle oracle;
  Acked(&oracle, "n", "1");
  const Oracle::Ticket edge = oracle.Intend("e", "2", {"n"});
  oracle.Settle(edge, Outcome::kAcked);
  EXPECT_THAT(oracle.Judge({.visible = {{"n", "1"}}}).problems,
              ElementsAre(HasSubstr("G1: 'e' is nowhere")));
  Acked(&oracle, "n", std::nullopt);
  EXPECT_TRUE(oracle.Judge({}).ok());
  Acked(&oracle, "n", "3");
  EXPECT_TRUE(oracle.Judge({.visible = {{"n", "3"}}}).ok());
  // A row that goes has superseded those before it.
  Oracle moved;
  moved.Settle(moved.Intend("e", "1", {"stays"}), Outcome::kAcked);
  moved.Settle(moved.Intend("e", "2", {"goes"}), Outcome::kAcked);
  Acked(&moved, "goes", std::nullopt);
  EXPECT_TRUE(moved.Judge({}).ok());
  EXPECT_TRUE(moved.Judge({.visible = {{"e", "1"}}}).ok());
  oracle.Settle(oracle.Intend("e", "4", {"n"}), Outcome::kAcked);
  EXPECT_THAT(oracle.Judge({.visible = {{"n", "3"}}}).problems,
              ElementsAre(HasSubstr("G1: 'e' is nowhere")));
}

// F1
TEST(Oracle, WhenAnEdgeIsRejectedThoughItsEndpointStood_SaysSo) {
  Oracle oracle;
  Acked(&oracle, "n", "1");
  oracle.Settle(oracle.Intend("e", "2", {"n"}), Outcome::kAcked);
  oracle.Settle(oracle.Intend("e", "3", {"n", "other"}), Outcome::kAcked);
  const OracleRow stood{"e", "2"};
  const OracleRow lacked{"e", "3"};
  const Verdict verdict = oracle.Judge(
      {.visible = {{"n", "1"}}, .rejected = {stood, lacked}, .without_endpoint = {stood, lacked}});
  EXPECT_THAT(verdict.problems, ElementsAre(HasSubstr("G8: 'e' = '2'")));
}

}  // namespace
}  // namespace omnigraph::testing
