-- All the waiting clones of many.sql wait for one event name instead: that of the first measured step.
\set ON_ERROR_STOP on
BEGIN;
CREATE TEMPORARY TABLE original ON COMMIT DROP AS
SELECT hash, hash_key, payload FROM workflow.bookmarks WHERE correlation_id = 'M-0';
CREATE TEMPORARY TABLE waiting ON COMMIT DROP AS SELECT * FROM workflow.bookmarks;
UPDATE waiting AS w SET hash = o.hash, hash_key = o.hash_key, payload = o.payload FROM original AS o;
TRUNCATE workflow.bookmarks;
INSERT INTO workflow.bookmarks SELECT * FROM waiting ORDER BY id;
COMMIT;
VACUUM (ANALYZE);
CHECKPOINT;
