/* Decisions by keys. A key alone decides nothing, and neither does text that is typed where no field has the focus: y puts the focus on a button that only
   Enter presses, and any other key takes it away again. Without this file decisions have their buttons. */
(() => {
  const { current, linkOf } = globalThis.assentRows;
  const say = (text) => document.dispatchEvent(new CustomEvent('say', { detail: text }));
  /* The decision that the keys act on: the card in focus, else the only one of the page. */
  const formOf = (card) => card?.querySelector('form:has([data-decides])');
  const decision = () => {
    const all = [...document.querySelectorAll('main article')].filter(formOf);
    return current() ?? (all.length === 1 ? all[0] : null);
  };
  const textOf = (element) => {
    const copy = element.cloneNode(true);
    /* The word for an arrow stays: a text has no icon. */
    for (const one of copy.querySelectorAll('.unseen:not(.change > *)')) one.remove();
    return copy.textContent.replace(/\s+/g, ' ').trim();
  };
  let hint = null;
  const explain = (form, text) => {
    hint?.remove();
    hint = Object.assign(document.createElement('p'), { className: 'hint', textContent: text });
    form.append(hint);
    say(text);
  };
  /* The button that y has put the focus on. */
  let reached = null;
  const startDecision = (key) => {
    const card = decision();
    const form = formOf(card);
    if (key === 'y' && form?.querySelector('details.reject[open]')) {
      say('The reason for rejecting is open: close it first, or press n');
      return true;
    }
    const button = form?.querySelector(`[data-decides=${key}]:enabled`);
    if (!button) {
      const here = document.querySelector('main [data-decides]');
      if (here) say(card ? 'This one is not decided here: press o to open it' : 'Put the focus on a card first, by j or k');
      return Boolean(here);
    }
    const { code, reason: why } = form.elements;
    const reason = key === 'n' ? why : null;
    const field = (key === 'y' && code && code.value === '' && code) || reason || button;
    for (let around = field.closest('details'); around; around = around.parentElement.closest('details')) around.open = true;
    field.focus({ preventScroll: true });
    (field === button ? card : field).scrollIntoView({ block: 'nearest' });
    const enter = `press Enter to ${textOf(button).toLowerCase()}: ${textOf(card.querySelector('h1, h2, h3'))}`;
    if (reason) explain(form, `Type a reason if you like, then ${enter}`);
    else if (field === code) explain(form, `Type the code, then ${enter}`);
    else explain(form, `P${enter.slice(1)}`);
    reached = field === button ? button : null;
    return true;
  };
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    if (target === reached) reached = null;
    if (!hint || target.form !== hint.parentElement || hint.parentElement.contains(relatedTarget)) return;
    hint.remove();
    hint = null;
  });
  /* A reason is one line, so Enter sends it, however it was opened; Shift Enter adds a line. It only ever presses the button beside it, which says no. */
  document.addEventListener('keydown', (event) => {
    const reason = event.target.closest?.('details.reject[open] textarea');
    if (!reason || event.key !== 'Enter' || event.shiftKey || event.altKey || event.isComposing) return;
    event.preventDefault();
    if (!event.repeat) reason.closest('details').querySelector('button').click();
  });
  document.addEventListener('keydown', (event) => {
    const card = event.target.closest?.('main article');
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey || !hint || !card?.contains(hint)) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      backToCard(card);
    }
  });
  const backToCard = (card) => (linkOf(card) ?? document.getElementById('main')).focus({ preventScroll: true });
  /* Text that goes to no field ends with a letter that is a key, sooner or later: what follows another letter at once is no key. */
  const TYPING_MS = 1_000;
  const MOVES = ['j', 'k', 'x'];
  let typedAt = -TYPING_MS;
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.target !== reached || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key !== ' ' && (event.key.length !== 1 || event.key === 'y')) return;
      event.preventDefault();
      typedAt = performance.now();
      backToCard(event.target.closest('main article'));
      say('Nothing was decided: only Enter presses the button');
    },
    true,
  );
  document.addEventListener('key', (event) => {
    const key = event.detail;
    const isTyped = performance.now() - typedAt < TYPING_MS;
    if (key !== 'y' && key !== 'n') {
      if (!MOVES.includes(key)) typedAt = performance.now();
    } else if (isTyped) {
      typedAt = performance.now();
      event.preventDefault();
    } else if (startDecision(key)) event.preventDefault();
  });
  /* Who opens a field types into it. */
  document.addEventListener('click', (event) => {
    const opened = event.target.closest?.('main details:is(.reject, .comment, .edit) > summary')?.parentElement;
    const field = opened?.querySelector('textarea:not([hidden]), select, input:not([type=hidden], [type=file], [type=checkbox])');
    if (!field || event.defaultPrevented) return;
    event.preventDefault();
    opened.open = !opened.open;
    if (!opened.open) return;
    field.focus({ preventScroll: true });
    opened.scrollIntoView({ block: 'nearest' });
  });

  /* A card stays where it is when another user has decided it: it says so, and offers nothing any more. What is typed there can still be copied. */
  const close = (card) => {
    if (card.classList.contains('gone')) return;
    const focus = document.activeElement;
    card.classList.add('gone');
    for (const field of card.querySelectorAll('textarea')) field.readOnly = true;
    for (const control of card.querySelectorAll('button, input')) control.disabled = true;
    const note = document.createElement('p');
    note.className = 'aside';
    note.textContent = 'Decided or closed meanwhile.';
    card.append(note);
    if (card.contains(focus) && !focus.matches('textarea')) backToCard(card);
  };
  globalThis.assentDecisions = { close };
  document.addEventListener('htmx:after:swap', () => {
    const news = document.getElementById('news');
    if (!news || !('whole' in news.dataset)) return;
    const waiting = news.dataset.waiting.split(' ');
    for (const card of document.querySelectorAll('#queue > article, #queue .alike > article'))
      if (!waiting.includes(card.id.replace(/^(gate|plan|request)-/, ''))) close(card);
  });

  /* The answer to a decision replaces the page: what was opened, ticked and typed in the other cards stays, and in its own when it was refused. */
  const signOf = (card) => [...card.querySelectorAll('input[name$=_hash]')].map(({ value }) => value).join(' ');
  const FIELDS = 'textarea, input[type=checkbox]';
  let decided = null;
  let cards = [];
  document.addEventListener('submit', ({ target }) => {
    decided = target.matches('main form:has([data-decides])') ? target.closest('article') : null;
  });
  document.addEventListener('htmx:before:swap', () => {
    cards = decided?.isConnected
      ? [...document.querySelectorAll('main article[id]')].map((card) => ({
          card,
          sign: signOf(card),
          opened: [...card.querySelectorAll('details')].map(({ open }) => open),
          fields: [...card.querySelectorAll(FIELDS)].map(({ name, type, value, checked }) => ({ name, type, value, checked })),
        }))
      : [];
  });
  const bringBack = ({ card, sign, opened, fields }) => {
    const newer = document.getElementById(card.id);
    const isRefused = document.querySelector('main .notice.bad');
    if (!newer || newer === card || (card === decided && !isRefused)) return;
    for (const [at, one] of [...newer.querySelectorAll('details')].entries()) one.open ||= opened[at] ?? false;
    for (const { name, type, value, checked } of fields) {
      const field = [...newer.querySelectorAll(FIELDS)].find(
        (one) => one.name === name && (type === 'textarea' || one.value === value),
      );
      if (!field) continue;
      if (type === 'textarea') field.value ||= value;
      else if (sign === signOf(newer) && !field.disabled && field.checked !== checked) {
        field.checked = checked;
        field.dispatchEvent(new Event('change', { bubbles: true }));
      }
    }
  };
  document.addEventListener('htmx:after:swap', () => {
    if (cards.length === 0 || decided?.isConnected) return;
    for (const one of cards) bringBack(one);
    cards = [];
  });
})();
