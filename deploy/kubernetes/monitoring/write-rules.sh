#!/bin/sh
# Writes rules.yaml: the alert rules of deploy/prometheus, as a resource of the Prometheus Operator. A test compares the two.
#   sh deploy/kubernetes/monitoring/write-rules.sh
set -eu
cd "$(dirname "$0")"
{
  cat <<'HEAD'
# Written by write-rules.sh: change deploy/prometheus/assent.rules.yml, then run it again.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: assent
  labels: { app.kubernetes.io/name: assent }
spec:
HEAD
  sed 's/^\(.\)/  \1/' ../../prometheus/assent.rules.yml
} >"${1:-rules.yaml}"
