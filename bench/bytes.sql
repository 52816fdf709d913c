-- For bench/bytes.sh: all approvals up to the first decision, then to the end.
CREATE FUNCTION bench.submit_all(n integer) RETURNS void LANGUAGE sql AS $$
    SELECT approval.submit('LR-' || i, '{"employee": "Ada", "days": 3}') FROM generate_series(1, n) AS i
$$;

CREATE FUNCTION bench.approve_all() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    decision CONSTANT jsonb := '{"approved": true, "by": "Edsger"}';
    step bigint;
BEGIN
    FOR step IN SELECT id FROM approval.steps WHERE status = 'Open' ORDER BY id LOOP
        PERFORM approval.approve(approval.approve(step, decision), decision);
    END LOOP;
END $$;

CREATE FUNCTION bench.start_all(definition text, n integer) RETURNS void LANGUAGE sql AS $$
    SELECT wf_start(definition, '{"employee": "Ada", "days": 3}', 'LR-' || i) FROM generate_series(1, n) AS i
$$;

CREATE FUNCTION bench.resume_all() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    decision CONSTANT jsonb := '{"approved": true, "by": "Edsger"}';
    bookmark uuid;
    result wf_result;
BEGIN
    FOR bookmark IN SELECT bookmark_id FROM workflow.waiting ORDER BY 1 LOOP
        result := wf_resume(bookmark, decision);
        result := wf_resume((result.bookmarks #>> '{0,id}')::uuid, decision);
    END LOOP;
END $$;
