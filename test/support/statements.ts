import pg from 'pg';

/** A statement as the driver got it. */
export interface SentStatement {
  /** Empty for a query of a model. */
  name: string;
  text: string;
  values: unknown[];
}

/** Runs a request and returns the named statements that it sent, or all. */
export async function captureStatements(
  request: () => Promise<unknown>,
  which: 'named' | 'all' = 'named',
): Promise<SentStatement[]> {
  const sent: SentStatement[] = [];
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const original = prototype.query;
  prototype.query = function spy(this: unknown, ...args: unknown[]) {
    const [config] = args as [Partial<SentStatement> | undefined];
    if (config?.text && (config.name || which === 'all') && !/^\s*notify/i.test(config.text))
      sent.push({ name: config.name ?? '', text: config.text, values: config.values ?? [] });
    return original.apply(this, args);
  };
  try {
    await request();
  } finally {
    prototype.query = original;
  }
  return sent;
}

/**
 * Runs a request and returns the most parameters that one of its statements has: PostgreSQL takes 65,535.
 * @throws Error if it sent none with parameters
 */
export async function countParameters(request: () => Promise<unknown>): Promise<number> {
  const most = Math.max(0, ...(await captureStatements(request, 'all')).map(({ values }) => values.length));
  if (most === 0) throw new Error('No statement with parameters was sent');
  return most;
}
