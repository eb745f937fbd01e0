#!/bin/sh
# Base backups, and the restore to a moment, of an installation with deploy/compose.archive.yml.
#
#   sh deploy/archive.sh backup              copies the database while it runs; daily or weekly
#   sh deploy/archive.sh prune COUNT         keeps the newest COUNT base backups and the log since the oldest of them
#   sh deploy/archive.sh restore 'TIME'      restores to that moment, such as '2026-11-26 08:30:00+00'; the data before it stays in the volume
#
# Environment: COMPOSE (default: docker compose), BASE (a base backup by its name; default: the newest before the moment).
set -eu
cd "$(dirname "$0")/.."
compose="${COMPOSE:-docker compose}"
say() { echo "archive: $*"; }
fail() { say "$*" >&2; exit 1; }
sql() { $compose exec -T postgres psql --username=postgres --quiet --no-align --tuples-only --set ON_ERROR_STOP=1 --command="$1"; }
# inside SCRIPT ARGUMENTS…: a script in a container with the volumes of PostgreSQL, which itself may be stopped.
inside() {
  script="$1"
  shift
  $compose run --rm --no-deps -T --entrypoint sh postgres -euc "$script" sh "$@" </dev/null
}

case "${1:-}" in
backup)
  $compose exec -T postgres sh -euc '
    mkdir -p /archive/base
    pg_basebackup --username=postgres --pgdata=/archive/base/unfinished --format=tar --gzip --wal-method=none --checkpoint=fast --no-manifest
    mv /archive/base/unfinished "/archive/base/$(date -u +%Y%m%dT%H%M%SZ)"' || fail 'no backup. If one was interrupted: docker compose exec postgres rm -r /archive/base/unfinished'
  say 'base backup made'
  ;;
prune)
  [ "${2:-0}" -ge 1 ] || fail 'how many base backups to keep? sh deploy/archive.sh prune COUNT'
  # One that is unfinished counts for none: it would be the newest by name.
  inside '
    complete() { ls /archive/base | grep -v unfinished | sort "$@"; }
    oldest="$(complete -r | head -n "$1" | tail -n 1)"
    start="$(tar -xzOf "/archive/base/$oldest/base.tar.gz" backup_label | sed -n "s/^START WAL LOCATION: .* (file \(.*\))$/\1/p")"
    [ "$start" != "" ] || { echo "archive: the base backup $oldest cannot be read; nothing was removed" >&2; exit 1; }
    complete -r | tail -n +"$(($1 + 1))" | while read -r old; do rm -r "/archive/base/$old"; done
    pg_archivecleanup /archive "$start"' "$2"
  say "the newest $2 base backups and the log since them are kept"
  ;;
restore)
  time="${2:?which moment? sh deploy/archive.sh restore TIME}"
  running="$($compose ps --quiet postgres)"
  [ "$running" = '' ] || [ "$(sql "SELECT timestamptz '$time' < now()")" = t ] || fail "$time is no moment of the past; nothing was stopped"
  replica="$($compose --profile replica ps --all --quiet postgres-replica 2>/dev/null || true)"
  $compose stop api worker temporal temporal-ui
  say 'writers stopped'
  # Recovery ends at the first commit after the moment, so there must be one. Without this a moment after the last write is none.
  if [ "$running" != '' ]; then
    sql 'ALTER SYSTEM RESET synchronous_standby_names'
    sql 'SELECT pg_reload_conf()' >/dev/null
    sql 'SELECT pg_current_xact_id()' >/dev/null
    $compose stop postgres
  fi
  # The end of the log, which is not archived yet, comes from the data before the restore.
  inside '
    at="$(date -u -d "$1" +%Y%m%dT%H%M%SZ)"
    base="${3:-$(ls /archive/base | grep -v unfinished | sort | awk -v at="$at" "\$1 < at" | tail -n 1)}"
    [ "$base" != "" ] || { echo "archive: there is no base backup before $at. Start what was stopped: docker compose up --detach --wait" >&2; exit 1; }
    [ -e "/archive/base/$base/base.tar.gz" ] || { echo "archive: there is no base backup $base" >&2; exit 1; }
    # Each restore and each failover begins a timeline. The moment belongs to the one that had begun by then; the newest of all may have left
    # the history of the moment before it.
    seconds="$(date -u -d "$1" +%s)"
    newest="$(for file in /archive/*.history; do
      if [ -e "$file" ] && [ "$(stat -c %Y "$file")" -le "$seconds" ]; then basename "$file" .history; fi
    done | sort | tail -n 1)"
    timeline=current
    [ "$newest" = "" ] || timeline="$(printf %d "0x$newest")"
    data=/var/lib/postgresql/18/docker
    before="$data.before-$(date -u +%Y%m%dT%H%M%SZ)"
    [ ! -e "$data" ] || mv "$data" "$before"
    mkdir -m 700 "$data"
    tar -xzf "/archive/base/$base/base.tar.gz" -C "$data"
    mkdir -p -m 700 "$data/pg_wal"
    cat >>"$data/postgresql.auto.conf" <<CONF
restore_command = $2cp /archive/%f %p || cp $before/pg_wal/%f %p$2
recovery_target_time = $2$1$2
recovery_target_timeline = $2$timeline$2
recovery_target_action = promote
synchronous_standby_names = $2$2
CONF
    touch "$data/recovery.signal"
    echo "archive: from the base backup $base, timeline $timeline; the data until now is in $before"' "$time" "'" "${BASE:-}"
  started="$(date -u +%Y-%m-%dT%H:%M:%SZ)"
  $compose up --detach --no-deps postgres
  left="${RECOVERY_SECONDS:-7200}"
  until [ "$(sql 'SELECT pg_is_in_recovery()' 2>/dev/null)" = f ]; do
    left=$((left - 1))
    [ "$left" -gt 0 ] || fail 'still recovering: see the log of postgres'
    why="$($compose logs --no-log-prefix --since "$started" postgres 2>/dev/null | grep -E 'recovery ended before|not a child of' | tail -n 1 || true)"
    case "$why" in
    *'ended before'*) fail "the log has no commit after $time: restore to an earlier moment" ;;
    *'not a child'*) fail "that base backup is of a history that a restore has left: name an older one, BASE=NAME sh deploy/archive.sh restore '$time'" ;;
    esac
    sleep 1
  done
  for name in restore_command recovery_target_time recovery_target_timeline recovery_target_action synchronous_standby_names; do sql "ALTER SYSTEM RESET $name"; done
  say "database restored to $time"
  $compose up --detach --wait
  if [ "$replica" != '' ]; then
    $compose --profile replica rm --force --stop postgres-replica >/dev/null
    $compose --profile replica run --rm --no-deps -T --entrypoint sh postgres-replica -c 'rm -rf /var/lib/postgresql/18/docker' </dev/null
    say 'the replica was of another time and is removed: sh deploy/replica.sh start'
  fi
  say 'done; make a base backup. docker compose run --rm tools dist/scripts/audit-verify.js verifies the audit chain'
  ;;
*)
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
  ;;
esac
