/* What a key or the palette sets shows on its rows and cards at once; the answer, which draws them anew, decides. Without this file they show it then. */
(() => {
  /* Where an option names what it sets: "Set priority to urgent", "Severity: S1". */
  const valueOf = (label) => label.match(/(?: to |: )(.+)$/)?.[1] ?? '';
  let before = [];
  const restore = () => {
    for (const [chip, look, nodes] of before) {
      chip.className = look;
      chip.replaceChildren(...nodes);
    }
    before = [];
  };
  const show = (chip, text) => {
    before.push([chip, chip.className, [...chip.childNodes]]);
    chip.replaceChildren(text.charAt(0).toUpperCase() + text.slice(1));
    chip.classList.remove('none');
    chip.classList.add('pending');
  };
  document.addEventListener('submit', ({ target, submitter }) => {
    if (target.id !== 'palette-change' || !submitter?.value) return;
    const act = submitter.value.split(':', 1)[0];
    const text = valueOf(submitter.querySelector('.grow')?.textContent.trim() ?? '');
    const ids = [...target.querySelectorAll('[name=task]')].map(({ value }) => value.slice(value.indexOf(':') + 1));
    restore();
    if (text === '') return;
    for (const chip of document.querySelectorAll(`main [data-task] button[form=pick][value^="${CSS.escape(act)}:"]`))
      if (ids.some((id) => chip.value.endsWith(`:${id}`))) show(chip, text);
  });
  /* z takes back what is shown: it waits for the answer, which says how. */
  let waiting = null;
  document.addEventListener('key', (event) => {
    if (before.length === 0 || event.detail.toLowerCase() !== 'z') return;
    event.preventDefault();
    event.stopImmediatePropagation();
    waiting = event.detail;
  });
  /* An answer draws the rows anew; after a refusal, or none, they are as they were. */
  document.addEventListener('htmx:finally:request', () => {
    restore();
    const key = waiting;
    waiting = null;
    if (key) setTimeout(() => document.dispatchEvent(new CustomEvent('key', { cancelable: true, detail: key })));
  });
})();
