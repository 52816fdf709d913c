-- Any interrupt of the session ended a script with a stored fault. Only one that cancels does.
\i tests/regress/include/javascript.sql

SET client_connection_check_interval = '1ms';
SELECT * FROM pg_temp.js('let sum = 0; for (let i = 0; i < 1000000; i++) { sum += i % 7; } return sum');
RESET client_connection_check_interval;
