/* What spawning alone costs, under either launcher. */
int main(void) { return 0; }
