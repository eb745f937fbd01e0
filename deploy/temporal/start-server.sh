#!/bin/sh
# The server takes its database password from the environment only; this hands it over from the mounted secret.
set -eu
POSTGRES_PWD="$(cat /run/secrets/temporal_db_password)"
export POSTGRES_PWD
# Where other servers of the same database reach this one (deploy/compose.temporal.yml). The first address: it is in several networks.
: "${TEMPORAL_BROADCAST_ADDRESS:=$(getent hosts "$(hostname)" | awk 'NR == 1 { print $1 }')}"
export TEMPORAL_BROADCAST_ADDRESS
exec /etc/temporal/entrypoint.sh
