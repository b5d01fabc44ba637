// Halves on the host: conversion of all of them in both directions, and of values between two.
#include "collective/folds/halves.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace atl::collective {
namespace {

float wide(std::uint16_t half, DType type) {
    float value = 0;
    widen(&value, &half, 1, type);
    return value;
}

std::uint16_t narrowed(float value, DType type) {
    std::uint16_t half = 0;
    narrow(&half, &value, 1, type);
    return half;
}

TEST(Halves, KnownNumbers) {
    EXPECT_EQ(wide(0x3c00, DType::float16), 1.0f);
    EXPECT_EQ(wide(0xc000, DType::float16), -2.0f);
    EXPECT_EQ(wide(0x7bff, DType::float16), 65504.0f);
    EXPECT_EQ(wide(0x0001, DType::float16), 0x1p-24f);
    EXPECT_EQ(wide(0x3f80, DType::bfloat16), 1.0f);
    EXPECT_EQ(narrowed(65519.0f, DType::float16), 0x7bff);
    EXPECT_EQ(narrowed(65520.0f, DType::float16), 0x7c00) << "infinity";
    EXPECT_EQ(narrowed(0x1p-25f, DType::float16), 0) << "a tie, to even";
    EXPECT_EQ(narrowed(0x1.8p-25f, DType::float16), 1);
    EXPECT_EQ(narrowed(-0.0f, DType::float16), 0x8000);
    EXPECT_EQ(narrowed(0x1.fffffep127f, DType::bfloat16), 0x7f80);
}

/// Each half rounds to itself. The middle between two rounds to the even one, and a little less or more to
/// the nearer.
TEST(Halves, ThereAndBack) {
    for (const DType type : {DType::float16, DType::bfloat16})
        for (unsigned bits = 0; bits < 0x10000; ++bits) {
            const auto half = static_cast<std::uint16_t>(bits);
            const float value = wide(half, type);
            if (std::isnan(value)) {
                EXPECT_EQ(narrowed(value, type), 0x7fff);
                continue;
            }
            ASSERT_EQ(narrowed(value, type), half);
            const auto next = static_cast<std::uint16_t>(bits + 1);
            const float after = wide(next, type);
            if (!std::isfinite(value) || !std::isfinite(after)) continue;
            const float between = static_cast<float>((double{value} + double{after}) / 2);
            ASSERT_EQ(narrowed(between, type), bits % 2 == 0 ? half : next) << bits;
            ASSERT_EQ(narrowed(std::nextafter(between, value), type), half) << bits;
            ASSERT_EQ(narrowed(std::nextafter(between, after), type), next) << bits;
        }
}

TEST(Halves, ShareTheirBytes) {
    std::vector<float> room(1000);
    auto* halves = reinterpret_cast<std::uint16_t*>(room.data()) + 1000;
    for (std::uint16_t i = 0; i < 1000; ++i) halves[i] = i;
    widen(room.data(), halves, 1000, DType::bfloat16);
    for (std::uint16_t i = 0; i < 1000; ++i) ASSERT_EQ(room[i], wide(i, DType::bfloat16)) << i;
    narrow(room.data(), room.data(), 1000, DType::bfloat16);
    for (std::uint16_t i = 0; i < 1000; ++i)
        ASSERT_EQ(reinterpret_cast<const std::uint16_t*>(room.data())[i], i);
}

}  // namespace
}  // namespace atl::collective
