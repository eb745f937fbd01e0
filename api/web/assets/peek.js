/* A preview beside a list: Space shows what the task in focus says, and the focus stays on its row, so that keys go on and act on it. Without this file a
   row is opened. */
(() => {
  /* A row that is passed quickly is not fetched, ms. */
  const PAUSE_MS = 120;
  const PARTS = ['#part-text', '#part-pulls', '#part-subtasks', '#part-relations', '#part-comments'];
  /* Comments that it shows, the last ones. */
  const COMMENTS = 3;
  const peek = document.createElement('aside');
  peek.className = 'peek';
  peek.hidden = true;
  peek.setAttribute('aria-label', 'Preview');
  document.addEventListener('DOMContentLoaded', () => document.body.append(peek));

  const linkOf = (element) =>
    element?.closest?.('main :is(ul.rows > li, .board li)')?.querySelector('a[href^="/app/items/"]') ?? null;
  let path = '';
  let timer;

  /* A part as text: nothing in it can be pressed, changed or found by its id but its links. */
  const copy = (part) => {
    const made = document.importNode(part, true);
    for (const tick of made.querySelectorAll('button.tick')) {
      const box = Object.assign(document.createElement('input'), { type: 'checkbox', checked: tick.ariaChecked === 'true' });
      box.ariaLabel = tick.ariaLabel;
      tick.replaceWith(box);
    }
    for (const one of [...made.querySelectorAll('article')].slice(0, -COMMENTS)) one.remove();
    for (const one of made.querySelectorAll('form, button, details, textarea, .acts, input:not([type=checkbox])')) one.remove();
    for (const box of made.querySelectorAll('input')) box.disabled = true;
    for (const one of [made, ...made.querySelectorAll('[id], [data-task]')]) {
      one.removeAttribute('id');
      one.removeAttribute('data-task');
    }
    return made;
  };
  const make = (tag, ...inside) => {
    const made = document.createElement(tag);
    made.append(...inside);
    return made;
  };
  /* What a field of the page is set to, in words; nothing of an empty one. */
  const said = (field) => {
    const control = field.querySelector('select, textarea, summary, input:not([type=hidden])');
    if (!control || !(control.value ?? control.textContent.replace('Not set', ''))) return '';
    if (control.type === 'date') return field.querySelector('.aside')?.textContent ?? control.value;
    return control.selectedOptions?.[0].textContent ?? control.value ?? control.textContent;
  };
  const facts = (page) => {
    const made = make(
      'dl',
      ...[...page.querySelectorAll('form.facts > div')].flatMap((field) => {
        const label = field.querySelector('label, .label')?.firstChild.textContent.trim();
        const value = said(field);
        const late = field.querySelector('.late');
        return value
          ? [make('div', make('dt', label), make('dd', value, ...(late ? [' ', document.importNode(late, true)] : [])))]
          : [];
      }),
      ...[...page.querySelectorAll('#part-facts > div')].map(copy),
    );
    return Object.assign(made, { className: 'facts' });
  };
  /* What waits for a yes about it: the buttons are on its page. */
  const waiting = (page) => {
    const count = page.querySelectorAll('#part-waiting > :is(article, .waits)').length;
    if (count === 0) return [];
    const link = Object.assign(make('a', count === 1 ? 'Waits for an approval' : `Waits for ${count} approvals`), { href: path });
    return [Object.assign(make('p', link), { className: 'late' })];
  };
  const keys = () => {
    const key = (name, does) => [make('kbd', name), ` ${does} `];
    const all = [
      ...key('Enter', 'opens it,'),
      ...key('Space', 'or'),
      ...key('Esc', 'closes,'),
      ...key('j', ''),
      ...key('k', 'go on.'),
    ];
    return Object.assign(make('p', ...all), { className: 'fine' });
  };
  const draw = (page) => {
    const link = Object.assign(make('a', page.querySelector('main h1')?.textContent ?? ''), { href: path });
    const from = page.querySelector('main .crumbs');
    const names = [from?.firstChild, from?.querySelector('a[href^="/app/projects/"]')];
    const said = names.map((one) => one?.textContent.trim()).filter(Boolean);
    const crumbs = Object.assign(make('p', said.join(' · ')), { className: 'crumbs' });
    const of = page.querySelectorAll('#part-comments article').length;
    const last = of > COMMENTS ? `The last ${COMMENTS} of ${of} comments` : 'Comments';
    page.querySelector('#part-comments')?.prepend(make('h2', last));
    const parts = PARTS.map((one) => page.querySelector(one)).filter(Boolean);
    const drawn = parts.map(copy).filter((one) => one.querySelector('dd, .prose, li, article'));
    peek.replaceChildren(crumbs, make('h2', link), ...waiting(page), facts(page), ...drawn, keys());
  };
  const close = () => {
    peek.hidden = true;
    path = '';
    clearTimeout(timer);
  };
  const fetchTask = async () => {
    const wanted = path;
    /* Looking from beside is no reading: notices of the task stay unread. */
    const answer = await fetch(`${wanted}?live`).catch(() => null);
    const text = answer?.ok && !answer.redirected ? await answer.text() : null;
    if (wanted !== path) return;
    if (text === null) return close();
    draw(new DOMParser().parseFromString(text, 'text/html'));
    peek.hidden = false;
  };
  const show = (link) => {
    const wanted = link.getAttribute('href');
    if (wanted !== path) peek.scrollTop = 0;
    path = wanted;
    clearTimeout(timer);
    timer = setTimeout(() => void fetchTask(), PAUSE_MS);
  };
  document.addEventListener('key', (event) => {
    const link = event.detail === ' ' && document.activeElement?.matches('a') ? linkOf(document.activeElement) : null;
    if (!link) return;
    event.preventDefault();
    if (path === '') show(link);
    else close();
  });
  document.addEventListener('focusin', ({ target }) => {
    const link = path === '' ? null : linkOf(target);
    if (link && link.getAttribute('href') !== path) show(link);
  });
  /* What a key has changed shows here too; a page without the row needs no preview. */
  document.addEventListener('htmx:after:swap', () => {
    const link = path === '' ? null : document.querySelector(`main a[href="${CSS.escape(path)}"]`);
    if (link) show(link);
    else if (path !== '') close();
  });
  document.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape' || path === '' || document.querySelector('dialog[open]')) return;
      event.stopImmediatePropagation();
      close();
    },
    true,
  );
})();
