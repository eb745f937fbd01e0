/*
 * A title and a text are edited where they stand: the field of their form moves there, and leaving it saves. Without this file the form below them
 * edits both.
 */
(() => {
  const FORM = 'form[data-in-place]';
  const PART = '#main [data-edits]';
  /* What a refused form brings back is sent only when that is asked for: leaving it would replace what another has saved. */
  const asksFirst = new WeakSet();
  let editing = null;
  let sent = new Map();

  const isTitle = (field) => field.name !== 'description' && field.name !== 'content';
  const before = (field) => field.form.elements.namedItem(`was-${field.name}`)?.value ?? field.defaultValue;
  const isNew = (field) => field.value !== before(field);
  const partOf = (field) => document.querySelector(`[data-edits="${field.id}"]`);

  const MOST_LINES = 200;
  /* Where a field does not grow by itself. */
  const grow = (field) => {
    if (CSS.supports('field-sizing', 'content')) return;
    field.rows = 1;
    while (field.scrollHeight > field.clientHeight && field.rows < MOST_LINES) field.rows += 1;
  };
  /* A title is wrapped like its heading, which a field of one line cannot do. */
  const inLines = (field) => {
    if (field.matches('textarea')) return field;
    const lines = document.createElement('textarea');
    for (const { name, value } of field.attributes) if (name !== 'value') lines.setAttribute(name, value);
    lines.defaultValue = field.defaultValue;
    lines.value = field.value;
    lines.rows = 1;
    field.replaceWith(lines);
    return lines;
  };
  const button = (text, act, look = '') => {
    const made = document.createElement('button');
    Object.assign(made, { type: 'button', textContent: text, className: `small ${look}` });
    /* The focus stays in the field, whose loss would save. */
    made.addEventListener('pointerdown', (event) => event.preventDefault());
    made.addEventListener('click', act);
    return made;
  };
  const bar = (...buttons) => {
    const line = document.createElement('p');
    line.className = 'in-place-bar';
    line.append(...buttons);
    return line;
  };

  const send = (field) => {
    if (!field.reportValidity()) return;
    asksFirst.delete(field);
    field.form.requestSubmit();
  };
  /* Gives the field back to its form, and shows what the page brought. */
  const close = (field) => {
    if (editing === field) editing = null;
    const part = partOf(field);
    part.classList.remove('edited');
    for (const extra of part.querySelectorAll('.in-place-bar, small.wrong')) extra.remove();
    field.form.querySelector(`label[for="${field.id}"]`).after(field);
    if (isTitle(field)) part.querySelector('h1').textContent = before(field);
  };
  /* A title gets its old words back; a longer text waits for those who left it by mistake. */
  const cancel = (field) => {
    const part = partOf(field);
    close(field);
    if (isTitle(field)) field.value = before(field);
    offer(field);
    (part.querySelector('.in-place-bar button') ?? part.querySelector('[data-edit]')).focus({ preventScroll: true });
  };
  const offer = (field) => {
    const part = partOf(field);
    part.querySelector('.in-place-bar')?.remove();
    if (!isNew(field)) return;
    const line = bar(
      button('Continue', () => edit(field)),
      button(
        'Discard',
        () => {
          field.value = before(field);
          line.remove();
          part.querySelector('[data-edit]').focus();
        },
        'outline secondary',
      ),
    );
    line.prepend('What you typed is not saved. ');
    part.append(line);
  };

  const edit = (given, at) => {
    const { form } = given;
    const part = partOf(given);
    const field = inLines(given);
    if (asksFirst.has(given)) asksFirst.add(field);
    field.setAttribute('form', form.id);
    field.setAttribute('aria-label', form.querySelector(`label[for="${field.id}"]`).textContent);
    part.querySelector('.in-place-bar')?.remove();
    part.classList.add('edited');
    if (isTitle(field)) part.querySelector('h1').replaceChildren(field);
    else part.querySelector('[data-edit]').before(field);
    const fault = document.getElementById(field.getAttribute('aria-describedby') ?? '');
    if (fault) part.append(fault);
    if (!isTitle(field) || asksFirst.has(field))
      part.append(
        bar(
          button('Save', () => send(field)),
          button('Cancel', () => cancel(field), 'outline secondary'),
        ),
      );
    grow(field);
    editing = field;
    field.focus({ preventScroll: true });
    const place = at ?? field.value.length;
    field.setSelectionRange(place, place);
    field.scrollIntoView({ block: 'nearest' });
  };

  /* The place in the field of what was pointed at: exact in a title, and in a text where the words occur once in what was written. */
  const placeOf = (field, { clientX, clientY }) => {
    const point = document.caretPositionFromPoint?.(clientX, clientY);
    if (point?.offsetNode.nodeType !== Node.TEXT_NODE) return undefined;
    const words = point.offsetNode.textContent;
    const start = field.value.indexOf(words);
    return words.trim() !== '' && start >= 0 && field.value.indexOf(words, start + 1) < 0 ? start + point.offset : undefined;
  };
  document.addEventListener('click', (event) => {
    const part = event.target.closest(PART);
    const field = part && document.getElementById(part.dataset.edits);
    if (!field || part.classList.contains('edited')) return;
    if (event.target.closest('[data-edit]')) return edit(field);
    /* Words that were selected are read or copied, and what leads elsewhere does. */
    const isText = event.target.closest('h1, .prose') && !event.target.closest('a, summary, button, input');
    if (isText && getSelection().isCollapsed) edit(field, placeOf(field, event));
  });
  document.addEventListener('input', ({ target }) => {
    if (!target.matches('.edited textarea')) return;
    if (isTitle(target) && target.value.includes('\n')) target.value = target.value.replace(/\s*\n\s*/g, ' ');
    grow(target);
  });
  document.addEventListener('keydown', (event) => {
    const { target: field } = event;
    if (!field.matches?.('.edited textarea') || event.isComposing || event.defaultPrevented) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      cancel(field);
    } else if (event.key === 'Enter' && isTitle(field)) {
      event.preventDefault();
      if (!isNew(field)) cancel(field);
      else send(field);
    }
  });
  document.addEventListener('focusout', ({ target: field, relatedTarget }) => {
    if (field !== editing || !field.isConnected || !document.hasFocus()) return;
    if (asksFirst.has(field) || sent.get(field.name) === field.value || field.closest('[data-edits]').contains(relatedTarget))
      return;
    editing = null;
    /* An emptied title is none. */
    if (!field.checkValidity()) field.value = before(field);
    if (isNew(field)) field.form.requestSubmit();
    else setTimeout(() => field.isConnected && close(field));
  });

  /* What is typed while the answer is on its way stays, as does the place in it. */
  let later = [];
  let held = null;
  let sender = '';
  document.addEventListener('submit', ({ target }) => {
    if (!target.matches(FORM)) return;
    sent = new Map([...target.elements].map(({ name, value }) => [name, value]));
    sender = document.activeElement?.form === target ? document.activeElement.id : '';
  });
  document.addEventListener('htmx:before:swap', () => {
    const form = document.querySelector(FORM);
    if (!form || sent.size === 0) return;
    later = [...form.elements].filter(({ id, name, value }) => id && name && sent.get(name) !== value);
    const { activeElement: field } = document;
    const isHeld = field.matches('#main :is(input, textarea, select)[id]') && (field.id !== sender || later.includes(field));
    held = { form, ...(isHeld && { id: field.id, start: field.selectionStart, end: field.selectionEnd }) };
    editing = null;
  });
  const settle = () => {
    const form = document.querySelector(FORM);
    const details = form?.closest('details');
    if (!form || held?.form === form) return;
    sent = new Map();
    for (const { id, value } of later) {
      const field = document.getElementById(id);
      field.value = value;
    }
    /* What an expired session has kept is shown as a whole, and so is a form with more than what stands on the page. */
    if (!details.open || (form.dataset.inPlace === 'whole' && !details.querySelector('.notice'))) {
      details.open = false;
      for (const one of form.querySelectorAll(':is(input, textarea)[id]')) {
        if (!partOf(one) || partOf(one).matches('.edited')) continue;
        if (details.matches('[data-refused]') && (isNew(one) || one.matches('[aria-invalid]'))) {
          asksFirst.add(one);
          edit(one);
        } else if (isNew(one)) offer(one);
      }
    }
    const field = held?.id && document.getElementById(held.id);
    if (field && form.contains(field)) edit(field, held.start);
    else if (field && field !== document.activeElement) {
      field.focus({ preventScroll: true });
      if (typeof held.start === 'number') field.setSelectionRange(held.start, held.end);
    }
    [later, held] = [[], null];
  };
  /* A part that another's change has replaced says again what is not saved. */
  document.addEventListener('followed', () => {
    for (const one of document.querySelectorAll(`${FORM} :is(input, textarea)[id]`))
      if (partOf(one) && isNew(one) && !partOf(one).querySelector('.in-place-bar')) offer(one);
  });
  document.addEventListener('htmx:after:swap', settle);
  document.addEventListener('DOMContentLoaded', settle);
  document.addEventListener('htmx:finally:request', () => {
    sent = new Map();
  });
})();
