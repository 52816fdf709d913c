-- Citus distributes functions, and refuses a GRANT on a worker that it would have to pass on.
SET client_min_messages = error;
CREATE ROLE regress_two_phase_clerk;
CREATE FUNCTION refuses() RETURNS event_trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('citus.enable_ddl_propagation', true) IS DISTINCT FROM 'off' THEN
        RAISE 'operation is not allowed on this node';
    END IF;
END $$;
CREATE EVENT TRIGGER refuses ON ddl_command_start WHEN TAG IN ('GRANT', 'REVOKE') EXECUTE FUNCTION refuses();
SET citus.enable_ddl_propagation = on;
GRANT EXECUTE ON FUNCTION refuses() TO regress_two_phase_clerk;
SELECT wf_grant_usage('regress_two_phase_clerk');
SELECT wf_revoke_usage('regress_two_phase_clerk');
SELECT wf_grant_worker('regress_two_phase_clerk', ARRAY['check']);
SELECT wf_revoke_worker('regress_two_phase_clerk', ARRAY['check']);
SHOW citus.enable_ddl_propagation;
DROP EVENT TRIGGER refuses;
