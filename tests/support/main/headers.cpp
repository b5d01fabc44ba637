// The owner of the precompiled header of the tests. It does nothing.
int main() { return 0; }
