-- A request that an endpoint turns away, for its size, its text or its files, changes nothing.
\i tests/regress/include/http.sql

-- A request that the endpoint turns away changes nothing: no instance, no resume.
SELECT * FROM wf_define('{"definitionId": "upload", "root": [
    {"type": "WriteLine", "text": "before"},
    {"id": "in", "type": "HttpEndpoint", "path": "upload", "supportedMethods": ["POST"], "canStartWorkflow": true, "requestSizeLimit": 200,
        "fileSizeLimit": 5, "blockedFileExtensions": [".exe"], "allowedMimeTypes": ["text/plain"], "exposeInvalidFileMimeTypeOutcome": true, "files": {"output": "Files"}}]}');
SELECT * FROM http('POST', '/upload', repeat('x', 201));
SELECT * FROM http('POST', '/upload', '{"a": 1', headers => '{"Content-Type": "application/json"}');
CREATE FUNCTION form(file_name text, content_type text, content text) RETURNS text LANGUAGE sql AS $$
    SELECT format(E'--b\r\nContent-Disposition: form-data; name="f"; filename="%s"\r\nContent-Type: %s\r\n\r\n%s\r\n--b--\r\n', $1, $2, $3) $$;
SELECT * FROM http('POST', '/upload', form('a.txt', 'text/plain', 'hello!'), headers => '{"Content-Type": "multipart/form-data; boundary=b"}');
SELECT * FROM http('POST', '/upload', form('a.EXE', 'text/plain', 'hello'), headers => '{"Content-Type": "multipart/form-data; boundary=b"}');
SELECT count(*) FROM workflow.instance_list WHERE definition_id = 'upload';
SELECT status FROM http('POST', '/upload', form('a.txt', 'text/plain', 'hello'), headers => '{"Content-Type": "multipart/form-data; boundary=b"}');
SELECT output FROM workflow.instance_list WHERE definition_id = 'upload';
-- With its outcome exposed the workflow goes on instead.
SELECT status FROM http('POST', '/upload', form('a.gif', 'image/gif', 'hello'), headers => '{"Content-Type": "multipart/form-data; boundary=b"}');
SELECT event, activity, data FROM workflow.journal AS j JOIN workflow.instance_list AS i USING (instance_id) WHERE i.definition_id = 'upload' AND activity = 'in' ORDER BY instance_id, seq, number;
