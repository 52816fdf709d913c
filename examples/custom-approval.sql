-- An activity type of one's own, written in SQL: an approval by several people.
-- Run it in any database that has the extension:   psql -X -q < examples/custom-approval.sql
-- It makes a schema "approval" of its own, can be run again, and prints each statement before its result.
\set ECHO none
\set QUIET on
\pset footer off
\set VERBOSITY default
SET client_min_messages = warning;
SELECT count(wf_delete_instance(instance_id)) FROM workflow.instance_list WHERE definition_id = 'purchase' \g /dev/null
SELECT count(wf_delete_definition(definition_id))
  FROM (SELECT DISTINCT definition_id FROM workflow.definition_list WHERE definition_id = 'purchase') AS d \g /dev/null
DROP SCHEMA IF EXISTS approval CASCADE;
RESET client_min_messages;
\set ECHO queries

\echo
\echo '== 1. Who has been asked, and what they said =================================================='
\echo
CREATE SCHEMA approval;
CREATE TABLE approval.votes (
    activity    uuid    NOT NULL,
    approver    text    NOT NULL,
    approved    boolean,
    PRIMARY KEY (activity, approver)
);

\echo
\echo '== 2. The handler runs when the activity is reached ==========================================='
\echo
\echo 'It writes its own rows and asks for one bookmark per approver. The payload is what a stimulus must'
\echo 'match; metadata is for whoever looks at the bookmark; the callback runs when it is resumed.'
\echo
CREATE FUNCTION approval.ask(context jsonb) RETURNS jsonb
LANGUAGE sql
BEGIN ATOMIC
    WITH asked AS (
        INSERT INTO approval.votes (activity, approver)
        SELECT (context #>> '{activity,instanceId}')::uuid, approver
          FROM jsonb_array_elements_text(context #> '{inputs,approvers}') AS approver
        RETURNING approver
    )
    SELECT jsonb_build_object('bookmarks', jsonb_agg(jsonb_build_object(
               'name', 'Acme.Vote',
               'payload', jsonb_build_object('approver', approver, 'order', context #> '{instance,correlationId}'),
               'metadata', jsonb_build_object('question', context #> '{inputs,question}'),
               'callback', 'approval.answered') ORDER BY approver))
      FROM asked;
END;

\echo
\echo '== 3. The callback runs when one of the bookmarks is resumed =================================='
\echo
\echo 'The first refusal decides. Else it waits, until all have approved: "complete": false keeps it open.'
\echo
CREATE FUNCTION approval.answered(context jsonb) RETURNS jsonb
LANGUAGE plpgsql AS $$
DECLARE
    this_activity uuid := context #>> '{activity,instanceId}';
    this_approver text := context #>> '{bookmark,payload,approver}';
    this_vote     boolean := context #>> '{input,approved}';
BEGIN
    UPDATE approval.votes SET approved = this_vote WHERE activity = this_activity AND approver = this_approver;
    IF NOT this_vote THEN
        RETURN jsonb_build_object('outcomes', array['Rejected'], 'outputs', jsonb_build_object('decidedBy', this_approver));
    ELSIF EXISTS (SELECT FROM approval.votes WHERE activity = this_activity AND approved IS NULL) THEN
        RETURN '{"complete": false}';
    END IF;
    RETURN jsonb_build_object('outcomes', array['Approved'], 'outputs', jsonb_build_object('decidedBy', this_approver));
END $$;

\echo
\echo '== 4. Both under a type name =================================================================='
\echo
SELECT wf_register_activity('Acme.Approval', 'approval.ask(jsonb)',
    inputs => '[{"name": "approvers", "type": "List"}, {"name": "question", "type": "String"}]',
    outputs => '[{"name": "decidedBy", "type": "String"}]',
    outcomes => '{Approved,Rejected}',
    description => 'Asks all approvers; the first refusal decides.');

SELECT * FROM wf_define('{
    "definitionId": "purchase",
    "variables": {"DecidedBy": null},
    "root": {
        "type": "Flowchart",
        "activities": [
            {"id": "Ask", "type": "Acme.Approval",
             "approvers": {"input": "approvers"}, "question": "May we buy it?", "decidedBy": {"var": "DecidedBy"}},
            {"id": "Buy", "type": "WriteLine", "text": {"js": "`buy it, says ${getDecidedBy()}`"}},
            {"id": "Leave", "type": "WriteLine", "text": {"js": "`leave it, says ${getDecidedBy()}`"}}
        ],
        "connections": [["Ask", "Approved", "Buy"], ["Ask", "Rejected", "Leave"]]
    }
}');

\echo
\echo '== 5. It waits for two people at once ========================================================='
\echo
SELECT wf_start('purchase', '{"approvers": ["Grace", "Edsger"]}', correlation_id => 'order-7') AS instance \gset
SELECT activity_id, name, payload, metadata, callback FROM workflow.open_bookmarks
 WHERE instance_id = :'instance' ORDER BY payload;

\echo
\echo 'Nobody has to know an id: the name and the payload find the bookmark.'
\echo
SELECT cardinality(resumed) AS resumed
  FROM wf_enqueue_bookmark(name => 'Acme.Vote', stimulus => '{"approver": "Edsger", "order": "order-7"}',
                           input => '{"approved": true}');
SELECT approver, approved FROM approval.votes ORDER BY approver;
SELECT payload FROM workflow.open_bookmarks WHERE instance_id = :'instance';

SELECT cardinality(resumed) AS resumed
  FROM wf_enqueue_bookmark(name => 'Acme.Vote', stimulus => '{"approver": "Grace", "order": "order-7"}',
                           input => '{"approved": true}');
SELECT sub_status, variables FROM workflow.instance_list WHERE instance_id = :'instance';
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Line' ORDER BY seq, number;

\echo
\echo '== 6. A refusal ends the activity, and its other bookmark goes with it ========================'
\echo
SELECT wf_start('purchase', '{"approvers": ["Grace", "Edsger"]}', correlation_id => 'order-8') AS instance \gset
SELECT cardinality(resumed) AS resumed
  FROM wf_enqueue_bookmark(name => 'Acme.Vote', stimulus => '{"approver": "Grace", "order": "order-8"}',
                           input => '{"approved": false}');
SELECT count(*) AS open_bookmarks FROM workflow.open_bookmarks WHERE instance_id = :'instance';
SELECT data #>> '{}' AS line FROM workflow.journal WHERE instance_id = :'instance' AND event = 'Line' ORDER BY seq, number;
