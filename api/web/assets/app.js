/* Enhancements that need a script; the pages work without this file. */
(() => {
  /* htmx passes an empty second argument, which Chromium 143 and others of its time refuse: without this no part of a page is replaced. */
  try {
    Document.parseHTMLUnsafe?.('', {});
  } catch {
    const parse = Document.parseHTMLUnsafe.bind(Document);
    Document.parseHTMLUnsafe = (html) => parse(html);
  }

  const say = (element, text) => {
    const before = element.textContent;
    element.textContent = text;
    setTimeout(() => {
      element.textContent = before;
    }, 2000);
  };

  for (const field of document.querySelectorAll('[data-time-zone]'))
    field.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? '';

  document.addEventListener('click', (event) => {
    const copy = event.target.closest('[data-copy]');
    if (copy) {
      const source = document.getElementById(copy.dataset.copy);
      const write = async () => navigator.clipboard.writeText(source.textContent.trim());
      const label = copy.firstChild;
      /* Without a secure connection there is no clipboard: what is to be copied shows and is selected. */
      write().then(
        () => say(label, 'Copied'),
        () => {
          source.parentElement.classList.add('shown');
          getSelection().selectAllChildren(source);
        },
      );
      return;
    }
    if (event.target.closest('[data-print]')) print();
    for (const menu of document.querySelectorAll('details.menu[open]')) if (!menu.contains(event.target)) menu.open = false;
  });

  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    for (const menu of document.querySelectorAll('details.menu[open]')) {
      menu.open = false;
      menu.querySelector('summary').focus();
    }
  });

  /* A message over the page goes when it was read: by its button, by Escape, or by itself unless it says that something went wrong. */
  const STAYS_MS = 8_000;
  const STAYS_WITH_UNDO_MS = 20_000;
  const dismiss = (notice) => {
    /* Its focus would be lost; before it takes it, nothing has it. */
    const hasFocus = notice.contains(document.activeElement) || document.activeElement === document.body;
    notice.remove();
    if (hasFocus) document.getElementById('main')?.focus({ preventScroll: true });
  };
  const timed = new WeakSet();
  const time = () => {
    const notice = document.querySelector('.notice.toast.good');
    if (!notice || timed.has(notice)) return;
    timed.add(notice);
    const wait = () =>
      setTimeout(
        () => {
          const isRead =
            notice.matches(':hover') || (notice !== document.activeElement && notice.contains(document.activeElement));
          if (isRead) wait();
          else dismiss(notice);
        },
        notice.querySelector('[form=undo]') ? STAYS_WITH_UNDO_MS : STAYS_MS,
      );
    wait();
  };
  for (const event of ['DOMContentLoaded', 'htmx:after:swap']) document.addEventListener(event, time);
  /* Why a form was refused stands above it, perhaps out of sight. */
  document.addEventListener('htmx:after:swap', () => {
    const problem = document.querySelector('main .notice.bad[role=alert]:not(.toast)');
    requestAnimationFrame(() => problem?.scrollIntoView({ block: 'nearest' }));
  });
  document.addEventListener('click', ({ target }) => {
    const notice = target.closest('[data-dismiss]')?.closest('.notice');
    if (notice) dismiss(notice);
  });
  document.addEventListener('keydown', ({ key, target, defaultPrevented }) => {
    const notice = document.querySelector('.notice.toast');
    if (key === 'Escape' && notice && !defaultPrevented && !target.closest('dialog, input, textarea')) dismiss(notice);
  });

  /* The first field that was refused takes the focus, for it may be far down. */
  const showRefused = () => {
    const isElsewhere = document.activeElement?.matches('main :is(input, select, textarea)');
    if (!isElsewhere) document.querySelector('main [aria-invalid=true]')?.focus();
  };
  for (const event of ['DOMContentLoaded', 'htmx:after:swap']) document.addEventListener(event, showRefused);

  /* A file that is too large is refused before it is sent. */
  document.addEventListener('change', ({ target }) => {
    if (!target.matches?.('input[type=file][data-max-bytes]')) return;
    const isTooLarge = [...target.files].some((file) => file.size > Number(target.dataset.maxBytes));
    target.setCustomValidity(isTooLarge ? target.dataset.tooLarge : '');
    if (isTooLarge) target.reportValidity();
  });

  /* Ctrl or Command with Enter sends a text of several lines, where the form has one thing to do; a message to the agent is sent by Enter alone. Enter
     that ends a composition is none: Safari tells so by its code only. */
  const COMPOSING = 229;
  document.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || event.isComposing || event.keyCode === COMPOSING || event.repeat) return;
    if (!event.target.matches?.('textarea')) return;
    const isMessage = event.target.matches('form.say > textarea') && !event.shiftKey && !event.altKey;
    if (!isMessage && !event.ctrlKey && !event.metaKey) return;
    const { form } = event.target;
    const buttons = form ? [...form.elements].filter((one) => one.type === 'submit') : [];
    if (form?.method !== 'post' || buttons.length !== 1 || buttons[0].disabled) return;
    event.preventDefault();
    form.requestSubmit(buttons[0]);
  });

  /* A button is off while its form is on its way. It is read with the form's fields, so it goes off after them. A file that is saved leaves the page
     as it is, so every button comes back. */
  const RESUME_MS = 5_000;
  const sent = new Set();
  const resume = () => {
    for (const button of sent) button.disabled = false;
    sent.clear();
  };
  document.addEventListener('submit', ({ target, submitter }) => {
    if (target.method !== 'post' || !submitter) return;
    setTimeout(() => {
      submitter.disabled = true;
      sent.add(submitter);
    });
    setTimeout(resume, RESUME_MS);
  });
  for (const event of ['htmx:finally:request', 'pageshow']) addEventListener(event, resume);

  /* The button of a plan counts what is ticked; without scripts it says "the ticked changes". */
  const count = (form) => {
    const shown = form.querySelector('[data-count]');
    if (!shown) return;
    const text = `${form.querySelectorAll('input[name=index]:checked').length} of ${shown.dataset.of}`;
    if (shown.textContent !== text) shown.textContent = text;
  };
  const countAll = () => {
    for (const form of document.querySelectorAll('article.plan form')) count(form);
  };
  document.addEventListener('change', (event) => {
    const form = event.target.closest('article.plan form');
    if (form) count(form);
  });
  document.addEventListener('click', ({ target }) => {
    const form = target.closest('[data-tick-all]')?.form;
    if (!form) return;
    for (const box of form.querySelectorAll('input[name=index]:enabled')) box.checked = target.dataset.tickAll !== '';
    count(form);
  });
  new MutationObserver(countAll).observe(document.documentElement, { childList: true, subtree: true });
  document.addEventListener('DOMContentLoaded', countAll);
  countAll();

  /* The bar under the queue counts what is ticked. */
  document.addEventListener('change', (event) => {
    if (event.target.form?.id !== 'many') return;
    const ticked = document.querySelectorAll('input[form=many]:checked').length;
    document.querySelector('[data-ticked]').textContent = ticked === 0 ? 'Ticked ones' : `${ticked} ticked`;
  });

  /* Parts that follow changes ask again when one of theirs comes, at most every four seconds. Without a stream they ask every ten seconds, with one every
     minute, for what only time changes. A hidden page has no stream: a browser has six connections to a host for all its pages. */
  const GAP = 4_000;
  let source = null;
  let followed = '';
  let askedAt = 0;
  let waiting = 0;
  let ticks = 0;
  const due = new Set();
  const parts = () => [...document.querySelectorAll('[data-live]')];
  const ask = (asking = parts()) => {
    askedAt = Date.now();
    due.clear();
    for (const part of asking) part.dispatchEvent(new Event('live'));
  };
  /* A part that names items follows these, and what may become one of theirs: a new task of the project, a relation or a file of the team. */
  const isOf = (part, { type, entity_type, entity_id, parent_id, team_id, project_id }) => {
    const { live, liveOf, liveProject, liveTeam } = part.dataset;
    if (![type, entity_type, type.split('.')[0]].some((name) => live.split(',').includes(name))) return false;
    if (liveOf === undefined || [entity_id, parent_id].some((id) => JSON.parse(liveOf).includes(id))) return true;
    if (entity_type === 'task') return type === 'task.created' && project_id === liveProject;
    return entity_type !== 'comment' && team_id === liveTeam;
  };
  const askSoon = (asking) => {
    for (const part of asking) due.add(part);
    if (due.size === 0) return;
    waiting ||= setTimeout(
      () => {
        waiting = 0;
        ask([...due]);
      },
      Math.max(100, askedAt + GAP - Date.now()),
    );
  };
  const connect = () => {
    const types = document.hidden
      ? ''
      : parts()
          .map((part) => part.dataset.live)
          .join(',');
    if (types === followed && source && source.readyState !== EventSource.CLOSED) return;
    source?.close();
    source = null;
    followed = types;
    if (types === '') return;
    source = new EventSource(`/app/live?types=${types}`);
    source.onopen = () => askSoon(parts());
    source.onmessage = ({ data }) => {
      const change = JSON.parse(data);
      askSoon(parts().filter((part) => isOf(part, change)));
    };
  };
  for (const event of ['DOMContentLoaded', 'visibilitychange', 'htmx:after:swap']) document.addEventListener(event, connect);
  setInterval(() => {
    if (document.hidden) return;
    ticks += 1;
    connect();
    if (source?.readyState !== EventSource.OPEN || ticks % 6 === 0) ask();
  }, 10_000);

  /* Counts beside the places. No swap: it would pass for the answer to a form that is on its way. */
  const recount = async (places) => {
    const answer = await fetch(places.dataset.counts).catch(() => null);
    if (!answer?.ok || answer.redirected) return;
    const newer = new DOMParser().parseFromString(await answer.text(), 'text/html');
    for (const link of places.querySelectorAll('a[href]')) {
      link.querySelector('.count')?.remove();
      const found = newer.querySelector(`a[href="${link.getAttribute('href')}"] .count`);
      if (found) link.append(' ', found.cloneNode(true));
    }
  };
  document.addEventListener('live', ({ target }) => target.matches('[data-counts]') && void recount(target), true);

  /* A log that grows stays at its end, unless the reader scrolled away from it. */
  const scrolledAway = new WeakSet();
  const follow = () => {
    const log = document.querySelector('pre[data-follow]');
    if (log && !scrolledAway.has(log)) log.scrollTop = log.scrollHeight;
  };
  document.addEventListener(
    'scroll',
    ({ target }) => {
      if (!target.matches?.('pre[data-follow]')) return;
      if (target.scrollHeight - target.scrollTop - target.clientHeight > 24) scrolledAway.add(target);
      else scrolledAway.delete(target);
    },
    true,
  );
  new MutationObserver(follow).observe(document.documentElement, { childList: true, characterData: true, subtree: true });
  document.addEventListener('DOMContentLoaded', follow);

  /* A conversation opens at its newest message, unless the address says where or the reader was here before. */
  const openAt = () => {
    const [visit] = performance.getEntriesByType('navigation');
    const list = document.querySelector('[data-open-at]');
    if (list && location.hash === '' && visit?.type === 'navigate')
      document.getElementById(list.dataset.openAt)?.scrollIntoView();
  };
  document.addEventListener('DOMContentLoaded', openAt);

  /* What a reader has hidden stays so for them in this browser; the palette finds it again. */
  const user = document.body.dataset.user;
  const keyOf = (name) => `assent-hidden-${name}`;
  for (const name of ['first-steps'])
    if (user && localStorage.getItem(keyOf(name)) === user) document.documentElement.classList.add(`hides-${name}`);
  document.addEventListener('click', ({ target }) => {
    const name = target.closest('[data-hides]')?.dataset.hides;
    if (!name) return;
    localStorage.setItem(keyOf(name), user);
    document.documentElement.classList.add(`hides-${name}`);
    document.getElementById('main').focus();
  });

  /* Buttons that only work with a script are hidden until there is one. */
  document.documentElement.classList.add('scripted');
})();
