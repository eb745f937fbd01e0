#!/bin/sh
# The synchronous replica of PostgreSQL (deploy/compose.replica.yml).
#
#   sh deploy/replica.sh start      copies the primary and follows it; from then on a commit is acknowledged when both have it
#   sh deploy/replica.sh promote    makes the replica the primary, under the name `postgres`: API, worker and Temporal follow without a restart
#
# Without the replica no commit is acknowledged while it is expected: `alone` lets the primary go on by itself.
#   sh deploy/replica.sh alone
# Environment: COMPOSE (default: docker compose), DOCKER (default: docker).
set -eu
cd "$(dirname "$0")/.."
compose="${COMPOSE:-docker compose}"
docker="${DOCKER:-docker}"
say() { echo "replica: $*"; }
primary_sql() { $compose exec -T postgres psql --username=postgres --quiet --set ON_ERROR_STOP=1 "$@"; }

case "${1:-}" in
start)
  sh deploy/create-secrets.sh >/dev/null
  key="$(cat secrets/replication_db_password)"
  primary_sql <<SQL
\set key $key
SELECT NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'assent_replication') AS missing \gset
\if :missing
CREATE ROLE assent_replication LOGIN REPLICATION PASSWORD :'key';
\endif
SQL
  $compose exec -T postgres sh -c 'grep -q assent_replication "$PGDATA/pg_hba.conf" || echo "host replication assent_replication all scram-sha-256" >>"$PGDATA/pg_hba.conf"'
  primary_sql --command='SELECT pg_reload_conf()' >/dev/null
  $compose --profile replica up --detach --wait postgres-replica
  left=60
  until [ "$(primary_sql --no-align --tuples-only --command="SELECT count(*) FROM pg_stat_replication WHERE application_name = 'replica' AND state = 'streaming'")" = 1 ]; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || { say 'does not stream: see its log' >&2; exit 1; }
    sleep 1
  done
  primary_sql --command="ALTER SYSTEM SET synchronous_standby_names = 'replica'"
  primary_sql --command='SELECT pg_reload_conf()' >/dev/null
  say 'streams; commits wait for it'
  ;;
promote)
  old="$($compose ps --all --quiet postgres)"
  new="$($compose --profile replica ps --quiet postgres-replica)"
  [ "$new" != '' ] || { say 'it does not run' >&2; exit 1; }
  # Two primaries would both take writes.
  $docker stop --time 10 "$old" >/dev/null 2>&1 || $docker kill "$old" >/dev/null 2>&1 || true
  [ "$($docker inspect --format '{{.State.Running}}' "$old")" = false ] || { say 'the old primary still runs; stop its host first' >&2; exit 1; }
  # Whatever starts the old container again gets a standby that takes no writes.
  $docker run --rm --volumes-from "$old" --user postgres --entrypoint touch "$($docker inspect --format '{{.Config.Image}}' "$old")" /var/lib/postgresql/18/docker/standby.signal
  # The copy of the setting would wait for a replica that it no longer has.
  $docker exec "$new" psql --username=postgres --quiet --command='SELECT pg_promote()' >/dev/null
  $docker exec "$new" psql --username=postgres --quiet --command='ALTER SYSTEM RESET synchronous_standby_names'
  $docker exec "$new" psql --username=postgres --quiet --command='SELECT pg_reload_conf()' >/dev/null
  network="$($docker inspect --format '{{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}' "$new" | tr ' ' '\n' | grep _data)"
  $docker network disconnect "$network" "$new"
  $docker network connect --alias postgres --alias postgres-replica "$network" "$new"
  say 'is the primary now. Run neither docker compose up nor deploy/upgrade.sh before docs/operate/failover.md, "After a promotion"'
  ;;
alone)
  primary_sql --command='ALTER SYSTEM RESET synchronous_standby_names'
  primary_sql --command='SELECT pg_reload_conf()' >/dev/null
  say 'commits no longer wait for it'
  ;;
*)
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
  ;;
esac
