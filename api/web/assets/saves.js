/* Fields that save themselves. A choice is saved at once, also one by voice; one by keys when its field is left, because arrows change a choice on the way to
   another. The button of their form shows while something is not saved. Without this file each form is saved by its button. */
(() => {
  const { fieldsOf, isBox, isChanged } = globalThis.assentForms;
  const FORM = 'form[data-saves]';
  let keyed = null;
  const CONTROL = `${FORM} :is(select, textarea, input:not([type=hidden]))`;
  const stateOf = (field) => (isBox(field) ? String(field.checked) : field.value);
  const partOf = (field) => (isBox(field) ? `${field.name} ${field.value}` : field.name);

  const isUnsaved = (form) => [...form.elements].some((field) => field.name && field.type !== 'hidden' && isChanged(field));
  const lastOf = (form) => [...form.elements].findLast((one) => one.matches(CONTROL));
  const mark = () => {
    for (const form of document.querySelectorAll(FORM)) form.classList.toggle('unsaved', isUnsaved(form));
    /* Keys that had come to a button which is not shown any more go on from the last field. */
    const { activeElement: active } = document;
    if (keyed && active.matches(`${FORM} button`) && !active.checkVisibility()) lastOf(active.form).focus();
  };
  for (const event of ['DOMContentLoaded', 'input', 'change', 'followed']) document.addEventListener(event, mark);

  /* Whether a field of another form holds what would be lost with the page. */
  const isTyping = (form) =>
    fieldsOf('main textarea, main input:not([type=hidden], [type=checkbox], [type=radio])').some(
      (field) => field.form !== form && isChanged(field) && !('unsent' in field.dataset),
    );

  /* What was chosen while text was typed elsewhere, or before the answer to another change had come, is sent after that. */
  const waiting = new Set();
  const save = (form) => {
    if (isTyping(form)) waiting.add(form.id);
    else form.requestSubmit();
  };
  let sentForm = null;
  const resume = () => {
    /* What was refused is looked at first. */
    if (document.querySelector('main [aria-invalid=true], main .notice.bad')) waiting.clear();
    /* What is not sent now waits again. */
    const ids = [...waiting];
    for (const id of ids) {
      const form = document.getElementById(id);
      if (form && isTyping(form)) continue;
      waiting.delete(id);
      const isWriting =
        document.activeElement?.form === form && document.activeElement.matches('textarea, input:not([type=checkbox])');
      if (form && isUnsaved(form) && !isWriting) form.requestSubmit();
    }
  };

  let sent = new Map();
  let later = [];
  let held = '';
  let isSwapping = false;
  let opened = [];
  document.addEventListener('pointerdown', () => {
    keyed = null;
  });
  document.addEventListener('keydown', ({ target }) => {
    keyed = target;
  });
  document.addEventListener('change', ({ target }) => {
    if (!target.matches(`${FORM} :is(select, [type=checkbox], [type=date])`) || (keyed === target && !isBox(target))) return;
    /* A choice that opens a field is followed by what is typed there. */
    const opens = target.selectedOptions?.[0]?.dataset.opens;
    if (opens) document.getElementById(opens).focus();
    else save(target.form);
  });
  document.addEventListener('focusout', ({ target, relatedTarget }) => {
    const { form } = target;
    /* A field that is replaced loses the focus too. */
    if (isSwapping || !target.matches(CONTROL) || !form.isConnected || !isChanged(target)) return;
    const isOpening = target.selectedOptions?.[0]?.dataset.opens !== undefined;
    /* A button that is pressed sends the form itself; keys that only come to it send it. */
    const isPressed = keyed !== target && relatedTarget?.matches('button, [type=submit]');
    if (!isOpening && !isPressed && sent.get(partOf(target)) !== stateOf(target)) save(form);
  });

  /* One change is on its way at a time: the answer to it replaces the form of the next one. */
  document.addEventListener(
    'submit',
    (event) => {
      if (!event.target.matches(FORM) || !sentForm?.isConnected) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      waiting.add(event.target.id);
    },
    true,
  );
  document.addEventListener('submit', ({ target }) => {
    if (!target.matches('form[data-merges]')) return;
    sentForm = target;
    waiting.delete(target.id);
    sent = new Map(fieldsOf(CONTROL).map((field) => [partOf(field), stateOf(field)]));
  });
  /* Where the focus goes: to the field that had it; to the last one, if keys had come to the button, which is not shown any more. */
  const heldBy = (active) => {
    if (active?.matches(CONTROL)) return active.id;
    const isKeyed = keyed && active?.matches(`${FORM} button`);
    return isKeyed ? lastOf(active.form).id : '';
  };
  /* What is changed until the answer comes stays. */
  document.addEventListener('htmx:before:swap', () => {
    isSwapping = true;
    if (!sentForm?.isConnected) return;
    opened = [...document.querySelectorAll('.facts details[id][open]')].map(({ id }) => id);
    later = fieldsOf(CONTROL).filter((field) => sent.get(partOf(field)) !== stateOf(field));
    held = heldBy(document.activeElement);
  });
  const restore = () => {
    for (const id of opened) document.getElementById(id)?.setAttribute('open', '');
    for (const old of later) {
      const field = document.getElementById(old.id);
      if (field && isBox(old)) field.checked = old.checked;
      else if (field && field.value !== old.value) field.value = old.value;
    }
    const isElsewhere = document.activeElement?.matches('main :is(input, select, textarea)');
    if (held && !isElsewhere) document.getElementById(held)?.focus();
    sentForm = null;
    sent = new Map();
  };
  document.addEventListener('htmx:after:swap', () => {
    isSwapping = false;
    /* Or another part of the page was replaced. */
    if (sentForm && !sentForm.isConnected) restore();
    mark();
    if (!sentForm) resume();
  });
  /* Without an answer what was changed stands in its field, and can be sent again. */
  document.addEventListener('htmx:finally:request', ({ target }) => {
    if (target !== sentForm) return;
    sentForm = null;
    sent = new Map();
  });
})();
