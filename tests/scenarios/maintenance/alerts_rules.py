"""Evaluates alert rules on real samples, for alerts.sh.

alerts_rules.py scrape URL FILE: stores what /metrics returns; an empty file if nothing answers.
alerts_rules.py fire RULES FOLDER HEALTHY NOW [ALERT]...: fails unless exactly these alerts fire when the samples of HEALTHY, scraped every minute
for 20 minutes, are followed by those of NOW for 40 minutes, and none before. promtool evaluates it, as a unit test of the rules.
"""
import json
import os
import re
import subprocess
import sys
import urllib.request

# The longest `for` of a rule is 15 minutes, and delta() looks back as far.
BEFORE, AFTER = 20, 40
SAMPLE = re.compile(r"([a-zA-Z_][a-zA-Z0-9_]*)(?:\{(.*)\})? (\S+)$")


def scrape(url, file):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        text = opener.open(url).read().decode()
    except OSError:
        text = ""
    with open(file, "w") as out:
        out.write(text)


def samples(file):
    """The value of each series, under its notation in PromQL."""
    found = {}
    for line in open(file):
        if not line.startswith("#"):
            name, labels, value = SAMPLE.match(line.rstrip("\n")).groups()
            found[f'{name}{{{labels + "," if labels else ""}instance="db"}}'] = f"{float(value):.6f}"
    return found


def firing(minute, since, alerts):
    """Checks which alerts have fired between two minutes."""
    return {
        "expr": f'group by (alertname) (count_over_time(ALERTS{{alertstate="firing"}}[{minute - since}m]))',
        "eval_time": f"{minute}m",
        "exp_samples": [{"labels": f'{{alertname="{alert}"}}', "value": 1} for alert in alerts],
    }


def fire(rules, folder, healthy, now, alerts):
    before, after = samples(healthy), samples(now)
    series = [
        {"series": name, "values": " ".join([before.get(name, "_")] * BEFORE + [after.get(name, "_")] * AFTER)}
        for name in sorted(before.keys() | after.keys())
    ]
    checks = [firing(BEFORE - 1, 0, []), firing(BEFORE + AFTER - 1, BEFORE, alerts)]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": checks}
    file = f"{folder}/rules_test.yml"
    with open(file, "w") as out:
        # JSON is YAML.
        json.dump({"rule_files": [os.path.abspath(rules)], "evaluation_interval": "1m", "tests": [test]}, out)
    ran = subprocess.run(["promtool", "test", "rules", file], capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"FAILED: promtool: {ran.stdout}{ran.stderr}")


if sys.argv[1] == "scrape":
    scrape(*sys.argv[2:])
else:
    fire(*sys.argv[2:6], sys.argv[6:])
