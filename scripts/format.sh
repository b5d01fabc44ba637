#!/usr/bin/env bash
# Formats C++ and Python. With --check, only lists unformatted files (C++ only, because ruff has its own check).
source "$(dirname "$0")/lib.sh"
mapfile -d '' -t files < <(git ls-files -z --cached --others --exclude-standard -- '*.c' '*.cc' '*.cpp' '*.hpp' '*.h' '*.cu' '*.cuh' \
    ':!api/generated' ':!tests/shmem/generated' | while IFS= read -r -d '' file; do [ -f "$file" ] && printf '%s\0' "$file"; done)
if [ "${1:-}" = --check ]; then
    printf '%s\0' "${files[@]}" | xargs -0 -n 8 -P "$jobs" .venv/bin/clang-format --dry-run --Werror
else
    printf '%s\0' "${files[@]}" | xargs -0 -n 8 -P "$jobs" .venv/bin/clang-format -i
    "$python" -m ruff check --fix --quiet . || true
    "$python" -m ruff format --quiet .
fi
