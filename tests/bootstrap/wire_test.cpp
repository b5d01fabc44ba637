// The wire format of the PEs' values.
#include "bootstrap/store/wire.hpp"

#include "atoll/error.hpp"

#include <gtest/gtest.h>

namespace atl::bootstrap {
namespace {

using Values = std::vector<std::string>;

TEST(Wire, ValuesComeBack) {
    const Values cases[] = {{},
                            {""},
                            {"a"},
                            {"", "", "x"},
                            {"a", "a", "b", "a", "b", "b"},
                            {std::string("\0\0\0\0\1\0\0\0", 8), "", std::string(70'000, 'z')}};
    for (const Values& values : cases) {
        const std::string packed = pack(values);
        EXPECT_EQ(unpack(packed, static_cast<int>(values.size())), values);
        EXPECT_THROW(unpack(packed, static_cast<int>(values.size()) + 1), Error);
    }
}

TEST(Wire, ValuesEqualOnAHostAreSentOncePerHost) {
    const std::string first(300, 'a'), second(300, 'b');
    Values blocks(1000, first), in_turn;
    blocks.insert(blocks.end(), 1000, second);
    for (int i = 0; i < 1000; ++i) in_turn.insert(in_turn.end(), {first, second});
    EXPECT_LT(pack(blocks).size(), 700U);
    EXPECT_LT(pack(in_turn).size(), 2000 * 8 + 700U);
    EXPECT_EQ(unpack(pack(in_turn), 2000), in_turn);
}

TEST(Wire, StatesOfPesAreUnpackedUnchanged) {
    common::PeDoing waits = common::of_state(common::PeState::running, "barrier of team 2, for PE 3");
    waits.waits = true;
    waits.seconds = 1.5;
    waits.mark = ~0ull - 1;
    waits.process = 'T';
    waits.pid = 1234;
    waits.cpu_s = 0.25;
    waits.site = "solver.py:88";
    waits.wait.missing[0] = 3;
    waits.calls.resize(2);
    waits.calls[1].call = 17;
    waits.signals.push_back({64, 4, 3, common::UpdateKind::add});
    waits.writes.push_back({72, 8, 1, common::UpdateKind::put});
    waits.writes_lost = true;
    const common::PeDoing doing = decode_doing(encode_doing(waits));
    EXPECT_EQ(doing.state, waits.state);
    EXPECT_EQ(doing.text, waits.text);
    EXPECT_TRUE(doing.waits);
    EXPECT_EQ(doing.seconds, 1.5);
    EXPECT_EQ(doing.mark, waits.mark);
    EXPECT_EQ(doing.process, 'T');
    EXPECT_EQ(doing.pid, 1234);
    EXPECT_EQ(doing.cpu_s, 0.25);
    EXPECT_EQ(doing.site, "solver.py:88");
    EXPECT_EQ(doing.wait.missing[0], 3);
    ASSERT_EQ(doing.calls.size(), 2U);
    EXPECT_EQ(doing.calls[1].call, 17U);
    ASSERT_EQ(doing.signals.size(), 1U);
    EXPECT_EQ(doing.signals[0].offset, 64U);
    EXPECT_EQ(doing.signals[0].value, 4U);
    EXPECT_EQ(doing.signals[0].pe, 3);
    EXPECT_EQ(doing.signals[0].kind, common::UpdateKind::add);
    ASSERT_EQ(doing.writes.size(), 1U);
    EXPECT_EQ(doing.writes[0].offset, 72U);
    EXPECT_TRUE(doing.writes_lost);
    EXPECT_FALSE(doing.signals_lost);
    const common::PeDoing none = decode_doing(encode_doing(common::of_state(common::PeState::absent, "")));
    EXPECT_FALSE(none.waits);
    EXPECT_EQ(none.text, "");
    for (const char* rubbish : {"", "x", "9999999999 2 y z", "1 1 1"}) EXPECT_NO_THROW(decode_doing(rubbish));
}

TEST(Wire, RubbishIsRefused) {
    const std::string packed = pack({"one", "two", "two", "one"});
    for (std::size_t bytes = 0; bytes < packed.size(); ++bytes)
        EXPECT_THROW(unpack(packed.substr(0, bytes), 4), Error) << bytes;
    EXPECT_THROW(unpack(packed + "x", 4), Error);
    EXPECT_THROW(unpack(packed, 3), Error);
    for (std::size_t at = 0; at < packed.size(); ++at) {
        std::string wrong = packed;
        wrong[at] = '\xff';
        try {
            EXPECT_EQ(unpack(wrong, 4).size(), 4U);  // another character within a value
        } catch (const Error&) {
        }
    }
}

}  // namespace
}  // namespace atl::bootstrap
