#!/usr/bin/env bash
# The clock of a running server is set forward and back: sessions and background workers use one clock, due timers fire, and nothing waits
# for a time that will come only later again.
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

# The server's time of day is that of the machine plus an offset in a file that all its processes have mapped. (libfaketime loses its file
# in processes that write their title over their environment, as PostgreSQL's do.)
clock=$WORKFLOW_TMP/clock
set_clock() { perl -e 'print pack("q", $ARGV[0])' "$1" | dd of="$clock" conv=notrunc status=none; } # SECONDS
set_clock 0
cat >"$clock.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

static const volatile int64_t *offset;

__attribute__((constructor)) static void attach(void) {
    offset = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, open(getenv("CLOCK_FILE"), O_RDONLY), 0);
    if (offset == MAP_FAILED) abort();
}

int clock_gettime(clockid_t id, struct timespec *at) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(id, at);
    if (status == 0 && id == CLOCK_REALTIME && offset) at->tv_sec += *offset;
    return status;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    struct timespec now;
    int status = clock_gettime(CLOCK_REALTIME, &now);
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return status;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at) *at = now.tv_sec;
    return now.tv_sec;
}
C
cc -shared -fPIC -O1 -o "$clock.so" "$clock.c" -ldl
stop_server
CLOCK_FILE=$clock LD_PRELOAD=$clock.so start_server
time_books
psql -X -q -v ON_ERROR_STOP=1 >>"$WORKFLOW_TMP/setup.out" <<'SQL'
SELECT wf_define('{"definitionId": "listener", "root": [{"type": "Event", "eventName": "News"},
    {"type": "Sql", "statement": "INSERT INTO public.happened VALUES (($1 #>> ''{}'')::uuid)", "parameters": [{"js": "getWorkflowInstanceId()"}]}]}');
SELECT wf_schedule('each hour', '@hourly', 'SELECT 1', timezone => 'UTC');
SQL
setting "workflow.launch_workers = on"
lines="SELECT count(*), count(DISTINCT instance) FROM happened"

start 3 noted "200 ms"
await "3|3" "$lines"
start 5 noted "90 minutes"
start 5 pure "90 minutes"
before=$(now)
set_clock 7200
is t "SELECT clock_timestamp() > '$before'::timestamptz + '1 hour 59 minutes'"
await "8|8" "$lines"
await 0 "SELECT count(*) FROM workflow.bookmarks"
await t "SELECT last_run > '$before'::timestamptz + '1 hour' FROM workflow.schedules"
# Executors and sessions have the same time: one wrote updated_at, PostgreSQL the other.
is t "SELECT bool_and(i.updated_at >= '$before'::timestamptz + '1 hour 59 minutes' AND abs(extract(epoch FROM h.at - i.updated_at)) < 3600)
    FROM happened h JOIN workflow.instances i ON i.id = h.instance WHERE h.at > '$before'::timestamptz + '1 hour'"
echo "ok: what the clock was set forward over fires, and all processes have the same time"

# The schedulers and executors of the later time are running; a stimulus is locked meanwhile, and another has just failed.
set_clock 0
is t "SELECT clock_timestamp() < '$before'::timestamptz + '1 hour'"
start 5 noted "200 ms"
await "13|13" "$lines"
# The sender waits for the first matching instance, not for the second.
query "SELECT wf_start('listener', correlation_id => c) FROM unnest('{one,two}'::text[]) AS c" >/dev/null
begin holder "SELECT FROM workflow.instances WHERE correlation_id = 'two' FOR UPDATE"
held=$(now)
PGOPTIONS="-c client_min_messages=error" query "SELECT wf_publish_event('News')" >/dev/null
delivered_in_vain "$(query "SELECT id FROM workflow.bookmark_queue")" "$held"
finish holder COMMIT
await "15|15" "$lines"
await 0 "SELECT count(*) FROM workflow.bookmark_queue"
echo "ok: after the clock was set back timers fire and stimuli are delivered"

# A sleeping database.
setting "workflow.worker_idle_timeout = '1s'"
set_clock 7200
start 1 noted "200 ms"
await "16|16" "$lines"
await asleep "SELECT state FROM workflow.workers WHERE worker = 'scheduler' AND database = 'workflow'"
set_clock 0
start 3 noted "200 ms"
await "19|19" "$lines"
is 0 "SELECT count(*) FROM workflow.dead_letters"
is 0 "SELECT sum(failed) FROM workflow.workers WHERE worker = 'scheduler'"
echo "ok: and in a database that was asleep"
