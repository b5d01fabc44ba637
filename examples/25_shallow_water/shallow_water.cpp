// Waves in shallow water on a torus: atoll run -n 4 shallow_water [rows] [steps]
//
// The height of the surface and the two components of the velocity are distributed arrays with a halo. Each
// step needs one row and one column of the neighbours. The result is compared with that of one PE.
#include <atoll/dist_array.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

using Field = atl::DistArray<double, 2>;
using Plain = atl::View<double, 2>;

namespace {

constexpr double c = 0.25;  // gravity, depth, time step and spacing in one number

/// The height of the first surface: a hill, and a valley of half its depth.
double start(double i, double j, double rows, double columns) {
    const auto round = [](double x, double y, double width) { return std::exp(-(x * x + y * y) / width); };
    return round(i - 0.3 * rows, j - 0.3 * columns, 0.004 * rows * columns) -
           0.5 * round(i - 0.7 * rows, j - 0.6 * columns, 0.01 * rows * columns);
}

/// The same steps on ordinary arrays.
void compute_alone(const Plain& h, std::ptrdiff_t steps) {
    const auto [rows, columns] = h.extents();
    std::vector<double> of_u(h.size()), of_v(h.size());
    const Plain u(of_u.data(), h.extents()), v(of_v.data(), h.extents());
    for (std::ptrdiff_t step = 0; step < steps; ++step) {
        for (std::ptrdiff_t i = 0; i < rows; ++i)
            for (std::ptrdiff_t j = 0; j < columns; ++j) {
                u(i, j) -= c * (h((i + 1) % rows, j) - h(i, j));
                v(i, j) -= c * (h(i, (j + 1) % columns) - h(i, j));
            }
        for (std::ptrdiff_t i = 0; i < rows; ++i)
            for (std::ptrdiff_t j = 0; j < columns; ++j)
                h(i, j) -= c * ((u(i, j) - u((i + rows - 1) % rows, j)) +
                                (v(i, j) - v(i, (j + columns - 1) % columns)));
    }
}

}  // namespace

int main(int argc, char** argv) {
    atoll::Job& job = atoll::init();
    const std::ptrdiff_t rows = argc > 1 ? std::atol(argv[1]) : 64, columns = rows * 3 / 2;
    const std::ptrdiff_t steps = argc > 2 ? std::atol(argv[2]) : 200;

    const atl::DistOptions<2> options{.halo = {1, 1}};
    Field h(job, {rows, columns}, options), u(job, {rows, columns}, options),
        v(job, {rows, columns}, options);
    h.for_each_local([&](const atl::Index<2>& at, double& height) {
        height = start(static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(rows),
                       static_cast<double>(columns));
    });
    std::vector<double> expected = h.to_vector();

    // The views have the halo around them: index 1 is the first own row.
    const Plain height = h.local_with_halo(), along = u.local_with_halo(), across = v.local_with_halo();
    const auto [own_rows, own_columns] = h.local().extents();
    for (std::ptrdiff_t step = 0; step < steps; ++step) {
        h.exchange_halo(atl::Border::periodic);
        for (std::ptrdiff_t i = 1; i <= own_rows; ++i)
            for (std::ptrdiff_t j = 1; j <= own_columns; ++j) {
                along(i, j) -= c * (height(i + 1, j) - height(i, j));
                across(i, j) -= c * (height(i, j + 1) - height(i, j));
            }
        u.exchange_halo(atl::Border::periodic);
        v.exchange_halo(atl::Border::periodic);
        for (std::ptrdiff_t i = 1; i <= own_rows; ++i)
            for (std::ptrdiff_t j = 1; j <= own_columns; ++j)
                height(i, j) -= c * ((along(i, j) - along(i - 1, j)) + (across(i, j) - across(i, j - 1)));
    }

    const std::vector<double> found = h.to_vector();
    int status = 0;
    if (job.my_pe() == 0) {
        compute_alone(Plain(expected.data(), {rows, columns}), steps);
        for (std::size_t i = 0; i < found.size(); ++i)  // compilers may fuse operations in one loop only
            if (std::abs(found[i] - expected[i]) > 1e-12) status = 1;
        const auto [least, most] = std::minmax_element(found.begin(), found.end());
        std::printf(
            "%td x %td points, %td steps on a grid of (%td, %td): waves from %.3f to %.3f, %s by one PE\n",
            rows, columns, steps, h.grid()[0], h.grid()[1], *least, *most, status == 0 ? "as" : "NOT as");
    }
    atoll::finalize();
    return status;
}
