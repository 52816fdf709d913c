\set ECHO none
-- A program, the gateway, acts for Alice and Bob: it may become each of them and has the rights of neither. Alice's SQL tries
-- to become the gateway or Bob, in every way that a statement has, wherever it is called.
CREATE ROLE regress_gateway LOGIN NOINHERIT;
CREATE ROLE regress_alice;
CREATE ROLE regress_bob;
GRANT regress_alice, regress_bob TO regress_gateway;
SELECT wf_grant_usage('regress_alice'), wf_grant_usage('regress_bob');
CREATE SCHEMA alice AUTHORIZATION regress_alice;
CREATE SCHEMA bob AUTHORIZATION regress_bob;
SET ROLE regress_alice;
CREATE TABLE alice.log (place text, at_start name, tried int, got_out int);
GRANT USAGE ON SCHEMA alice TO PUBLIC;
GRANT SELECT, INSERT ON alice.log TO PUBLIC;
CREATE FUNCTION alice.take_gateway() RETURNS name LANGUAGE plpgsql SET role = 'none' AS 'BEGIN RETURN current_user; END';
CREATE FUNCTION alice.take_bob() RETURNS name LANGUAGE plpgsql SET role = 'regress_bob' AS 'BEGIN RETURN current_user; END';
CREATE FUNCTION alice.take_authorization() RETURNS name LANGUAGE plpgsql SET session_authorization = 'regress_gateway' AS 'BEGIN RETURN current_user; END';
CREATE FUNCTION alice.define(statement text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN EXECUTE statement; END';
CREATE FUNCTION alice.ways() RETURNS SETOF text LANGUAGE sql AS $$
    SELECT unnest(ARRAY[
        'RESET ROLE', 'SET ROLE NONE', 'SET ROLE regress_gateway', 'SET ROLE regress_bob', 'SET LOCAL ROLE NONE', 'SET LOCAL ROLE regress_bob',
        'SET SESSION ROLE regress_bob', 'SET role TO DEFAULT', 'SET SESSION AUTHORIZATION DEFAULT', 'RESET SESSION AUTHORIZATION',
        'SET SESSION AUTHORIZATION regress_gateway', 'SET LOCAL SESSION AUTHORIZATION regress_gateway', 'RESET session_authorization',
        'SELECT set_config(''role'', ''none'', false)', 'SELECT set_config(''role'', ''regress_bob'', true)', 'SELECT set_config(''ROLE'', ''regress_gateway'', true)',
        'SELECT set_config(''session_authorization'', ''regress_gateway'', false)', 'SELECT set_config(''session_authorization'', ''regress_gateway'', true)',
        'UPDATE pg_settings SET setting = ''none'' WHERE name = ''role''',
        'DISCARD ALL', 'RESET ALL', 'ROLLBACK', 'COMMIT', 'ROLLBACK TO SAVEPOINT before',
        'DO ''BEGIN RESET ROLE; END''', 'DO ''BEGIN PERFORM set_config(''''role'''', ''''none'''', true); EXCEPTION WHEN others THEN RESET ROLE; END''',
        'SELECT alice.take_gateway()', 'SELECT alice.take_bob()', 'SELECT alice.take_authorization()',
        'SELECT alice.define(''RESET ROLE'')', 'SELECT alice.define(''SET ROLE regress_bob'')',
        'CREATE FUNCTION pg_temp.leave() RETURNS void LANGUAGE sql SET role = ''none'' AS ''''', 'ALTER FUNCTION alice.define(text) SET role = ''none''',
        'ALTER ROLE regress_alice SET role = ''regress_bob''', 'ALTER ROLE regress_gateway SET search_path = alice', 'ALTER DATABASE postgres SET role = ''regress_bob''',
        'ALTER ROLE regress_gateway RENAME TO regress_alices', 'GRANT regress_gateway TO regress_alice', 'GRANT regress_bob TO regress_alice',
        'SELECT wf_set_role(''regress_bob'')', 'SELECT wf_set_role(''regress_gateway'')', 'DO ''BEGIN PERFORM wf_set_role(''''regress_gateway''''); END''',
        'CREATE EVENT TRIGGER leave ON ddl_command_end EXECUTE FUNCTION alice.deferred()'])
$$;
-- Tries them all, each in a subtransaction of its own, and again in the handler of the exception.
CREATE FUNCTION alice.escape(place text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    me name := current_user;
    way text;
    tried int := 0;
    got_out int := 0;
BEGIN
    FOR way IN SELECT w FROM alice.ways() AS w LOOP
        tried := tried + 1;
        BEGIN
            BEGIN
                EXECUTE way;
            EXCEPTION WHEN others THEN
                EXECUTE way;
            END;
            got_out := got_out + (current_user <> me)::int;
        EXCEPTION WHEN others THEN
            got_out := got_out + (current_user <> me)::int;
        END;
    END LOOP;
    INSERT INTO alice.log VALUES (place, me, tried, got_out);
    RETURN true;
END $$;
CREATE FUNCTION alice.escape(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb WHERE alice.escape('handler'::text) $$;
CREATE FUNCTION alice.deferred() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM alice.escape(TG_NAME); RETURN NULL; END';
CREATE TABLE alice.things (id int PRIMARY KEY, at_once int);
CREATE TRIGGER "row trigger" AFTER INSERT ON alice.things FOR EACH ROW EXECUTE FUNCTION alice.deferred();
CREATE CONSTRAINT TRIGGER "deferred trigger" AFTER INSERT ON alice.things DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION alice.deferred();
RESET ROLE;
\set ECHO all
