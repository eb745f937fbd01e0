#!/bin/sh
# Keeps a copy of the audit checkpoints and of the public keys that signed them, on a host that the operators of the service
# cannot change. The copy only grows: a source that does not start with it is refused, and somebody must look.
#
#   audit-witness.sh SOURCE COPY    SOURCE: the service's data directory, fetched or mounted read-only; COPY: the kept folder
#
# Exit status: 0 kept, 1 the source contradicts the copy, 2 used wrongly.
set -eu
umask 077
[ $# -eq 2 ] && [ -d "$1" ] || {
  echo 'usage: audit-witness.sh SOURCE COPY' >&2
  exit 2
}
name=audit-checkpoints.jsonl
source="$1/$name"
copy="$2/$name"
mkdir -p "$2/audit-keys"

for key in "$1"/audit-keys/*.pem; do
  [ -e "$key" ] || continue
  kept="$2/audit-keys/$(basename "$key")"
  if [ ! -e "$kept" ]; then
    cp "$key" "$kept"
    echo "new key $(basename "$key"): was the signing key replaced on purpose?"
  elif ! cmp -s "$key" "$kept"; then
    echo "$key is not the key that was kept as $kept" >&2
    exit 1
  fi
done

[ -e "$copy" ] || : >"$copy"
size=$(wc -c <"$copy" | tr -d ' ')
if [ ! -e "$source" ] || ! head -c "$size" "$source" | cmp -s - "$copy"; then
  echo "$source does not start with $copy: lines were removed or changed" >&2
  exit 1
fi

# Whole lines only: the last one may still be written. "read" fails at a line without its end.
tail -c +"$((size + 1))" "$source" | while IFS= read -r line; do printf '%s\n' "$line"; done >"$copy.new"
count=$(wc -l <"$copy.new" | tr -d ' ')
cat "$copy.new" >>"$copy"
rm -f "$copy.new"
echo "$count new, $(wc -l <"$copy" | tr -d ' ') checkpoints kept"
