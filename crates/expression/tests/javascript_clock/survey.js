// Function AT, once with every combination. Tells which combination took longest.
const all = functions();
const [path, target] = all[AT] ?? ["", () => 1];
const list = combinations(path);
let works = 0, slowest = -1, chosen = 0, error = null;
for (let at = 0; at < list.length && (works === 0 || !ANY.includes(list[at][1])); at++) {
    const [receiver, parts] = list[at].map((make) => make());
    getVariable(`trying ${at}`);
    const begun = cpu();
    try {
        invoke(path, target, receiver, parts);
        works++;
    } catch (thrown) {
        error ??= String(thrown?.message).slice(0, 80);
    }
    const took = cpu() - begun;
    if (took > slowest) {
        slowest = took;
        chosen = at;
    }
}
return { path, works, slowest, chosen, error, functions: all.length };
