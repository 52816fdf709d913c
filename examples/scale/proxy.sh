#!/usr/bin/env bash
# Starts a proxy: a server without the extension, on which PL/Proxy sends each call to the node of its key.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
new_server proxy
ask proxy "CREATE DATABASE proxy" postgres
run proxy -d proxy <<SQL
CREATE EXTENSION plproxy;
CREATE SERVER app FOREIGN DATA WRAPPER plproxy OPTIONS ($(proxy_map ""));
CREATE USER MAPPING FOR PUBLIC SERVER app OPTIONS (user 'shop');
CREATE FUNCTION begin_order(order_id text, message text, wait text DEFAULT '1 second') RETURNS jsonb LANGUAGE plproxy AS \$\$
    CLUSTER 'app'; RUN ON hashtext(order_id);
\$\$;
CREATE FUNCTION pay_order(order_id text, message text, amount numeric) RETURNS jsonb LANGUAGE plproxy AS \$\$
    CLUSTER 'app'; RUN ON hashtext(order_id);
\$\$;
CREATE FUNCTION tell_all(event text) RETURNS SETOF integer LANGUAGE plproxy AS \$\$ CLUSTER 'app'; RUN ON ALL; \$\$;
SQL
say "psql -h $SCALE_DIR/proxy proxy: SELECT begin_order('A-1', 'begin')"
