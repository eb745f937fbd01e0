const waiting: (() => void)[] = [];
let isServing = false;

/** Lets one caller go on in each turn of the event loop. */
function serve(): void {
  const next = waiting.shift();
  isServing = next !== undefined;
  if (!next) return;
  next();
  setImmediate(serve);
}

/**
 * Waits for a turn of the event loop of one's own. Long computations call it before each piece: in any turn only one piece of one
 * caller runs, however many callers there are, and what else the process does goes on between two of them.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (isServing) return;
    isServing = true;
    setImmediate(serve);
  });
}
