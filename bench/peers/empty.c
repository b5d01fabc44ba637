/* Measures the cost of spawning, under either launcher. */
int main(void) { return 0; }
