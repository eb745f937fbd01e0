/* Rows of lists, cards of boards and decisions by keys: the focus goes from one to the next, and stays where it was when an answer has replaced the page. Filters
   that apply when they are chosen. Without this file rows are links, and filters have their buttons. */
(() => {
  const LIST = 'assent-list';
  const ROWS = 'main ul.rows > li';
  const CARDS = 'main .board li:not(.none)';
  const DECISIONS = 'main article:has(> header :is(h2, h3) a)';
  const ALL = [ROWS, CARDS, DECISIONS].join(', ');
  const linkOf = (row) => row?.querySelector('a[href]');
  const rowOf = (element) => element?.closest?.(ALL) ?? null;
  /* Rows that a key can reach; those of a board are the cards of one column. */
  const rowsAround = (row) =>
    [
      ...(row?.matches(CARDS)
        ? row.parentElement.querySelectorAll('li:not(.none)')
        : document.querySelectorAll(`${ROWS}, ${DECISIONS}`)),
    ].filter((one) => linkOf(one) && one.checkVisibility());

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
    [...document.querySelectorAll(ALL)].find((row) => linkOf(row)?.getAttribute('href') === last) ??
    null;
  /* The last row of a page leads to the first one of the next. */
  const TURNED = 'assent-turned';
  const turn = (step) => {
    const link = document.querySelector(`main nav.pages a[rel=${step > 0 ? 'next' : 'prev'}]`);
    if (!link) return say(`This is the ${step > 0 ? 'last' : 'first'} row`);
    sessionStorage.setItem(TURNED, String(step));
    link.click();
  };
  document.addEventListener('DOMContentLoaded', () => {
    const step = Number(sessionStorage.getItem(TURNED));
    sessionStorage.removeItem(TURNED);
    const row = step === 0 ? undefined : rowsAround(null).at(step > 0 ? 0 : -1);
    if (row) focusRow(row);
  });
  const go = (step) => {
    const row = current();
    const all = row ? rowsAround(row) : [...rowsAround(null), ...document.querySelectorAll(CARDS)];
    const to = row && all.includes(row) ? all[all.indexOf(row) + step] : all[0];
    if (to) focusRow(to);
    else if (row?.matches(ROWS)) turn(step);
    return all.length > 0;
  };
  globalThis.assentRows = { ROWS, current, rowsAround, focusRow, linkOf };

  /* A task knows the list that it was opened from, for this tab and this user. */
  const remember = (link) => {
    const all = [...document.querySelectorAll(ALL)].map((row) => linkOf(row)?.getAttribute('href'));
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
  const readList = () => {
    const list = JSON.parse(sessionStorage.getItem(LIST) ?? 'null');
    return list?.user === document.body.dataset.user ? list : null;
  };
  const listHere = () => (readList()?.paths.includes(location.pathname) ? readList() : null);
  /* Who comes back to the list is at the row of the task that was open last. */
  addEventListener('pageshow', () => {
    const list = readList();
    const { pathname, search } = location;
    if (!list) return;
    if (list.paths.includes(pathname)) list.last = pathname;
    else if (list.from === `${pathname}${search}` && list.last) {
      const rows = [...document.querySelectorAll(ALL)];
      linkOf(rows.find((row) => linkOf(row)?.getAttribute('href') === list.last))?.focus();
      delete list.last;
    }
    sessionStorage.setItem(LIST, JSON.stringify(list));
  });
  const goInList = (list, step) => {
    const to = list.paths[list.paths.indexOf(location.pathname) + step];
    if (to) location.assign(to);
    else say(step > 0 ? 'This is the last task of the list' : 'This is the first task of the list');
    return true;
  };
  const STEPS = { j: 1, k: -1 };
  const press = (element) => {
    element?.click();
    return Boolean(element);
  };
  const ACTS = {
    o: () => press(linkOf(current())),
    e: () => press(current()?.querySelector('[data-reads]')),
    u: () => {
      const list = listHere();
      if (list) location.assign(list.from);
      return list !== null;
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
  });

  /* An answer that replaces the page leaves the reader at the same row, or at the one that has come into its place, and as far down. */
  let kept = null;
  const isOpen = (row) => row.querySelector('strong.done') === null;
  /* The open row whose change is on its way: the list may show it closed before the answer comes. */
  let closing = null;
  document.addEventListener(
    'submit',
    () => {
      const row = current();
      closing = row && isOpen(row) ? linkOf(row)?.getAttribute('href') : null;
    },
    true,
  );
  /* The card whose decision is on its way: its button is off and has lost the focus. */
  let sent = null;
  document.addEventListener('click', ({ target }) => {
    sent = target.closest?.('[data-decides]')?.closest('article') ?? sent;
  });
  document.addEventListener('htmx:before:swap', () => {
    const card = sent?.isConnected ? sent : null;
    const row = rowOf(card ?? document.activeElement);
    const all = row ? rowsAround(row) : [];
    kept = {
      card,
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
    const isAnswered = Boolean(before?.card && !before.card.isConnected);
    if (!before || before.path !== location.pathname || rowOf(document.activeElement)) return;
    const notice = document.querySelector('main .notice');
    if (before.href || isAnswered) {
      const rows = [...document.querySelectorAll(ALL)];
      const byPath = new Map(rows.map((row) => [linkOf(row)?.getAttribute('href'), row]));
      /* Who has decided one goes on to the next, also if the first still waits for others. */
      const isDecided = isAnswered && notice?.matches('.good');
      /* The same for a task that was closed, which may have moved far away. */
      const same = byPath.get(before.href);
      const isClosed = same && before.href === closing && !isOpen(same);
      const paths =
        isDecided || isClosed
          ? [...before.later, ...before.earlier, before.href]
          : [before.href, ...before.later, ...before.earlier];
      const row = byPath.get(paths.find((href) => byPath.has(href))) ?? (isDecided ? rows[0] : undefined);
      const folded = row?.closest('details.alike');
      if (folded) folded.open = true;
      linkOf(row)?.focus({ preventScroll: true });
      if (isDecided) row?.scrollIntoView({ block: 'nearest' });
      if (notice) say(notice.textContent.trim());
      if (isDecided) return;
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
  /* An opened menu of filters has the focus, arrows go through it, and no key acts on the rows behind it. */
  document.addEventListener(
    'toggle',
    ({ target: menu }) => {
      if (!menu.matches?.('details.menu[open]:has(> .picks)') || menu.querySelector('.picks').contains(document.activeElement))
        return;
      menu.querySelector('.picks :is(summary, select)')?.focus({ preventScroll: true });
    },
    true,
  );
  document.addEventListener(
    'keydown',
    (event) => {
      const { target, key } = event;
      const menu = target.closest?.('.picks');
      if (!menu) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[key];
      if (key.length === 1) event.stopPropagation();
      if (!step || target.matches('select, [type=date]')) return;
      const all = [...menu.querySelectorAll('summary, input, select')].filter((one) => one.checkVisibility());
      all[(all.indexOf(target) + step + all.length) % all.length].focus();
      event.preventDefault();
      event.stopPropagation();
    },
    true,
  );
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
  /* Words apply while they are typed, and values when they are ticked: what they find takes its place below them. */
  document.addEventListener('htmx:after:swap', ({ target }) => {
    const form = target.closest?.('form[data-applies]');
    if (!form || !target.matches('#f-q, [data-pick]')) return;
    const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''));
    history.replaceState(history.state, '', `${location.pathname}${chosen.size > 0 ? `?${chosen}` : ''}`);
    say(document.getElementById('found').dataset.said);
  });
  document.addEventListener('DOMContentLoaded', () => {
    const id = sessionStorage.getItem(FILTER);
    sessionStorage.removeItem(FILTER);
    const field = id && document.getElementById(id);
    if (!field) return;
    const menu = field.closest('details.menu');
    if (menu) menu.open = true;
    field.focus({ preventScroll: true });
  });
})();
