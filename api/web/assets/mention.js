/* Names of members while a mention is typed. Without this file the names are typed in full. */
(() => {
  const WRITTEN = 'main :is(textarea[name=content], textarea[name=description], form.quick input[name=text])';
  const TYPED = /(^|[^\p{L}\p{N}._+@-])@([\p{L}\p{N}._+-]*)$/u;
  const MOST = 8;

  const list = document.createElement('ul');
  list.id = 'mention-names';
  list.className = 'mention-names';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Members');
  const said = document.createElement('p');
  said.className = 'unseen';
  said.setAttribute('role', 'status');
  document.addEventListener('DOMContentLoaded', () => document.body.append(said));

  let field = null;
  let at = 0;
  /* The list is open, but Enter is the line's: nothing is to be completed. */
  let isDone = false;
  const members = () =>
    [...document.querySelectorAll('#mentionable li')].map((one) => ({
      name: one.dataset.name,
      shown: one.textContent,
      isMe: one.hasAttribute('data-me'),
    }));
  /* Place of a match: of the username or first name, of another name, oneself; none is -1. */
  const rank = (typed, { name, shown, isMe }) => {
    const at = [name, ...shown.trim().split(/\s+/)].findIndex((word) => word.toLowerCase().startsWith(typed.toLowerCase()));
    return at < 0 ? -1 : isMe ? 2 : Number(at > 1);
  };

  /* A line knows a member by the username, the name or a part of it: one that is typed in full needs no choice. */
  const isWhole = (typed) => {
    const word = typed.toLowerCase();
    const all = members();
    const called = all.filter(({ name }) => name.toLowerCase() === word);
    if (called.length > 0) return true;
    return (
      all.filter(({ shown }) => [shown, ...shown.split(/\s+/)].some((part) => part.trim().toLowerCase() === word)).length === 1
    );
  };

  const close = () => {
    if (!field) return;
    for (const name of ['aria-expanded', 'aria-controls', 'aria-activedescendant', 'role']) field.removeAttribute(name);
    list.remove();
    said.textContent = '';
    field = null;
  };
  const mark = (next) => {
    at = (next + list.children.length) % list.children.length;
    for (const [index, one] of [...list.children].entries()) one.setAttribute('aria-selected', String(index === at));
    field.setAttribute('aria-activedescendant', list.children[at].id);
    list.children[at].scrollIntoView({ block: 'nearest' });
  };
  const choose = () => {
    const chosen = list.children[at].dataset.name;
    const end = field.selectionStart;
    const start = end - TYPED.exec(field.value.slice(0, end))[2].length;
    field.setRangeText(`${chosen} `, start, end, 'end');
    const written = field;
    close();
    written.dispatchEvent(new Event('input', { bubbles: true }));
  };
  /* Above a text, whose button stands below it; without room there the list moves the button down. */
  const GAP = 2;
  const place = () => {
    list.classList.remove('in-flow');
    list.style.left = `${field.offsetLeft}px`;
    const above = field.offsetTop - list.offsetHeight - GAP;
    const hasRoom =
      field.getBoundingClientRect().top - list.offsetHeight > (document.querySelector('header.top')?.offsetHeight ?? 0);
    const isText = field.matches('textarea');
    list.style.top = `${isText && hasRoom ? above : field.offsetTop + field.offsetHeight + GAP}px`;
    if (isText && !hasRoom) list.classList.add('in-flow');
  };
  const open = (target, found) => {
    if (field !== target) close();
    field = target;
    list.replaceChildren(
      ...found.map(({ name, shown }, index) => {
        const option = document.createElement('li');
        option.id = `mention-name-${index}`;
        option.dataset.name = name;
        option.setAttribute('role', 'option');
        const other = document.createElement('small');
        other.textContent = `@${name}`;
        option.append(shown, ' ', other);
        return option;
      }),
    );
    field.after(list);
    place();
    /* A field of several lines keeps its own role. */
    if (field.matches('input')) {
      field.setAttribute('role', 'combobox');
      field.setAttribute('aria-expanded', 'true');
    }
    field.setAttribute('aria-autocomplete', 'list');
    field.setAttribute('aria-controls', list.id);
    said.textContent = `${found.length} ${found.length === 1 ? 'member' : 'members'}: choose with the arrow keys and Enter`;
    mark(0);
  };

  document.addEventListener('input', ({ target }) => {
    if (!target.matches?.(WRITTEN)) return;
    const typed = TYPED.exec(target.value.slice(0, target.selectionStart))?.[2];
    const found =
      typed === undefined
        ? []
        : members()
            .filter((one) => rank(typed, one) >= 0)
            .toSorted((one, other) => rank(typed, one) - rank(typed, other))
            .slice(0, MOST);
    if (found.length === 0 || (found.length === 1 && found[0].name.toLowerCase() === typed.toLowerCase())) close();
    else {
      open(target, found);
      isDone = target.matches('input') && (typed.toLowerCase() === 'me' || isWhole(typed));
    }
  });
  document.addEventListener(
    'keydown',
    (event) => {
      if (!field || event.target !== field || event.isComposing) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return close();
      if (event.key === 'Enter' && isDone) return close();
      if (event.key.startsWith('Arrow')) isDone = false;
      const acts = {
        ArrowDown: () => mark(at + 1),
        ArrowUp: () => mark(at - 1),
        Enter: choose,
        Tab: choose,
        Escape: close,
      };
      if (!acts[event.key] || (event.key === 'Tab' && event.shiftKey)) return;
      event.preventDefault();
      event.stopPropagation();
      acts[event.key]();
    },
    true,
  );
  list.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    const option = event.target.closest('li');
    if (!option) return;
    mark([...list.children].indexOf(option));
    choose();
  });
  document.addEventListener('focusout', ({ target }) => {
    if (target === field) close();
  });
  document.addEventListener('htmx:after:swap', () => {
    if (field && !field.isConnected) close();
  });
})();
