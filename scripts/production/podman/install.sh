#!/bin/sh
# Installs Podman with what it needs on a Debian machine without a Docker Engine, and starts its API socket. Run as root.
# Prints one line for each thing that it changes on the machine. Safe to run again.
set -eu
: "${CONTAINERS_DIR:?}" # where images, binaries and the socket are kept
packages='podman buildah runc netavark aardvark-dns iptables catatonit mmdebstrap prometheus'

missing=''
for package in $packages; do
  dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
if [ -n "$missing" ]; then
  echo "installs Debian packages:$missing"
  apt-get update -qq
  # shellcheck disable=SC2086 # words on purpose
  DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq --no-install-recommends $missing >/dev/null
fi

# runc, because crun refuses mixed versions of cgroups. No systemd: logs to files, cgroups by Podman itself.
conf=/etc/containers/containers.conf.d/assent.conf
if [ ! -f "$conf" ]; then
  echo "writes $conf"
  mkdir -p /etc/containers/containers.conf.d /usr/libexec/podman
  cat >"$conf" <<'CONF'
[containers]
default_ulimits = ["nofile=20000:20000", "nproc=32768:32768"]
log_driver = "k8s-file"
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
CONF
  ln -sf /usr/bin/catatonit /usr/libexec/podman/catatonit
fi

socket="$CONTAINERS_DIR/podman.sock"
if ! curl --silent --fail --unix-socket "$socket" http://podman/_ping >/dev/null 2>&1; then
  echo "starts Podman's API on $socket"
  mkdir -p "$CONTAINERS_DIR"
  rm -f "$socket"
  setsid podman system service --time=0 "unix://$socket" >"$CONTAINERS_DIR/podman.log" 2>&1 &
  tries=50
  until curl --silent --fail --unix-socket "$socket" http://podman/_ping >/dev/null 2>&1; do
    tries=$((tries - 1))
    [ "$tries" -gt 0 ] || { cat "$CONTAINERS_DIR/podman.log" >&2; exit 1; }
    sleep 0.2
  done
fi
