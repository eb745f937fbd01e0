/* Suggestions while an item is named in a field: a combobox over a list that the service fills. Without this file the name is typed in full, or the
   page asks which one is meant. */
(() => {
  const FIELD = 'input[data-suggest]';
  /* Time for the next letter, ms. */
  const TYPING_MS = 150;

  const list = document.createElement('ul');
  list.id = 'suggestions';
  list.className = 'mention-names';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Suggestions');
  const say = (text) => document.dispatchEvent(new CustomEvent('say', { detail: text }));

  let field = null;
  let at = 0;
  let timer;
  /* Answers may overtake each other: only that to the newest text counts. */
  let asked = 0;

  /* The form whose answer is on its way. */
  let sent = null;
  document.addEventListener('submit', ({ target }) => {
    sent = target;
  });
  document.addEventListener('htmx:finally:request', () => {
    sent = null;
  });
  const openerOf = ({ id, form }) => form.querySelector(`select:has(option[data-opens="${id}"]:checked)`);

  const close = () => {
    clearTimeout(timer);
    asked += 1;
    if (!field) return;
    field.setAttribute('aria-expanded', 'false');
    for (const name of ['aria-controls', 'aria-activedescendant']) field.removeAttribute(name);
    list.remove();
    field = null;
  };
  const mark = (next) => {
    const options = [...list.children];
    at = (next + options.length) % options.length;
    for (const [index, one] of options.entries()) one.setAttribute('aria-selected', String(index === at));
    field.setAttribute('aria-activedescendant', options[at].id);
    options[at].scrollIntoView({ block: 'nearest' });
  };
  /* A field that saves what it names is saved with the choice: leaving it does that where a form saves its fields one by one. */
  const choose = () => {
    const chosen = field;
    chosen.value = list.children[at].querySelector('bdi').textContent;
    close();
    if (!('suggestSaves' in chosen.dataset)) return;
    openerOf(chosen)?.focus();
    if (sent !== chosen.form) chosen.form.requestSubmit();
  };
  const fill = async (target) => {
    const mine = ++asked;
    const answer = await fetch(`${target.dataset.suggest}&q=${encodeURIComponent(target.value)}`).catch(() => null);
    const html = answer?.ok && !answer.redirected ? await answer.text() : '';
    if (mine !== asked || document.activeElement !== target) return;
    list.innerHTML = html;
    if (list.children.length === 0) {
      close();
      return say('Nothing matches');
    }
    field = target;
    target.after(list);
    list.style.top = `${target.offsetTop + target.offsetHeight + 2}px`;
    list.style.left = `${target.offsetLeft}px`;
    target.setAttribute('aria-expanded', 'true');
    target.setAttribute('aria-controls', list.id);
    const count = list.children.length;
    say(`${count} ${count === 1 ? 'suggestion' : 'suggestions'}: choose with the arrow keys and Enter`);
    mark(0);
  };

  document.addEventListener('focusin', ({ target }) => {
    if (!target.matches(FIELD) || target.getAttribute('role') === 'combobox') return;
    target.setAttribute('role', 'combobox');
    target.setAttribute('aria-autocomplete', 'list');
    target.setAttribute('aria-expanded', 'false');
  });
  document.addEventListener('input', ({ target }) => {
    if (!target.matches?.(FIELD)) return;
    clearTimeout(timer);
    if (target.value.trim() === '') close();
    else timer = setTimeout(() => void fill(target), TYPING_MS);
  });
  document.addEventListener(
    'keydown',
    (event) => {
      if (!field || event.target !== field || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      const acts = { ArrowDown: () => mark(at + 1), ArrowUp: () => mark(at - 1), Enter: choose, Escape: close };
      if (event.key === 'Tab') close();
      if (!acts[event.key]) return;
      event.preventDefault();
      event.stopPropagation();
      acts[event.key]();
    },
    true,
  );
  list.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    const option = event.target.closest('li');
    if (!option) return;
    mark([...list.children].indexOf(option));
    choose();
  });

  /* A choice that opened the field is saved also where nothing is named. */
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    if (!target.matches(FIELD)) return;
    close();
    const { form } = target;
    const opener = openerOf(target);
    if (!opener || sent === form || !form.isConnected || relatedTarget?.matches('button, [type=submit]')) return;
    const { isChanged } = globalThis.assentForms;
    if (relatedTarget !== opener && isChanged(opener) && !isChanged(target)) form.requestSubmit();
  });
})();
