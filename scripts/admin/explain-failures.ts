/** What the codes of Node and PostgreSQL mean for an address that its user has set. */
const CONNECTION_CODES: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host has no address',
  EAI_AGAIN: 'its host has no address now',
  EHOSTUNREACH: 'no route leads there',
  ENETUNREACH: 'no route leads there',
  ETIMEDOUT: 'it does not answer',
  ECONNRESET: 'it closed the connection',
  '28P01': 'user or password is wrong',
  '28000': 'its pg_hba.conf does not admit this user',
  '3D000': 'that database does not exist',
};

/** A host with several addresses fails with an error for each; the error around them says nothing. */
function toMessage(error: Error): string {
  return (
    error.message || (error instanceof AggregateError ? (error.errors as Error[]).map(({ message }) => message).join(', ') : '')
  );
}

/** Returns one line for a database that cannot be reached or does not admit us, else undefined. Never prints the address with its password. */
export function describeConnectionFailure(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as Error & { code?: unknown };
  const meaning = typeof code === 'string' ? CONNECTION_CODES[code] : undefined;
  return meaning && `DATABASE_URL: ${meaning} (${toMessage(error)}). Correct it, or start PostgreSQL`;
}

const isOfArguments = (error: Error & { code?: unknown }): boolean => String(error.code).startsWith('ERR_PARSE_ARGS');

/** Ends with status 2 and the usage for arguments that the command does not take. Anything else keeps its stack. Call it before parsing. */
export function explainArguments(usage: string): void {
  process.on('uncaughtException', (error) => {
    console.error(isOfArguments(error) ? `${error.message}\n\n${usage}` : error);
    process.exit(isOfArguments(error) ? 2 : 1);
  });
}

/**
 * The same, for a command on the database of DATABASE_URL: ends with status 1 and a text for settings that are not usable, and for a
 * database that cannot be reached.
 */
export function explainFailures(usage: string): void {
  process.once('uncaughtException', (error) => {
    const text = error.message.startsWith('Invalid configuration:') ? error.message : describeConnectionFailure(error);
    if (text === undefined) return;
    console.error(text);
    process.exit(1);
  });
  explainArguments(usage);
}
