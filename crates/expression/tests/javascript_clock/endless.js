// Functions without end, each with the combination that keeps it busy longest: CALLS is a list of
// [number of the function, number of the combination]. Nothing that is caught may keep the script alive.
const all = functions();
const calls = CALLS.map(([at, chosen]) => {
    const [path, target] = all[at];
    const [receiver, parts] = combinations(path)[chosen].map((make) => make());
    return () => invoke(path, target, receiver, parts);
});
begin();
for (;;) {
    for (const call of calls) {
        try {
            for (let times = 0; calls.length === 1 || times < 10; times++) {
                call();
            }
        } catch {
            // Goes on.
        } finally {
            continue;
        }
    }
}
