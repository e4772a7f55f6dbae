# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# What the peers' tests share: peers are modules of the kernel's own source, built
# against hslab by scripts/hslabify, and run for scripts/peers.
#
# usage: . "${0%/*}/peer.sh"
#
# Each runs in a guest of its own, in which hslab's and the peer's modules are in
# $MODULES, what was built with a planted bug in $MODULES/planted, and the stock kernel's
# modules where modprobe finds them. A test ends with peer_end. Lines `# row:` are for
# the table.
# shellcheck disable=SC2034 # used by the tests
SELFTESTS=${0%/*}/..
# shellcheck source-path=SCRIPTDIR source=../lib.sh
. "$SELFTESTS/lib.sh"

PEER_MODULES=''			# newest first
PEER_KIND=hslab
ROW_ALLOCS=0 ROW_REPORTS=0 ROW_CACHES='' ROW_PLANTED=-

# peer_hslab PROFILE [POLICY=VALUE...]: load hslab; these hold for caches made from now on
peer_hslab()
{
	fresh
	put $SYS/profile "$1" || not_ok "profile $1" "refused"
	shift
	for policy; do
		put "$SYS/defaults/${policy%%=*}" "${policy#*=}" ||
			not_ok "default $policy" "refused"
	done
}

# peer_load MODULE...: load MODULE_hslab.ko, or MODULE_$PEER_KIND.ko; from planted/ if it
# is PLANTED=planted/
peer_load()
{
	for module; do
		insmod "$MODULES/${PLANTED-}${module}_$PEER_KIND.ko" || {
			not_ok "load ${module}_$PEER_KIND"
			return 1
		}
		PEER_MODULES="${module}_$PEER_KIND $PEER_MODULES"
	done
}

# peer_caches MODULE...: the caches that are theirs, in VALUE; a blank in a name is fatal
peer_caches()
{
	VALUE=
	for cache in "$CACHES"/*; do
		read -r owner <"$cache/owner"
		for module; do
			[ "$owner" != "${module}_hslab" ] || VALUE="$VALUE ${cache##*/}"
		done
	done
	VALUE=${VALUE# }
}

# peer_count CACHE...: add to the row what was allocated from these; before unloading
peer_count()
{
	for cache; do
		case " $ROW_CACHES " in
		*" $cache "*)
			;;
		*)	ROW_CACHES="$ROW_CACHES $cache" ;;
		esac
		stat_of "$cache" allocs
		ROW_ALLOCS=$((ROW_ALLOCS + VALUE))
	done
}

# reported N: are so many violations, of all caches?
reported()
{
	faults
	[ "$VALUE" = "$1" ]
}

# peer_clean WHAT: nothing was reported since hslab was loaded
peer_clean()
{
	faults
	ROW_REPORTS=$((ROW_REPORTS + VALUE))
	is "$1: nothing is reported" "$VALUE" 0
	[ "$VALUE" = 0 ] || sed 's/^/# /' $DBG/faults
}

# peer_unload WHAT: unload the peer and hslab; nothing may be left behind.
peer_unload()
{
	log_mark
	for module in $PEER_MODULES; do
		rmmod "$module" || not_ok "unload $module"
	done
	PEER_MODULES=
	peer_clean "$1"
	rmmod hslab
	is "$1: hslab unloads: nothing leaks" $? 0
	is "$1: no leak in the log" "$(log_since | grep -c 'hslab: .*\(live\|leak\)')" 0
}

# peer_end: the row of the table, and the end
peer_end()
{
	ROW_CACHES=${ROW_CACHES# }
	echo "# row: caches=$(echo "$ROW_CACHES" | tr ' ' ',') allocs=$ROW_ALLOCS reports=$ROW_REPORTS planted=$ROW_PLANTED"
	ktap_end
}

# The modules that are still loaded go first.
restore()
{
	for module in $PEER_MODULES; do
		rmmod "$module" 2>/dev/null
	done
}

# planted WHAT CACHE KIND [OFFSET]: the last report names the bug that was planted
planted()
{
	planted_line=$(last_report | head -n 1)
	planted_line=$(echo "$planted_line" |
		sed 's/object [0-9a-f]* of \([0-9]*\) bytes/object of \1 bytes/')
	ROW_PLANTED=${planted_line#BUG: hslab: }
	ROW_PLANTED=$(echo "${ROW_PLANTED%%, object*}${4+ at $4}" | tr ' ' '~')
	case $planted_line in
	"BUG: hslab: $3 in cache $2, object of "*" bytes${4+, offset $4}")
		ok "planted bug: $1 is named: $planted_line"
		;;
	*)	not_ok "planted bug: $1 is named" "expected: $3 in cache $2${4+, offset $4}" \
			"got:      $planted_line"
		;;
	esac
}

# planted_by allocated|freed FUNCTION MODULE: whom the last report names, besides
planted_by()
{
	planted_stack=$(last_report | awk -v who="$1 by" '
		/^hslab:   [^ ]/ { on = index($0, "hslab:   " who) == 1; next }
		on { print $2 }')
	case $planted_stack in
	*"$2+"*)
		ok "it names who $1 it: $(echo "$planted_stack" | grep "^$2+" | head -n 1)"
		;;
	*)	not_ok "it names who $1 it" "expected: $2 of $3" "$(last_report |
			sed 's/^/got:      /;2,$s/^/# /')"
		;;
	esac
}
