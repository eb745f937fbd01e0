/* Ticking rows by keys, and many at once: Shift with a click ticks all rows from the last one on, Shift with j or k the next row too. Without this file
   each row has its box. */
(() => {
  const { ROWS, current, rowsAround, focusRow } = globalThis.assentRows;
  const TICKS = 'input:is([form=bulk][name=task], [form=many])';
  const boxOf = (row) => row?.querySelector(TICKS) ?? null;
  const ticked = () => [...document.querySelectorAll(`${TICKS}:checked`)];
  const say = (text) => document.dispatchEvent(new CustomEvent('say', { detail: text }));
  /* Bars that count what is ticked hear of it. */
  const announce = (box) => box?.dispatchEvent(new Event('change', { bubbles: true }));

  /* The box that was ticked or unticked last, from which a range goes. */
  let from = null;
  document.addEventListener('change', ({ target }) => {
    if (target.matches(TICKS)) from = target;
  });

  const tick = () => {
    const box = boxOf(current());
    if (!box) return false;
    box.click();
    say(`${box.checked ? 'Ticked' : 'Unticked'}, ${ticked().length} in all`);
    return true;
  };

  /* Where keys began to extend, and the row that they have reached: a step back takes the last row off again. */
  let first = null;
  let reached = null;
  const extend = (step) => {
    const row = current();
    if (!boxOf(row)) return false;
    const rows = rowsAround(row).filter(boxOf);
    const at = rows.indexOf(row);
    const next = rows[at + step];
    if (row !== reached || !rows.includes(first)) first = row;
    const isBack = next && Math.abs(rows.indexOf(next) - rows.indexOf(first)) < Math.abs(at - rows.indexOf(first));
    boxOf(row).checked = !isBack;
    if (next) boxOf(next).checked = true;
    reached = next ?? row;
    announce(boxOf(reached));
    if (next) focusRow(next);
    say(next ? `${ticked().length} ticked` : `This is the ${step > 0 ? 'last' : 'first'} row, ${ticked().length} ticked`);
    return true;
  };

  const ACTS = { x: tick, J: () => extend(1), K: () => extend(-1) };
  document.addEventListener('key', (event) => {
    if (ACTS[event.detail]?.()) event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    /* In the manual order this takes the row itself one place further. */
    const row = event.shiftKey && step ? event.target.closest(ROWS) : null;
    if (row && !row.closest('[data-manual]') && event.target.matches('a, button, input[type=checkbox]') && extend(step))
      event.preventDefault();
    const all = ticked();
    if (event.key !== 'Escape' || all.length === 0 || document.querySelector('dialog[open], details.menu[open]')) return;
    for (const box of all) box.checked = false;
    announce(all[0]);
    say('Nothing is ticked');
  });

  /* What was ticked stays ticked when it has been changed: the next key is for the same tasks, until Escape. */
  const KEPT = 'assent-ticks';
  const BULK = 'input[form=bulk][name=task]';
  const idOf = ({ value }) => value.slice(value.indexOf(':') + 1);
  const place = () => `${location.pathname} ${document.body.dataset.user}`;
  document.addEventListener('submit', ({ target }) => {
    if (!['/app/tasks/change', '/app/undo'].includes(target.getAttribute('action'))) return;
    const ids = [...document.querySelectorAll(`${BULK}:checked`)].map(idOf);
    sessionStorage.setItem(KEPT, JSON.stringify({ place: place(), ids }));
  });
  const restore = () => {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null');
    /* Until the answer comes the boxes are as they were, whatever else is replaced. */
    if (!kept || ticked().length > 0) return;
    sessionStorage.removeItem(KEPT);
    const boxes =
      kept.place === place() ? [...document.querySelectorAll(BULK)].filter((box) => kept.ids.includes(idOf(box))) : [];
    for (const box of boxes) box.checked = true;
    announce(boxes[0]);
  };
  for (const event of ['DOMContentLoaded', 'htmx:after:swap']) document.addEventListener(event, restore);

  /* Its words are not marked by the second click. While rows are ticked, Shift with a click on the words of a row is for the range too. */
  const rangeTo = ({ target, shiftKey }) => {
    const box = shiftKey ? (target.closest(TICKS) ?? boxOf(target.closest(`${ROWS} a.grow`)?.closest('li'))) : null;
    return box && (box === target || ticked().length > 0) ? box : null;
  };
  document.addEventListener('mousedown', (event) => {
    if (rangeTo(event)) event.preventDefault();
  });
  document.addEventListener(
    'click',
    (event) => {
      const box = rangeTo(event);
      if (!box) return;
      /* A click on the box itself has changed it. */
      if (box !== event.target) {
        event.preventDefault();
        event.stopPropagation();
        box.checked = from?.checked ?? true;
      }
      const boxes = [...document.querySelectorAll(TICKS)].filter((one) => one.checkVisibility());
      const [start, end] = [boxes.indexOf(from), boxes.indexOf(box)].toSorted((one, other) => one - other);
      for (const one of start < 0 ? [] : boxes.slice(start, end + 1)) if (!one.disabled) one.checked = box.checked;
      if (box !== event.target) announce(box);
      say(`${ticked().length} ticked`);
    },
    true,
  );
})();
