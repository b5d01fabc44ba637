#!/bin/bash
# Builds a wheel, and fetches the wheels that it needs:  packaging/container/build.sh FOLDER
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends g++ python3-dev python3-venv libcli11-dev nlohmann-json3-dev
environment=$(mktemp -d)
python3 -m venv "$environment"
"$environment/bin/pip" wheel -q --disable-pip-version-check -w "$1" .
