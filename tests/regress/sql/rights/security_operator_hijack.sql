-- An operator of Mallory's that suited a statement of ours better than PostgreSQL's own was called, with the rights of the role that called the engine.
\i tests/regress/include/security.sql

\connect - postgres
GRANT CREATE ON SCHEMA public TO regress_security_mallory;
CREATE SCHEMA honest;
CREATE FUNCTION honest.asks(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"bookmarks": [{"id": "01900000-0000-7000-8000-0000000000c1", "callback": "answers"}]}'::jsonb $$;
CREATE FUNCTION honest.answers(context jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{}'::jsonb $$;
SELECT wf_register_activity('Honest.Ask', 'honest.asks(jsonb)');
SELECT wf_define('{"definitionId": "honest", "root": [{"type": "Honest.Ask"}]}');
SET ROLE regress_security_mallory;
CREATE FUNCTION public.hijack(jsonb, jsonb) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
    RAISE WARNING 'hijacked as %', current_user;
    RETURN pg_catalog.jsonb_extract_path_text($1);
END $$;
CREATE OPERATOR public.#>> (LEFTARG = jsonb, RIGHTARG = jsonb, FUNCTION = public.hijack);
RESET ROLE;
SELECT sub_status FROM wf_run('honest');
SELECT sub_status FROM wf_resume('01900000-0000-7000-8000-0000000000c1');
DROP FUNCTION public.hijack CASCADE;
REVOKE CREATE ON SCHEMA public FROM regress_security_mallory;
