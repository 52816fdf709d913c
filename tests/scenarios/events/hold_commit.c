/*
 * A session that loads this stops as soon as others see what it committed, before any library loaded earlier hears of the commit,
 * for as long as there is a file "hold_commit" in the data directory.
 */
#include "postgres.h"

#include <unistd.h>

#include "access/xact.h"
#include "fmgr.h"

PG_MODULE_MAGIC;

void _PG_init(void);

static void
hold(XactEvent event, void *argument)
{
	while (event == XACT_EVENT_COMMIT && access("hold_commit", F_OK) == 0)
		pg_usleep(1000);
}

void
_PG_init(void)
{
	/* The callback that was registered last is the first to be called. */
	RegisterXactCallback(hold, NULL);
}
