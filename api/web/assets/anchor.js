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
