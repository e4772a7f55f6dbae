#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# All files are read, again and again, under load, while caches come and go.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ROUNDS=${HSLAB_ROUNDS:-8}

ktap_begin
READERS=
restore()
{
	# shellcheck disable=SC2086 # a list
	[ -z "$READERS" ] || kill $READERS 2>/dev/null
	READERS=
	rm -f /tmp/reads.*
}

# reader FOLDER: read all files there for ever; a line a round in /tmp/reads.*
reader()
{
	while :; do
		find "$1" -type f ! -name shrink -exec cat {} + >/dev/null 2>&1
		echo
	done >"/tmp/reads.${1##*/}.$2"
}

fresh hslab_load
put $LOAD/run "start 4" || not_ok "start the load"
reader $SYS 1 &
READERS="$READERS $!"
reader $DBG 2 &
READERS="$READERS $!"
bad=
i=0
while [ $i -lt "$ROUNDS" ]; do
	i=$((i + 1))
	insmod "$MODULES/hslab_provoke.ko" || bad="$bad $i:insmod"
	provoke hold provoke 50
	set_policy provoke merge=any
	provoke hold provoke-b 10
	rmmod hslab_provoke || bad="$bad $i:rmmod"
done
is "caches came and went $ROUNDS times" "$bad" ""
few=
for reads in /tmp/reads.*; do
	[ "$(wc -l <"$reads")" -ge 2 ] || few="$few $reads"
done
is "files were read meanwhile" "$few" ""
# shellcheck disable=SC2086 # a list
kill $READERS
# shellcheck disable=SC2086 # a list
wait $READERS 2>/dev/null
READERS=
put $LOAD/run stop || not_ok "stop the load"
is "no content was wrong" "$(load_errors)" ""
faults
is "nothing was reported" "$VALUE" 0
succeeds "hslab can be unloaded" unload hslab_load hslab
ktap_end
