#!/bin/sh
# Entry point of the replica: copies the primary at its first start, then follows it. After a promotion it starts as what it has become.
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  password="$(cat /run/secrets/replication_db_password)"
  until pg_basebackup --pgdata="$PGDATA" --wal-method=stream --checkpoint=fast --write-recovery-conf \
    --dbname="host=postgres user=assent_replication password=$password application_name=replica"; do
    rm -rf "$PGDATA/"*
    sleep 2
  done
fi
# A promotion waits for the look for the primary that is under way, by default for 5 s.
exec postgres -c max_connections=200 -c hot_standby=on -c wal_retrieve_retry_interval=250ms
