// Conway's Life. Every PE owns some rows, and puts its edge rows beside its neighbours' own rows. Each row
// has a signal that means "generation g has arrived". No barrier: a PE waits for its two neighbours only.
#include <atoll/atoll.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

using Cell = std::uint8_t;

namespace {

constexpr int columns = 256, rows_in_all = 192;  // a torus

int first_row(int pe, int n) { return pe * rows_in_all / n; }

// One generation of one row, from it and the rows above and below.
void evolve(const Cell* above, const Cell* row, const Cell* below, Cell* next) {
    for (int c = 0; c < columns; ++c) {
        const int w = (c + columns - 1) % columns, e = (c + 1) % columns;
        const int around = above[w] + above[c] + above[e] + row[w] + row[e] + below[w] + below[c] + below[e];
        next[c] = around == 3 || (around == 2 && row[c]);
    }
}

std::vector<Cell> first_generation() {
    std::mt19937 random(1970);
    std::vector<Cell> cells(static_cast<std::size_t>(rows_in_all) * columns);
    for (Cell& cell : cells) cell = random() % 3 == 0;
    return cells;
}

}  // namespace

int main(int argc, char** argv) {
    atoll::Job& job = atoll::init();
    const int me = atoll::my_pe(), n = atoll::n_pes();
    if (n > rows_in_all / 2) {
        if (me == 0)
            std::fprintf(stderr, "%d PEs cannot share %d rows: run with at most %d\n", n, rows_in_all,
                         rows_in_all / 2);
        atoll::finalize();  // waits for all: the first PE that fails ends the others
        return 1;
    }
    const int generations = argc > 1 ? std::atoi(argv[1]) : 200;
    const int first = first_row(me, n), rows = first_row(me + 1, n) - first;
    const int up = (me + n - 1) % n, down = (me + 1) % n;
    const std::vector<Cell> start = first_generation();

    // Two rows of the neighbours for even generations and two for odd ones. A neighbour may be one generation
    // ahead, never two, since it needs my row in between.
    atoll::SymmetricArray<Cell> halo(job, 4 * columns);  // [generation % 2][from above, from below]
    atoll::SymmetricArray<std::uint64_t> arrived(job, 2);
    std::vector<Cell> cells(start.begin() + first * columns, start.begin() + (first + rows) * columns),
        next(cells.size());

    for (int g = 0; g < generations; ++g) {
        Cell* const from_above = &halo[(g % 2) * 2 * columns];
        Cell* const from_below = from_above + columns;
        const auto stamp = static_cast<std::uint64_t>(g) + 1;
        atoll::put_signal(from_below, cells.data(), columns, &arrived[1], stamp, atl::SignalOp::set, up);
        atoll::put_signal(from_above, &cells[(rows - 1) * columns], columns, &arrived[0], stamp,
                          atl::SignalOp::set, down);

        const auto row = [&](int r) { return cells.data() + r * columns; };
        for (int r = 1; r < rows - 1; ++r)
            evolve(row(r - 1), row(r), row(r + 1), &next[r * columns]);  // while rows travel
        atoll::signal_wait_until(&arrived[0], atl::Compare::ge, stamp);
        atoll::signal_wait_until(&arrived[1], atl::Compare::ge, stamp);
        evolve(from_above, row(0), rows > 1 ? row(1) : from_below, next.data());
        if (rows > 1) evolve(row(rows - 2), row(rows - 1), from_below, &next[(rows - 1) * columns]);
        cells.swap(next);
    }

    // Recomputes everything alone, and compares it with my rows.
    std::vector<Cell> all = start, all_next(all.size());
    for (int g = 0; g < generations; ++g, all.swap(all_next))
        for (int r = 0; r < rows_in_all; ++r)
            evolve(&all[(r + rows_in_all - 1) % rows_in_all * columns], &all[r * columns],
                   &all[(r + 1) % rows_in_all * columns], &all_next[r * columns]);
    std::vector<long> sums = {0, 0};  // alive, wrong
    for (int i = 0; i < rows * columns; ++i)
        sums[0] += cells[i], sums[1] += cells[i] != all[first * columns + i];
    atoll::sum_reduce(std::span(sums), std::span(sums));
    if (me == 0)
        std::printf("%ld cells live after %d generations; %ld differ from a run on one PE\n", sums[0],
                    generations, sums[1]);
    atoll::finalize();
    return sums[1] == 0 ? 0 : 1;
}
