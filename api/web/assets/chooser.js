/* A chooser that a pill opens stands at this pill, where the screen is wide enough. Without this file, and on a phone, it stands where the palette does. */
(() => {
  const palette = document.getElementById('palette');
  if (!palette) return;
  /* Between the pill and its chooser, and the height that is enough for one, px. */
  const GAP = 4;
  const ENOUGH = 340;
  let pill = null;
  const place = () => {
    if (!pill?.isConnected) return;
    const { left, top, bottom } = pill.getBoundingClientRect();
    const below = innerHeight - bottom;
    const isAbove = below < ENOUGH && top > below;
    const sizes = {
      left: `${left}px`,
      top: isAbove ? 'auto' : `${bottom + GAP}px`,
      bottom: isAbove ? `${innerHeight - top + GAP}px` : 'auto',
      room: `${isAbove ? top : below}px`,
    };
    for (const [name, value] of Object.entries(sizes)) palette.style.setProperty(`--pill-${name}`, value);
  };
  /* Before the click opens the chooser. */
  document.addEventListener(
    'click',
    ({ target }) => {
      pill = target.closest?.('button[form=pick]') ?? (palette.open ? pill : null);
      palette.classList.toggle('at-pill', pill !== null);
      place();
    },
    true,
  );
  palette.addEventListener('close', () => {
    pill = null;
    palette.classList.remove('at-pill');
  });
  for (const event of ['scroll', 'resize']) addEventListener(event, place, { passive: true });
})();

/* Keys that are pressed while Enter in the palette waits for its answer act after it, in their order: on the rows behind it, or in the chooser that they
   open. Without this file they are part of the query. */
(() => {
  const palette = document.getElementById('palette');
  const input = palette?.querySelector('input');
  if (!input) return;
  const waits = () => palette.hasAttribute('data-waits');
  let held = [];
  document.addEventListener(
    'keydown',
    (event) => {
      const { key } = event;
      if (!event.isTrusted || !waits() || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (key.length !== 1 && key !== 'Enter') return;
      event.preventDefault();
      event.stopPropagation();
      held.push(key);
    },
    true,
  );
  const press = (key) => {
    const target = document.activeElement ?? document.body;
    const isFree = target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    if (!isFree || target !== input || key.length !== 1) return;
    input.value += key;
    input.dispatchEvent(new Event('input', { bubbles: true }));
  };
  new MutationObserver(() => {
    const keys = waits() ? [] : held.splice(0);
    for (const key of keys) {
      if (waits()) held.push(key);
      else press(key);
    }
  }).observe(palette, { attributeFilter: ['data-waits'] });
  palette.addEventListener('cancel', () => {
    held = [];
    palette.removeAttribute('data-waits');
  });
})();
