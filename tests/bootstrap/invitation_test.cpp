#include <gtest/gtest.h>

#include "atoll/error.hpp"
#include "bootstrap/launcher/invitation.hpp"

namespace atl::bootstrap {
namespace {

std::string refusal_of(const std::string& text) {
    try {
        Invitation::parse(text);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::bootstrap);
        return error.what();
    }
    return {};
}

TEST(Invitation, SaysWhatWasWritten) {
    const Invitation written{3, 8, 40123, "0123abcd", "10.0.0.1,192.168.0.7", {4096, true}, 5};
    const Invitation read = Invitation::parse(written.text());
    EXPECT_EQ(read.pe, 3);
    EXPECT_EQ(read.n_pes, 8);
    EXPECT_EQ(read.port, 40123);
    EXPECT_EQ(read.secret, written.secret);
    EXPECT_EQ(read.addresses, written.addresses);
    EXPECT_EQ(read.logs.events, 4096u);
    EXPECT_TRUE(read.logs.moves);
    EXPECT_EQ(read.agent, 5);
}

TEST(Invitation, OfAnotherReleaseIsNamed) {
    EXPECT_NE(refusal_of("999 0 2 1 secret host").find("version 999"), std::string::npos);
}

TEST(Invitation, OtherTextIsRefused) {
    const std::string good = Invitation{1, 2, 40123, "secret", "host", {}, -1}.text();
    EXPECT_EQ(refusal_of(good), "");
    const std::string without_agent = good.substr(0, good.rfind(' '));
    const std::string too_many = Invitation{2, 2, 40123, "secret", "host", {}, -1}.text();
    for (const std::string& bad : {std::string("no"), without_agent, too_many})
        EXPECT_NE(refusal_of(bad).find("ATOLL_JOIN is not what"), std::string::npos) << bad;
}

}  // namespace
}  // namespace atl::bootstrap
