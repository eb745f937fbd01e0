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
