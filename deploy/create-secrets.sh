#!/bin/sh
# Makes every secret of the compose installation once, under ./secrets (git-ignored by a file of its own).
#   sh deploy/create-secrets.sh             the mail server's address stays empty: fill it in before the first start
#   sh deploy/create-secrets.sh --mailpit   for trying out: mails go to the mailbox of the profile dev
# A secret that is there already is never touched, so running this again after an upgrade only adds what is new.
#
# The folder is closed to other users of the host (0700); the files inside are 0444, because compose mounts each of
# them on its own into containers that run as different users, and keeps the owner and the mode of the host's file.
set -eu
umask 077
cd "$(dirname "$0")/.."

mkdir -p secrets
chmod 700 secrets
printf '*\n' >secrets/.gitignore

# store NAME: keeps standard input under secrets/NAME, unless that exists.
store() {
  if [ -e "secrets/$1" ]; then
    cat >/dev/null
    echo "kept     secrets/$1"
    return
  fi
  rm -f "secrets/.$1.new"
  cat >"secrets/.$1.new"
  if [ ! -s "secrets/.$1.new" ] && [ "${2:-}" != 'empty' ]; then
    rm -f "secrets/.$1.new"
    echo "there are no random bytes for $1: is /dev/urandom readable?" >&2
    exit 1
  fi
  chmod 444 "secrets/.$1.new"
  mv "secrets/.$1.new" "secrets/$1"
  echo "created  secrets/$1"
}

random_bytes() { head -c "$1" /dev/urandom; }
random_hex() { random_bytes "$1" | od -An -v -tx1 | tr -d ' \n'; }
random_base64() { random_bytes "$1" | base64 | tr -d '\n'; }

# An Ed25519 private key is any 32 bytes, behind a fixed head (RFC 8410): PEM without openssl.
ed25519_pem() {
  echo '-----BEGIN PRIVATE KEY-----'
  { printf '\060\056\002\001\000\060\005\006\003\053\145\160\004\042\004\040' && random_bytes 32; } | base64
  echo '-----END PRIVATE KEY-----'
}

# PostgreSQL: the superuser, the owner of the tables (migrations), the running service, Temporal.
random_hex 24 | store postgres_password
random_hex 24 | store owner_db_password
random_hex 24 | store app_db_password
random_hex 24 | store temporal_db_password
random_hex 24 | store replication_db_password
printf 'postgres://assent_owner:%s@postgres:5432/assent' "$(cat secrets/owner_db_password)" | store database_owner_url
printf 'postgres://assent_app:%s@postgres:5432/assent' "$(cat secrets/app_db_password)" | store database_url

# The service's own keys.
random_base64 48 | store jwt_secret
random_base64 32 | store secrets_master_key
ed25519_pem | store audit_signing_key
ed25519_pem | store receipt_signing_key
random_hex 32 | store forge_webhook_secret

# The mail server. Without it nobody can sign in on a new device, so the service does not start until it is there (docs/operate/install.md).
if [ "${1:-}" = '--mailpit' ]; then
  printf 'smtp://mailpit:1025' | store mail_url
else
  store mail_url empty </dev/null
fi

# Empty until used: see docs/operate/keys.md.
store forge_webhook_secret_previous empty </dev/null
store secrets_master_key_previous empty </dev/null
store audit_signing_key_previous empty </dev/null
store receipt_signing_key_next empty </dev/null
store receipt_signing_key_previous empty </dev/null
# Empty until people may connect accounts: "Connections to the code host" in docs/operate/install.md.
store forge_client_secret empty </dev/null
# Empty while files are on disk: "Uploaded files" in docs/operate/backup.md.
store s3_secret_access_key empty </dev/null
# Empty until a model answers in the AI workspace: "Model of the AI workspace" in docs/operate/install.md.
store ai_api_key empty </dev/null
# Empty unless the collector of traces asks for headers (docs/operate/traces.md).
store otlp_headers empty </dev/null
# Empty unless the sink of audit entries asks for headers (docs/operate/audit.md).
store audit_otlp_headers empty </dev/null
