"use strict";
// Comfort only: every page works without it. Keys, the live feed, places kept over a reload, and what went wrong.
(() => {
  const all = (what, of = document) => [...of.querySelectorAll(what)];
  const one = (what) => document.querySelector(what);
  const typing = (at) => at.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

  // Keys
  const rows = () => all("[data-row]");
  const opened = () => rows().findIndex((each) => each.matches("[aria-current]"));
  let row = opened();
  const move = (by) => {
    const found = rows();
    if (!found.length) return;
    found[row]?.classList.remove("here");
    row = Math.min(Math.max(row + by, 0), found.length - 1);
    found[row].classList.add("here");
    found[row].scrollIntoView({ block: "nearest" });
    (found[row].matches("a") ? found[row] : found[row].querySelector("a"))?.focus({ preventScroll: true });
  };
  const inRow = (what) => rows()[row]?.querySelector(what) ?? one(`main ${what}:not([data-row] *)`);
  const keys = {
    "/": () => (one("main input[type=search]") ? one("main input[type=search]").focus() : (location.href = one('.menu a[href$="/search"]').href)),
    j: () => move(1),
    k: () => move(-1),
    e: () => inRow("[data-edit]")?.click(),
    x: () => inRow("[data-select]")?.click(),
    "?": () => one("#keys")?.showModal(),
  };
  let going = false; // after g, a letter names the page to go to
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || one("dialog[open]")) return;
    const page = going && one(`.menu a[data-go="${CSS.escape(event.key)}"]`);
    going = event.key === "g";
    if (page) {
      event.preventDefault();
      return page.click();
    }
    const verb = one(`[data-verb="${CSS.escape(event.key)}"]`);
    if (!keys[event.key] && !verb) return;
    event.preventDefault();
    verb ? verb.click() : keys[event.key]();
  });

  // The heat map is one stop: arrows move within it
  addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1 }[event.key];
    const days = step && event.target.closest?.(".heat") ? all(".heat [data-day]") : [];
    const to = days[days.indexOf(event.target) + step];
    if (!to) return;
    event.preventDefault();
    event.target.setAttribute("tabindex", "-1");
    to.setAttribute("tabindex", "0");
    to.focus();
  });

  // Places: after a form, the page stands where it stood
  const kept = `scroll ${location.pathname}`;
  addEventListener("submit", () => sessionStorage.setItem(kept, `${scrollY} ${row}`));
  const [top, at] = (sessionStorage.getItem(kept) ?? "").split(" ");
  sessionStorage.removeItem(kept);
  if (top) scrollTo(0, +top);
  if (at > -1) move(row > -1 ? 0 : +at + 1);
  one(".menu [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

  // Ticking one, some or all rows says how many are chosen
  addEventListener("change", (event) => {
    if (event.target.matches("[data-all]")) all("[data-select]").forEach((box) => (box.checked = event.target.checked));
    const count = all("[data-select]:checked").length;
    if (one("#chosen")) one("#chosen").textContent = count ? `${count} selected` : "Select rows to change several at once";
  });

  // What goes on, and what went wrong
  const idle = () => all("button[aria-busy]").forEach((button) => button.removeAttribute("aria-busy"));
  addEventListener("htmx:beforeRequest", (event) => event.detail.target.setAttribute("aria-busy", "true"));
  addEventListener("htmx:afterRequest", (event) => {
    event.detail.target.removeAttribute("aria-busy");
    row = opened();
    idle();
    if (one("#offline")) one("#offline").hidden = event.detail.xhr.status !== 0;
  });
  addEventListener("submit", (event) => event.submitter?.setAttribute("aria-busy", "true"));
  addEventListener("pageshow", idle);

  // The live feed
  const feed = one("[data-feed]");
  if (feed) {
    const source = new EventSource(feed.dataset.feed);
    source.onmessage = () => htmx.trigger(feed, "fed");
    source.onopen = () => feed.classList.add("live");
    source.onerror = () => feed.classList.remove("live");
    addEventListener("pagehide", () => source.close());
  }
})();
