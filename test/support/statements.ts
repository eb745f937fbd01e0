import pg from 'pg';

/** A named statement as the driver got it. */
export interface OutboundResult {
  name: string;
  text: string;
  values: unknown[];
}

/** Runs a request and returns the named statements that it sent. */
export async function buildStatements(request: () => Promise<unknown>): Promise<OutboundResult[]> {
  const sent: OutboundResult[] = [];
  const prototype = pg.Client.prototype as unknown as { query: (...args: unknown[]) => unknown };
  const original = prototype.query;
  prototype.query = function spy(this: unknown, ...args: unknown[]) {
    const [config] = args as [Partial<OutboundResult> | undefined];
    if (config?.name && config.text && !/^\s*notify/i.test(config.text))
      sent.push({ name: config.name, text: config.text, values: config.values ?? [] });
    return original.apply(this, args);
  };
  try {
    await request();
  } finally {
    prototype.query = original;
  }
  return sent;
}
