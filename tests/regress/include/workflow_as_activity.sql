\set ECHO none
-- An author, another role, and a way to run a workflow: for the sessions about workflows that are used as activities.
CREATE ROLE regress_use_author LOGIN;
CREATE ROLE regress_use_other LOGIN;
SELECT wf_grant_usage('regress_use_author');
SELECT wf_grant_usage('regress_use_other');
\connect - regress_use_author

CREATE FUNCTION pg_temp.run(definition text, input jsonb DEFAULT '{}') RETURNS TABLE (line text) LANGUAGE plpgsql AS $$
DECLARE
    result wf_result := wf_run(definition, input);
BEGIN
    RETURN QUERY SELECT data #>> '{}' FROM workflow.journal AS j WHERE j.instance_id = result.instance_id AND event = 'Line' ORDER BY seq, number;
    RETURN QUERY SELECT concat_ws(' ', '--', result.sub_status, nullif(result.output, '{}'), result.incidents -> 0 ->> 'message');
END $$;
\set ECHO all
