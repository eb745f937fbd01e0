/* The last changes of this user in this tab: z takes them back one after the other, Shift and z makes them again. Without this file the notice of a change
   has the button for it. */
(() => {
  const KEPT = 'assent-undo';
  const MOST = 20;
  const LIFE_MS = 10 * 60_000;
  const user = document.body.dataset.user;
  if (!user) return sessionStorage.removeItem(KEPT);
  const say = (text) => document.dispatchEvent(new CustomEvent('say', { detail: text }));

  /* `undo` and `redo`: what their forms send, the newest last. `seen`: what the last notice offered. `sent`: which of the two is on its way. */
  const read = () => {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? 'null');
    if (kept?.user !== user) return { user, undo: [], redo: [], seen: '', sent: '' };
    const isFresh = ({ until }) => until > Date.now();
    return { ...kept, undo: kept.undo.filter(isFresh), redo: kept.redo.filter(isFresh) };
  };
  const write = (kept) => {
    for (const name of ['undo', 'redo']) kept[name] = kept[name].slice(-MOST);
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(kept));
    } catch {
      sessionStorage.removeItem(KEPT);
    }
  };
  const send = (name, token) => {
    const csrf = document.querySelector('input[name=_csrf]');
    if (!csrf) return;
    const form = document.createElement('form');
    const to = { method: 'post', action: '/app/undo', 'hx-post': '/app/undo', 'hx-target': '#main', 'hx-select': '#main' };
    for (const [key, value] of Object.entries({ ...to, 'hx-swap': 'outerHTML' })) form.setAttribute(key, value);
    form.hidden = true;
    const back = `${location.pathname}${location.search}`;
    for (const [key, value] of Object.entries({ _csrf: csrf.value, undo: token, back, ...(name === 'redo' && { redo: 'yes' }) }))
      form.append(Object.assign(document.createElement('input'), { type: 'hidden', name: key, value }));
    document.getElementById('main').append(form);
    htmx.process(form);
    form.requestSubmit();
  };
  const step = (name) => {
    const last = read()[name].at(-1);
    if (last) send(name, last.token);
    else say(name === 'undo' ? 'There is nothing to undo' : 'There is nothing to make again');
    return true;
  };

  /* What is sent is taken off, by whichever button: if it is refused, the next key is for the one before it. */
  let sent = null;
  document.addEventListener(
    'submit',
    ({ target }) => {
      if (target.getAttribute('action') !== '/app/undo') return;
      const name = target.elements.redo ? 'redo' : 'undo';
      const token = target.elements.undo.value;
      const kept = read();
      sent = { name, one: kept[name].find((each) => each.token === token) };
      kept[name] = kept[name].filter((each) => each.token !== token);
      write({ ...kept, sent: name });
    },
    true,
  );
  /* No answer came. */
  document.addEventListener('htmx:error', () => {
    if (!sent?.one) return;
    const kept = read();
    write({ ...kept, [sent.name]: [...kept[sent.name], sent.one], sent: '' });
    sent = null;
  });
  const known = new WeakSet();
  const learn = () => {
    const notice = document.querySelector('main .notice[role=status]');
    /* A list that follows others is no answer. */
    if (!notice || known.has(notice)) return;
    known.add(notice);
    const form = document.getElementById('undo');
    const kept = read();
    const token = form?.elements.undo.value ?? '';
    if (form && token !== kept.seen) {
      const name = form.elements.redo ? 'redo' : 'undo';
      kept[name].push({ token, until: Date.now() + LIFE_MS });
      /* A new change ends what could be made again. */
      if (name === 'undo' && kept.sent === '') kept.redo = [];
      kept.seen = token;
    }
    /* One that was refused leads to the one before it. */
    const before = kept[kept.sent || 'undo'].at(-1);
    if (kept.sent !== '' && notice.matches('.bad') && !form && before) {
      const name = kept.sent;
      const button = document.createElement('button');
      Object.assign(button, {
        type: 'button',
        className: 'link',
        textContent: name === 'undo' ? 'Undo the one before' : 'Redo the next',
      });
      button.addEventListener('click', () => send(name, before.token));
      notice.querySelector('span').after(' ', button);
    }
    write({ ...kept, sent: '' });
    sent = null;
  };
  for (const event of ['DOMContentLoaded', 'htmx:after:swap']) document.addEventListener(event, learn);

  document.addEventListener('key', (event) => {
    const name = { z: 'undo', Z: 'redo' }[event.detail];
    if (name && step(name)) event.preventDefault();
  });
})();
