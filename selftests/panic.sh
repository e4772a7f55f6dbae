#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# shellcheck disable=SC2086,SC2317 # no path here has blanks; called by name
# on_violation=panic. The kernel must not survive this: host.sh boots a machine
# for it.
# shellcheck source-path=SCRIPTDIR source=lib.sh
. "${0%/*}/lib.sh"

ktap_begin
fresh hslab_provoke
set_policy provoke on_violation=panic
echo double-free >$PROVOKE/run
not_ok "the kernel panics" "it goes on"
ktap_end
