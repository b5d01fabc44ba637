#!/bin/bash
# Installs Atoll in /opt/atoll from a folder of wheels, and UCX:  packaging/container/install.sh FOLDER
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends python3 python3-venv libucx0
rm -rf /var/lib/apt/lists/*
python3 -m venv /opt/atoll
/opt/atoll/bin/pip install -q --disable-pip-version-check --no-index --find-links "$1" atoll
