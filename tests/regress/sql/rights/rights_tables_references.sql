-- What REFERENCES on a table gives: a foreign key, and up to PostgreSQL 17 the rights of the session that deletes.
-- (docs/security.md: "Rights on the tables")
\i tests/regress/include/rights_tables.sql

-- security.md#rights-on-the-tables: a foreign key needs REFERENCES only while it is made, and no right to read
-- A key of one's own table: it is checked as it is made, protects what it refers to, and wants no right to read.
\connect - postgres
GRANT CREATE ON SCHEMA public TO regress_tables_plain;
GRANT REFERENCES ON workflow.instances TO regress_tables_plain;
\connect - regress_tables_plain
CREATE TABLE orders (id int, instance uuid);
INSERT INTO orders VALUES (1, :'instance');
ALTER TABLE orders ADD CONSTRAINT orders_instance_fkey FOREIGN KEY (instance) REFERENCES workflow.instances;
INSERT INTO orders VALUES (2, '01900000-0000-7000-8000-00000000dead');
ALTER TABLE orders DROP CONSTRAINT orders_instance_fkey;
INSERT INTO orders VALUES (2, '01900000-0000-7000-8000-00000000dead');
ALTER TABLE orders ADD CONSTRAINT orders_instance_fkey FOREIGN KEY (instance) REFERENCES workflow.instances NOT VALID;
ALTER TABLE orders VALIDATE CONSTRAINT orders_instance_fkey;
DELETE FROM orders WHERE id = 2;
ALTER TABLE orders VALIDATE CONSTRAINT orders_instance_fkey;
SELECT convalidated FROM pg_constraint WHERE conname = 'orders_instance_fkey';
\connect - postgres
SELECT wf_delete_instance(:'instance');
-- So it does for who may read everything without it being his.
GRANT pg_read_all_data TO regress_tables_plain;
\connect - regress_tables_plain
ALTER TABLE orders DROP CONSTRAINT orders_instance_fkey;
ALTER TABLE orders ADD CONSTRAINT orders_instance_fkey FOREIGN KEY (instance) REFERENCES workflow.instances ON DELETE CASCADE;
-- security.md#rights-on-the-tables: up to 17 REFERENCES gives the rights of the session that deletes
-- Until PostgreSQL 18 the AFTER triggers of a table run with the rights of the session that deletes the row that it refers to.
CREATE TABLE ran (who name);
GRANT INSERT, SELECT ON ran TO PUBLIC;
CREATE FUNCTION notes() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.ran VALUES (current_user); RETURN NULL; END $$;
CREATE TRIGGER notes AFTER DELETE ON orders FOR EACH ROW EXECUTE FUNCTION notes();
\connect - postgres
SELECT wf_delete_instance(:'instance');
SELECT count(*) AS orders FROM orders;
SELECT who = CASE WHEN current_setting('server_version_num')::int < 180000 THEN 'postgres' ELSE 'regress_tables_plain' END AS "as is said" FROM ran;
-- So wf_check() names the right there, and only there.
SELECT count(*) = CASE WHEN current_setting('server_version_num')::int < 180000 THEN 1 ELSE 0 END AS "as is said" FROM wf_check()
WHERE detail = 'REFERENCES on TABLE workflow.instances: regress_tables_plain';
REVOKE REFERENCES ON workflow.instances FROM regress_tables_plain;
