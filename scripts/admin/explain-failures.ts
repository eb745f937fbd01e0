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

/** Returns the text for an error that the user of a command can mend (arguments, settings, database), else undefined. */
function describeFailure(error: Error, usage: string): string | undefined {
  if (String((error as Error & { code?: unknown }).code).startsWith('ERR_PARSE_ARGS')) return `${error.message}\n\n${usage}`;
  if (error.message.startsWith('Invalid configuration:')) return error.message;
  return describeConnectionFailure(error);
}

/**
 * From now on the process ends with a text in place of a stack where its user can mend the cause: status 2 for arguments, else 1.
 * Call it first. Anything else is a defect and keeps its stack.
 */
export function explainFailures(usage: string): void {
  process.on('uncaughtException', (error) => {
    const text = describeFailure(error, usage);
    console.error(text ?? error);
    process.exit(text?.endsWith(usage) ? 2 : 1);
  });
}
