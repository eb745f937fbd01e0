import { readFileSync } from 'node:fs';
import { type VerifyReceiptOptions, ReceiptVerificationError, verifyReceipt } from '../receipts.js';
import { findUrl } from './account.js';
import { Api } from './api.js';
import { type Command, flag, type Given, integer, text } from './args.js';
import { EXIT, Failure } from './exit.js';
import { print, printable } from './terminal.js';

interface Stored {
  receipt: string;
  operation_texts: string[];
}

function parse<T>(path: string, isWanted: (value: T) => boolean, what: string): T {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (typeof value === 'object' && value !== null && isWanted(value as T)) return value as T;
  throw new Failure('usage', `${path} is not ${what}`);
}

const readStored = (path: string): Stored =>
  parse<Stored>(
    path,
    ({ receipt, operation_texts: each }) => typeof receipt === 'string' && Array.isArray(each) && each.length > 0,
    "a stored receipt: 'assent run --receipt FILE' writes one, and so does the answer of a redemption",
  );

interface Claims {
  iss: string;
  iat: number;
  exp: number;
  assent: { team_id: string; role: string; approved_by: { user_id: string; at: string }[] };
}

/** Reads the claims of a receipt whose signature is not verified yet: to fill in what the user leaves open. @throws {Failure} it has none */
function readClaims(receipt: string): Claims {
  try {
    const claims = JSON.parse(Buffer.from(receipt.split('.')[1] ?? '', 'base64url').toString('utf8')) as Claims;
    if (Array.isArray(claims.assent.approved_by)) return claims;
  } catch {
    // It is no receipt at all.
  }
  throw new Failure('changed', 'this is no receipt');
}

const time = (seconds: number): string => new Date(seconds * 1_000).toISOString();

/** Says what to do about a receipt that may be valid elsewhere, or was. */
function explain({ message }: ReceiptVerificationError, { iss, iat, exp }: Claims): string[] {
  if (message.includes('another installation')) return [`It names ${iss}; --issuer says which installation you trust.`];
  if (!/expired|not valid yet/.test(message)) return [];
  return [`It was valid from ${time(iat)} to ${time(exp)}; '--at issue' verifies it as of then.`];
}

function readTime(given: Given, { iat }: Claims): number {
  const at = text(given, 'at');
  if (at === undefined) return Date.now();
  const ms = at === 'issue' ? iat * 1_000 : Date.parse(at);
  if (Number.isNaN(ms)) throw new Failure('usage', `--at is issue or a time such as 2026-11-26T15:00:00Z, not ${at}`);
  return ms;
}

async function run(given: Given): Promise<number> {
  const [path = ''] = given.positionals;
  const { receipt, operation_texts } = readStored(path);
  const claims = readClaims(receipt);
  const file = text(given, 'keys');
  const jwks = file
    ? parse<VerifyReceiptOptions['jwks']>(file, ({ keys }) => Array.isArray(keys), 'a set of public keys')
    : await new Api(findUrl(given), undefined).getReceiptKeys();
  const options = {
    jwks,
    issuer: text(given, 'issuer') ?? findUrl(given),
    team: text(given, 'team') ?? claims.assent.team_id,
    approvals: integer(given, 'approvals', 1, 5) ?? 1,
    now: readTime(given, claims),
    // The service that executes remembers what was used; a look at a file uses nothing.
    firstUse: () => true,
  };
  const operations = [];
  for (const operationText of operation_texts) {
    try {
      const { system } = JSON.parse(operationText) as { system: string };
      operations.push(await verifyReceipt(receipt, operationText, { ...options, system: text(given, 'system') ?? system }));
    } catch (error) {
      if (!(error instanceof ReceiptVerificationError)) throw error;
      throw new Failure(
        'changed',
        error.message.replace(/^./, (first) => first.toLowerCase()),
        ...explain(error, claims),
      );
    }
  }
  const { approved_by, role } = claims.assent;
  if (flag(given, 'json')) print(JSON.stringify({ valid: true, team_id: options.team, approved_by, role, operations }));
  else {
    for (const { system, name, target } of operations)
      print(printable(`verified: ${system} · ${name}${target === null ? '' : ` · ${target}`}`));
    print(`team ${options.team}, approved as ${role} by ${approved_by.map(({ user_id }) => user_id).join(', ')}`);
    print(`valid from ${time(claims.iat)} to ${time(claims.exp)}`);
  }
  return EXIT.done;
}

export const verifyCommand: Command = {
  summary: 'verify a stored receipt',
  synopsis: 'FILE [--team ID] [--system SYSTEM] [--approvals N] [--at issue|TIME] [--keys FILE] [--issuer URL]',
  words: 1,
  options: {
    team: { type: 'string' },
    system: { type: 'string' },
    approvals: { type: 'string' },
    at: { type: 'string' },
    keys: { type: 'string' },
    issuer: { type: 'string' },
  },
  help: `Verifies that people approved exactly the operation in the file, by the public keys of the service. It does not know whether
the receipt was used before: who executes has to remember that.

  --team ID         the team whose people must have approved; by default the one that the receipt names, which is printed
  --system SYSTEM   the system that executes; by default that of the operation
  --approvals N     how many people must have approved
  --at issue|TIME   whether it was valid then; a receipt is valid for minutes
  --keys FILE       public keys that were stored earlier, instead of those that the service has now
  --issuer URL      BASE_URL of the installation, if it is not the address

Exit status: 0 verified, 65 not.`,
  run,
};
