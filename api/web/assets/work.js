/* Pages of projects and tasks: boards by drag and keys, and the focus after a change. Without this file every form works by its buttons. */
(() => {
  const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const main = () => document.getElementById('main');

  const say = (text) => document.dispatchEvent(new CustomEvent('say', { detail: text }));

  /* Where the focus goes when the answer to a form has replaced the page. */
  let next = null;
  document.addEventListener('submit', (event) => {
    if (event.target.dataset.focus) next = () => document.getElementById(event.target.dataset.focus);
  });
  document.addEventListener('htmx:after:swap', ({ target }) => {
    const notice = main()?.querySelector('.notice');
    /* A list that follows others is no answer to the form, and neither is what a line means. */
    if (next && !target.matches?.('[data-follows], .line-read')) {
      if (notice) say(notice.textContent.trim());
      next()?.focus();
      next = null;
    }
  });

  /* Boards, and lists in manual order. */
  const columnOf = (card) => card.closest('[data-status], #tasks');
  const listOf = (column) => (column.matches('ul') ? column : column.querySelector('ul'));
  const cardsOf = (column) => [...listOf(column).querySelectorAll(':scope > li:not(.none)')];
  const isManual = (column) => column.closest('[data-manual]') !== null;
  const idOf = (card) => card?.dataset.task?.slice(card.dataset.task.indexOf(':') + 1);
  const hide = (fields) =>
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => Object.assign(document.createElement('input'), { type: 'hidden', name, value }));
  /* Sends a card to a column, and to a place among its cards if there is one; without, the column's order says where. */
  const move = (card, column, at) => {
    const form = document.getElementById('move');
    const isSame = column === columnOf(card);
    if (!form || !column || (isSame && at === undefined)) return;
    const id = idOf(card);
    const title = card.querySelector('a').textContent;
    const others = cardsOf(column).filter((one) => one !== card);
    const [after, before] = at === undefined ? [] : [idOf(others[at - 1]), idOf(others[at])];
    if (isSame && cardsOf(column).indexOf(card) === at) return;
    /* The card goes at once; the answer shows where it really is. */
    listOf(column).insertBefore(card, others[at ?? 0] ?? others.at(-1)?.nextSibling ?? listOf(column).firstChild);
    const button = document.createElement('button');
    button.name = 'to';
    button.value = `${card.dataset.state ?? column.dataset.status}:${card.dataset.task}`;
    button.hidden = true;
    next = () => [...document.querySelectorAll('[data-task]')].find((one) => idOf(one) === id)?.querySelector('a');
    say(isSame ? `${title}: moving to place ${at + 1} of ${others.length + 1}` : `${title}: moving to ${column.dataset.name}`);
    form.append(button, ...hide({ after, before, same: isSame ? 'yes' : undefined }));
    form.requestSubmit(button);
  };

  let dragged = null;
  /* The place of the pointer among the cards of a column that are not dragged; undefined where the order is not manual. */
  const placeAt = (column, y) => {
    if (!isManual(column)) return undefined;
    const others = cardsOf(column).filter((one) => one !== dragged);
    const at = others.findIndex((one) => {
      const { top, height } = one.getBoundingClientRect();
      return y < top + height / 2;
    });
    return at < 0 ? others.length : at;
  };
  const mark = (column, at) => {
    for (const one of document.querySelectorAll('.over, .drop-before, .drop-after'))
      one.classList.remove('over', 'drop-before', 'drop-after');
    if (!column) return;
    column.classList.add('over');
    const others = cardsOf(column).filter((one) => one !== dragged);
    if (at === undefined) return;
    if (others[at]) others[at].classList.add('drop-before');
    else others.at(-1)?.classList.add('drop-after');
  };
  const dropTarget = (event) => dragged && event.target.closest?.(dragged.closest('.board') ? '[data-status]' : '#tasks');
  document.addEventListener('dragstart', (event) => {
    dragged = event.target.closest?.('[data-task][draggable]') ?? null;
    dragged?.classList.add('dragged');
  });
  document.addEventListener('dragend', () => {
    dragged?.classList.remove('dragged');
    dragged = null;
    mark(null);
  });
  document.addEventListener('dragover', (event) => {
    const column = dropTarget(event);
    if (column) event.preventDefault();
    if (dragged) mark(column, column ? placeAt(column, event.clientY) : undefined);
  });
  document.addEventListener('drop', (event) => {
    const column = dropTarget(event);
    if (!column) return;
    event.preventDefault();
    if (column === columnOf(dragged) && !isManual(column)) say('In this order cards do not move within a column');
    else move(dragged, column, placeAt(column, event.clientY));
  });
  /* A finger scrolls where a mouse drags: buttons move a card or a row there. */
  document.addEventListener('click', ({ target }) => {
    const button = target.closest('[data-shift]');
    if (button) shift(button.closest('[data-task]'), Number(button.dataset.shift));
  });
  /* Shift with an arrow up or down takes a card or a row one place further. */
  const shift = (card, step) => {
    const column = columnOf(card);
    if (!isManual(column)) return say('Choose the manual order to move it up or down');
    const at = cardsOf(column).indexOf(card) + step;
    if (at < 0 || at >= cardsOf(column).length) return say(`It is the ${step < 0 ? 'first' : 'last'} one here`);
    move(card, column, at);
  };
  document.addEventListener('keydown', (event) => {
    const row = event.target.closest?.('#tasks > li[data-task]');
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (!row || !step || !event.shiftKey || event.ctrlKey || event.metaKey || event.altKey || !isManual(row)) return;
    event.preventDefault();
    shift(row, step);
  });

  /* An arrow key goes to the next card; with Shift it takes the card to the next column. */
  document.addEventListener('keydown', (event) => {
    const card = event.target.closest?.('.board li');
    const step = ARROWS[event.key];
    if (!card || !step || event.ctrlKey || event.metaKey || event.altKey) return;
    const columns = [...document.querySelectorAll('.board [data-status]')];
    const at = columns.indexOf(columnOf(card));
    const [across, down] = step;
    event.preventDefault();
    if (event.shiftKey) {
      const column = columns[at + across];
      if (!card.dataset.task) return;
      if (across === 0) shift(card, down);
      else if (column) move(card, column);
      else say('There is no column on that side');
      return;
    }
    const place = cardsOf(columns[at]).indexOf(card);
    if (across === 0) cardsOf(columns[at])[place + down]?.querySelector('a').focus();
    else {
      const filled = (across < 0 ? columns.slice(0, at).reverse() : columns.slice(at + 1)).find((one) => cardsOf(one).length > 0);
      const others = filled ? cardsOf(filled) : [];
      others[Math.min(place, others.length - 1)]?.querySelector('a').focus();
    }
  });

  /* The bar below a list says how many rows are ticked; one box ticks them all. */
  const count = () => {
    const shown = document.querySelector('[data-ticked-tasks]');
    if (!shown) return;
    const ticked = document.querySelectorAll('input[form=bulk][name=task]:checked').length;
    shown.textContent = ticked === 0 ? 'Ticked tasks' : `${ticked} ticked`;
  };
  document.addEventListener('change', (event) => {
    if (event.target.matches('[data-tick-all]'))
      for (const box of document.querySelectorAll('input[form=bulk][name=task]')) box.checked = event.target.checked;
    count();
  });
  document.addEventListener('htmx:after:swap', count);

  const isBox = ({ type }) => type === 'checkbox' || type === 'radio';
  /* Whether a field holds what the page did not bring. */
  const isChanged = (field) => {
    if (isBox(field)) return field.checked !== field.defaultChecked;
    if (!field.options) return field.value !== field.defaultValue;
    return field.value !== (([...field.options].find((one) => one.defaultSelected) ?? field.options[0])?.value ?? '');
  };
  const fieldsOf = (selector) => [...document.querySelectorAll(selector)].filter((field) => field.form && field.name);
  globalThis.assentForms = { fieldsOf, isBox, isChanged };
  const EDITED = 'main textarea, main select, main input:not([type=hidden], [type=file], [type=password])';

  /* What is typed, chosen or ticked in other forms comes back when the answer to one has replaced the page, as long as the page brings the same value. */
  const DRAFTS = 'assent-drafts';
  const DRAFTS_LIFE_MS = 5 * 60_000;
  const isWork = () => /^\/app\/(items|projects|cycles|views)\//.test(location.pathname);
  const keyOf = (field) =>
    [field.form.getAttribute('action').split('?')[0], field.name, isBox(field) ? field.value : ''].join(' ');
  const given = (field) => field.defaultValue ?? '';
  const keepDrafts = (sent) => {
    const user = document.body.dataset.user;
    const drafts = fieldsOf(EDITED)
      .filter((field) => field.form !== sent && field.form.method === 'post' && isChanged(field))
      .map((field) => [keyOf(field), given(field), isBox(field) ? field.checked : field.value]);
    sessionStorage.removeItem(DRAFTS);
    if (drafts.length > 0)
      sessionStorage.setItem(
        DRAFTS,
        JSON.stringify({ user, path: location.pathname, until: Date.now() + DRAFTS_LIFE_MS, drafts }),
      );
  };
  const bringDrafts = () => {
    const kept = JSON.parse(sessionStorage.getItem(DRAFTS) ?? 'null');
    if (!kept || kept.path !== location.pathname) return;
    sessionStorage.removeItem(DRAFTS);
    if (kept.until < Date.now() || kept.user !== document.body.dataset.user) return;
    for (const [key, before, value] of kept.drafts) {
      const field = fieldsOf(EDITED).find((one) => keyOf(one) === key && given(one) === before && !isChanged(one));
      if (!field) continue;
      if (typeof value === 'boolean') field.checked = value;
      else field.value = value;
      for (let around = field.closest('details'); around; around = around.parentElement.closest('details')) around.open = true;
    }
    count();
  };
  let drafted = null;
  document.addEventListener('submit', ({ target }) => {
    drafted = isWork() && (target.method === 'post' || 'applies' in target.dataset) ? target : null;
    if (drafted) keepDrafts(drafted);
  });
  /* And what was typed until the answer came. */
  document.addEventListener('htmx:before:swap', () => {
    if (drafted?.isConnected) keepDrafts(drafted);
  });
  /* While the form is still there, another part was replaced, such as what a line means, and its page is on its way. */
  document.addEventListener('htmx:after:swap', () => {
    if (!drafted?.isConnected) bringDrafts();
  });
  document.addEventListener('DOMContentLoaded', bringDrafts);

  /* Lists and boards follow the changes of others, while nothing is typed, ticked or dragged on the page. */
  const isIdle = () =>
    !dragged && !document.activeElement?.matches('main :is(input, textarea, select)') && !fieldsOf(EDITED).some(isChanged);
  document.addEventListener(
    'live',
    ({ target }) => {
      if (target.matches?.('[data-follows]') && isIdle()) target.dispatchEvent(new Event('follow'));
    },
    true,
  );
})();
