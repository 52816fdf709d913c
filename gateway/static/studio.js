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
      if (!isCall || answer.status !== 401) return answer;
      await logIn();
      resource = again instanceof Request ? again.clone() : again;
    }
  };

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
