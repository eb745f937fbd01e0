/* What was typed into the builder of automations and is not saved yet: it is there again in this tab, for the same user, also after another page. The
   server marks what may be kept: no address, header, text or variable of a request, where people paste secrets. The builder works without this file. */
(() => {
  const KEY = 'assent-draft:';
  const SENT = 'assent-draft-sent';
  const LIFE_MS = 12 * 3_600_000;
  const user = document.body.dataset.user;
  if (!user) return;

  const builder = () => document.getElementById('builder');
  const keyOf = (form) => KEY + new URL(form.getAttribute('action'), location.href).pathname;
  const read = (key) => {
    const draft = JSON.parse(sessionStorage.getItem(key) ?? 'null');
    if (!draft) return null;
    if (draft.owner === user && draft.until > Date.now()) return draft;
    sessionStorage.removeItem(key);
    return null;
  };

  /* A part without its mark, and a form that is written as JSON, are not kept. */
  const isKept = (field) =>
    field.name && field.name !== '_csrf' && field.type !== 'submit' && field.closest('[data-draft]')?.dataset.draft !== 'no';
  const valuesOf = (form) =>
    [...form.elements]
      .filter((field) => isKept(field) && (field.type !== 'checkbox' || field.checked))
      .map(({ name, value }) => [name, value]);

  let shown = '';
  const keep = () => {
    const form = builder();
    if (!form || form.elements.namedItem('view')?.value === 'json') return;
    const fields = valuesOf(form);
    if (JSON.stringify(fields) === shown) return;
    const draft = { owner: user, until: Date.now() + LIFE_MS, at: location.pathname + location.search, fields };
    sessionStorage.setItem(keyOf(form), JSON.stringify(draft));
  };

  const note = (before, text, buttons) => {
    const line = document.createElement('p');
    line.className = 'notice good draft-note';
    line.setAttribute('role', 'status');
    line.append(`${text} `);
    for (const [label, act] of buttons) {
      const button = document.createElement(typeof act === 'string' ? 'a' : 'button');
      if (typeof act === 'string') button.href = act;
      else {
        button.type = 'button';
        button.className = 'small outline';
        button.addEventListener('click', act);
      }
      button.textContent = label;
      line.append(button, ' ');
    }
    before.before(line);
    return line;
  };

  /* The server renders the steps of the draft, as after one of the form's own buttons. */
  const restore = async (form, key, draft) => {
    const body = new URLSearchParams([...draft.fields, ['_csrf', form.elements.namedItem('_csrf').value], ['op', 'show']]);
    const answer = await fetch(form.getAttribute('action'), { method: 'POST', body });
    const found = answer.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').getElementById('builder');
    if (!found) return;
    form.replaceWith(found);
    window.htmx?.process(found);
    const gap = found.querySelector('[data-draft=no] :is(textarea, input:not([type=hidden]))');
    const text = `What you typed and did not save is here again.${gap ? ' Fields of requests are not kept in the browser: fill them in again.' : ''}`;
    note(found, text, [
      [
        'Start over',
        () => {
          sessionStorage.removeItem(key);
          location.reload();
        },
      ],
    ]);
  };

  const begin = () => {
    const form = builder();
    const sent = sessionStorage.getItem(SENT);
    sessionStorage.removeItem(SENT);
    const isRefused = Boolean(form?.querySelector('[data-refused]'));
    if (sent && !(isRefused && sent === keyOf(form))) sessionStorage.removeItem(sent);
    const list = document.querySelector('.templates');
    const waiting = list && read(`${KEY}/app/automations/new`);
    if (waiting) {
      const [, name] = waiting.fields.find(([field]) => field === 'name') ?? [];
      const line = note(list, `You have a draft${name ? ` “${name}”` : ''} that is not saved.`, [
        ['Continue', waiting.at],
        [
          'Discard',
          () => {
            sessionStorage.removeItem(`${KEY}/app/automations/new`);
            line.remove();
          },
        ],
      ]);
    }
    if (!form) return;
    shown = JSON.stringify(valuesOf(form));
    const key = keyOf(form);
    const draft = read(key);
    if (isRefused) return keep();
    if (draft && draft.at === location.pathname + location.search && JSON.stringify(draft.fields) !== shown)
      void restore(form, key, draft);
  };

  document.addEventListener('input', ({ target }) => target.closest?.('#builder') && keep());
  document.addEventListener('change', ({ target }) => target.closest?.('#builder') && keep());
  document.addEventListener('htmx:after:swap', keep);
  document.addEventListener('submit', ({ target, submitter }) => {
    if (target.id === 'builder' && submitter?.value === 'save') sessionStorage.setItem(SENT, keyOf(target));
  });
  begin();
})();
