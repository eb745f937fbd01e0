#!/bin/sh
# Restores the database `assent` from a dump of deploy/upgrade.sh or docs/operate/backup.md, and starts with an empty Temporal: the reconciler
# starts every open run again from its row, and what was done has keys, so it does not happen twice. What was written after the dump is lost.
#
#   sh deploy/restore.sh FILE
#
# Environment: COMPOSE (default: docker compose).
set -eu
file="${1:?which dump? sh deploy/restore.sh FILE}"
[ -s "$file" ] || { echo "restore: there is no dump $file" >&2; exit 1; }
file="$(cd "$(dirname "$file")" && pwd)/$(basename "$file")"
cd "$(dirname "$0")/.."
compose="${COMPOSE:-docker compose}"
say() { echo "restore: $*"; }

[ "$(head -c 5 "$file")" = PGDMP ] || { say "$file is no dump in PostgreSQL's custom format" >&2; exit 1; }
# All of it: a dump that was cut off has its head and its list, and the database is dropped before the end of the dump is met.
$compose exec -T postgres pg_restore --file=/dev/null <"$file" || { say "$file is not whole; nothing was changed" >&2; exit 1; }
$compose stop api worker temporal temporal-ui
say 'writers stopped'
$compose exec -T postgres psql --username=postgres --quiet --set ON_ERROR_STOP=1 <<'SQL'
DROP DATABASE IF EXISTS assent WITH (FORCE);
DROP DATABASE IF EXISTS temporal WITH (FORCE);
DROP DATABASE IF EXISTS temporal_visibility WITH (FORCE);
CREATE DATABASE assent OWNER assent_owner;
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
REVOKE ALL ON DATABASE assent, temporal, temporal_visibility FROM PUBLIC;
GRANT CONNECT ON DATABASE assent TO assent_app;
SQL
$compose exec -T postgres pg_restore --username=postgres --dbname=assent --exit-on-error <"$file"
say 'database restored'
$compose up --detach --wait --force-recreate temporal-schema temporal temporal-namespace migrate api worker temporal-ui
say 'done; docker compose run --rm tools dist/scripts/audit-verify.js verifies the audit chain'
