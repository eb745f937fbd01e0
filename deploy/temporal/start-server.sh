#!/bin/sh
# The server takes its database password from the environment only; this hands it over from the mounted secret.
set -eu
POSTGRES_PWD="$(cat /run/secrets/temporal_db_password)"
export POSTGRES_PWD
exec /etc/temporal/entrypoint.sh
