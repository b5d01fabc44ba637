// Tiles, with PEs as threads on the host heap. Every shape is checked against a model, at pitches that allow
// all access widths. One type has two bytes and is added up in float.
#include "device/pes.hpp"

#include <algorithm>
#include <cstring>

namespace atl::testing {
namespace {

/// The upper half of a float, like bfloat16, truncated.
struct Short {
    std::uint16_t bits;
    Short() = default;
    explicit Short(float value) {
        std::uint32_t all = 0;
        std::memcpy(&all, &value, sizeof all);
        bits = static_cast<std::uint16_t>(all >> 16);
    }
    explicit operator float() const {
        const std::uint32_t all = std::uint32_t{bits} << 16;
        float value = 0;
        std::memcpy(&value, &all, sizeof value);
        return value;
    }
};

}  // namespace
}  // namespace atl::testing

template <> struct atl::device::Wide<atl::testing::Short> { using type = float; };

namespace atl::testing {
namespace {

/// Elements whose size does not divide a power of two.
struct Three {
    float a, b, c;
    Three() = default;
    explicit Three(float value) : a(value), b(value), c(value) {}
    explicit operator float() const { return a == b && b == c ? a : -1; }
    friend Three operator+(Three x, Three y) { return Three(x.a + y.a); }
    friend bool operator<(Three x, Three y) { return x.a < y.a; }
    friend bool operator!=(Three x, Three y) { return x.a != y.a; }
};
/// The same with 16 bytes, the most that are moved at once.
struct alignas(16) Wide16 : Three {
    using Three::Three;
    Wide16(Three three) : Three(three) {}
};

struct Shape {
    unsigned rows, cols, pitch, shift;  ///< shift: of the first element in its array
};
constexpr Shape shapes[] = {{1, 1, 1, 0},     {3, 5, 7, 1},   {4, 8, 8, 0},    {16, 64, 72, 0},
                            {7, 24, 40, 8},   {0, 16, 16, 0}, {16, 12, 20, 4}, {33, 1, 9, 3},
                            {2, 130, 131, 0}, {64, 64, 64, 0}};

template <class T> T value_of(int pe, unsigned row, unsigned col) {
    return static_cast<T>(static_cast<float>(1 + (static_cast<unsigned>(pe) * 17 + row * 5 + col * 3) % 23));
}

/// Two symmetric arrays with room for a tile of every member, and their expected contents.
template <class T> class Tiles {
  public:
    Tiles(Job& job, const Shape& s)
        : shape(s),
          team(job.world().device(Memory::host)),
          room((std::size_t{s.rows} * static_cast<std::size_t>(job.n_pes()) + 1) * (s.pitch + 3) + s.shift +
               1),
          src(job, room),
          dst(job, room) {}

    void fill() {
        device::sync(team);
        std::fill(src.span().begin(), src.span().end(), static_cast<T>(99.0f));
        std::fill(dst.span().begin(), dst.span().end(), static_cast<T>(77.0f));
        for (unsigned r = 0; r < shape.rows; ++r)
            for (unsigned c = 0; c < shape.cols; ++c)
                source().data[r * source().pitch + c] = value_of<T>(team.my_pe, r, c);
        device::sync(team);
    }
    device::Tile<T> source() { return {src.data() + shape.shift, shape.rows, shape.cols, shape.pitch}; }
    /// Has a different pitch from the source's, of the same alignment if that is even.
    device::Tile<T> target(unsigned tiles = 1) {
        return {dst.data() + shape.shift, tiles * shape.rows, shape.cols, shape.pitch + (shape.pitch % 2)};
    }
    /// Expects expected(row, col) in the target's tile, and unchanged memory around it.
    template <class Expected> void expect(const char* what, unsigned tiles, Expected expected) {
        std::vector<float> wanted(room, 77.0f);
        const device::Tile<T> tile = target(tiles);
        for (unsigned r = 0; r < tile.rows; ++r)
            for (unsigned c = 0; c < tile.cols; ++c)
                wanted[shape.shift + r * static_cast<std::size_t>(tile.pitch) + c] = expected(r, c);
        for (std::size_t i = 0; i < room; ++i)
            ASSERT_EQ(static_cast<float>(dst[i]), wanted[i])
                << what << " of " << shape.rows << " x " << shape.cols << ", place " << i;
    }

    Shape shape;
    device::Team team;
    std::size_t room;
    SymmetricArray<T> src, dst;
};

template <class T> void moves(Tiles<T>& tiles, int right, int left) {
    tiles.fill();
    device::tile_put(tiles.team, tiles.target(), tiles.source(), right);
    device::sync(tiles.team);
    tiles.expect("tile_put", 1,
                 [&](unsigned r, unsigned c) { return static_cast<float>(value_of<T>(left, r, c)); });
    tiles.fill();
    device::tile_get(tiles.team, tiles.target(), tiles.source(), right);
    tiles.expect("tile_get", 1,
                 [&](unsigned r, unsigned c) { return static_cast<float>(value_of<T>(right, r, c)); });
    tiles.fill();
    const auto n = static_cast<unsigned>(tiles.team.n_pes);
    device::tile_allgather(tiles.team, tiles.target(n), tiles.source());
    tiles.expect("tile_allgather", n, [&](unsigned r, unsigned c) {
        const unsigned pe = r / tiles.shape.rows;
        return static_cast<float>(value_of<T>(static_cast<int>(pe), r % tiles.shape.rows, c));
    });
}

template <class T> void reduces(Tiles<T>& tiles) {
    const auto sum = [&](unsigned r, unsigned c) {
        float total = 0;
        for (int pe = 0; pe < tiles.team.n_pes; ++pe) total += static_cast<float>(value_of<T>(pe, r, c));
        return static_cast<float>(static_cast<T>(total));
    };
    tiles.fill();
    device::tile_reduce(tiles.team, tiles.target(), tiles.source(), device::Sum{});
    tiles.expect("tile_reduce", 1, sum);
    tiles.fill();
    device::tile_reduce(tiles.team, tiles.target(), tiles.source(), device::Max{});
    tiles.expect("tile_reduce (max)", 1, [&](unsigned r, unsigned c) {
        float most = 0;
        for (int pe = 0; pe < tiles.team.n_pes; ++pe)
            most = std::max(most, static_cast<float>(value_of<T>(pe, r, c)));
        return most;
    });
    tiles.fill();
    device::tile_reduce(tiles.team, tiles.source(), tiles.source(), device::Sum{});
    for (unsigned r = 0; r < tiles.shape.rows; ++r)
        for (unsigned c = 0; c < tiles.shape.cols; ++c)
            ASSERT_EQ(static_cast<float>(tiles.source().data[r * tiles.source().pitch + c]), sum(r, c))
                << "in place";
}

template <class T> void every_shape(Job& job) {
    for (const Shape& shape : shapes) {
        Tiles<T> tiles(job, shape);
        moves(tiles, right_of(job), left_of(job));
        reduces(tiles);
        device::sync(tiles.team);
    }
}

class DeviceTiles : public ::testing::TestWithParam<int> {};

TEST_P(DeviceTiles, OfEveryShapeAndType) {
    run_device_pes(GetParam(), [](Job& job) {
        every_shape<float>(job);
        every_shape<double>(job);
        every_shape<Short>(job);
        every_shape<unsigned char>(job);
        every_shape<Three>(job);
        every_shape<Wide16>(job);
        job.world().barrier();
    });
}

INSTANTIATE_TEST_SUITE_P(Pes, DeviceTiles, ::testing::ValuesIn(device_pe_counts()));

}  // namespace
}  // namespace atl::testing
