/* Python's interpreter with Global Arrays' get, put and accumulate on boxes, for bench/array_peers.py.
   Debian's library cannot become a shared object, so the program is linked to it. MPI is started by mpi4py.
 */
#include <Python.h>

#include <ga.h>
#include <macdecls.h>

static int array;

void begin(int rows, int columns) {
    int dims[2] = {rows, columns}, chunk[2] = {-1, columns};
    double zero = 0;
    GA_Initialize();
    array = NGA_Create(C_DBL, 2, dims, "a", chunk);
    GA_Fill(array, &zero);
    GA_Sync();
}

void get(int row, int column, int side, void* values) {
    int low[2] = {row, column}, high[2] = {row + side - 1, column + side - 1}, stride = side;
    NGA_Get(array, low, high, values, &stride);
}

void put(int row, int column, int side, void* values) {
    int low[2] = {row, column}, high[2] = {row + side - 1, column + side - 1}, stride = side;
    NGA_Put(array, low, high, values, &stride);
}

void accumulate(int row, int column, int side, void* values) {
    int low[2] = {row, column}, high[2] = {row + side - 1, column + side - 1}, stride = side;
    double one = 1;
    NGA_Acc(array, low, high, values, &stride, &one);
}

void end(void) {
    GA_Sync();
    GA_Destroy(array);
    GA_Terminate();
}

int main(int argc, char** argv) { return Py_BytesMain(argc, argv); }
