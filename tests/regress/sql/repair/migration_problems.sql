-- What stands against a migration: bad arguments, rights, and instances that could not go on.
\set VERBOSITY default
SELECT wf_define('{"definitionId": "w", "root": {"id": "a", "type": "Event", "eventName": "E"}}');
SELECT wf_start('w') AS id \gset
SELECT wf_define('{"definitionId": "w", "root": {"id": "b", "type": "Event", "eventName": "E"}}');
-- Arguments.
SELECT * FROM wf_migrate(NULL);
SELECT * FROM wf_migrate('00000000-0000-0000-0000-000000000000');
SELECT * FROM wf_migrate(:'id', 7);
SELECT * FROM wf_migrate(:'id', -1);
SELECT * FROM wf_migrate(:'id', mapping => '["a"]');
SELECT * FROM wf_migrate(:'id', mapping => '{"a": 1}');
SELECT * FROM wf_migrate(:'id', mapping => NULL);
SELECT * FROM wf_migrate(:'id', timers => 'later');
SELECT * FROM wf_migrate(:'id', dry_run => NULL);
SELECT * FROM wf_migrate_all('w', max => 0);
SELECT * FROM wf_migrate_all('w', max => -5);
SELECT * FROM wf_migrate_all('x');
SELECT * FROM wf_migrate_all('w', from_version => 9);
SELECT * FROM wf_migrate_all(NULL);
-- A mapping that names what is not there.
SELECT * FROM wf_migrate(:'id', mapping => '{"zz": "b", "a": "yy"}', dry_run => true);
SELECT * FROM wf_migrate(:'id', mapping => '{"zz": "b", "a": "yy"}');
-- The root is not cancelled.
SELECT * FROM wf_migrate(:'id', mapping => '{"a": null}', dry_run => true);
-- Another type, another place, two onto one, an ambiguous id, a variable.
SELECT wf_define('{"definitionId": "p", "variables": [{"name": "N", "type": "String", "value": "many"}], "root": {"id": "p", "type": "Parallel", "activities": [
    {"id": "a", "type": "Event", "eventName": "E"}, {"id": "b", "type": "Event", "eventName": "E"}, {"id": "c", "type": "Event", "eventName": "E"}]}}');
SELECT wf_start('p') AS p \gset
SELECT wf_define('{"definitionId": "p", "variables": [{"name": "N", "type": "Int32", "value": 1}], "root": {"id": "p", "type": "Parallel", "activities": [
    {"id": "a", "type": "RunTask", "taskName": "E"}, {"id": "x", "type": "Sequence", "activities": [{"id": "b", "type": "Event", "eventName": "E"}]},
    {"id": "y", "type": "Sequence", "activities": [{"id": "x", "type": "WriteLine", "text": "x"}]}]}}');
SELECT * FROM wf_migrate(:'p', dry_run => true);
SELECT * FROM wf_migrate(:'p', mapping => '{"a": "x", "c": "Workflow1:p:x"}', dry_run => true) WHERE path ~ 'mapping';
SELECT * FROM wf_migrate(:'p', mapping => '{"a": "b", "c": "b"}', dry_run => true) WHERE path ~ 'mapping';
-- An activation key that is taken.
SELECT wf_define('{"definitionId": "s", "root": {"id": "a", "type": "Event", "eventName": "E"}}');
SELECT wf_start('s') AS s1 \gset
SELECT wf_start('s') AS s2 \gset
SELECT wf_define('{"definitionId": "s", "options": {"activationStrategy": "Singleton"}, "root": {"id": "a", "type": "Event", "eventName": "E"}}');
SELECT * FROM wf_migrate(:'s1');
SELECT * FROM wf_migrate(:'s2');
SELECT instance_id = :'s1' AS first, outcome, problems FROM wf_migrate_all('s');
-- Back again, and the other one may have it: the key goes with the version.
SELECT * FROM wf_migrate(:'s1', 1);
SELECT * FROM wf_migrate(:'s2');
-- Of two that go at once the second is refused.
SELECT wf_start('s', version => 1, instance_id => 'ffffffff-0000-7000-8000-000000000001') AS s3 \gset
SELECT * FROM wf_migrate(:'s2', 1);
SELECT outcome, problems, count(*) FROM wf_migrate_all('s') GROUP BY 1, 2 ORDER BY 1;
-- Inside its own burst it cannot be moved.
SELECT wf_define('{"definitionId": "self", "root": {"type": "SetName", "value": {"sql": "SELECT count(*)::text FROM wf_migrate((instance ->> ''id'')::uuid)"}}}');
SET client_min_messages = error;
SELECT incidents -> 0 ->> 'sqlstate' AS sqlstate FROM wf_run('self');
RESET client_min_messages;
-- A version that is not published is taken only by its number.
SELECT wf_define('{"definitionId": "draft", "root": {"id": "a", "type": "Event", "eventName": "E"}}');
SELECT wf_start('draft') AS draft \gset
SELECT wf_define('{"definitionId": "draft", "root": {"id": "a", "type": "Event", "eventName": "F"}}', publish => false);
SELECT * FROM wf_migrate(:'draft');
SELECT * FROM wf_migrate(:'draft', 2);
SELECT wf_retract('draft');
SELECT * FROM wf_migrate(:'draft');
