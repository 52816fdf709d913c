#!/usr/bin/env bash
# Runs citus.sql on a coordinator with Citus, in the database given by PGHOST, PGPORT, PGUSER and PGDATABASE.
set -euo pipefail
if [ "$(psql -X -q -At -c "SELECT count(*) FROM pg_extension WHERE extname = 'citus'")" = 0 ]; then
    echo "Citus is not installed in database \"${PGDATABASE:-$USER}\": CREATE EXTENSION citus, then CREATE EXTENSION workflow, and add the nodes" >&2
    exit 75
fi
psql -X -v ON_ERROR_STOP=1 -f "$(dirname "${BASH_SOURCE[0]}")/citus.sql"
