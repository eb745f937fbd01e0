/* Keys, the palette, its choosers for tasks, and the list of keys. Without this file the same pages are reached by links, and tasks change by their
   forms. */
(() => {
  const OFF = 'assent-single-keys-off';
  const PROJECT = 'assent-project';
  const RECENT = 'assent-recent';
  /* Time for the second of two keys, and for the next letter of a query, ms. */
  const PAIR_MS = 1500;
  const TYPING_MS = 120;
  const palette = document.getElementById('palette');
  const keys = document.getElementById('keys');
  const fresh = document.getElementById('new-task');
  if (!palette || !keys || !fresh) return;
  const input = palette.querySelector('input');
  const results = document.getElementById('palette-results');
  const status = palette.querySelector('[role=status]');
  const say = (text) => document.dispatchEvent(new CustomEvent('say', { detail: text }));

  const PLACEHOLDERS = {
    status: 'Status…',
    duplicate: 'Duplicate of… HAR-12, or words of its title',
    assignee: 'Assign to…',
    priority: 'Priority…',
    due: 'Due… such as next friday',
    estimate: 'Estimate… such as 3 points',
    cycle: 'Cycle…',
    project: 'Move to project…',
    tag: 'Tag…',
    field: 'Field, or one of its values…',
  };
  const placeholder = input.placeholder;
  /* What one row, card or page says of its task: version and id. Ticked rows come first, then the one in focus, the one under the pointer, then the page's own task. */
  const findTasks = () => {
    const ticked = [...document.querySelectorAll('input[form=bulk][name=task]:checked')].map((box) => box.value);
    if (ticked.length > 0) return ticked;
    const row = document.activeElement?.closest('[data-task]') ?? document.querySelector('main [data-task]:hover');
    if (row) return [row.dataset.task];
    const form = document.querySelector('main form[action^="/app/items/"][action$="/task"]:has([name=version])');
    if (!form) return [];
    return [`${form.elements.version.value}:${decodeURIComponent(form.getAttribute('action').split('/')[3])}`];
  };
  /* The tasks that the open palette is for, and the kind of change that it chooses among; empty for all. */
  let tasks = [];
  let kind = '';

  /* The palette: a combobox over a list that the service fills. */
  const options = () => [...results.querySelectorAll('[role=option]')];
  const choose = (option) => {
    for (const one of options()) one.setAttribute('aria-selected', String(one === option));
    if (option) input.setAttribute('aria-activedescendant', option.id);
    else input.removeAttribute('aria-activedescendant');
    option?.scrollIntoView({ block: 'nearest' });
  };
  const chosen = () => results.querySelector('[aria-selected=true]');
  /* A task of the palette goes into the project of this page, else into the last one that was open. */
  const project = () => {
    const here = document.querySelector('main [data-project]')?.dataset.project;
    if (here) localStorage.setItem(PROJECT, here);
    return here ?? localStorage.getItem(PROJECT) ?? '';
  };
  document.addEventListener('DOMContentLoaded', project);
  /* The pages of tasks that were opened last, by their ids: the service says what they are, to those who may read them. */
  const MOST_RECENT = 7;
  const TASK_ID = /^[A-Za-z0-9_][\w.:@-]{0,127}$/;
  const recent = () => (localStorage.getItem(RECENT) ?? '').split(',').filter((id) => TASK_ID.test(id));
  const opened = document.querySelector('main [data-follows-page^="/app/items/"]')?.dataset.followsPage.split('/')[3];
  const openedId = opened && decodeURIComponent(opened);
  const withoutOpened = () => recent().filter((id) => id !== openedId);
  if (openedId) localStorage.setItem(RECENT, [openedId, ...withoutOpened()].slice(0, MOST_RECENT).join(','));
  /* Answers may overtake each other: only that to the newest query counts. */
  let asked = 0;
  let timer;
  /* What is listed belongs to an older query; Enter then asks at once, and waits for the answer. */
  let isStale = false;
  const fill = async () => {
    const mine = ++asked;
    const query = new URLSearchParams({ q: input.value, project: project(), back: `${location.pathname}${location.search}` });
    if (tasks.length > 0) {
      query.set('task', tasks[0].slice(tasks[0].indexOf(':') + 1));
      query.set('tasks', String(Math.min(tasks.length, 100)));
    }
    if (kind !== '') query.set('act', kind);
    if (input.value === '') query.set('recent', withoutOpened().join(','));
    const answer = await fetch(`/app/palette?${query}`).catch(() => null);
    if (mine !== asked) return;
    /* Signed out meanwhile: the page says so. */
    if (answer?.redirected) location.reload();
    if (!answer?.ok) {
      isStale = false;
      palette.removeAttribute('data-waits');
      status.textContent = 'No answer. Press Enter to search on a page of its own.';
      return;
    }
    const text = await answer.text();
    if (mine !== asked) return;
    results.innerHTML = text;
    const change = document.getElementById('palette-change');
    for (const task of change ? tasks : []) {
      const field = document.createElement('input');
      Object.assign(field, { type: 'hidden', name: 'task', value: task });
      change.append(field);
    }
    if (change) htmx.process(change);
    const { said = '', hint } = results.firstElementChild?.dataset ?? {};
    status.textContent = said;
    if (hint) input.placeholder = hint;
    /* Enter creates a task only for those who asked for one. */
    choose(options().find((one) => !('unasked' in one.dataset)));
    isStale = false;
    if (palette.hasAttribute('data-waits')) chosen()?.click();
    palette.removeAttribute('data-waits');
  };
  const open = (act = '', of) => {
    if (palette.open && act === '') return input.select();
    if (!palette.open) tasks = of ?? findTasks();
    kind = act;
    keys.close();
    if (!palette.open) palette.showModal();
    input.placeholder = PLACEHOLDERS[kind] ?? placeholder;
    input.value = '';
    input.focus();
    results.replaceChildren();
    choose();
    isStale = true;
    palette.removeAttribute('data-waits');
    void fill();
  };
  input.addEventListener('input', () => {
    /* An answer to what was typed before is on its way: Enter must not open it. */
    asked += 1;
    isStale = true;
    palette.removeAttribute('data-waits');
    choose();
    clearTimeout(timer);
    timer = setTimeout(() => void fill(), TYPING_MS);
  });
  input.addEventListener('keydown', (event) => {
    const all = options();
    const at = all.indexOf(chosen());
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[event.key];
    if (to !== undefined && all.length > 0) {
      event.preventDefault();
      choose(all[(to + all.length) % all.length]);
    }
    if (event.key === 'Enter' && !event.isComposing && isStale) {
      event.preventDefault();
      clearTimeout(timer);
      if (!palette.hasAttribute('data-waits')) void fill();
      palette.setAttribute('data-waits', '');
    } else if (event.key === 'Enter' && !event.isComposing && chosen()) {
      event.preventDefault();
      if ((event.ctrlKey || event.metaKey) && chosen().href) window.open(chosen().href, '_blank', 'noopener');
      else chosen().click();
    }
  });
  results.addEventListener('pointermove', (event) => {
    const option = event.target.closest('[role=option]');
    if (option && option !== chosen()) choose(option);
  });
  /* A link to a place on this page loads nothing. */
  results.addEventListener('click', (event) => {
    const option = event.target.closest('[role=option]');
    if (option?.dataset.act) open(option.dataset.act);
    else if (option) palette.close();
  });
  /* What a row shows of its task opens the chooser of the key for it, for this task alone. */
  document.addEventListener('click', (event) => {
    const pick = event.target.closest?.('button[form=pick]');
    if (!pick) return;
    event.preventDefault();
    const [act] = pick.value.split(':', 1);
    open(act, [pick.value.slice(act.length + 1)]);
  });
  const markChoosers = () => {
    for (const one of document.querySelectorAll('button[form=pick]')) one.ariaHasPopup = 'dialog';
  };
  for (const event of ['DOMContentLoaded', 'htmx:after:swap']) document.addEventListener(event, markChoosers);
  /* A key of a task opens its chooser; what is to be done at once is the only option of its list. */
  const changeTasks = async (act) => {
    tasks = findTasks();
    if (tasks.length === 0) {
      if (document.querySelector('main [data-task]')) say('Put the focus on a task first, by j or k');
      return;
    }
    if (act in PLACEHOLDERS) return open(act);
    kind = act;
    input.value = '';
    await fill();
    if (!palette.open) chosen()?.click();
  };

  /* A part of another page, which is opened if it has no such part. */
  const fetchPart = async (path, id) => {
    const page = await fetch(path).catch(() => null);
    const part = page?.ok && new DOMParser().parseFromString(await page.text(), 'text/html').getElementById(id);
    if (!part) location.assign(path);
    return part || null;
  };
  /* The list of keys is the page that has it. */
  const listKeys = async () => {
    const list = await fetchPart('/app/keys', 'key-list');
    if (!list) return;
    keys.querySelector('[data-list]').replaceChildren(list);
    showSwitch();
    if (!palette.open && !keys.open) keys.showModal();
  };

  /* Keys without Ctrl can be turned off, for those who speak to their computer. */
  const areOn = () => localStorage.getItem(OFF) === null;
  const showSwitch = () => {
    for (const box of document.querySelectorAll('[data-single-keys]')) box.checked = areOn();
  };
  document.addEventListener('change', ({ target }) => {
    if (!target.matches?.('[data-single-keys]')) return;
    if (target.checked) localStorage.removeItem(OFF);
    else localStorage.setItem(OFF, '1');
    showSwitch();
  });
  document.addEventListener('DOMContentLoaded', showSwitch);

  /* A new task is asked for over the page, in the project of this page or the last one. */
  const askTask = async () => {
    const here = `${location.pathname}${location.search}`;
    const form = await fetchPart(`/app/tasks/new?${new URLSearchParams({ project: project(), back: here })}`, 'new-task-form');
    if (!form || palette.open || keys.open || fresh.open) return;
    fresh.querySelector('[data-form]').replaceChildren(form);
    htmx.process(form);
    fresh.showModal();
    form.elements.text.focus();
  };
  document.addEventListener('click', (event) => {
    const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    if (!isPlain || !event.target.closest?.('a[href="/app/tasks/new"]')) return;
    event.preventDefault();
    const line = document.querySelector('main form.quick:not([action$="/subtasks"]) input[name=text]');
    if (line) line.focus();
    else void askTask();
  });
  document.addEventListener('submit', ({ target }) => {
    if (target.id === 'new-task-form') localStorage.setItem(PROJECT, target.elements.project_id.value);
  });
  /* A line that is typed stays where a session has ended, or its meaning is refused: sending it says so, and keeps the text. */
  document.addEventListener('htmx:before:response', (event) => {
    const { hx, response } = event.detail.ctx;
    if (event.target.matches?.('form.quick input') && (hx.redirect || response.status >= 400)) event.preventDefault();
  });

  /* A link or a field names its keys in data-keys. */
  const act = (pressed) => {
    const element = document.querySelector(`[data-keys="${CSS.escape(pressed)}"]`);
    if (!element) return false;
    if (element.matches('input')) element.focus();
    else if (element.dataset.act) void changeTasks(element.dataset.act);
    else if (element.getAttribute('href') === '/app/keys') void listKeys();
    else element.click();
    return true;
  };
  /* Of the row in focus; the page of a task has a button for its own. */
  const copyLink = () => {
    const link = document.activeElement?.closest('[data-task]')?.querySelector('a[href]');
    if (!link) return false;
    void navigator.clipboard?.writeText(link.href).then(
      () => say('Link copied'),
      () => say('The browser copies nothing here'),
    );
    return true;
  };
  let first = null;
  document.addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      open();
      return;
    }
    /* A field of a dialog that has just closed keeps the focus until the next frame. */
    const field = event.target.closest?.('input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]');
    const isTyping = field && !field.closest('dialog:not([open])');
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey || event.key.length !== 1) return;
    if (!areOn() || palette.open || keys.open || fresh.open) return;
    const before = first && performance.now() - first.at < PAIR_MS ? `${first.key} ` : '';
    first = null;
    /* Scripts of lists take theirs first. */
    const isTaken = before === '' && !document.dispatchEvent(new CustomEvent('key', { cancelable: true, detail: event.key }));
    const isCopied = before === '' && event.key === '.' && copyLink();
    if (isTaken || isCopied || act(before + event.key)) event.preventDefault();
    else if (document.querySelector(`[data-keys^="${CSS.escape(event.key)} "]`))
      first = { key: event.key, at: performance.now() };
  });

  document.addEventListener('submit', (event) => {
    if (!event.target.matches('form.find') || event.target.elements.q.value.trim() !== '') return;
    event.preventDefault();
    open();
  });
  for (const dialog of [palette, keys, fresh]) {
    dialog.addEventListener('click', (event) => {
      if (event.target === dialog || event.target.closest('[data-close]')) dialog.close();
    });
  }
})();
