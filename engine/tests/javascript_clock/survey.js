// Functions FROM to TO: each once with every combination. Tells which combination took longest.
const shared = new Map();
const report = [];
const all = functions();
for (const [path, target] of all.slice(FROM, TO)) {
    const fresh = new Map();
    const made = (maker) => {
        const kept = ANY.includes(maker) ? shared : fresh;
        if (!kept.has(maker)) {
            kept.set(maker, maker());
        }
        return kept.get(maker);
    };
    const list = combinations(path);
    let works = 0, slowest = -1, chosen = 0, error = null;
    for (let at = 0; at < list.length && (works === 0 || !ANY.includes(list[at][1])); at++) {
        try {
            // What the last call left in its receiver must not make this one quick, or large.
            fresh.delete(list[at][0]);
            const receiver = made(list[at][0]), parts = made(list[at][1]);
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
        } catch {
            // Without memory even for a look at the clock.
            fresh.clear();
            shared.clear();
        }
    }
    report.push({ path, works, slowest, chosen, error });
}
return { report, functions: all.length };
