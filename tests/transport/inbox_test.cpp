// Messages are carried out in their sender's order, in whatever order they arrive.
#include "transport/ucx/inbox.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace atl::test {

using transport::ucx::Header;
using transport::ucx::Inbox;

TEST(UcxInbox, DeliversEveryOrderInTheSendersOrder) {
    std::vector<std::uint64_t> order{1, 2, 3, 4, 5, 6};
    do {
        Inbox inbox;
        std::string seen;
        for (const std::uint64_t number : order) {
            Header header;
            header.sequence = number;
            const std::string data(number, static_cast<char>('a' + number));
            inbox.accept(header, data.data(), data.size(),
                         [&](const Header& next, const char* its_data, std::size_t bytes) {
                             EXPECT_EQ(next.sequence, inbox.delivered() + 1);
                             seen += std::string(its_data, bytes) + ",";
                         });
        }
        ASSERT_EQ(seen, "b,cc,ddd,eeee,fffff,gggggg,");
        ASSERT_EQ(inbox.delivered(), 6u);
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST(UcxInbox, AMessageThatWasDeliveredIsNotDeliveredAgain) {
    Inbox inbox;
    int count = 0;
    const auto deliver = [&](const Header&, const char*, std::size_t) { ++count; };
    Header header;
    header.sequence = 1;
    inbox.accept(header, nullptr, 0, deliver);
    inbox.accept(header, nullptr, 0, deliver);
    EXPECT_EQ(count, 1);
}

}  // namespace atl::test
