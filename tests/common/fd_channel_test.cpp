#include "common/descriptors/fd_channel.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "atoll/error.hpp"

namespace atl::common {
namespace {

ino_t file_of(const Fd& fd) {
    struct stat state {};
    EXPECT_EQ(::fstat(fd.get(), &state), 0);
    return state.st_ino;
}

Fd make_file() { return Fd(::memfd_create("test", MFD_CLOEXEC)); }

TEST(FdChannel, BringsWhatWasSentAndSaysByWhom) {
    FdChannel a, b;
    EXPECT_FALSE(a.receive());
    const Fd first = make_file(), second = make_file();
    EXPECT_TRUE(b.send(a.address(), 5, 77, first));
    EXPECT_TRUE(b.send(a.address(), 5, 78, second));
    auto received = a.receive();
    ASSERT_TRUE(received);
    EXPECT_EQ(received->sender, 5);
    EXPECT_EQ(received->tag, 77u);
    EXPECT_EQ(file_of(received->fd), file_of(first));
    EXPECT_EQ(file_of(a.receive()->fd), file_of(second));
    EXPECT_FALSE(a.receive());
}

TEST(FdChannel, MessagesWithoutTheTokenAreDropped) {
    FdChannel a, b;
    FdChannel::Address guessed = a.address();
    guessed.token ^= 1;
    EXPECT_TRUE(b.send(guessed, 1, 1, make_file()));
    EXPECT_TRUE(b.send(a.address(), 2, 2, make_file()));
    EXPECT_EQ(a.receive()->sender, 2);
    EXPECT_FALSE(a.receive());
}

TEST(FdChannel, AFullQueueIsNoErrorAndAnAbsentOneIs) {
    FdChannel b;
    FdChannel::Address gone;
    {
        FdChannel a;
        gone = a.address();
        const Fd file = make_file();
        int sent = 0;
        while (sent < 100000 && b.send(a.address(), 0, 0, file)) ++sent;
        EXPECT_GT(sent, 0);
        EXPECT_LT(sent, 100000);
        EXPECT_TRUE(a.receive());
        EXPECT_TRUE(b.send(a.address(), 0, 0, file));
    }
    EXPECT_THROW(b.send(gone, 0, 0, make_file()), Error);
}

}  // namespace
}  // namespace atl::common
