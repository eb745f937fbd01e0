#!/bin/sh
# Puts the files of ./secrets (deploy/create-secrets.sh) into two Secrets of the current namespace, or replaces what they hold.
#   sh deploy/kubernetes/create-secrets.sh [options of kubectl, such as --namespace assent]
# assent-service is for API and worker, assent-migrate for the Job that migrates. Neither gets a password of PostgreSQL's superuser.
set -eu
cd "$(dirname "$0")/../.."

# store NAME FILES [OPTIONS]: one key for each file of ./secrets.
store() {
  name="$1" files="$2"
  shift 2
  for file in $files; do
    [ -e "secrets/$file" ] || { echo "secrets/$file is missing: run sh deploy/create-secrets.sh" >&2; exit 1; }
  done
  # Applied by the server: the client would keep a copy of the values in an annotation.
  # shellcheck disable=SC2046
  kubectl create secret generic "$name" $(printf -- '--from-file=secrets/%s ' $files) --dry-run=client --output=yaml |
    kubectl apply --server-side --filename=- "$@"
}

store assent-service "$(sed -n 's|^[A-Z0-9_]*_FILE=/run/secrets/||p' deploy/kubernetes/base/settings.env)" "$@"
store assent-migrate database_owner_url "$@"
