// Keeps a page up to date: its parts with `data-live` are fetched again when the scheduler reports a change.
// Without this script a page is complete, and stays as it was.
"use strict";
(() => {
  const body = document.body;
  const status = document.getElementById("connection");
  const often = Number(body.dataset.every || 15) * 1000;
  const stops = "a[href], summary, [tabindex]"; // where the focus can be
  const pause = 2000; // milliseconds between two fetches, at least
  let last = Date.now();
  let planned = 0;
  let isFetching = false;

  function plan(wait) {
    const at = Math.max(Date.now() + wait, last + pause + Math.random() * 500);
    if (planned && planned <= at) return;
    planned = at;
    setTimeout(() => { if (planned === at) { planned = 0; refresh(); } }, at - Date.now());
  }

  async function refresh() {
    if (document.hidden || isFetching || body.querySelector("main form :focus")) { plan(pause); return; }
    isFetching = true;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin", redirect: "error" });
      if (answer.ok || answer.status === 404) replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
      if (answer.status === 401) { status.textContent = `session ended: open ${body.dataset.product}'s address with its token`; status.className = "off"; }
    } catch { /* it is tried again */ }
    isFetching = false;
    last = Date.now();
    plan(often);
  }

  function replace(found) {
    if (frame(found) !== frame(document)) { location.reload(); return; } // it is another page now: a job is gone
    for (const now of document.querySelectorAll("[data-live][id]")) {
      const next = found.getElementById(now.id);
      if (next.innerHTML !== now.innerHTML) keepPlace(now, next);
    }
  }

  function frame(page) {
    const parts = [...page.querySelectorAll("[data-live][id]")].map((each) => each.id);
    return [page.body.dataset.every, ...parts].join(" ");
  }

  function keepPlace(now, next) {
    const active = now.contains(document.activeElement) ? document.activeElement : null;
    const place = active ? [...now.querySelectorAll(stops)].indexOf(active) : -1;
    const output = now.querySelector("pre.output");
    const isAtEnd = output && output.scrollTop + output.clientHeight >= output.scrollHeight - 8;
    for (const each of now.querySelectorAll("details[id]")) {
      const same = next.querySelector(`#${CSS.escape(each.id)}`);
      if (same) same.open = each.open;
    }
    const wides = [...now.querySelectorAll(".wide")].map((each) => each.scrollLeft);
    now.replaceChildren(...next.childNodes);
    now.querySelectorAll(".wide").forEach((each, number) => { each.scrollLeft = wides[number] || 0; });
    const after = now.querySelector("pre.output");
    if (after) after.scrollTop = isAtEnd ? after.scrollHeight : output ? output.scrollTop : 0;
    if (active) {
      const href = active.getAttribute("href");
      const same = (href && now.querySelector(`[href="${CSS.escape(href)}"]`)) || now.querySelectorAll(stops)[place];
      if (same) same.focus({ preventScroll: true });
    }
  }

  function listen() {
    const source = new EventSource(body.dataset.events);
    source.onopen = () => { status.textContent = "live"; status.className = "on"; };
    source.onerror = () => { status.textContent = "not live"; status.className = "off"; };
    source.addEventListener("change", (event) => {
      const change = JSON.parse(event.data);
      const mine = body.dataset.identity;
      if (!mine || change.more || change.jobs.includes(mine)) plan(0);
    });
    addEventListener("pagehide", () => source.close());
    addEventListener("pageshow", (event) => { if (event.persisted) listen(); });
  }

  if (!document.querySelector("[data-live]")) return;
  const output = document.querySelector("pre.output");
  if (output && body.dataset.every) output.scrollTop = output.scrollHeight;
  listen();
  plan(often);
})();
