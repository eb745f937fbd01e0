/* Enhancements of the builder of automations; it works without this file. */
(() => {
  /* The field that a path or a secret goes into: the one that was last typed in. */
  let last = null;
  const isText = (element) => element?.matches?.('#builder textarea, #builder input:not([type]), #builder input[type=text]');
  document.addEventListener('focusin', ({ target }) => {
    if (isText(target)) last = target.id;
  });

  const insert = (text) => {
    const field = document.getElementById(last ?? '') ?? document.querySelector('#builder .params textarea');
    if (!field) return;
    field.focus();
    // A condition names the path itself.
    const written = field.id === 'f-condition' ? text.slice(2, -2) : text;
    field.setRangeText(written, field.selectionStart, field.selectionEnd, 'end');
    field.dispatchEvent(new Event('input', { bubbles: true }));
  };

  document.addEventListener('click', (event) => {
    const path = event.target.closest('[data-insert]');
    if (path) insert(path.dataset.insert);
    const fault = event.target.closest('[data-select]');
    if (!fault) return;
    const field = document.getElementById(fault.dataset.select);
    // Positions count code points, selections UTF-16 units.
    const points = Array.from(field.value);
    const at = Number(fault.dataset.at);
    const start = points.slice(0, at).join('').length;
    field.focus();
    field.setSelectionRange(start, start + (points[at]?.length ?? 0));
  });

  document.addEventListener('change', ({ target }) => {
    if (target.id !== 'f-trigger_type') return;
    const schedule = document.getElementById('schedule');
    schedule.open = target.value === 'schedule';
    schedule.hidden = !schedule.open;
  });

  /* A list of people grows by a choice; without this file their names are typed. */
  const showChoices = () => {
    for (const choice of document.querySelectorAll('#builder [data-append]')) choice.hidden = false;
    for (const button of document.querySelectorAll('#builder .type-row button')) button.hidden = true;
  };
  document.addEventListener('change', ({ target }) => {
    const field = target.dataset?.append && document.getElementById(target.dataset.append);
    if (!field || target.value === '') return;
    field.value = [...field.value.split('\n').filter((line) => line.trim() !== ''), target.value].join('\n');
    target.value = '';
    field.dispatchEvent(new Event('input', { bubbles: true }));
  });
  /* Another action is shown at once; without this file a button does so. */
  document.addEventListener('change', ({ target }) => {
    if (target.matches?.('#builder select[name$=".as"]')) target.parentElement.querySelector('button').click();
  });
  showChoices();

  /* What is unfolded of a step is so after its buttons too. A toggle does not bubble. */
  document.addEventListener(
    'toggle',
    ({ target }) => {
      if (target.matches?.('#builder details.more-fields')) target.previousElementSibling.value = target.open ? 'yes' : '';
    },
    true,
  );

  /* Another row of the condition has the focus as soon as it is there. */
  const fieldsOfRows = () => [...document.querySelectorAll('.condition-row select[name$=".field"]')];
  let rowsBefore = Infinity;
  document.addEventListener('click', ({ target }) => {
    if (target.closest?.('#builder button[value=row]')) rowsBefore = fieldsOfRows().length;
  });

  document.addEventListener('htmx:after:swap', () => {
    showChoices();
    if (fieldsOfRows().length > rowsBefore) {
      rowsBefore = Infinity;
      fieldsOfRows().at(-1).focus();
    }
    const step = document.querySelector('#builder [data-focus]');
    if (!step) return;
    step.removeAttribute('data-focus');
    step.scrollIntoView({ block: 'nearest' });
    step.querySelector('.params :is(input, select, textarea)')?.focus({ preventScroll: true });
  });
})();
