#!/bin/sh
# Replaces API and worker of a running installation by the version of this checkout: backup, migrations, then each replica, one after the other.
# A new replica is ready before an old one is stopped. With deploy/compose.balanced.yml no request fails; without it the one published port
# allows one API at a time, so requests fail for the seconds of its restart.
#
#   sh deploy/upgrade.sh [--no-backup]
#
# Environment: COMPOSE (default: docker compose), DOCKER (default: docker), BACKUP_DIR (default: backups beside docker-compose.yml).
# Safe to run again after a failure: what is replaced already stays.
set -eu
cd "$(dirname "$0")/.."
compose="${COMPOSE:-docker compose}"
docker="${DOCKER:-docker}"
ready_seconds=120

say() { echo "upgrade: $*"; }
fail() { say "$*" >&2; exit 1; }

if [ "$($compose ps --quiet postgres)" = '' ]; then
  [ "$($compose ps --quiet postgres-replica 2>/dev/null)" = '' ] || fail 'the replica is the primary: see docs/operate/failover.md, "After a promotion"'
  fail 'nothing runs here: start it with docker compose up --build --detach --wait'
fi

if [ "${1:-}" != --no-backup ]; then
  mkdir -p "${BACKUP_DIR:-backups}"
  file="${BACKUP_DIR:-backups}/assent-$(date -u +%Y%m%dT%H%M%SZ).dump"
  $compose exec -T postgres pg_dump --username=postgres --format=custom assent >"$file.part"
  mv "$file.part" "$file"
  say "backup: $file"
fi

sh deploy/create-secrets.sh >/dev/null
$compose build --quiet settings
$compose run --rm --no-deps settings >/dev/null || fail 'a setting is not usable: see above; nothing was changed'
$compose run --rm --no-deps migrate
say 'migrated; the old version still serves'

# wait_ready CONTAINER: until its health check passes.
wait_ready() {
  left=$ready_seconds
  until [ "$($docker inspect --format '{{.State.Health.Status}}' "$1")" = healthy ]; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || { $docker logs --tail 20 "$1" >&2; return 1; }
    sleep 1
  done
}

# replace SERVICE: starts as many new replicas as there are, one at a time, and stops an old one after each.
replace() {
  service="$1"
  old="$($compose ps --quiet "$service")"
  count="$(echo "$old" | grep -c .)"
  for container in $old; do
    $compose up --detach --no-deps --no-build --no-recreate --scale "$service=$((count + 1))" "$service" >/dev/null 2>&1
    for new in $($compose ps --quiet "$service"); do
      case " $(echo $old $done_new) " in *" $new "*) continue ;; esac
      if ! wait_ready "$new"; then
        $docker rm --force "$new" >/dev/null
        fail "the new $service did not become ready; the old ones go on. Its last lines are above"
      fi
      done_new="$done_new $new"
    done
    # SIGTERM: not ready at once, requests accepted for SHUTDOWN_DELAY_SECONDS, then drained.
    $docker stop "$container" >/dev/null
    $docker rm "$container" >/dev/null
  done
  say "$service: $count replaced"
}

done_new=''
replace worker
done_new=''
if [ "$($compose config --services | grep -c '^balancer$')" = 1 ]; then
  replace api
else
  $compose up --detach --no-deps --no-build api
  say 'api: restarted'
fi
# Starts what is missing, and recreates nothing: PostgreSQL and Temporal are upgraded by themselves (docs/operate/upgrade.md).
$compose up --detach --no-build --no-recreate --wait >/dev/null 2>&1 || fail 'some service is not healthy: docker compose ps'
say 'done'
