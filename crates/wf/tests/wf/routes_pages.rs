//! Every route of a page, with permission and without it. `routes.rs` fails the run if a route has no case.

use crate::pages_inbox::Browser;
use crate::routes::{SECRET, WaitingWorkflow};
use crate::studio::Folder;

/// Pages that are the same for all logged-in users: those of Studio request their content from Elsa's API.
pub const FRAMES: &[&str] = &["GET /definitions", "GET /instances", "GET /preferences", "GET /substitutes"];

/// A request of a browser. D, I, T and B stand for a definition of ada's, an instance, its task and its bookmark.
pub struct PageCase {
    pub route: &'static str,
    address: &'static str,
    form: &'static str,
    /// What ada does before it.
    before: &'static str,
    /// The status for a role without permission.
    refused: u16,
}

const fn get(route: &'static str, address: &'static str, before: &'static str, refused: u16) -> PageCase {
    PageCase { route, address, form: "", before, refused }
}

const fn task(form: &'static str, before: &'static str) -> PageCase {
    PageCase { route: "POST /inbox/{task_id}", address: "/inbox/T", form, before, refused: 404 }
}

const fn act(address: &'static str, form: &'static str, before: &'static str) -> PageCase {
    PageCase { route: "POST /instances/{id}/{action}", address, form, before, refused: 403 }
}

const FAIL: &str = "SELECT wf_fail_task(task_id, token, 'quokka', retry => false, on_fault => 'store') FROM wf_claim_tasks('{quokka D}')";
const LIMIT: &str = "SELECT wf_limit_tasks('quokka D', 1)";
const SCHEDULE: &str = "SELECT wf_schedule('quokka D', '0 3 29 2 *', 'SELECT 1')";
const PAUSE: &str = "SELECT wf_pause('I', 'quokka')";
const TAKE: &str = "SELECT wf_assign_task('T', 'role:ada')";
const COMPLETE: &str = "SELECT wf_complete_task('T', '1')";
const MORE: &str = r#"SELECT wf_define('{"definitionId": "D", "description": "more", "variables": {"quokka": 1},
    "root": {"id": "ask", "type": "RunTask", "taskName": "quokka D"}}')"#;

pub const PAGES: &[PageCase] = &[
    get("GET /workflows/definitions/{id}/edit", "/workflows/definitions/D/edit", "", 404),
    get("GET /workflows/instances/{id}/view", "/workflows/instances/I/view", "", 404),
    get("GET /inbox", "/inbox?whose=all&every=yes", "", 200),
    get("GET /inbox", "/inbox?whose=mine", TAKE, 200),
    get("GET /inbox/{task_id}", "/inbox/T", "", 404),
    task("do=preview&result=1", ""),
    task("do=take", ""),
    task("do=give-back", TAKE),
    task("do=complete&as=json&result=1", ""),
    task("do=fail&reason=no", ""),
    get("GET /inbox", "/inbox?whose=done", COMPLETE, 200),
    get("GET /start", "/start", "", 200),
    get("GET /start/{definition_id}", "/start/D", "", 404),
    PageCase { route: "POST /start/{definition_id}", address: "/start/D", form: "do=start", before: "", refused: 404 },
    get("GET /requests", "/requests", "", 200),
    get("GET /overview", "/overview", FAIL, 200),
    get("GET /search", "/search", "", 200),
    get("GET /search", "/search?definition=D&status=Suspended", "", 200),
    get("GET /incidents", "/incidents", FAIL, 200),
    get("GET /incidents", "/incidents?definition=D&activity=ask", FAIL, 200),
    get("GET /incidents/retry", "/incidents/retry?definition=D", FAIL, 200),
    // Who may retry none is led to a page that says so.
    PageCase {
        route: "POST /incidents/retry",
        address: "/incidents/retry",
        form: "definition=D",
        before: FAIL,
        refused: 303,
    },
    get("GET /schedules", "/schedules", SCHEDULE, 200),
    get("GET /workers", "/workers", LIMIT, 200),
    get("GET /audit", "/audit?action=start", "", 200),
    get("GET /audit", "/audit?action=start&format=csv", "", 200),
    get("GET /incidents", "/incidents?format=csv", FAIL, 200),
    get("GET /schedules", "/schedules?format=csv", SCHEDULE, 200),
    get("GET /instances/{id}", "/instances/I", "", 404),
    get("GET /instances/{id}", "/instances/I", FAIL, 404),
    get("GET /instances/{id}/picture.svg", "/instances/I/picture.svg", "", 403),
    get("GET /instances/{id}/timeline", "/instances/I/timeline", "", 404),
    get("GET /instances/{id}/children", "/instances/I/children", "", 404),
    get("GET /instances/{id}/{action}", "/instances/I/resume?bookmark=B", "", 404),
    get("GET /instances/{id}/{action}", "/instances/I/retry?activity=ask", FAIL, 404),
    get("GET /instances/{id}/{action}", "/instances/I/cancel", "", 404),
    get("GET /instances/{id}/{action}", "/instances/I/pause", "", 404),
    get("GET /instances/{id}/{action}", "/instances/I/unpause", PAUSE, 404),
    get("GET /instances/{id}/{action}", "/instances/I/set-variable?name=Amount", "", 404),
    get("GET /instances/{id}/{action}", "/instances/I/migrate", MORE, 404),
    act("/instances/I/resume", "do=perform&bookmark=B", ""),
    act("/instances/I/retry", "do=perform&activity=ask", FAIL),
    act("/instances/I/cancel", "do=perform", ""),
    act("/instances/I/pause", "do=perform", ""),
    act("/instances/I/unpause", "do=perform", PAUSE),
    act("/instances/I/set-variable", "do=perform&name=Amount&value=8", ""),
    act("/instances/I/migrate", "do=preview&version=2", MORE),
    act("/instances/I/migrate", "do=perform&version=2", MORE),
    PageCase { route: "POST /role", address: "/role", form: "role=clerks&next=/instances/I", before: "", refused: 401 },
];

/// A role cannot do on a page what it may not do in psql.
#[test]
fn who_may_not_sees_and_changes_nothing_on_pages() {
    let studio = Folder::new();
    let world = studio.world();
    let (api, ada, ben) = (world.client("ada"), Browser::ada(&world), Browser::ben(&world));
    for (number, page) in PAGES.iter().enumerate() {
        let workflow = WaitingWorkflow::new(&world, &api, number);
        let bookmark = world
            .value(&format!("SELECT bookmark_id::text FROM workflow.waiting WHERE instance = '{}'", workflow.instance));
        let of_workflow = |text: &str| {
            let named = text.replace("quokka D", &format!("quokka {}", workflow.definition));
            named
                .replace("\"D\"", &format!("\"{}\"", workflow.definition))
                .replace("'I'", &format!("'{}'", workflow.instance))
                .replace("'T'", &format!("'{}'", workflow.task))
                .replace("/start/D", &format!("/start/{}", workflow.definition))
                .replace("/D/", &format!("/{}/", workflow.definition))
                .replace("/I", &format!("/{}", workflow.instance))
                .replace("/T", &format!("/{}", workflow.task))
                .replace("=B", &format!("={}", bookmark.clone().unwrap_or_default()))
                .replace("=D", &format!("={}", workflow.definition))
        };
        world.sql(&format!("SET ROLE ada; {}", of_workflow(page.before)));
        let method = page.route.split(' ').next().unwrap();
        let send = |browser: &Browser| browser.send(method, &of_workflow(page.address), &of_workflow(page.form));
        let name = format!("{} {} {}", page.route, page.address, page.form);
        let before = workflow.state(&world);

        let refused = send(&ben);
        let is_refused = refused.status == page.refused
            || page.refused == 401 && refused.headers.get("location").is_some_and(|to| to == "/login");
        assert!(is_refused && !refused.text.contains(SECRET), "{name}: {refused:?}");
        assert_eq!(workflow.state(&world), before, "{name}");

        let done = send(&ada);
        assert!(matches!(done.status, 200 | 303), "{name}: {done:?}");
        let is_shown = page.form.starts_with("do=preview") || method == "GET";
        assert_eq!(workflow.state(&world) == before, is_shown || page.route == "POST /role", "{name}");
        // Studio requests what it shows.
        let has_secret = done.text.contains(SECRET) || page.route.ends_with("/view");
        assert!(!is_shown || has_secret, "{name}: {done:?}");
    }
}

#[test]
fn frames_of_studio_tell_nothing() {
    let studio = Folder::new();
    let world = studio.world();
    WaitingWorkflow::new(&world, &world.client("ada"), 0);
    for browser in [Browser::ada(&world), Browser::ben(&world)] {
        for route in FRAMES {
            assert!(!browser.page(route.split(' ').nth(1).unwrap()).contains(SECRET), "{route}");
        }
    }
}
