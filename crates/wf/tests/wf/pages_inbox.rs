//! The inbox and its tasks in a browser.

use uuid::Uuid;

use crate::support::{Answer, World};

const OURS: (&str, &str) = ("Sec-Fetch-Site", "same-origin");
const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
const EVIL: &str = "<img src=x onerror=alert(1)>\"'&";

/// A browser with a session.
pub struct Browser<'a> {
    world: &'a World,
    cookie: String,
    /// The cookies of the preferences.
    preferences: &'static str,
}

impl<'a> Browser<'a> {
    pub fn new(world: &'a World, role: &str, password: &str) -> Self {
        Self::log_in(world, &format!("role={role}&password={password}"))
    }

    /// A browser whose session began with an API key.
    pub fn with_key(world: &'a World, key: &str) -> Self {
        Self::log_in(world, &format!("key={key}"))
    }

    fn log_in(world: &'a World, form: &str) -> Self {
        let answer = world.send("POST", "/login", &[OURS, FORM], form);
        assert_eq!(answer.status, 303, "{answer:?}");
        let mut browser = Self { world, cookie: String::new(), preferences: "" };
        browser.keep(&answer);
        browser
    }

    pub fn ada(world: &'a World) -> Self {
        Self::new(world, "ada", "lovelace")
    }

    pub fn ben(world: &'a World) -> Self {
        Self::new(world, "ben", "franklin")
    }

    fn keep(&mut self, answer: &Answer) {
        let set = answer.headers["set-cookie"].to_str().expect("text");
        self.cookie = set.split(';').next().expect("a cookie").to_owned() + self.preferences;
    }

    /// The same with details for developers.
    pub fn developer(self) -> Self {
        self.preferring("; wf-developer=on")
    }

    /// The same with cookies of preferences, as they follow another cookie.
    pub fn preferring(self, preferences: &'static str) -> Self {
        Self { cookie: self.cookie.clone() + preferences, preferences, ..self }
    }

    /// Continues as another role.
    pub fn act_as(&mut self, role: &str) {
        let answer = self.post("/role", &[("role", role), ("next", "/inbox")]);
        assert_eq!(answer.status, 303, "{answer:?}");
        self.keep(&answer);
    }

    pub fn get(&self, path: &str) -> Answer {
        self.world.send("GET", path, &[("Cookie", &self.cookie)], "")
    }

    /// The text of a page that must exist.
    pub fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.text
    }

    pub fn post(&self, path: &str, pairs: &[(&str, &str)]) -> Answer {
        self.send("POST", path, &form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish())
    }

    /// Submits a page's form, or requests a page.
    pub fn send(&self, method: &str, path: &str, form: &str) -> Answer {
        self.world.send(method, path, &[("Cookie", &self.cookie), OURS, FORM], form)
    }
}

/// The target of an answer that must be a redirect.
pub fn location(answer: &Answer) -> &str {
    assert_eq!(answer.status, 303, "{answer:?}");
    answer.headers["location"].to_str().expect("text")
}

/// The text of the page with escapes decoded.
pub fn unescaped(html: &str) -> String {
    html.replace("&#60;", "<").replace("&#62;", ">").replace("&#34;", "\"").replace("&#39;", "'").replace("&#38;", "&")
}

/// The statement that a page shows below a summary.
pub fn sql(page: &str, summary: &str) -> String {
    let start = page.find(summary).unwrap_or_else(|| panic!("{summary} in {page}"));
    let (_, rest) = page[start..].split_once("<pre").expect("a statement");
    let (_, rest) = rest.split_once('>').expect("the end of the tag");
    unescaped(rest.split_once("</pre>").expect("its end").0)
}

/// A superuser's workflow whose tasks have the candidates `clerks`.
fn leave(world: &World) -> Uuid {
    world.sql(
        r#"SELECT wf_define('{"definitionId": "leave", "outputs": [{"name": "Answer"}], "root": [
            {"id": "approve", "type": "RunTask", "taskName": "Approve leave", "payload": {"object": {"days": {"input": "days"}}},
             "candidates": ["role:clerks"], "deadline": "2 days",
             "form": {"type": "object", "title": "Leave", "required": ["approved"], "properties": {
                "approved": {"type": "boolean", "title": "Approve it?"},
                "days": {"type": "number", "title": "Days"}, "why": {"type": "string", "maxLength": 1000}}},
             "resultSchema": {"type": "object", "required": ["approved"], "additionalProperties": false, "properties": {
                "approved": {"type": "boolean"}, "days": {"type": "number", "maximum": 30}, "why": {"type": "string", "minLength": 3}}},
             "result": {"output": "Answer"}}]}')"#,
    );
    world.sql("SELECT wf_start('leave', '{\"days\": 3}')");
    task(world, "Approve leave")
}

fn task(world: &World, name: &str) -> Uuid {
    let id = world.value(&format!(
        "SELECT task_id::text FROM workflow.open_tasks WHERE name = '{name}' ORDER BY task_id DESC LIMIT 1"
    ));
    id.expect("a task").parse().expect("a uuid")
}

/// jsonb does not keep the order of members, and a form need not repeat what the answer requires.
#[test]
fn a_form_has_the_order_of_its_fields_and_requires_what_the_answer_requires() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "ask", "root": {"id": "ask", "type": "RunTask", "taskName": "Ask", "candidates": ["role:ada"],
            "form": {"properties": {"aa": {"title": "Fourth"}, "zz": {"title": "Third", "type": "string"},
                "b": {"title": "Second", "type": "string", "propertyOrder": 2}, "c": {"title": "First", "type": "string", "propertyOrder": 1}}},
            "resultSchema": {"type": "object", "required": ["zz"]}}}');
        SELECT wf_start('ask')"#,
    );
    let page = Browser::ada(&world).page(&format!("/inbox/{}", task(&world, "Ask")));
    let places = ["First", "Second", "Third", "Fourth"].map(|title| page.find(&format!(">{title}")).expect(title));
    assert!(places.is_sorted(), "{page}");
    assert!(
        page.contains(">Third <span class=\"required\"")
            && page.contains(">First <span class=\"optional\">(optional)</span>"),
        "{page}"
    );
}

#[test]
fn the_inbox_shows_what_the_role_may_see() {
    let world = World::new();
    let task = leave(&world);
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let link = format!("href=\"/inbox/{task}");
    for (whose, is_there) in [("all", true), ("roles", true), ("mine", false), ("nonsense", true)] {
        let page = ada.page(&format!("/inbox?whose={whose}&order=deadline"));
        assert_eq!(page.contains(&link), is_there, "{whose}: {page}");
    }
    assert!(!ben.page("/inbox").contains(&link), "no task of others");
    assert_eq!(ben.get(&format!("/inbox/{task}")).status, 404);
    assert_eq!(ada.get("/inbox/nonsense").status, 404);
    assert_eq!(ada.get(&format!("/inbox/{}", Uuid::nil())).status, 404);
    let answer = world.send("GET", &format!("/inbox/{task}"), &[], "");
    assert_eq!(location(&answer), format!("/login?next=%2Finbox%2F{task}"));

    let address = format!("/inbox/{task}");
    let taken = ada.post(&address, &[("do", "take")]);
    assert_eq!(location(&taken), format!("{address}?done=taken"));
    assert!(ada.page(location(&taken)).contains("role=\"status\""));
    assert!(ada.page("/inbox?whose=mine").contains(&link));
    assert_eq!(world.value("SELECT assignee FROM workflow.open_tasks").as_deref(), Some("role:ada"));
    let mut clerk = Browser::ada(&world);
    clerk.act_as("clerks");
    assert!(!clerk.page("/inbox?whose=mine").contains(&link) && clerk.page("/inbox?whose=roles").contains(&link));
    let refused = clerk.post(&address, &[("do", "take")]);
    assert!(refused.status == 409 && refused.text.contains("is assigned to role:ada"), "{refused:?}");
    let refused = clerk.post(&address, &[("do", "give-back")]);
    assert_eq!(refused.status, 403, "{refused:?}");
    assert_eq!(location(&ada.post(&address, &[("do", "give-back")])), "/inbox?done=given-back");
    assert_eq!(world.value("SELECT assignee FROM workflow.open_tasks"), None);
}

#[test]
fn pages_of_the_inbox_are_bounded_and_in_order() {
    let world = World::new();
    world.sql(
        r#"SELECT wf_define('{"definitionId": "many", "root": {"type": "RunTask", "taskName": {"js": "`Task ${getInput('number')}.`"},
            "candidates": ["role:ada"], "deadline": {"js": "new Date(Date.UTC(2030, 0, 200 - getInput('number')))"}}}'::jsonb)"#
            .replace("('number')", "(''number'')")
            .as_str(),
    );
    world.sql("SELECT wf_start('many', jsonb_build_object('number', n)) FROM generate_series(1, 51) n");
    let ada = Browser::ada(&world);
    let shown = |page: &str| page.matches("<a href=\"/inbox/").count();
    let (first, second) = (ada.page("/inbox"), ada.page("/inbox?page=2"));
    assert_eq!((shown(&first), shown(&second)), (50, 1));
    assert!(first.contains("Task 1.") && second.contains("Task 51.") && first.contains("rel=\"next\""), "{first}");
    let urgent = ada.page("/inbox?order=deadline&page=1");
    assert!(urgent.contains("Task 51.") && !urgent.contains(">Task 1.<"), "{urgent}");
    for page in ["0", "-1", "99999999999999999999", "x", "200"] {
        ada.page(&format!("/inbox?page={page}"));
    }
}

#[test]
fn an_answer_is_typed_refused_and_taken_once() {
    let world = World::new();
    let task = leave(&world);
    let ada = Browser::ada(&world);
    let address = format!("/inbox/{task}");
    let page = ada.page(&address);
    for part in [
        "name=\"do\" value=\"yes\"",
        "name=\"do\" value=\"no\"",
        "inputmode=\"decimal\"",
        "<legend>Approve it?",
        ">Days</th>",
    ] {
        assert!(page.contains(part), "{part} in {page}");
    }
    // Invalid for the form itself, invalid for the answer's schema; both times with everything that was typed.
    let wrong = ada.post(&address, &[("do", "complete"), ("result/days", "many"), ("result/why", "<b>tired")]);
    assert_eq!(wrong.status, 400);
    for part in ["is no number", "an answer is required", "value=\"many\"", "&#60;b&#62;tired</textarea>"] {
        assert!(wrong.text.contains(part), "{part} in {}", wrong.text);
    }
    let typed = [("result/approved", "true"), ("result/days", "31.50"), ("result/why", "no")];
    let refused = ada.post(&address, &[&[("do", "complete")], &typed[..]].concat());
    assert_eq!(refused.status, 400);
    for part in [
        "Some fields need another answer",
        "the value is greater than the maximum of 30",
        "is shorter than 3",
        "value=\"31.50\"",
        "id=\"f2-problem\"",
    ] {
        assert!(refused.text.contains(part), "{part} in {}", unescaped(&refused.text));
    }
    assert_eq!(world.value("SELECT count(*)::text FROM workflow.open_tasks").as_deref(), Some("1"));

    let good = [("result/approved", "false"), ("result/days", "1.10"), ("result/why", "it's a \\ test")];
    let preview = ada.post(&address, &[&[("do", "preview")], &good[..]].concat());
    assert_eq!(preview.status, 200);
    assert_eq!(
        sql(&preview.text, "SQL of “Reject”"),
        format!(
            "SELECT sub_status FROM wf_complete_task('{task}'::uuid,  E'{{\"approved\":false,\"days\":1.10,\"why\":\"it''s a \\\\\\\\ test\"}}'::jsonb, on_fault => 'store');"
        )
    );
    let done = ada.post(&address, &[&[("do", "no")], &good[1..]].concat());
    assert_eq!(location(&done), format!("/inbox?done=completed&task={task}"));
    assert!(ada.page(location(&done)).contains("Rejected: Approve leave</p>"));
    let output = world.value("SELECT output ->> 'Answer' FROM workflow.instance_list");
    assert_eq!(output.as_deref(), Some(r#"{"why": "it's a \\ test", "days": 1.10, "approved": false}"#));
    // The second time there is no task, and the typed text is not lost.
    let again = ada.post(&address, &[&[("do", "complete")], &good[..]].concat());
    assert!(again.status == 404 && again.text.contains("it&#39;s a \\ test"), "{again:?}");
}

#[test]
fn sql_that_is_shown_does_what_the_button_does() {
    let world = World::new();
    let task = leave(&world);
    let ada = Browser::ada(&world).developer();
    let typed = [("do", "preview"), ("result/approved", "true"), ("reason", "it's \\ odd"), ("code", "odd")];
    let page = ada.post(&format!("/inbox/{task}"), &typed).text;
    let as_ada = |sql: &str| world.sql(&format!("SET ROLE ada; {sql}"));
    as_ada(&sql(&page, "SQL of “Take”"));
    assert_eq!(world.value("SELECT assignee FROM workflow.open_tasks").as_deref(), Some("role:ada"));
    as_ada(&sql(&ada.page(&format!("/inbox/{task}")), "SQL of “Give back”"));
    assert_eq!(world.value("SELECT assignee FROM workflow.open_tasks"), None);
    as_ada(&sql(&page, "SQL of “Approve”"));
    assert_eq!(
        world.value("SELECT output #>> '{Answer,approved}' FROM workflow.instance_list").as_deref(),
        Some("true")
    );
    world.sql("SELECT wf_start('leave')");
    let task = self::task(&world, "Approve leave");
    let page = ada.post(&format!("/inbox/{task}"), &[&[("do", "preview")], &typed[1..]].concat()).text;
    as_ada(&sql(&page, "SQL of “Fail”"));
    let incident = world.value("SELECT code || ': ' || message FROM workflow.open_incidents");
    assert_eq!(incident.as_deref(), Some("odd: it's \\ odd"));
}

#[test]
fn a_failure_is_of_this_task_and_of_no_other() {
    let world = World::new();
    world.sql(
        r#"SELECT wf_define('{"definitionId": "charge", "root": {"type": "RunTask", "taskName": "Charge", "candidates": ["role:ada"],
            "retry": {"maxAttempts": 2, "delay": "0 s"}}}')"#,
    );
    world.sql("SELECT wf_start('charge') FROM generate_series(1, 3)");
    let second =
        world.value("SELECT task_id::text FROM workflow.open_tasks ORDER BY task_id OFFSET 1 LIMIT 1").unwrap();
    let ada = Browser::ada(&world);
    let address = format!("/inbox/{second}");
    let without = ada.post(&address, &[("do", "fail"), ("reason", " "), ("code", "kept")]);
    assert!(
        without.status == 400
            && without.text.contains("a reason is required")
            && without.text.contains("value=\"kept\""),
        "{without:?}"
    );
    let odd = ada.post(&address, &[("do", "fail"), ("reason", "no"), ("code", "22023")]);
    assert!(odd.status == 400 && odd.text.contains(">\nno</textarea>"), "{odd:?}");
    let again = ada.post(&address, &[("do", "fail"), ("reason", "the bank is closed")]);
    assert_eq!(location(&again), format!("{address}?done=again"));
    let states = "SELECT string_agg(attempt || ':' || coalesce(last_error, '') || ':' || coalesce(lease_until > now(), false), ' ' ORDER BY task_id) FROM workflow.open_tasks";
    let states_now = || world.value(states).unwrap();
    let held = |text: &str| text.contains("true");
    assert!(
        states_now().contains("1:the bank is closed")
            && states_now().matches("0:").count() == 2
            && !held(&states_now()),
        "{}",
        states_now()
    );
    let last = ada.post(&address, &[("do", "fail"), ("reason", "for good"), ("last", "yes")]);
    assert_eq!(location(&last), "/inbox?done=failed");
    assert_eq!(world.value("SELECT message FROM workflow.open_incidents").as_deref(), Some("for good"));
    // A worker holds one task.
    world.sql("SET ROLE ada; SELECT wf_claim_tasks('{Charge}', worker => 'w', max => 10)");
    let held = world.value("SELECT task_id::text FROM workflow.open_tasks ORDER BY task_id LIMIT 1").unwrap();
    let address = format!("/inbox/{held}");
    let refused = ada.post(&address, &[("do", "fail"), ("reason", "kept words")]);
    assert!(
        refused.status == 409 && refused.text.contains("is claimed") && refused.text.contains("kept words"),
        "{refused:?}"
    );
    let refused = ada.post(&address, &[("do", "complete"), ("result", "{\"a\": 1}")]);
    assert!(refused.status == 409 && refused.text.contains("{&#34;a&#34;: 1}"), "{refused:?}");
}

#[test]
fn names_and_payloads_are_text() {
    let world = World::new();
    let definition = serde_json::json!({"definitionId": EVIL, "root": {"type": "RunTask", "taskName": EVIL, "payload": {EVIL: EVIL},
        "candidates": ["role:ada", EVIL], "form": {"title": EVIL, "properties": {EVIL: {"title": EVIL, "enum": [EVIL]}}}}});
    world.sql(&format!("SELECT wf_define($json${definition}$json$)"));
    world.sql(&format!("SELECT wf_start($json${EVIL}$json$, correlation_id => $json${EVIL}$json$)"));
    let ada = Browser::ada(&world);
    let id = world.value("SELECT task_id::text FROM workflow.open_tasks").unwrap();
    let address = format!("/inbox/{id}");
    let refused = ada.post(&address, &[("do", "fail"), ("reason", ""), ("code", EVIL)]);
    let unknown = ada.post(&address, &[("do", EVIL)]);
    assert_eq!(unknown.status, 400);
    let pages = [ada.page("/inbox"), ada.page(&address), refused.text, unknown.text];
    for page in &pages {
        assert!(!page.contains("<img src=x") && page.contains("&#60;img"), "{page}");
    }
    let field = format!("result/{}", EVIL.replace('/', "~1"));
    let done = ada.post(&address, &[("do", "complete"), (&field, EVIL)]);
    assert_eq!(location(&done), format!("/inbox?done=completed&task={id}"));
    let after = ada.page(location(&done));
    assert!(!after.contains("<img src=x") && after.contains("Completed: &#60;img"), "{after}");
}

#[test]
fn forms_of_other_sites_and_broken_ones_change_nothing() {
    let world = World::new();
    let address = format!("/inbox/{}", leave(&world));
    let ada = Browser::ada(&world);
    let good = "do=complete&result/approved=true";
    for headers in [&[FORM][..], &[FORM, ("Sec-Fetch-Site", "cross-site")], &[FORM, ("Origin", "http://evil.example")]]
    {
        let headers = [headers, &[("Cookie", ada.cookie.as_str())]].concat();
        assert_eq!(world.send("POST", &address, &headers, good).status, 403);
    }
    let nobody = world.send("POST", &address, &[OURS, FORM], good);
    assert!(location(&nobody).starts_with("/login?next="));
    let json =
        world.send("POST", &address, &[OURS, ("Content-Type", "application/json"), ("Cookie", &ada.cookie)], "{}");
    assert_eq!(json.status, 415);
    for text in ["\u{0}", "\u{202e}", "[[[[", "{\"a\": \"\\u0000\"}", "\"\\ud800\"", "1e400"] {
        let answer = ada.post(&address, &[("do", "complete"), ("as", "json"), ("result", text)]);
        assert_eq!(answer.status, 400, "{text:?}: {answer:?}");
    }
    assert_eq!(world.value("SELECT count(*)::text FROM workflow.open_tasks").as_deref(), Some("1"));
}

/// Each user sees whose workflow a task belongs to. A user who may not answer a task is offered nothing, and an inbox
/// contains no task that excludes its user.
#[test]
fn a_task_is_offered_to_those_who_may_answer_it() {
    let world = World::new();
    world.sql(
        r#"SET ROLE clerks; SELECT wf_define('{"definitionId": "travel", "name": "Travel", "root": {"id": "approve", "type": "RunTask",
            "taskName": "Approve travel", "candidates": ["role:ada", "role:ben"], "not": ["starter"]}}');
        SELECT wf_grant('travel', 'ben', '{start}');
        RESET ROLE; SET ROLE ben; SELECT wf_start('travel')"#,
    );
    let task = task(&world, "Approve travel");
    let address = format!("/inbox/{task}");
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    for whose in ["all", "mine"] {
        let list = ada.page(&format!("/inbox?whose={whose}"));
        assert!(list.contains("Approve travel") && !list.contains("of clerks"), "{list}");
        assert!(!ben.page(&format!("/inbox?whose={whose}")).contains("Approve travel"));
    }
    let buttons = |page: &str| -> Vec<&str> {
        ["complete", "take", "fail"].into_iter().filter(|name| page.contains(&format!("value=\"{name}\""))).collect()
    };
    let page = ada.page(&address);
    assert!(
        page.contains("Travel <span class=\"quiet small\">of clerks</span>")
            && buttons(&page) == ["complete", "take", "fail"],
        "{page}"
    );
    let page = ben.page(&address);
    assert!(page.contains("it excludes you") && buttons(&page).is_empty(), "{page}");
    let refused = ben.post(&address, &[("do", "complete"), ("as", "json"), ("result", "1")]);
    assert!(refused.status == 403 && refused.text.contains("excludes"), "{refused:?}");

    // A role that may read the workflow sees the task, but may not answer it.
    world.sql(
        r#"SET ROLE clerks; SELECT wf_define('{"definitionId": "pack", "root": {"id": "pack", "type": "RunTask", "taskName": "Pack"}}');
        SELECT wf_start('pack'); SELECT wf_grant('pack', 'ben', '{read}')"#,
    );
    let pack = self::task(&world, "Pack");
    assert!(!ben.page("/inbox?whose=all").contains("Pack") && ben.page("/inbox?whose=all&every=yes").contains("Pack"));
    let page = ben.page(&format!("/inbox/{pack}"));
    assert!(page.contains("ben may see this task, and not answer it.") && buttons(&page).is_empty(), "{page}");
    assert_eq!(buttons(&ada.page(&format!("/inbox/{pack}"))), ["complete", "take", "fail"]);
}

/// An operator whom a task does not name gives a reason for answering it.
#[test]
fn an_operator_answers_in_place_of_others_and_says_why() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "sick", "root": {"id": "sign", "type": "RunTask", "taskName": "Sign", "candidates": ["role:ben"],
            "form": {"type": "object", "properties": {"in-their-place": {"type": "string", "title": "Stamp"}}}}}');
        SELECT wf_start('sick')"#,
    );
    let task = task(&world, "Sign");
    let address = format!("/inbox/{task}");
    let ada = Browser::ada(&world);
    let page = ada.page(&address);
    assert!(page.contains("Why ada answers in place of") && !page.contains("value=\"fail\""), "{page}");
    assert!(!Browser::ben(&world).page(&address).contains("in place of"));
    let refused = ada.post(&address, &[("do", "complete"), ("as", "json"), ("result", "true")]);
    assert!(refused.status == 400 && refused.text.contains("a reason is required"), "{refused:?}");
    let typed = [("as", "json"), ("result", "true"), ("in-their-place", "ben is ill")];
    let preview = ada.post(&address, &[&[("do", "preview")], &typed[..]].concat());
    assert!(sql(&preview.text, "SQL of “Complete”").contains(", 'ben is ill', 'true'::jsonb"), "{preview:?}");
    let done = ada.post(&address, &[&[("do", "complete")], &typed[..]].concat());
    assert_eq!(location(&done), format!("/inbox?done=completed&task={task}"));
    let reason = "SELECT detail ->> 'reason' FROM workflow.audit WHERE detail ? 'reason'";
    assert_eq!(world.value(reason).as_deref(), Some("ben is ill"));
}
