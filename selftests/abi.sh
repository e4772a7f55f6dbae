#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# Every file under /sys/kernel/hslab, in debugfs and of the module parameters is
# documented, and every documented one exists. HSLAB_ABI: the folder with the documents.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ABI=${HSLAB_ABI:-${0%/*}/../ABI}

ktap_begin

# same NAME DOCUMENT FOLDER
same()
{
	if [ ! -r "$2" ]; then
		skip "$1" "no $2"
		return
	fi
	sed -n 's/^What:[[:space:]]*//p' "$2" | sort >/tmp/documented
	find "$3" -type f |
		sed 's,/caches/[^/]*/,/caches/<name>/,; s,/stores/[^/]*/,/stores/<id>/,
			s,/attached/[^/]*/,/attached/<name>/,' |
		sort -u >/tmp/found
	is_not "$1: there are files" "$(wc -l </tmp/found)" 0
	is "$1: every file is documented" \
		"$(grep -vxF -f /tmp/documented /tmp/found)" ""
	is "$1: every documented file is there" \
		"$(grep -vxF -f /tmp/found /tmp/documented)" ""
	is "$1: nothing is documented twice" "$(uniq -d /tmp/documented)" ""
}
restore()
{
	rm -f /tmp/documented /tmp/found
}

fresh hslab_attached hslab_provoke
succeeds "attach" put $SYS/attach attached-victim
same sysfs "$ABI/sysfs-kernel-hslab" $SYS
same debugfs "$ABI/debugfs-hslab" $DBG
same parameters "$ABI/sysfs-module-hslab" /sys/module/hslab/parameters
ktap_end
