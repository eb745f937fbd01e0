/* The line of a new task takes the next ones while one is on its way: Enter puts them in a row, and what is typed goes on in the line that the answer
   draws. Without this file the next line is typed after the answer. */
(() => {
  const FORM = 'main form.quick[data-focus]';
  /* The form, its field and the text that are on their way, the lines that wait for them, and what is typed after these. */
  let sent = null;
  let waiting = [];
  let rest = '';
  const join = (...lines) => lines.filter((line) => line.trim() !== '').join(' ');
  const write = (field, text) => {
    field.value = text;
    field.setSelectionRange(text.length, text.length);
    if (text !== '') field.dispatchEvent(new Event('input', { bubbles: true }));
  };

  document.addEventListener('htmx:before:request', ({ target }) => {
    if (!target.matches?.(FORM)) return;
    const field = document.getElementById(target.dataset.focus);
    sent = { form: target, field, text: field.value };
    field.value = rest;
    rest = '';
  });
  document.addEventListener('keydown', (event) => {
    const field = event.target;
    /* The keys of the page are for what else is there. */
    if (event.key === 'Escape' && !event.defaultPrevented && field.matches?.(`${FORM} input[name=text]`)) field.blur();
    if (event.key !== 'Enter' || event.isComposing || event.defaultPrevented || field !== sent?.field) return;
    event.preventDefault();
    if (field.value.trim() !== '') waiting.push(field.value);
    field.value = '';
  });

  document.addEventListener('htmx:after:swap', () => {
    if (!sent || sent.field.isConnected) return;
    const typed = sent.field.value;
    const field = document.getElementById(sent.field.id);
    sent = null;
    /* A refused line stands in its field again, to be corrected, and the others behind it. */
    if (field?.value === '') return write(field, typed);
    if (field) write(field, join(field.value, ...waiting, typed));
    waiting = [];
  });
  document.addEventListener('htmx:finally:request', ({ detail }) => {
    /* What was asked about the line meanwhile ends too: a form that is sent aborts that. */
    if (sent && detail.ctx.sourceElement !== sent.form) return;
    const field = document.querySelector(`${FORM} input[name=text]:focus`);
    if (sent?.field.isConnected) {
      /* Nothing was answered, so the line is not sent. */
      write(sent.field, join(sent.text, ...waiting, sent.field.value));
      [sent, waiting] = [null, []];
    } else if (!sent && waiting.length > 0 && field) {
      rest = field.value;
      field.value = waiting.shift();
      field.form.requestSubmit();
    }
  });
})();
