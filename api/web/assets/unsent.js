/* What was typed into a comment, a description or the line of a new subtask and was not sent is there again when its user comes back, also days later. It stays
   in this browser: signing out deletes it. Without this file it is lost with the page. */
(() => {
  const FIELDS =
    'main form:is([action$="/comments"], [action$="/replies"]) textarea[name=content], #i-description, main form.quick[action$="/subtasks"] input';
  const MOST = 20;
  const WAIT_MS = 300;
  const SENT = 'assent-unsent-sent';
  const { user } = document.body.dataset;
  /* Who acts for another leaves nothing behind. */
  if (!user || document.querySelector('.acting')) return;
  const KEY = `assent-unsent:${user}`;

  const fields = () => [...document.querySelectorAll(FIELDS)].filter(({ form, name }) => form && name !== '_csrf');
  const nameOf = ({ form, name }) => `${form.getAttribute('action')} ${name}`;
  /* Oldest first. */
  const read = () => JSON.parse(localStorage.getItem(KEY) ?? '[]');
  const write = (drafts) => {
    try {
      if (drafts.length === 0) localStorage.removeItem(KEY);
      else localStorage.setItem(KEY, JSON.stringify(drafts.slice(-MOST)));
    } catch {
      /* The browser keeps no more; what is typed is still on the page. */
    }
  };
  const drop = (name) => write(read().filter(([one]) => one !== name));
  const keep = (field) => {
    const name = nameOf(field);
    const drafts = read();
    const now = field.value === field.defaultValue || field.value.trim() === '' ? null : field.value;
    if ((drafts.find(([one]) => one === name)?.[1] ?? null) === now) return;
    const others = drafts.filter(([one]) => one !== name);
    write(now === null ? others : [...others, [name, now, field.defaultValue]]);
  };

  let timer;
  let typed = null;
  const flush = () => {
    clearTimeout(timer);
    if (typed?.isConnected && typed.form) keep(typed);
    typed = null;
  };
  document.addEventListener('input', ({ target }) => {
    if (!target.matches?.(FIELDS)) return;
    if (typed !== target) flush();
    typed = target;
    clearTimeout(timer);
    timer = setTimeout(flush, WAIT_MS);
  });
  addEventListener('pagehide', flush);

  /* A draft ends when the answer to its form does not bring it back as refused. */
  let sent = null;
  document.addEventListener(
    'submit',
    ({ target }) => {
      flush();
      sent = fields().find(({ form }) => form === target) ?? null;
      if (sent) sessionStorage.setItem(SENT, nameOf(sent));
    },
    true,
  );
  document.addEventListener('htmx:error', () => sessionStorage.removeItem(SENT));
  const isRefused = ({ form }) => form.querySelector('[role=alert], [aria-invalid=true]') || form.closest('[data-refused]');
  const settle = (shown) => {
    const name = sessionStorage.getItem(SENT);
    const answered = shown.find((field) => nameOf(field) === name);
    /* Another part of the page was replaced. */
    if (!answered || answered === sent) return;
    sessionStorage.removeItem(SENT);
    /* After an expired session the text comes back by itself, and is not sent. */
    if (!isRefused(answered) && answered.value === answered.defaultValue) drop(name);
  };
  const restore = () => {
    const shown = fields();
    settle(shown);
    const drafts = new Map(read().map(([name, ...draft]) => [name, draft]));
    for (const field of shown) {
      const [text, before] = drafts.get(nameOf(field)) ?? [];
      if (text === undefined || field.value !== field.defaultValue || field === document.activeElement) continue;
      if (text === field.defaultValue) {
        if (!isRefused(field)) drop(nameOf(field));
        continue;
      }
      field.value = text;
      field.dataset.unsent = '';
      const folded = field.closest('details.edit');
      if (folded) folded.open = true;
      if (before === field.defaultValue) continue;
      const line = document.createElement('p');
      line.className = 'fine';
      line.textContent = 'It has changed since you typed what is not saved.';
      document.querySelector(`[data-edits="${field.id}"]`)?.append(line);
    }
  };
  document.addEventListener('htmx:before:swap', flush);
  document.addEventListener('htmx:after:swap', restore);
  restore();
})();
