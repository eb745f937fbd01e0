#!/bin/sh
# The synchronous replica of PostgreSQL (deploy/compose.replica.yml).
#
#   sh deploy/replica.sh start      copies the primary and follows it; from then on a commit is acknowledged when both have it
#   sh deploy/replica.sh promote    makes the replica the primary, under the name `postgres`: API, worker and Temporal follow without a restart
#   sh deploy/replica.sh back       after a promotion: copies the primary to `postgres`, makes that the primary again, and the replica follows it
#
# Without the replica no commit is acknowledged while it is expected: `alone` lets the primary go on by itself.
#   sh deploy/replica.sh alone
# After that the replica may lack acknowledged commits, and `promote` refuses it; `promote --lossy` takes the loss.
# Environment: COMPOSE (default: docker compose), DOCKER (default: docker).
set -eu
cd "$(dirname "$0")/.."
compose="${COMPOSE:-docker compose}"
docker="${DOCKER:-docker}"
say() { echo "replica: $*"; }
copy=assent-postgres-copy
# replica_sql ARGUMENTS…, primary_sql ARGUMENTS…: psql in that service.
replica_sql() { $compose --profile replica exec -T postgres-replica psql --username=postgres --quiet --set ON_ERROR_STOP=1 "$@"; }
primary_sql() { $compose exec -T postgres psql --username=postgres --quiet --set ON_ERROR_STOP=1 "$@"; }
# data_network CONTAINER: the network in which PostgreSQL is found by its name, whether or not the container is in it.
data_network() { echo "$($docker inspect --format '{{index .Config.Labels "com.docker.compose.project"}}' "$1")_data"; }
# on_data CONTAINER COMMAND…: in a container of its own with the data of one that may have ended.
on_data() {
  of="$1"
  entry="$2"
  shift 2
  $docker run --rm --volumes-from "$of" --user postgres --entrypoint "$entry" "$($docker inspect --format '{{.Config.Image}}' "$of")" "$@"
}
# fence CONTAINER: whatever starts it again gets a standby that takes no writes and does not answer to the name.
fence() {
  $docker network disconnect "$(data_network "$1")" "$1" >/dev/null 2>&1 || true
  on_data "$1" touch /var/lib/postgresql/18/docker/standby.signal
}
# wait_streaming SQL: until the replica follows the server that SQL asks; a copy of a large database takes long.
wait_streaming() {
  left="${COPY_SECONDS:-3600}"
  until [ "$($1 --no-align --tuples-only --command="SELECT count(*) FROM pg_stat_replication WHERE application_name = 'replica' AND state = 'streaming'")" = 1 ]; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || { say 'does not stream: see its log' >&2; exit 1; }
    sleep 1
  done
}

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
  wait_streaming primary_sql
  primary_sql --command="ALTER SYSTEM SET synchronous_standby_names = 'replica'"
  primary_sql --command='SELECT pg_reload_conf()' >/dev/null
  say 'streams; commits wait for it'
  ;;
promote)
  # One look for both containers: each call of Compose takes a part of the time without a primary.
  all="$($compose --profile replica ps --all --format '{{.Service}} {{.ID}}')"
  old="$(echo "$all" | awk '$1 == "postgres" { print $2 }')"
  new="$(echo "$all" | awk '$1 == "postgres-replica" { print $2 }')"
  [ "$new" != '' ] && [ "$($docker inspect --format '{{.State.Running}}' "$new")" = true ] || { say 'it does not run' >&2; exit 1; }
  [ "$old" != '' ] || { say 'the old primary has no container, so its data cannot be marked: docker compose create postgres' >&2; exit 1; }
  # An interrupted promotion has reset the setting in the replica only, so the old one still has it.
  [ "${2:-}" = --lossy ] || on_data "$old" grep -q "^synchronous_standby_names = .replica" /var/lib/postgresql/18/docker/postgresql.auto.conf ||
    { say 'commits did not wait for the replica, so it may lack some. Start the primary again, or take the loss: sh deploy/replica.sh promote --lossy' >&2; exit 1; }
  # Two primaries would both take writes. Killed rather than asked: the replica has all that was acknowledged.
  $docker stop --time 0 "$old" >/dev/null 2>&1 || true
  [ "$($docker inspect --format '{{.State.Running}}' "$old")" = false ] || { say 'the old primary still runs; stop its host first' >&2; exit 1; }
  # Until the mark is there, a start of the old one acknowledges nothing: its replica has left it.
  fence "$old" &
  fence=$!
  # First the copy of the setting: it would wait for a replica that this server does not have.
  $docker exec "$new" psql --username=postgres --quiet --set ON_ERROR_STOP=1 --command='ALTER SYSTEM RESET synchronous_standby_names' \
    --command='SELECT pg_reload_conf()' --command='SELECT 1 / (NOT pg_is_in_recovery() OR pg_promote())::int' >/dev/null
  wait "$fence" || { say 'the data of the old primary is not marked; the replica is promoted, and the name was not moved' >&2; exit 1; }
  network="$(data_network "$new")"
  $docker network disconnect "$network" "$new" >/dev/null 2>&1 || true
  $docker network connect --alias postgres --alias postgres-replica "$network" "$new"
  say 'is the primary now. Run neither docker compose up nor deploy/upgrade.sh before: sh deploy/replica.sh back'
  ;;
back)
  [ "$(replica_sql --no-align --tuples-only --command='SELECT pg_is_in_recovery()')" = f ] || { say 'the replica is not the primary' >&2; exit 1; }
  $compose rm --force --stop postgres >/dev/null
  # As a container of its own, which does not answer to the name `postgres` while it copies and follows.
  $docker rm --force "$copy" >/dev/null 2>&1 || true
  $compose run --rm --no-deps -T --entrypoint sh postgres -c 'rm -rf /var/lib/postgresql/18/docker'
  $compose run --detach --no-deps --name "$copy" --env PGDATA=/var/lib/postgresql/18/docker --entrypoint sh postgres /replica.sh >/dev/null
  wait_streaming replica_sql
  say 'postgres has copied the primary and follows it'
  replica_sql --command="ALTER SYSTEM SET synchronous_standby_names = 'replica'"
  replica_sql --command='SELECT pg_reload_conf()' >/dev/null
  until [ "$(replica_sql --no-align --tuples-only --command="SELECT count(*) FROM pg_stat_replication WHERE application_name = 'replica' AND sync_state = 'sync'")" = 1 ]; do sleep 0.2; done
  # From here on nothing is acknowledged that the copy lacks. Requests fail until it is the primary.
  old="$($compose --profile replica ps --quiet postgres-replica)"
  $docker stop --time 0 "$old" >/dev/null 2>&1
  fence "$old"
  $docker stop --time 60 "$copy" >/dev/null 2>&1
  $docker rm "$copy" >/dev/null
  $compose up --detach --no-deps postgres >/dev/null 2>&1
  left=120
  until primary_sql --command='SELECT 1 / (NOT pg_is_in_recovery() OR pg_promote())::int' >/dev/null 2>&1; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || { say 'postgres does not become the primary: see its log. The data of both is there' >&2; exit 1; }
    sleep 0.2
  done
  say 'postgres is the primary again'
  $compose --profile replica rm --force --stop postgres-replica >/dev/null
  $compose --profile replica run --rm --no-deps -T --entrypoint sh postgres-replica -c 'rm -rf /var/lib/postgresql/18/docker'
  exec sh deploy/replica.sh start
  ;;
alone)
  primary_sql --command='ALTER SYSTEM RESET synchronous_standby_names'
  primary_sql --command='SELECT pg_reload_conf()' >/dev/null
  say 'commits no longer wait for it'
  ;;
*)
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
  ;;
esac
