/* What was typed into a form that met an expired session. The page that says so shows it; here it goes back into its form, in the same tab and for the
   same user, who sends it. Without this file the text is copied from that page. */
(() => {
  const KEPT = 'assent-kept';
  const USER = 'assent-user';
  const LIFE_MS = 30 * 60_000;
  const user = document.body.dataset.user;
  const drop = () => sessionStorage.removeItem(KEPT);

  /* The user before this page is the one who typed: on this page there may be another one, or none. */
  const keep = () => {
    const box = document.querySelector('[data-kept]');
    const owner = sessionStorage.getItem(USER);
    if (!box || !owner) return;
    const fields = [...box.querySelectorAll('[data-name]')].map((one) => [one.dataset.name, one.value]);
    const settings = [...box.querySelectorAll('[data-setting]')].map((one) => [one.dataset.setting, one.value]);
    const kept = { owner, until: Date.now() + LIFE_MS, action: box.dataset.kept, fields, settings };
    sessionStorage.setItem(KEPT, JSON.stringify(kept));
  };

  const isOf = (form, { action, fields, settings }) => {
    const { pathname, search } = new URL(form.getAttribute('action') ?? '', location.href);
    const field = (name) => form.elements.namedItem(name);
    return (
      form.method === 'post' &&
      `${pathname}${search}` === action &&
      fields.every(([name]) => field(name)) &&
      settings.every(([name, value]) => field(name)?.type !== 'hidden' || field(name).value === value)
    );
  };
  const restore = () => {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null');
    if (!kept || document.querySelector('[data-kept]')) return;
    if (kept.until < Date.now() || (user && kept.owner !== user)) return drop();
    const form = user && [...document.querySelectorAll('main form')].find((one) => isOf(one, kept));
    if (!form) return;
    drop();
    for (const [name, value] of kept.fields) form.elements.namedItem(name).value = value;
    for (let around = form.closest('details'); around; around = around.parentElement.closest('details')) around.open = true;
    const note = document.createElement('p');
    note.className = 'notice good';
    note.setAttribute('role', 'status');
    note.textContent = 'What you typed before your session expired is here again. It was not sent.';
    form.before(note);
    form.elements.namedItem(kept.fields[0][0]).focus();
  };

  /* What others of this browser have not sent is not for the next user; one who acts for another is the same person. */
  const UNSENT = 'assent-unsent:';
  const forgetUnsent = (but = '') => {
    for (const key of Object.keys(localStorage)) if (key.startsWith(UNSENT) && key !== but) localStorage.removeItem(key);
  };
  if (user && !document.querySelector('.acting')) forgetUnsent(UNSENT + user);

  document.addEventListener('submit', ({ target }) => {
    if (target.getAttribute('action') !== '/app/sign-out') return;
    drop();
    forgetUnsent();
    sessionStorage.removeItem(USER);
    for (const key of Object.keys(sessionStorage)) if (key.startsWith('assent-draft')) sessionStorage.removeItem(key);
  });
  document.addEventListener('htmx:after:swap', keep);
  keep();
  restore();
  if (user) sessionStorage.setItem(USER, user);
})();
