#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# fq: flows of a packet scheduler, allocated where packets are sent, and freed in bulk.
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/peer.sh"
# shellcheck source-path=SCRIPTDIR
. "${0%/*}/net.sh"

CACHE=fq_flow_cache
TRACING=/sys/kernel/tracing BULK=$TRACING/events/kprobes/bulk
# Since 6.12 what is not paced has no flow.
PACED="--fq-rate 1M --length 1k"

# fq KIND...: what both ends of the pair send by
fq()
{
	tc -n a qdisc replace dev veth root "$@" &&
		tc -n b qdisc replace dev veth root "$@"
}

# fq_sum WORD: the number behind (or before) the word in what fq says, of both ends
fq_sum()
{
	{ tc -n a -s qdisc show dev veth; tc -n b -s qdisc show dev veth; } |
		awk -v word="$1" '{ for (i = 1; i < NF; i++) if ($i == word) sum += $(i + 1) }
			END { print sum + 0 }'
}

# fq_agrees: are the flows hslab's live objects, and was the rest freed by fq_gc()?
fq_agrees()
{
	stat_of $CACHE live
	fq_live=$VALUE
	stat_of $CACHE frees
	fq_frees=$VALUE
	[ "$fq_live" -eq "$(fq_sum flows)" ] && [ "$fq_frees" -eq "$(fq_sum gc)" ]
}

# fq_replaced: has the flows of now, and those alone, since fq was made anew?
fq_replaced()
{
	stat_of $CACHE live
	[ "$VALUE" -eq "$(fq_sum flows)" ]
}

# fq_flows N: flows of 50 sockets at each end, N at least, then nothing for more than 3 seconds, then some
# again: those that are met on the way to these are collected.
fq_flows()
{
	# shellcheck disable=SC2086 # two words each
	net_stream 10.0.0.2 --time 2 --parallel 50 --bidir $PACED
	net_streamed "100 streams"
	stat_of $CACHE live
	succeeds "there are many flows ($VALUE)" [ "$VALUE" -ge "$1" ]
	sleep 3.2
	# shellcheck disable=SC2086 # two words each
	net_stream 10.0.0.2 --time 2 --parallel 4 --bidir $PACED
	net_streamed "8 streams"
}

# bulk_begin: count the calls of hslab_free_bulk(), by how many objects they free
bulk_begin()
{
	put $TRACING/kprobe_events "p:bulk hslab:hslab_free_bulk nr=%si:u64"
	put $BULK/trigger "hist:keys=nr"
	put $BULK/enable 1 || not_ok "trace hslab_free_bulk()"
}

# bulk_end: what was freed by calls for one object is in BULK_ONE, else in BULK_MANY
bulk_end()
{
	put $BULK/enable 0
	# shellcheck disable=SC2046 # two words
	set -- $(awk '$2 == "nr:" { if ($3 == 1) one += $6; else many += $3 * $6 }
		END { print one + 0, many + 0 }' $BULK/hist)
	BULK_ONE=$1 BULK_MANY=$2
	put $BULK/trigger "!hist:keys=nr"
	put $TRACING/kprobe_events "" || not_ok "trace no more"
}

ktap_begin
net_begin

peer_hslab paranoid track=1
peer_load sch_fq
peer_caches sch_fq
is "its cache is hslab's" "$VALUE" $CACHE
bulk_begin
succeeds "use fq" fq fq buckets 4
net_short 40 10.0.0.2
fq_flows 100
succeeds "fq and hslab count the same" within 2000 fq_agrees
bulk_end
is "all that was collected was freed in bulk" $((BULK_ONE + BULK_MANY)) "$fq_frees"
succeeds "$BULK_MANY of $fq_frees together with others" [ "$BULK_MANY" -gt "$BULK_ONE" ]

# Others take its place while packets are under way.
# shellcheck disable=SC2086 # two words each
net_stream 10.0.0.2 --time 4 --parallel 8 --bidir $PACED
for _ in 1 2 3 4 5 6; do
	sleep 0.2
	fq pfifo || not_ok "remove fq"
	sleep 0.2
	fq fq buckets 4 || not_ok "use fq again"
done
net_streamed "16 streams, while fq comes and goes"
succeeds "flows were freed with it" within 2000 fq_replaced
peer_count $CACHE
fq pfifo
stat_of $CACHE live
is "no flow is left" "$VALUE" 0
peer_unload fq

# The first time that flows are collected the first of them is freed twice by one call,
# and the last one's credit is written to after that.
PLANTED=planted/
peer_hslab paranoid track=1
peer_load sch_fq
tc -n a qdisc replace dev veth root fq buckets 4
quietly fq_flows 50
planted "freed twice in one go" $CACHE double-free
planted_by freed fq_enqueue sch_fq_hslab
quietly put $CACHES/$CACHE/scrub 1
planted "written after it was freed" $CACHE write-after-free 64
planted_by allocated fq_enqueue sch_fq_hslab
faults
is "each once" "$VALUE" 2
net_end
peer_end
