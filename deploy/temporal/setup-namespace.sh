#!/bin/sh
# One-shot job (admin-tools image): the namespace, how long closed runs stay visible, and the search attributes.
# Safe to run again. TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE are read by the `temporal` command itself.
set -eu
: "${TEMPORAL_ADDRESS:?}" "${TEMPORAL_NAMESPACE:?}" "${TEMPORAL_RETENTION:?}"

# Name:Type, the list that workers set (test/deploy/compose.test.ts compares the two).
search_attributes='
TeamId:Keyword
ProjectId:Keyword
AutomationId:Keyword
ActorId:Keyword
Process:Keyword
RunState:Keyword
GateState:Keyword
TriggerType:Keyword
CorrelationId:Keyword
EntityId:Keyword
GateExpiresAt:Datetime
NextAttemptAt:Datetime
Attempt:Int
Depth:Int
IsTest:Bool
'

# retry TEXT COMMAND...: up to two minutes; the last failure is shown as it is.
retry() {
  what="$1"
  shift
  tries=60
  until "$@" >/tmp/last 2>&1; do
    tries=$((tries - 1))
    if [ "$tries" -eq 0 ]; then
      echo "gave up on: $what" >&2
      cat /tmp/last >&2
      exit 1
    fi
    sleep 2
  done
  echo "done: $what"
}

healthy() { temporal operator cluster health | grep -q SERVING; }

namespace() {
  if temporal operator namespace describe -n "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
    temporal operator namespace update -n "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"
  else
    temporal operator namespace create -n "$TEMPORAL_NAMESPACE" --retention "$TEMPORAL_RETENTION"
  fi
}

# All missing ones in ONE call: calls right after each other lose some (temporalio/temporal issue 4073).
attributes() {
  known="$(temporal operator search-attribute list)" || return 1
  missing=''
  for attribute in $search_attributes; do
    name="${attribute%%:*}"
    type="${attribute##*:}"
    have="$(echo "$known" | awk -v name="$name" '$1 == name { print $2 }')"
    if [ -z "$have" ]; then
      missing="$missing --name $name --type $type"
    elif [ "$have" != "$type" ]; then
      echo "search attribute $name is $have in this cluster, and must be $type"
      return 1
    fi
  done
  [ -n "$missing" ] || return 0
  # shellcheck disable=SC2086 # words on purpose
  temporal operator search-attribute create $missing || return 1
  echo 'created; looking again whether all are there'
  return 1
}

retry 'Temporal answers' healthy
retry "namespace $TEMPORAL_NAMESPACE, retention $TEMPORAL_RETENTION" namespace
retry 'search attributes' attributes
