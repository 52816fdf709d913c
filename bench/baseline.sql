-- The two-step approval as a good developer writes it without the engine, for comparison.
--
-- A request waits for its supervisor, then for its manager. There is one row per request, one per step, and one row of history per
-- transition. The row of the step is the lock: one decision wins, the other gets an error.
--
-- It contains what a reviewer requested: foreign keys, an index for each access path (by business key, by request, the inbox of a role),
-- checked states, and errors that say what happened. It does not contain what a reviewer rejected: triggers, dynamic SQL, a check on values
-- that only this function writes, an index that no query needs. One request was dropped after measuring: `UPDATE … WHERE id = step AND
-- status = 'Open'` instead of SELECT FOR UPDATE. It saves a statement, but the planner may use the partial index of the inbox for it, and
-- then reads all of it.

CREATE SCHEMA approval;

CREATE TABLE approval.requests (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    reference  text        NOT NULL,
    status     text        NOT NULL CHECK (status IN ('Waiting for supervisor', 'Waiting for manager', 'Approved', 'Rejected')),
    payload    jsonb       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    decided_at timestamptz
);

COMMENT ON COLUMN approval.requests.reference IS 'business key of what is to be approved';

-- The requests for a leave, an order, an invoice.
CREATE INDEX ON approval.requests (reference);

CREATE TABLE approval.steps (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    request_id bigint      NOT NULL REFERENCES approval.requests,
    role       text        NOT NULL,
    status     text        NOT NULL DEFAULT 'Open' CHECK (status IN ('Open', 'Approved', 'Rejected')),
    created_at timestamptz NOT NULL DEFAULT now(),
    decided_at timestamptz,
    decision   jsonb,
    UNIQUE (request_id, role)
);

-- The inbox of a role.
CREATE INDEX ON approval.steps (role, created_at) WHERE status = 'Open';

CREATE TABLE approval.history (
    id         bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    request_id bigint      NOT NULL REFERENCES approval.requests,
    -- Not indexed: steps are never deleted, and history is read by request.
    step_id    bigint      NOT NULL REFERENCES approval.steps,
    created_at timestamptz NOT NULL DEFAULT now(),
    event      text        NOT NULL,
    data       jsonb
);

CREATE INDEX ON approval.history (request_id);

CREATE FUNCTION approval.submit(reference text, payload jsonb, OUT request_id bigint, OUT step_id bigint)
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO approval.requests (reference, status, payload)
    VALUES (submit.reference, 'Waiting for supervisor', submit.payload)
    RETURNING id INTO submit.request_id;

    INSERT INTO approval.steps (request_id, role)
    VALUES (submit.request_id, 'supervisor')
    RETURNING id INTO submit.step_id;

    INSERT INTO approval.history (request_id, step_id, event)
    VALUES (submit.request_id, submit.step_id, 'Submitted');
END $$;

-- Approves a step and returns the next one, or NULL after the last.
CREATE FUNCTION approval.approve(step bigint, decision jsonb, OUT next_step bigint)
LANGUAGE plpgsql AS $$
DECLARE
    open_step approval.steps;
BEGIN
    SELECT * INTO open_step FROM approval.steps WHERE id = step FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'step % does not exist', step USING ERRCODE = 'undefined_object';
    ELSIF open_step.status <> 'Open' THEN
        RAISE EXCEPTION 'step % was already decided', step
            USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = format('It was decided at %s.', open_step.decided_at);
    END IF;

    UPDATE approval.steps
    SET status = 'Approved', decided_at = now(), decision = approve.decision
    WHERE id = step;

    IF open_step.role = 'supervisor' THEN
        UPDATE approval.requests
        SET status = 'Waiting for manager'
        WHERE id = open_step.request_id;

        INSERT INTO approval.steps (request_id, role)
        VALUES (open_step.request_id, 'manager')
        RETURNING id INTO next_step;
    ELSE
        UPDATE approval.requests
        SET status = 'Approved', decided_at = now()
        WHERE id = open_step.request_id;
    END IF;

    INSERT INTO approval.history (request_id, step_id, event, data)
    VALUES (open_step.request_id, step, 'Approved', approve.decision);
END $$;

-- Runs n approvals from submit to end, and returns the microseconds per approval. The first ones warm up the plans and are not counted.
-- With `alternate` each one runs under another search path than the one before.
CREATE FUNCTION approval.measure(n integer, alternate boolean DEFAULT false) RETURNS double precision
LANGUAGE plpgsql AS $$
DECLARE
    warm_up CONSTANT integer := 200;
    decision CONSTANT jsonb := '{"approved": true, "by": "Edsger"}';
    began timestamptz;
    step bigint;
BEGIN
    FOR i IN 1 - warm_up .. n LOOP
        IF i = 1 THEN
            began := clock_timestamp();
        END IF;
        IF alternate THEN
            PERFORM set_config('search_path', CASE WHEN i % 2 = 0 THEN 'public, pg_temp' ELSE 'pg_temp, public' END, true);
        END IF;
        step := (approval.submit('LR-' || i, '{"employee": "Ada", "days": 3}')).step_id;
        step := approval.approve(step, decision);
        step := approval.approve(step, decision);
    END LOOP;
    RETURN extract(epoch FROM clock_timestamp() - began) * 1e6 / n;
END $$;
