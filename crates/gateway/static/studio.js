// What Elsa Studio leaves to the page that it stands in: where its backend is, where links lead, and logging in again.
"use strict";

(() => {
  const API = "/elsa/";
  const element = document.querySelector("[data-studio]");
  const editor = (id) => `/workflows/definitions/${encodeURIComponent(id)}/edit`;
  const viewer = (id) => `/workflows/instances/${encodeURIComponent(id)}/view`;

  element.setAttribute("remote-endpoint", `${location.origin}${API}api`);

  // The constructor of the element would take away what is set before.
  customElements.whenDefined(element.localName).then(() => {
    element.editWorkflowDefinition = (id) => location.assign(editor(id));
    element.viewWorkflowInstance = (id) => location.assign(viewer(id));
  });

  // Studio has no router here: what it navigates to is another page.
  const pushState = history.pushState.bind(history);
  history.pushState = (state, unused, url) => {
    const target = new URL(url ?? location.href, document.baseURI);
    if (target.pathname === location.pathname) pushState(state, unused, url);
    else location.assign(target);
  };

  // A session may end while its user edits. Each call that is refused for it waits until he has logged in, and is made
  // again.
  const send = window.fetch.bind(window);
  window.fetch = async (resource, options) => {
    const url = new URL(resource instanceof Request ? resource.url : resource, document.baseURI);
    const isCall = url.origin === location.origin && url.pathname.startsWith(API);
    const again = isCall && resource instanceof Request ? resource.clone() : resource;
    for (;;) {
      const answer = await send(resource, options);
      if (!isCall) return answer;
      if (answer.status !== 401) return understood(answer, url.pathname.slice(`${API}api`.length), methodOf(resource, options));
      await logIn();
      resource = again instanceof Request ? again.clone() : again;
    }
  };

  const methodOf = (resource, options) => (options?.method ?? (resource instanceof Request ? resource.method : "GET")).toUpperCase();

  // Studio shows what a validation (400) of these calls says. A refusal of any other call that changes something is an error that it
  // does not catch, after which it is dead; and it shows neither a reason nor what has failed of several.
  const SHOWN_BY_STUDIO = /^\/workflow-definitions(\/import|\/[^/]+\/(publish|retract|revert\/\d+))?$/;
  // What Studio reads of an answer to calls for many, where nothing was done.
  const NOTHING_DONE = {
    deleted: 0, published: [], alreadyPublished: [], notFound: [], updatedConsumers: [], retracted: [], alreadyRetracted: [],
    cancelledCount: 0, count: 0, planId: "", affectedWorkflows: [], items: [], totalCount: 0, results: [], failed: [],
  };

  // The answer in a form that Studio gets along with. What the server says is shown.
  async function understood(answer, path, method) {
    const changes = method !== "GET" && method !== "HEAD";
    if (!changes || (answer.ok && !/json/.test(answer.headers.get("Content-Type") ?? ""))) return answer;
    const body = await answer.clone().json().catch(() => null);
    if (answer.ok) {
      show((body?.failed ?? []).map((one) => `${one.id}: ${one.message}`));
      return answer;
    }
    if (method === "POST" && SHOWN_BY_STUDIO.test(path)) {
      return answer.status === 400 ? answer : new Response(await answer.text(), { status: 400, headers: answer.headers });
    }
    show(body?.errors?.generalErrors ?? [`${answer.status} ${answer.statusText}`]);
    // Studio knows that a run can be refused.
    if (path.endsWith("/execute")) return answer;
    if (method === "DELETE") return new Response(null, { status: 204 });
    return new Response(JSON.stringify(NOTHING_DONE), { status: 200, headers: { "Content-Type": "application/json" } });
  }

  const messages = document.getElementById("messages");
  messages.querySelector("button").addEventListener("click", () => {
    messages.hidden = true;
    messages.querySelector("ul").replaceChildren();
  });

  function show(texts) {
    for (const text of texts) {
      const item = document.createElement("li");
      item.textContent = text;
      messages.querySelector("ul").append(item);
    }
    if (texts.length > 0) messages.hidden = false;
  }

  const dialog = document.getElementById("login");
  const form = dialog.querySelector("form");
  const problem = form.querySelector("[role=alert]");
  let waiting = null;

  // One dialog, however many calls wait for it.
  function logIn() {
    waiting ??= new Promise((done) => {
      problem.hidden = true;
      dialog.showModal();
      form.elements.password.focus();
      form.onsubmit = async (event) => {
        event.preventDefault();
        const refused = await tryToLogIn();
        problem.textContent = refused ?? "";
        problem.hidden = refused === null;
        if (refused !== null) return;
        form.reset();
        dialog.close();
        waiting = null;
        done();
      };
    });
    return waiting;
  }

  // Without a session nothing here works: the dialog stays.
  dialog.addEventListener("cancel", (event) => event.preventDefault());

  // Gives the reason where it fails. The page goes on as the role that it was loaded as.
  async function tryToLogIn() {
    const { role, password, key, acting } = form.elements;
    const who = key.value ? { key: key.value } : { role: role.value, password: password.value };
    const loggedIn = await post("/login", who);
    if (loggedIn === null) return "The gateway cannot be reached.";
    if (loggedIn.type !== "opaqueredirect") return reason(await loggedIn.text());
    const asRole = await post("/role", { role: acting.value });
    return asRole?.type === "opaqueredirect" ? null : `This page acts as ${acting.value}, and you may not.`;
  }

  // Success is a redirect, which is not followed.
  function post(path, fields) {
    return send(path, { method: "POST", body: new URLSearchParams(fields), redirect: "manual" }).catch(() => null);
  }

  // The page that a refused log-in answers says why.
  function reason(page) {
    const said = new DOMParser().parseFromString(page, "text/html").querySelector("[role=alert]");
    return said?.textContent.trim() || "The log-in failed.";
  }
})();
