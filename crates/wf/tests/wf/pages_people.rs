//! What people see who build no workflows: requests, answers, preferences.

use crate::pages_inbox::{Browser, location};
use crate::support::World;

/// A workflow of the superuser that ben may start, and of which ada, as a clerk, answers the task.
fn leave(world: &World) {
    world.sql(
        r#"SELECT wf_define('{"definitionId": "leave", "name": "Leave of absence", "description": "Days off",
            "inputs": [{"name": "from", "type": "String", "schema": {"format": "date"}}, {"name": "days", "type": "Int32", "required": true, "schema": {"maximum": 30}}],
            "outputs": [{"name": "Decision"}],
            "root": {"id": "approve", "type": "Approve", "by": "role:clerks", "abstain": true, "name": "Approve leave",
                "subject": {"js": "`${getInput(''days'')} days of leave`"}, "details": {"object": {"firstDay": {"input": "from"}}},
                "deadline": "2 days", "result": {"output": "Decision"}}}');
        SELECT wf_grant('leave', 'ben', '{start}')"#,
    );
}

#[test]
fn a_request_is_sent_followed_and_decided() {
    let world = World::new();
    leave(&world);
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    assert!(!ada.page("/start").contains("Leave of absence"));
    assert_eq!(ada.get("/start/leave").status, 404);
    let list = ben.page("/start");
    assert!(list.contains("href=\"/start/leave\"") && list.contains("Days off"), "{list}");
    assert!(!ben.page("/start?q=holiday").contains("Leave of absence"));
    let form = ben.page("/start/leave");
    let places = [">From <", ">Days <"].map(|label| form.find(label).unwrap_or_else(|| panic!("{label} in {form}")));
    assert!(places.is_sorted() && form.contains("type=\"date\""), "{form}");

    let refused = ben.post("/start/leave", &[("do", "start"), ("result/from", "2030-01-07"), ("result/days", "31")]);
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(refused.text.contains("value=\"31\"") && refused.text.contains("maximum of 30"), "{refused:?}");
    let missing = ben.post("/start/leave", &[("do", "start")]);
    assert!(missing.status == 400 && missing.text.contains("an answer is required"), "{missing:?}");
    assert_eq!(world.value("SELECT count(*)::text FROM workflow.instances").as_deref(), Some("0"));
    let sent = ben.post(
        "/start/leave",
        &[("do", "start"), ("result/from", "2030-01-07"), ("result/days", "3"), ("reference", "L-1")],
    );
    assert_eq!(location(&sent), "/requests?done=started");
    let page = ben.page(location(&sent));
    for part in ["The request is sent.", "Leave of absence · L-1", "waits for clerks", ">Running<"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!ada.page("/requests").contains("L-1"));

    let inbox = ada.page("/inbox");
    let request = "Leave of absence <span class=\"quiet small\">· L-1</span>";
    assert!(inbox.contains("3 days of leave") && inbox.contains(request), "{inbox}");
    let task = world.value("SELECT task_id::text FROM workflow.open_tasks").unwrap();
    let page = ada.page(&format!("/inbox/{task}"));
    for part in ["value=\"yes\"", "value=\"no\"", "value=\"abstain\"", " · L-1", ">First day</th>", "2030-01-07"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    assert!(!page.contains("wf_complete_task") && !page.contains("\"firstDay\""), "{page}");
    let done = ada.post(&format!("/inbox/{task}"), &[("do", "yes")]);
    assert_eq!(location(&done), format!("/inbox?done=completed&task={task}"));
    let after = ada.page(location(&done));
    assert!(after.contains("<p role=\"status\">Approved: 3 days of leave</p>"), "{after}");
    // To others the message does not say which task it was.
    let other = ben.page(location(&done));
    assert!(other.contains("<p role=\"status\">The task is completed.</p>"), "{other}");

    let page = ben.page("/requests");
    assert!(page.contains("answered by ada") && page.contains("Decision"), "{page}");
    let answers = ada.page("/inbox?whose=done");
    assert!(answers.contains("3 days of leave") && answers.contains(">Approved<"), "{answers}");
    assert!(answers.contains(request) && answers.contains("</time> <span class=\"quiet small\">("), "{answers}");
    let ended = ada.get(&format!("/inbox/{task}")).text;
    assert!(ended.contains("3 days of leave</p>") && ended.contains("<dd>Leave of absence · L-1</dd>"), "{ended}");
    assert!(answers.contains("Done by me <span class=\"count\">1</span>"), "{answers}");
    // The number is that of all answers, whatever is searched for.
    let none = ada.page("/inbox?whose=done&q=ship");
    assert!(none.contains("answered nothing") && none.contains("Done by me <span class=\"count\">1</span>"), "{none}");
    let none = ben.page("/inbox?whose=done");
    assert!(!none.contains("3 days of leave") && none.contains("<span class=\"count\">0</span></a>\n</nav>"), "{none}");
    assert!(ben.page("/inbox").contains("Done by me</a>"));
}

/// A click on what is no button of the form changes nothing.
#[test]
fn only_buttons_of_the_form_answer_it() {
    let world = World::new();
    leave(&world);
    world.sql("SET ROLE ben; SELECT wf_start('leave', '{\"days\": 1}')");
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "ask", "root": {"type": "RunTask", "taskName": "Ask", "candidates": ["role:ada"]}}');
        SELECT wf_start('ask')"#,
    );
    let ada = Browser::ada(&world);
    let task = world.value("SELECT task_id::text FROM workflow.open_tasks WHERE name = 'Ask'").unwrap();
    for button in ["yes", "abstain", "maybe", ""] {
        let refused = ada.post(&format!("/inbox/{task}"), &[("do", button)]);
        assert!(refused.status == 400 && refused.text.contains("cannot be asked to"), "{button}: {refused:?}");
    }
    let missing = world.value("SELECT task_id::text FROM workflow.open_tasks WHERE name <> 'Ask'").unwrap();
    let refused = ada.post(&format!("/inbox/{missing}"), &[("do", "complete")]);
    assert_eq!(refused.status, 400, "{refused:?}");
    assert_eq!(world.value("SELECT count(*)::text FROM workflow.open_tasks").as_deref(), Some("2"));
}

#[test]
fn after_an_answer_the_next_task_of_the_list_is_shown() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "many", "root": {"type": "RunTask", "taskName": "Check", "candidates": ["role:ada"],
            "payload": {"object": {"subject": {"js": "`Number ${getInput(''n'')}`"}}}}}');
        SELECT wf_start('many', jsonb_build_object('n', n)) FROM generate_series(1, 3) n"#,
    );
    let ada = Browser::ada(&world);
    let tasks: Vec<String> = (0..3)
        .map(|n| format!("SELECT task_id::text FROM workflow.open_tasks ORDER BY task_id OFFSET {n} LIMIT 1"))
        .map(|sql| world.value(&sql).unwrap())
        .collect();
    let page = ada.page(&format!("/inbox/{}?q=number", tasks[1]));
    let found = tasks.iter().filter(|task| page.contains(&format!("href=\"/inbox/{task}?q=number\""))).count();
    assert_eq!(found, 3, "{page}");
    let answer = |number: usize, query: &str| {
        let done = ada.post(&format!("/inbox/{}{query}", tasks[number]), &[("do", "complete")]);
        location(&done).to_owned()
    };
    let next = answer(1, "?q=number");
    assert_eq!(next, format!("/inbox/{}?q=number&done=completed&task={}", tasks[2], tasks[1]));
    let page = ada.page(&next);
    assert!(page.contains("Completed: Number 2</p>") && page.contains("· Next task</span>"), "{page}");
    assert!(!ada.page(&format!("/inbox/{}", tasks[2])).contains("Next task"));
    assert_eq!(answer(2, ""), format!("/inbox/{}?done=completed&task={}", tasks[0], tasks[2]));
    assert_eq!(answer(0, ""), format!("/inbox?done=completed&task={}", tasks[0]));
}

/// A workflow whose task ada, as a clerk, may pass on.
fn check(world: &World) -> String {
    world.sql(
        r#"SELECT wf_define('{"definitionId": "check", "root": {"type": "RunTask", "taskName": "Check receipt", "candidates": ["role:clerks"],
            "reassignable": true, "deadline": "1 ms"}}');
        SELECT wf_start('check')"#,
    );
    world.value("SELECT task_id::text FROM workflow.open_tasks").unwrap()
}

#[test]
fn who_else_was_asked_is_shown_to_those_who_may_read_it() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada;
        SELECT wf_define('{"definitionId": "buy", "root": {"id": "buy", "type": "Approve", "by": ["role:ada", "role:ben"], "name": "Approve purchase", "subject": "A desk"}}');
        SELECT wf_start('buy')"#,
    );
    let task = |voter: &str| {
        let sql = format!("SELECT task_id::text FROM workflow.open_tasks WHERE candidates = '{{role:{voter}}}'");
        format!("/inbox/{}", world.value(&sql).unwrap())
    };
    let (own, other) = (task("ada"), task("ben"));
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let page = ada.page(&own);
    assert!(page.contains("Who else was asked") && page.contains("waits for ben"), "{page}");
    assert_eq!(ada.post(&own, &[("do", "yes")]).status, 303);
    let page = ada.page(&other);
    assert!(page.contains("<strong>ada</strong>") && !page.contains("waits for ben"), "{page}");
    let page = ben.page(&other);
    assert!(page.contains("Approve purchase") && !page.contains("Who else was asked"), "{page}");
}

/// The votes so far are on the page of an open vote; all votes are at its address after the end.
#[test]
fn voters_see_the_votes_of_others_unless_they_are_secret() {
    let world = World::new();
    for (definition, secret) in [("open", false), ("closed", true)] {
        world.sql(&format!(
            r#"SELECT wf_define('{{"definitionId": "{definition}", "root": {{"id": "buy", "type": "Approve", "by": ["role:ada", "role:ben"],
                "subject": "A desk", "secretVotes": {secret}}}}}'); SELECT wf_start('{definition}')"#
        ));
    }
    let task = |definition: &str, voter: &str| {
        let of_voter = format!("candidates = '{{role:{voter}}}' AND definition_id = '{definition}'");
        let id = world.value(&format!("SELECT task_id::text FROM workflow.open_tasks WHERE {of_voter}"));
        format!("/inbox/{}", id.unwrap())
    };
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let (of_ada, of_ben) = (task("open", "ada"), task("open", "ben"));
    let secret = [task("closed", "ada"), task("closed", "ben")];
    assert!(!ben.page(&of_ben).contains(">Votes<"));
    for path in [&of_ada, &secret[0]] {
        assert_eq!(ada.post(path, &[("do", "yes")]).status, 303);
    }
    let yes = "<strong>ada</strong> <span class=\"pill good\">Approved</span>";
    let page = ben.page(&of_ben);
    assert!(page.contains(yes), "{page}");
    // They stand above the buttons.
    let places = [">Votes<", "value=\"yes\""].map(|part| page.find(part).unwrap_or_else(|| panic!("{part} in {page}")));
    assert!(places.is_sorted(), "{page}");
    assert!(!ben.page(&secret[1]).contains(">Votes<"));
    for path in [&of_ben, &secret[1]] {
        assert_eq!(ben.post(path, &[("do", "no")]).status, 303);
    }
    let no = "<strong>ben</strong> <span class=\"pill bad\">Rejected</span>";
    for (who, path) in [(&ada, &of_ada), (&ben, &of_ben)] {
        let ended = who.get(path);
        assert!(ended.text.contains("This task has ended"), "{ended:?}");
        assert!(ended.text.contains(yes) && ended.text.contains(no), "{ended:?}");
        let done = who.page("/inbox?whose=done");
        assert!(done.contains(&format!("<a href=\"{path}\">")), "{done}");
        assert_eq!(done.matches(">Votes</span>").count(), 1, "{done}");
    }
    let ended = ada.get(&secret[0]);
    assert!(ended.status == 404 && !ended.text.contains("<strong>ben</strong>"), "{ended:?}");
}

#[test]
fn only_late_tasks_are_listed() {
    let world = World::new();
    check(&world);
    world.sql(
        r#"SELECT wf_define('{"definitionId": "order", "root": {"type": "RunTask", "taskName": "Check order", "candidates": ["role:clerks"],
            "deadline": "2 days"}}');
        SELECT wf_start('order')"#,
    );
    let ada = Browser::ada(&world);
    let all = ada.page("/inbox");
    assert!(all.contains("Check receipt") && all.contains("Check order"), "{all}");
    let tab = "For my groups <span class=\"count\">2</span> <span class=\"late small\">1 late</span>";
    assert!(all.contains(tab), "{all}");
    let late = ada.page("/inbox?late=yes");
    assert!(late.contains("Check receipt") && !late.contains("Check order"), "{late}");
    assert!(late.contains("name=\"late\" value=\"yes\" checked"), "{late}");
    let none = ada.page("/inbox?late=yes&q=order");
    assert!(none.contains("There are no such tasks.") && none.contains("<a href=\"/inbox\">Show"), "{none}");
}

#[test]
fn a_task_is_commented_and_passed_on() {
    let world = World::new();
    let task = check(&world);
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let path = format!("/inbox/{task}");
    let late = ada.page("/inbox");
    assert!(late.contains("when late") && late.contains("· late"), "{late}");
    let comment = |fields: &[(&str, &str)]| ada.post(&path, &[&[("do", "comment")], fields].concat());
    let offer = [("comment", "Too dear"), ("uri", "https://files.example/offer.pdf"), ("attachment", "the offer")];
    assert_eq!(location(&comment(&offer)), format!("{path}?done=commented"));
    let page = ada.page(&path);
    for part in ["<strong>ada</strong>", "Too dear", "<a href=\"https://files.example/offer.pdf\"", ">the offer</a>"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let refused = comment(&[("comment", "Look"), ("uri", "javascript:alert(1)")]);
    assert!(refused.status == 400 && refused.text.contains("invalid URI"), "{refused:?}");
    assert!(refused.text.contains("Look</textarea>") && refused.text.contains("javascript:alert(1)"), "{refused:?}");
    assert_eq!(comment(&[]).status, 400);

    let pass_on = |to: &str| ada.post(&path, &[("do", "pass-on"), ("colleague", to)]);
    let refused = pass_on("nobody");
    assert!(refused.status >= 400 && refused.text.contains("role &#34;nobody&#34;"), "{refused:?}");
    let passed = pass_on("ben");
    assert_eq!(location(&passed), format!("/inbox?done=passed-on&task={task}"));
    // It names ada as a clerk as well: she can still answer it, and the list says with whom it is.
    let list = ada.page(location(&passed));
    for part in ["Passed on to ben: Check receipt</p>", "<span class=\"pill\">with ben</span>"] {
        assert!(list.contains(part), "{part} in {list}");
    }
    let mine = ben.page("/inbox?whose=mine");
    assert!(mine.contains("Check receipt") && !mine.contains("with ben"), "{mine}");
    let page = ben.page(&path);
    assert!(page.contains("assigned to ben") && page.contains("Too dear"), "{page}");
    let done = ben.post(&path, &[("do", "complete")]);
    assert_eq!(location(&done), format!("/inbox?done=completed&task={task}"));
    let answers = ben.page("/inbox?whose=done");
    let link = format!("<a href=\"{path}\">Check receipt</a> <span class=\"quiet small\">Comments</span>");
    assert!(answers.contains(&link), "{answers}");
    let ended = ben.get(&path);
    assert!(ended.status == 404 && ended.text.contains("Too dear"), "{ended:?}");
}

/// The answer to a cancelled task comes too late; what was said about it is still there for those whom it asked.
#[test]
fn comments_of_a_cancelled_task_are_shown_to_its_people() {
    let world = World::new();
    let task = check(&world);
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let path = format!("/inbox/{task}");
    let said = ada.post(&path, &[("do", "comment"), ("comment", "Which day was that?")]);
    assert_eq!(location(&said), format!("{path}?done=commented"));
    world.sql("SELECT wf_cancel(instance_id) FROM workflow.instance_list");
    let lost = ada.post(&path, &[("do", "complete")]);
    assert!(lost.status == 404 && lost.text.contains("Which day was that?"), "{lost:?}");
    let ended = ada.get(&path);
    assert!(ended.status == 404 && ended.text.contains("Which day was that?"), "{ended:?}");
    assert!(!ended.text.contains("What was typed"), "{ended:?}");
    let others = ben.get(&path);
    assert!(others.status == 404 && !others.text.contains("Which day was that?"), "{others:?}");
}

/// While one is away, another one has the tasks in the tab for groups, and answers in the absent one's place.
#[test]
fn a_substitute_is_set_answers_and_is_removed() {
    let world = World::new();
    let task = check(&world);
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    let set = |substitute: &str, since: &str, until: &str| {
        ada.post("/substitutes", &[("do", "set"), ("substitute", substitute), ("since", since), ("until", until)])
    };
    for (substitute, since, until, why) in [
        ("ben", "", "soon", "is no date"),
        ("ben", "", "", "is no date"),
        ("ben", "2031-01-02", "2030-01-01", "must be after"),
        ("clerks", "", "2999-12-31", "is no person"),
    ] {
        let refused = set(substitute, since, until);
        assert!(refused.status == 400 && refused.text.contains(why), "{substitute}, {until}: {refused:?}");
    }
    assert!(!ben.page("/inbox?whose=roles").contains("Check receipt"));
    assert_eq!(location(&set("ben", "", "2999-12-31")), "/substitutes?done=set");
    assert!(ada.page("/substitutes").contains("ben answers for you"));
    assert!(ben.page("/substitutes").contains("You answer for ada"));
    assert!(ben.page("/inbox?whose=roles").contains("Check receipt"));
    let done = ben.post(&format!("/inbox/{task}"), &[("do", "complete")]);
    assert_eq!(location(&done), format!("/inbox?done=completed&task={task}"));
    let answer = "SELECT concat_ws(' for ', role, in_place_of) FROM workflow.answers";
    assert_eq!(world.value(answer).as_deref(), Some("ben for role:ada"));
    let removed = ada.post("/substitutes", &[("do", "remove"), ("substitute", "role:ben")]);
    assert_eq!(location(&removed), "/substitutes?done=removed");
    assert!(!ada.page("/substitutes").contains("ben answers for you"));
    assert_eq!(ada.post("/substitutes", &[("do", "nothing")]).status, 400);
}

#[test]
fn people_land_where_they_have_something_to_do() {
    let world = World::new();
    world.sql(
        r#"SET ROLE ada; SELECT wf_define('{"definitionId": "mine", "root": {"type": "WriteLine", "text": "x"}}')"#,
    );
    let (ada, ben) = (Browser::ada(&world), Browser::ben(&world));
    assert_eq!((location(&ada.get("/")), location(&ben.get("/"))), ("/definitions", "/inbox"));
    assert_eq!(location(&world.send("GET", "/", &[], "")), "/login?next=%2F");
    assert!(ada.page("/inbox").contains("href=\"/overview\"") && !ben.page("/inbox").contains("href=\"/overview\""));
}

#[test]
fn preferences_are_kept_in_cookies() {
    let world = World::new();
    leave(&world);
    world.sql("SET ROLE ben; SELECT wf_start('leave', '{\"days\": 1}')");
    let ben = Browser::ben(&world);
    let set = ben.post(
        "/preferences",
        &[("language", "de"), ("zone", "Asia/Kolkata"), ("developer", "on"), ("next", "/requests")],
    );
    assert_eq!(location(&set), "/requests");
    let cookies: Vec<&str> = set.headers.get_all("set-cookie").iter().map(|cookie| cookie.to_str().unwrap()).collect();
    for cookie in ["wf-language=de;", "wf-zone=Asia%2FKolkata;", "wf-developer=on;"] {
        assert!(cookies.iter().any(|set| set.starts_with(cookie)), "{cookie} in {cookies:?}");
    }
    assert_eq!(ben.post("/preferences", &[("zone", "Asia/Nowhere")]).status, 400);
    assert_eq!(ben.post("/preferences", &[("language", "tlh")]).status, 400);
    assert_eq!(location(&ben.post("/preferences", &[("next", "//evil.example")])), "/");
    let german = ben.preferring("; wf-language=de; wf-zone=Asia/Kolkata");
    let page = german.page("/requests");
    assert!(page.contains("<html lang=\"de\">") && page.contains("Meine Anträge") && page.contains("IST"), "{page}");
    let unknown = german.get("/nowhere");
    assert!(unknown.status == 404 && unknown.text.contains("Abmelden") && unknown.text.contains("Zur ersten Seite"));
    let login = world.send("GET", "/login", &[("Accept-Language", "de-CH, en;q=0.5")], "");
    assert!(login.text.contains(">Name</label>") && login.text.contains("Datenbankrolle."), "{login:?}");
    assert!(login.text.contains("Anmelden") && login.text.contains("class=\"brand\""), "{login:?}");
}
