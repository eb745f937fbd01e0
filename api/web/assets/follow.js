/* The page of a task follows the changes of others. What is typed stays: a line beside it says what changed. Without this file the page is as it was loaded. */
(() => {
  const { isChanged } = globalThis.assentForms;

  /* What a reader sees of an element, apart from times that pass, what each rendering has of its own, and what is said of text that is not saved. */
  const sign = (element) => {
    const copy = element.cloneNode(true);
    for (const own of copy.querySelectorAll('[name=_csrf], [name=version], [data-news], .in-place-bar, [data-count], .hint'))
      own.remove();
    for (const time of copy.querySelectorAll('time')) time.textContent = time.dateTime;
    const values = [...copy.querySelectorAll('[value], [href], [selected]')].map((one) =>
      [one.getAttribute('value'), one.getAttribute('href'), one.hasAttribute('selected')].join(' '),
    );
    return [copy.textContent.replace(/\s+/g, ' '), ...values].join('\n');
  };
  const FIELD = 'input:not([type=hidden]), textarea, select';
  /* Fields of a form that stand elsewhere are among its elements. */
  const fieldsOf = (element) => [...(element.elements ?? element.querySelectorAll(FIELD))].filter((one) => one.matches(FIELD));
  const isBusy = (element) =>
    fieldsOf(element).some((field) => field === document.activeElement || field.closest('.edited')) ||
    fieldsOf(element).some((field) => field.name && !field.name.startsWith('was-') && isChanged(field));

  /* Puts the newer element in the place of the shown one; what was open or had the focus still is and has. */
  const put = (shown, newer) => {
    const opened = [...shown.querySelectorAll('details')].map((one) => one.open);
    for (const [at, one] of [...newer.querySelectorAll('details')].entries()) one.open ||= opened[at] ?? false;
    if (shown.matches('details')) newer.open ||= shown.open;
    const focusable = 'a, button, summary';
    /* What a yes would do has changed: Enter must not say yes to what nobody has read. */
    const isYes = shown.contains(document.activeElement) && document.activeElement.matches('[data-decides]');
    const focus = shown.contains(document.activeElement)
      ? [...shown.querySelectorAll(focusable)].indexOf(document.activeElement)
      : -1;
    shown.replaceWith(newer);
    globalThis.htmx?.process(newer);
    if (focus >= 0) newer.querySelectorAll(focusable)[isYes ? 0 : focus]?.focus();
  };
  const update = (shown, newer) => {
    if (sign(shown) === sign(newer)) return false;
    put(shown, newer);
    return true;
  };

  const button = (text, act) => {
    const made = document.createElement('button');
    made.type = 'button';
    made.className = 'link';
    made.textContent = text;
    made.addEventListener('click', act);
    return made;
  };
  /* How a field shows a value: the label of its choice. */
  const wordOf = (field, value) =>
    (field.options ? [...field.options].find((one) => one.value === value)?.textContent : value) || 'nothing';

  /* Gives a field that nobody edits its newer value. */
  const take = (field, newer, was) => {
    if (field.options) field.innerHTML = newer.innerHTML;
    else field.value = field.defaultValue = newer.defaultValue;
    was.value = was.defaultValue = newer.form.elements.namedItem(was.name).value;
  };
  const announce = (field, newer, was, by) => {
    const form = field.form;
    const name = was.name.slice('was-'.length);
    const value = newer.form.elements.namedItem(was.name).value;
    const label = form.querySelector(`label[for="${field.id}"]`)?.firstChild?.textContent.trim() || name;
    document.querySelector(`[data-news="${name}"]`)?.remove();
    const line = document.createElement('p');
    line.className = 'news-of-field fine';
    line.dataset.news = name;
    line.setAttribute('role', 'status');
    const what = label.replace(/,.*| \(.*/, '').toLowerCase();
    line.append(`${by} changed the ${what} — `);
    line.append(
      button('show', () => {
        line.replaceChildren(`It is now: ${wordOf(newer, value)} `);
        line.append(
          button('Use it', () => {
            take(field, newer, was);
            line.remove();
            field.focus();
          }),
        );
        line.lastChild.focus();
      }),
    );
    field.after(line);
  };
  /* Brings newer values into a form in which something is typed, field by field. */
  const merge = (shown, newer, by) => {
    let has = false;
    for (const was of shown.querySelectorAll('[name^="was-"]')) {
      const name = was.name.slice('was-'.length);
      const find = (form) => form.elements.namedItem(name) ?? form.elements.namedItem(`field-${name}`);
      const [field, other, value] = [find(shown), find(newer), newer.elements.namedItem(was.name)?.value];
      if (!(field instanceof HTMLElement) || !(other instanceof HTMLElement) || value === undefined || value === was.value)
        continue;
      if (document.querySelector(`[data-news="${name}"]`)?.dataset.value === value) continue;
      has = true;
      if (!isChanged(field) || field.value === value) take(field, other, was);
      else {
        announce(field, other, was, by);
        document.querySelector(`[data-news="${name}"]`).dataset.value = value;
      }
    }
    return has;
  };
  /* Of a list in which something is typed, only the other entries are replaced. What waits for a yes no more goes, unless its reader is at it. */
  const mergeList = (shown, newer) => {
    let [has, last] = [false, null];
    /* Entries leave the newer list when they are put. */
    const entries = [...newer.children];
    for (const own of 'entries' in shown.dataset ? [...shown.children] : []) {
      if (entries.some(({ id }) => id === own.id) || own.classList.contains('gone')) continue;
      has = true;
      if (isBusy(own) || own.contains(document.activeElement)) globalThis.assentDecisions.close(own);
      else own.remove();
    }
    for (const entry of entries) {
      const own = entry.id && shown.querySelector(`:scope > #${CSS.escape(entry.id)}`);
      if (own) {
        const isSame = isBusy(own) || !update(own, entry);
        has ||= !isSame;
        last = isSame ? own : entry;
      } else if (entry.id) {
        if (last) last.after(entry);
        else shown.prepend(entry);
        globalThis.htmx?.process(entry);
        [has, last] = [true, entry];
      }
    }
    return has;
  };

  const apply = (page, mark, newMark) => {
    const by = newMark.dataset.by;
    let has = false;
    for (const part of document.querySelectorAll('[data-part]')) {
      const newer = page.getElementById(part.id);
      if (!newer) continue;
      has = (isBusy(part) || 'entries' in part.dataset ? mergeList(part, newer) : update(part, newer)) || has;
    }
    for (const form of document.querySelectorAll('form[data-merges]')) {
      const newer = page.getElementById(form.id);
      if (!newer) continue;
      has = (isBusy(form) ? merge(form, newer, by) : update(form, newer)) || has;
    }
    /* What is deleted is what is shown. */
    const [version, newVersion] = [document, page].map((one) => one.querySelector('form.delete [name=version]'));
    if (version && newVersion && !document.querySelector('[data-news]')) version.value = newVersion.value;
    if (has) mark.textContent = mark.dataset.says ?? `${by} changed the task`;
    document.dispatchEvent(new Event('followed'));
  };

  const asking = new Set();
  const ask = async (mark) => {
    asking.add(mark.id);
    try {
      const answer = await fetch(`${mark.dataset.followsPage}?live`);
      if (!answer.ok || answer.redirected) return;
      const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
      const newMark = page.getElementById(mark.id);
      /* A form that was sent meanwhile has replaced the page. */
      if (newMark && mark.isConnected) apply(page, mark, newMark);
    } catch {
      /* The next change asks again. */
    } finally {
      asking.delete(mark.id);
    }
  };
  document.addEventListener(
    'live',
    ({ target }) => {
      if (target.matches?.('[data-follows-page]') && !asking.has(target.id)) void ask(target);
    },
    true,
  );
})();
