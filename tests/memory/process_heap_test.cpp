// The heap of one process: blocks, memory that others hold, limits, and processes that join or are forked.
#include "memory/process_heap.hpp"

#include "support/error_of.hpp"
#include "support/forked.hpp"

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <algorithm>
#include <cstring>
#include <functional>

namespace atl::memory {
namespace {

using testing::error_of;

constexpr std::size_t mebibyte = 1 << 20;

/// Runs `body` in a forked child; true if it returned true.
bool holds_in_child(const std::function<bool()>& body) {
    return test::Forked([&] { return std::string(body() ? "yes" : "no"); }).wait().text == "yes";
}

TEST(ProcessHeap, BlocksAreAlignedAndTheirPadsAreZero) {
    ProcessHeap heap(mebibyte);
    for (int turn = 0; turn < 2; ++turn) {
        const auto block = heap.allocate(1000, 100);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(heap.at(block.offset)) % 64, 0u);
        char* const pad = heap.at(ProcessHeap::pad_offset(block));
        EXPECT_TRUE(std::all_of(pad, pad + 100, [](char c) { return c == 0; }));
        std::memset(pad, 1, 100);
        std::memset(heap.at(block.offset), 1, 1000);
        heap.free(block.offset);
    }
}

TEST(ProcessHeap, FindsTheBlockOfAnAddress) {
    ProcessHeap heap(mebibyte);
    const auto first = heap.allocate(1000, 0), second = heap.allocate(0, 64);
    EXPECT_EQ(heap.find(heap.at(first.offset + 999))->offset, first.offset);
    EXPECT_FALSE(heap.find(heap.at(first.offset + 1000)));
    EXPECT_EQ(heap.find(heap.at(second.offset))->bytes, 0u);
    int outside = 0;
    EXPECT_FALSE(heap.find(&outside));
    heap.free(first.offset);
    EXPECT_FALSE(heap.find(heap.at(first.offset)));
}

TEST(ProcessHeap, UsesMemoryAgainWhenNoProcessHoldsIt) {
    ProcessHeap heap(mebibyte);
    const auto block = heap.allocate(mebibyte / 2, 0);
    const auto full = [&] { heap.allocate(mebibyte * 3 / 4, 0); };
    {
        const BlockHold hold(heap.view(), block.offset);
        BlockHold moved(heap.view(), block.offset);
        const BlockHold last = std::move(moved);
        heap.free(block.offset);
        error_of(full, ErrorCode::out_of_memory);
    }
    full();
}

TEST(ProcessHeap, RefusesWithItsNumbersAndTheSetting) {
    ProcessHeap heap(mebibyte);
    heap.allocate(mebibyte / 4, 0);
    const std::string text = error_of([&] { heap.allocate(2 * mebibyte, 0); }, ErrorCode::out_of_memory);
    for (const char* part : {"of 2 MiB", "of 1 MiB are in use", "largest free block has", "ATOLL_HEAP_SIZE"})
        EXPECT_NE(text.find(part), std::string::npos) << text;
    error_of([&] { heap.allocate(~std::size_t{0}, 64); }, ErrorCode::out_of_memory);
}

TEST(ProcessHeap, IsReachedFromOtherProcessesByItsAddress) {
    ProcessHeap heap(mebibyte);
    const auto block = heap.allocate(64, 0);
    std::strcpy(heap.at(block.offset), "here");
    EXPECT_TRUE(holds_in_child([&] {
        HeapView joined(SharedFile::join(heap.view()->address(), "a test"));
        const bool is_other = joined.base() != heap.view()->base();
        const bool reads = std::strcmp(joined.base() + block.offset, "here") == 0;
        std::strcpy(joined.base() + block.offset, "there");
        return is_other && reads && joined.process() == ::getppid() && !joined.has_ended();
    }));
    EXPECT_STREQ(heap.at(block.offset), "there");
}

TEST(ProcessHeap, OfAnotherProcessIsRefusedIfItIsNotTheOneMeant) {
    ProcessHeap heap(mebibyte);
    std::string address = heap.view()->address();
    EXPECT_NE(error_of([&] { SharedFile::join("7 nonsense", "a test"); }, ErrorCode::bootstrap)
                  .find("is not the address of shared memory for a test"),
              std::string::npos);
    const std::size_t host = address.rfind(':');
    error_of([&] { SharedFile::join(address.substr(0, host) + ":elsewhere", "a test"); },
             ErrorCode::unsupported);
    std::memset(heap.view()->base(), 7, 16);
    EXPECT_NE(error_of([&] { SharedFile::join(address, "a test"); }, ErrorCode::bootstrap)
                  .find("the process that made it has ended"),
              std::string::npos);
}

TEST(ProcessHeap, InAForkedChildCannotAllocateAndFreesNothing) {
    ProcessHeap heap(mebibyte);
    const auto block = heap.allocate(64, 0);
    EXPECT_TRUE(holds_in_child([&] {
        heap.free(block.offset);
        try {
            heap.allocate(64, 0);
        } catch (const Error& error) {
            return error.code() == ErrorCode::unsupported;
        }
        return false;
    }));
    EXPECT_TRUE(heap.find(heap.at(block.offset)));
}

TEST(ProcessHeap, KnowsThatItsOwnerHasEnded) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::pause();
        ::_exit(0);
    }
    common::ProcessWatch watch(child);
    EXPECT_FALSE(watch.has_ended());
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(watch.has_ended());
}

}  // namespace
}  // namespace atl::memory
