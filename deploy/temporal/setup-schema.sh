#!/bin/sh
# One-shot job (admin-tools image): brings both databases of Temporal to the schema of this server version.
# Runs before every start of the server and does nothing when the schema is current. The databases themselves exist
# already: the role `temporal` owns them and may not create others.
set -eu

SQL_PASSWORD="$(cat /run/secrets/temporal_db_password)"
export SQL_PASSWORD
schemas="${TEMPORAL_SCHEMA_DIR:-/etc/temporal/schema/postgresql/v12}"

# database, folder of its versions
bring_up_to_date() {
  temporal-sql-tool --db "$1" setup-schema -v 0.0
  temporal-sql-tool --db "$1" update-schema -d "$schemas/$2/versioned"
}

bring_up_to_date temporal temporal
bring_up_to_date temporal_visibility visibility
