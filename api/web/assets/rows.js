/* Rows of lists and cards of boards by keys: the focus goes from one to the next, and stays where it was when an answer has replaced the page. Filters
   that apply when they are chosen. Without this file rows are links, and filters have their buttons. */
(() => {
  const LIST = 'assent-list';
  const ROWS = 'main ul.rows > li';
  const CARDS = 'main .board li:not(.none)';
  const linkOf = (row) => row?.querySelector('a[href]');
  const rowOf = (element) => element?.closest?.(`${ROWS}, ${CARDS}`) ?? null;
  /* Rows that a key can reach; those of a board are the cards of one column. */
  const rowsAround = (row) =>
    [...(row?.matches(CARDS) ? row.parentElement.querySelectorAll('li:not(.none)') : document.querySelectorAll(ROWS))].filter(
      (one) => linkOf(one) && one.checkVisibility(),
    );

  /* What is said stays outside of the part that is replaced. */
  const said = document.createElement('p');
  said.className = 'unseen';
  said.setAttribute('role', 'status');
  document.addEventListener('DOMContentLoaded', () => document.body.append(said));
  const say = (text) => {
    said.textContent = text;
  };
  document.addEventListener('say', ({ detail }) => say(detail));

  const focusRow = (row) => {
    linkOf(row)?.focus({ preventScroll: true });
    row?.scrollIntoView({ block: 'nearest' });
  };
  /* The link of the row that had the focus last: a click elsewhere does not send the reader back to the start. */
  let last = '';
  document.addEventListener('focusin', ({ target }) => {
    const row = rowOf(target);
    if (row) last = linkOf(row)?.getAttribute('href') ?? '';
  });
  const current = () =>
    rowOf(document.activeElement) ??
    [...document.querySelectorAll(`${ROWS}, ${CARDS}`)].find((row) => linkOf(row)?.getAttribute('href') === last) ??
    null;
  const go = (step) => {
    const row = current();
    const all = row ? rowsAround(row) : [...rowsAround(null), ...document.querySelectorAll(CARDS)];
    const to = row && all.includes(row) ? all[all.indexOf(row) + step] : all[0];
    if (to) focusRow(to);
    return all.length > 0;
  };
  const tick = () => {
    const box = current()?.querySelector('input[type=checkbox]');
    if (!box) return false;
    box.click();
    say(
      `${box.checked ? 'Ticked' : 'Unticked'}, ${document.querySelectorAll('input[form=bulk][name=task]:checked').length} in all`,
    );
    return true;
  };

  /* A task knows the list that it was opened from, for this tab and this user. */
  const remember = (link) => {
    const all = [...document.querySelectorAll(`${ROWS}, ${CARDS}`)].map((row) => linkOf(row)?.getAttribute('href'));
    const paths = all.filter((path) => path?.startsWith('/app/items/'));
    const from = `${location.pathname}${location.search}`;
    if (paths.includes(link.getAttribute('href')))
      sessionStorage.setItem(LIST, JSON.stringify({ user: document.body.dataset.user, from, paths }));
  };
  document.addEventListener(
    'click',
    ({ target }) => {
      const link = target.closest?.('a[href^="/app/items/"]');
      if (link && rowOf(link)) remember(link);
    },
    true,
  );
  const listHere = () => {
    const list = JSON.parse(sessionStorage.getItem(LIST) ?? 'null');
    return list?.user === document.body.dataset.user && list.paths.includes(location.pathname) ? list : null;
  };
  const goInList = (list, step) => {
    const to = list.paths[list.paths.indexOf(location.pathname) + step];
    if (to) location.assign(to);
    else say(step > 0 ? 'This is the last task of the list' : 'This is the first task of the list');
    return true;
  };
  const STEPS = { j: 1, k: -1 };
  const ACTS = {
    x: tick,
    u: () => {
      const list = listHere();
      if (list) location.assign(list.from);
      return list !== null;
    },
    z: () => {
      const undo = document.getElementById('undo');
      undo?.requestSubmit();
      return Boolean(undo);
    },
  };
  document.addEventListener('key', (event) => {
    const step = STEPS[event.detail];
    const list = step && !rowOf(document.activeElement) ? listHere() : null;
    const isDone = list ? goInList(list, step) : step ? go(step) : ACTS[event.detail]?.();
    if (isDone) event.preventDefault();
  });
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || event.defaultPrevented) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = rowOf(event.target);
    if (step && row?.matches(ROWS) && event.target.matches('a, button, input[type=checkbox]')) {
      event.preventDefault();
      const all = rowsAround(row);
      focusRow(all[all.indexOf(row) + step]);
    }
    const ticked = document.querySelectorAll('input[form=bulk][name=task]:checked');
    if (event.key !== 'Escape' || ticked.length === 0 || document.querySelector('dialog[open], details.menu[open]')) return;
    for (const box of ticked) box.checked = false;
    ticked[0].dispatchEvent(new Event('change', { bubbles: true }));
    say('Nothing is ticked');
  });

  /* An answer that replaces the page leaves the reader at the same row, or at the one that has come into its place, and as far down. */
  let kept = null;
  document.addEventListener('htmx:before:swap', () => {
    const row = rowOf(document.activeElement);
    const all = row ? rowsAround(row) : [];
    kept = {
      scroll: scrollY,
      path: location.pathname,
      href: row && linkOf(row)?.getAttribute('href'),
      later: all.slice(all.indexOf(row) + 1).map((one) => linkOf(one).getAttribute('href')),
      earlier: all
        .slice(0, Math.max(0, all.indexOf(row)))
        .map((one) => linkOf(one).getAttribute('href'))
        .reverse(),
    };
  });
  document.addEventListener('htmx:after:swap', () => {
    const before = kept;
    kept = null;
    if (!before || before.path !== location.pathname || rowOf(document.activeElement)) return;
    if (before.href) {
      const byPath = new Map(
        [...document.querySelectorAll(`${ROWS}, ${CARDS}`)].map((row) => [linkOf(row)?.getAttribute('href'), row]),
      );
      const found = [before.href, ...before.later, ...before.earlier].find((href) => byPath.has(href));
      linkOf(byPath.get(found))?.focus({ preventScroll: true });
      const notice = document.querySelector('main .notice');
      if (notice) say(notice.textContent.trim());
    }
    scrollTo({ top: before.scroll, behavior: 'instant' });
  });

  /* A filter applies when it is chosen: at once by pointer, after a pause by keys, which go from choice to choice. The next page has the focus there. */
  let isPointer = false;
  document.addEventListener('pointerdown', () => {
    isPointer = true;
  });
  document.addEventListener('keydown', () => {
    isPointer = false;
  });
  const FILTER = 'assent-filter';
  const PAUSE_MS = 700;
  let pause;
  document.addEventListener('change', ({ target }) => {
    if (!target.matches('form[data-applies] :is(select, [type=date])')) return;
    clearTimeout(pause);
    /* The year of a date is typed digit by digit. */
    if (!isPointer && target.type === 'date') return;
    const apply = () => {
      sessionStorage.setItem(FILTER, target.id);
      target.form.requestSubmit();
    };
    if (isPointer) apply();
    else pause = setTimeout(apply, PAUSE_MS);
  });
  document.addEventListener('DOMContentLoaded', () => {
    const id = sessionStorage.getItem(FILTER);
    sessionStorage.removeItem(FILTER);
    if (id) document.getElementById(id)?.focus({ preventScroll: true });
  });
})();
