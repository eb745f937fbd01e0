/* A preview beside a list: Space shows what the task in focus says, and the focus stays on its row, so that keys go on and act on it. Without this file a
   row is opened. */
(() => {
  /* A row that is passed quickly is not fetched, ms. */
  const PAUSE_MS = 120;
  const PARTS = ['#part-chips', '#part-facts', '#part-text', '#part-subtasks', '#part-relations', '#part-comments'];
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
    for (const one of made.querySelectorAll('form, button, details, textarea, .acts, input:not([type=checkbox])')) one.remove();
    for (const box of made.querySelectorAll('input')) box.disabled = true;
    for (const one of [made, ...made.querySelectorAll('[id], [data-task]')]) {
      one.removeAttribute('id');
      one.removeAttribute('data-task');
    }
    return made;
  };
  const draw = (page) => {
    const title = document.createElement('h2');
    const link = document.createElement('a');
    link.href = path;
    link.textContent = page.querySelector('main h1')?.textContent ?? '';
    title.append(link);
    const name = page.querySelector('main .crumbs')?.firstChild?.textContent?.trim() ?? '';
    const crumbs = Object.assign(document.createElement('p'), { className: 'crumbs', textContent: name });
    const parts = PARTS.map((one) => page.querySelector(one)).filter(Boolean);
    const drawn = parts.map(copy).filter((one) => one.querySelector('.chip, dd, .prose, li, article'));
    peek.replaceChildren(crumbs, title, ...drawn);
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
