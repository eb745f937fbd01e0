const waiting: (() => void)[] = [];
let isServing = false;

/** Resumes one waiting caller per turn of the event loop. */
function serve(): void {
  const next = waiting.shift();
  isServing = next !== undefined;
  if (!next) return;
  next();
  setImmediate(serve);
}

/**
 * Waits for a separate turn of the event loop. Long computations call it before each piece: one piece of one caller runs per turn,
 * and other work proceeds in between.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (isServing) return;
    isServing = true;
    setImmediate(serve);
  });
}
