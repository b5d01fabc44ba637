// Repeated product of a sparse matrix and a vector. Rows and the vector are distributed, and each PE gathers
// the elements that it needs from the others, in the kernel. All steps are one kernel; the grid and the PEs
// synchronise after each.
#include "example.hpp"

#include <atoll/device/device.hpp>
#include <atoll/device/launch.hpp>

#include <cmath>
#include <random>

namespace device = atl::device;

constexpr int rows_a_pe = 4096, in_row = 12, steps = 10;

/// Row r has in_row entries, at columns[r * in_row …] of the whole vector.
struct Rows {
    const int* columns;
    const double* values;
};

__global__ void multiply(device::Team team, Rows a, double* x, double* y) {
    const device::Grid grid(team);
    for (int step = 0; step < steps; ++step) {
        for (int r = grid.rank(); r < rows_a_pe; r += grid.size()) {
            double sum = 0;
            for (int k = r * in_row; k < (r + 1) * in_row; ++k)
                sum += a.values[k] * device::g(team, x + a.columns[k] % rows_a_pe, a.columns[k] / rows_a_pe);
            y[r] = sum;
        }
        device::barrier(team, grid);
        double* const old = x;
        x = y;
        y = old;
    }
}

int main() {
    return run([](atoll::Job& job) {
        const int n = job.n_pes(), all = n * rows_a_pe;
        std::mt19937 random(7);  // the same matrix on all PEs
        std::vector<int> columns(std::size_t(all) * in_row);
        std::vector<double> values(columns.size()), x(all), y(all);
        for (int& column : columns) column = int(random() % all);
        for (double& value : values) value = double(random() % 1000) / (500.0 * in_row);
        for (double& value : x) value = double(random() % 1000) / 1000;

        const std::size_t mine = std::size_t(job.my_pe()) * rows_a_pe;
        const auto part = [&](auto& whole, std::size_t each) {
            return std::vector(whole.begin() + mine * each, whole.begin() + (mine + rows_a_pe) * each);
        };
        auto* my_columns = zeros<int>(job, std::size_t(rows_a_pe) * in_row);
        auto* my_values = zeros<double>(job, std::size_t(rows_a_pe) * in_row);
        auto* my_x = zeros<double>(job, rows_a_pe);
        auto* my_y = zeros<double>(job, rows_a_pe);
        upload(my_columns, part(columns, in_row));
        upload(my_values, part(values, in_row));
        upload(my_x, part(x, 1));
        job.world().barrier();
        check(device::cooperative_launch(multiply, dim3(32), dim3(128), 0, nullptr,
                                         job.world().device(atoll::Memory::device),
                                         Rows{my_columns, my_values}, my_x, my_y));
        const std::vector<double> got = download(steps % 2 ? my_y : my_x, rows_a_pe);

        for (int step = 0; step < steps; ++step, x.swap(y))
            for (int r = 0; r < all; ++r) {
                y[r] = 0;
                for (int k = r * in_row; k < (r + 1) * in_row; ++k) y[r] += values[k] * x[columns[k]];
            }
        bool right = true;
        for (int r = 0; r < rows_a_pe; ++r)
            right = right && std::abs(got[r] - x[mine + r]) <= 1e-12 * std::abs(got[r]);
        job.world().barrier();  // all have gathered before any x is freed
        return right;
    });
}
