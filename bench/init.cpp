// The shortest job: compare.py starts it under `atoll run`, and beside it a program that does nothing.
#include <atoll/atoll.hpp>

int main() {
    atoll::init();
    atoll::finalize();
}
