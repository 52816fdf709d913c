// What the language service of Visual Studio Code says with docs/definition.schema.json. tests/run-gateway runs it: NODE_PATH has
// vscode-json-languageservice.
//
// In a mistake, «…» is the text that the editor underlines; several may be underlined. In a completion, | is the cursor.
"use strict";
const assert = require("node:assert");
const fs = require("node:fs");
const path = require("node:path");
const { getLanguageService, TextDocument } = require("vscode-json-languageservice");

const SCHEMA = path.join(__dirname, "../../../../docs/definition.schema.json");

const MISTAKES = [
    ['{"definitionId": "d", "root": [{"type": "WriteLine", «"txt"»: "x"}]}', /txt is not allowed/],
    ['{"definitionId": "d", "root": [{"type": «"RunTak"», "taskName": "x"}]}', /Value is not accepted.*"RunTask"/],
    ['{"definitionId": "d", "root": [{"type": «"Elsa.RunTak"», "taskName": "x"}]}', /Value is not accepted.*"RunTask"/],
    ['{"definitionId": "d", "root": [«{»"taskName": "x"}]}', /Missing property "type"/],
    ['«{»"root": []}', /Missing property "definitionId"/],
    ['{"definitionId": "d", "root": [«{»"type": "RunTask"}]}', /Missing property "taskName"/],
    ['{"definitionId": "d", "root": [{"type": "Delay", "timeSpan": «"5 minuts"»}]}', /an interval, such as/],
    ['{"definitionId": "d", "root": [{"type": "If", "condition": {"js": «5»}}]}', /Expected "string"/],
    ['{"definitionId": "d", "root": {"type": "WriteLine", "text": {"a": «{"js": "1"}»}}}', /Nothing inside a plain value is evaluated/],
    ['{"definitionId": "d", "root": {"type": "Log", "message": "x", "level": «"Loud"»}}', /one of Trace, Debug/],
    ['{"definitionId": "d", "root": {"type": "Log", "message": "x", "canStartWorkflow": «true»}}', /cannot start a workflow/],
    ['{"definitionId": "d", "root": {"type": "RunTask", "taskName": "x", "result": «"Name"»}}', /Expected one of object, null/],
    ['{"definitionId": "d", "root": {"type": "RunTask", "taskName": "x", "retry": {"maxAttempts": «0»}}}', /below the minimum of 1/],
    ['{"definitionId": "d", "root": {"type": "Flowchart", "activities": [], "connections": [«["a"]»]}}', /too few items/],
    ['{"definitionId": "d", "options": {"journal": «"ful"»}, "root": []}', /"full", "milestones", "none"/],
    ['{"definitionId": "d", "inputs": [{"name": "x", "type": «"bigint"»}], "root": []}', /a type such as/],
    ['{"definitionId": "d", "root": [], «"vars"»: {}}', /vars is not allowed/],
];

const COMPLETIONS = [
    ['{"definitionId": "d", "root": [{"type": "RunTask", |}]}', ["taskName", "retry", "id"]],
    ['{"definitionId": "d", "root": [{"type": |}]}', ['"RunTask"', '"If"']],
    ['{"definitionId": "d", "root": {"type": "Log", "message": "x", "level": |}}', ['"Warning"', '"Information"']],
    ['{"definitionId": "d", "options": {|}, "root": []}', ["retention", "maxConcurrency"]],
    ["{|}", ["definitionId", "root", "$schema"]],
];

const text = fs.readFileSync(SCHEMA, "utf8");
// Documents beside the schema name it by its file name.
const service = getLanguageService({
    workspaceContext: { resolveRelativePath: (relative, resource) => new URL(relative, resource).href },
    schemaRequestService: (uri) =>
        uri === "file:///definition.schema.json" ? Promise.resolve(text) : Promise.reject(`${uri} is not fetched`),
});
service.configure({ validate: true, schemas: [{ uri: "test://schema", fileMatch: ["*"], schema: JSON.parse(text) }] });

const open = (text) => {
    const document = TextDocument.create("file:///definition.json", "json", 1, text);
    return [document, service.parseJSONDocument(document)];
};

async function mistakes() {
    for (const [marked, message] of MISTAKES) {
        const text = marked.replace(/[«»]/g, "");
        const start = marked.indexOf("«");
        const underlined = marked.slice(start + 1, marked.indexOf("»"));
        const [document, parsed] = open(text);
        const found = await service.doValidation(document, parsed);
        const shown = found.map(({ range, message }) => [document.offsetAt(range.start), document.getText(range), message]);
        const isThere = ([at, part, said]) => Math.abs(at - start) <= 1 && part.includes(underlined) && message.test(said);
        assert(shown.some(isThere), `${marked}\n${JSON.stringify(shown)}`);
    }
}

async function completions() {
    for (const [marked, wanted] of COMPLETIONS) {
        const [document, parsed] = open(marked.replace("|", ""));
        const { items } = await service.doComplete(document, document.positionAt(marked.indexOf("|")), parsed);
        const labels = items.map(({ label }) => label);
        for (const label of wanted) assert(labels.includes(label), `${marked}: ${label} is not among ${labels}`);
    }
}

async function descriptions() {
    const text = '{"definitionId": "d", "root": {"type": "RunTask", "taskName": "x"}}';
    const [document, parsed] = open(text);
    const said = async (word) => JSON.stringify(await service.doHover(document, document.positionAt(text.indexOf(word) + 2), parsed));
    assert.match(await said("RunTask"), /Opens a task/);
    assert.match(await said("taskName"), /Name of the task/);
}

async function good() {
    const pages = fs.readFileSync(path.join(__dirname, "../../../../docs/definitions.md"), "utf8");
    const documents = pages.split("```json\n").slice(1).map((rest) => rest.split("\n```")[0]);
    assert(documents.length > 3);
    for (const text of documents) assert.deepEqual(await service.doValidation(...open(text)), [], text);
}

(async () => {
    for (const test of [mistakes, completions, descriptions, good]) {
        try {
            await test();
            console.log(`test editor::${test.name} ... ok`);
        } catch (error) {
            console.log(`test editor::${test.name} ... FAILED`);
            console.error(error);
            process.exitCode = 1;
        }
    }
})();
