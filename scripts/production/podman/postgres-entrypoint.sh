#!/bin/bash
# What the official entrypoint does with the settings that docker-compose.yml gives: creates the cluster at the first start, runs the files of
# /docker-entrypoint-initdb.d on a server that only its socket reaches, then starts the server.
set -Eeo pipefail
mkdir -p /var/run/postgresql 2>/dev/null || true
[ -n "$POSTGRES_PASSWORD_FILE" ] && POSTGRES_PASSWORD="$(cat "$POSTGRES_PASSWORD_FILE")"
mkdir -p "$PGDATA"
chmod 700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # shellcheck disable=SC2086 # words on purpose
  initdb --username=postgres --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") $POSTGRES_INITDB_ARGS
  printf '\nhost all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses='' -p 5432" -w start
  for file in /docker-entrypoint-initdb.d/*.sql; do
    [ -e "$file" ] && psql -v ON_ERROR_STOP=1 --no-password --no-psqlrc --username postgres --dbname postgres -f "$file"
  done
  pg_ctl -D "$PGDATA" -m fast -w stop
fi
exec "$@"
