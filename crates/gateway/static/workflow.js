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
        // A page that refuses what is only half typed has a list as well.
        if (!found) return location.assign(address);
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

  // The page of an instance shows its changes. The hub, which Studio uses as well, checks once a second whether there are
  // any. The page is then read again, unless something in it has the focus or is selected. One read runs at a time, and
  // the next one waits several times as long as the last one took, so that a busy instance costs the server little.
  const live = () => document.querySelector("#live[data-instance]");
  if (live()) {
    const END = "\u001e";
    const note = document.getElementById("changed");
    let socket;
    let timer;
    let wait = 200;
    const is_used = () => {
      const shown = live();
      const selection = getSelection();
      if (!shown) return false;
      return shown.contains(document.activeElement) || (!selection.isCollapsed && shown.contains(selection.anchorNode));
    };
    const read = async () => {
      const shown = live();
      if (!shown) return;
      const answer = await fetch(location.href).catch(() => undefined);
      if (!answer?.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("live");
      if (!fresh || !shown.isConnected || fresh.dataset.stamp === shown.dataset.stamp) return;
      note.hidden = !is_used();
      if (is_used()) return;
      const open = [...shown.querySelectorAll("details")].map((details) => details.open);
      fresh.querySelectorAll("details").forEach((details, at) => (details.open = open[at] ?? false));
      // A browser would show the picture that it has.
      fresh.querySelectorAll("img").forEach((image) => (image.src = `${image.getAttribute("src")}?${Date.now()}`));
      shown.replaceWith(document.adoptNode(fresh));
      if (!live()) disconnect();
    };
    const renew = async () => {
      const begun = performance.now();
      await read().catch(() => undefined);
      wait = Math.min(Math.max(200, 5 * (performance.now() - begun)), 30000);
      const is_asked = timer === "again";
      timer = undefined;
      if (is_asked) later();
    };
    // Asked for while a read waits, it comes once; while one runs, once more after it.
    const later = () => {
      if (timer === "running") timer = "again";
      if (timer !== undefined) return;
      timer = setTimeout(() => {
        timer = "running";
        renew();
      }, wait);
    };
    const connect = () => {
      if (socket || document.hidden || !live()) return;
      const mine = new WebSocket(`${location.origin.replace(/^http/, "ws")}/elsa/hubs/workflow-instance`);
      socket = mine;
      const send = (record) => mine.send(JSON.stringify(record) + END);
      mine.addEventListener("open", () => {
        if (socket !== mine) return mine.close();
        send({ protocol: "json", version: 1 });
        send({ type: 1, target: "ObserveInstanceAsync", arguments: [live()?.dataset.instance] });
      });
      mine.addEventListener("message", (event) => {
        const types = event.data.split(END).filter(Boolean).map((record) => JSON.parse(record).type);
        if (types.includes(6)) send({ type: 6 });
        if (types.includes(1)) later();
      });
      mine.addEventListener("close", () => {
        if (socket !== mine) return;
        socket = undefined;
        setTimeout(connect, 30000);
      });
    };
    const disconnect = () => {
      const old = socket;
      socket = undefined;
      if (old?.readyState === WebSocket.OPEN) old.close();
    };
    // A tab that is not seen needs no connection.
    document.addEventListener("visibilitychange", () => (document.hidden ? disconnect() : connect()));
    document.addEventListener("focusout", () => note.hidden || later());
    setTimeout(connect, 1000);
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
