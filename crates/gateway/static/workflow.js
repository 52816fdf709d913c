// Makes the pages pleasant; each of them does all without it.
"use strict";

(() => {
  // The browser knows the reader's time zone. The next page shows it.
  const cookies = document.cookie;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (zone && !/(^|; )wf-zone=/.test(cookies)) {
    const secure = location.protocol === "https:" ? "; secure" : "";
    document.cookie = `wf-zone=${zone}; path=/; max-age=34560000; samesite=lax${secure}`;
  }

  // A list is searched while one types: only the list is replaced, so that the field keeps its focus.
  const filters = document.querySelector("form[data-live]");
  if (filters) {
    let running;
    let timer;
    const search = async () => {
      running?.abort();
      running = new AbortController();
      const address = `${filters.action}?${new URLSearchParams(new FormData(filters))}`;
      try {
        const answer = await fetch(address, { signal: running.signal });
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const found = page.getElementById("list");
        if (!answer.ok || !found) return location.assign(address);
        document.getElementById("list").replaceWith(document.adoptNode(found));
        history.replaceState(null, "", address);
      } catch (error) {
        if (error.name !== "AbortError") location.assign(address);
      }
    };
    filters.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(search, 200);
    });
    filters.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(timer);
      search();
    });
  }

  // A menu closes with Escape, and when something else is pressed.
  const menu = document.querySelector("details.account");
  if (menu) {
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !menu.open) return;
      menu.open = false;
      menu.querySelector("summary").focus();
    });
    document.addEventListener("click", (event) => {
      if (!menu.contains(event.target)) menu.open = false;
    });
  }
})();
