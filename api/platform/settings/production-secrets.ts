/** The command that makes a good value of each secret. */
const COMMANDS: Record<string, string> = {
  JWT_SECRET: 'openssl rand -base64 48',
  SECRETS_MASTER_KEY: 'openssl rand -base64 32',
  AUDIT_SIGNING_KEY: 'openssl genpkey -algorithm ed25519',
  RECEIPT_SIGNING_KEY: 'openssl genpkey -algorithm ed25519',
  RECEIPT_SIGNING_KEY_NEXT: 'openssl genpkey -algorithm ed25519',
  RECEIPT_SIGNING_KEY_PREVIOUS: 'openssl genpkey -algorithm ed25519',
  FORGE_WEBHOOK_SECRET: 'openssl rand -hex 32',
  FORGE_WEBHOOK_SECRET_PREVIOUS: 'openssl rand -hex 32',
};

/** What people type where a secret belongs, and what examples on the web consist of; it counts as nothing. */
const WORDS =
  /(?:change|replace)[-_ ]?(?:me|this|it)|(?:your|my|our|this|is|a|an|at|in|of|the|for|with)(?=[-_ ])|passw(?:or)?d|passphrase|secrets?|example|sample|placeholder|development|production|assent|jwt|hmac|sha256|qwerty(?:uiop)?|asdfghjkl|zxcvbnm|letmein|admin|super|very|really|please|long|least|minimum|strong|secure|string|random|signing|encryption|webhook|github|gitlab|gitea|hook|token|value|here|32|256|bits?|bytes?|char(?:acter)?s?|keys?|must|be(?=[-_ ])/gi;

/** A command or a variable that nothing has put its value in place of, as in a file that no shell reads. */
const UNFILLED = /openssl|\$[({]|^<.*>$/;

/** A secret of this many bits by its own measure passes, however long it is. */
const ENOUGH_BITS = 80;

/** Returns the bits of a sequence, measured by how often each of its values occurs (Shannon). */
function countBits(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts.values()].reduce((bits, count) => bits + count * Math.log2(values.length / count), 0);
}

/** Returns whether the same part is repeated from the start to the end. */
const isRepeated = (values: readonly number[]): boolean =>
  Array.from({ length: Math.floor(values.length / 2) }, (_none, index) => index + 1).some((period) =>
    values.every((value, index) => index < period || value === values[index - period]),
  );

/**
 * Returns whether a secret is made of a pattern: few different bytes, a repeated part, a count up or down, or common words.
 * It cannot tell that a random-looking value is known to others. At random, 16 hexadecimal digits pass all but always.
 */
function isPatterned(secret: Buffer): boolean {
  const values = [...Buffer.from(secret.toString('latin1').replace(WORDS, ''), 'latin1')];
  const steps = values.slice(1).map((value, index) => (value - (values[index] as number) + 256) % 256);
  const enough = Math.min(ENOUGH_BITS, 2 * secret.length);
  return countBits(values) < enough || countBits(steps) < enough || isRepeated(values);
}

/** Returns whether a text that is a secret can be guessed: a pattern, or the command that would have made one. Bytes of chance may look so. */
const isGuessable = (text: string): boolean => UNFILLED.test(text) || isPatterned(Buffer.from(text));

const LEAST_WEBHOOK_BYTES = 16;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** Returns what is wrong with the public address. Sign-in cookies travel over TLS, or to the browser's own machine. */
function addressProblem(address: string | undefined): string | false {
  if (address === undefined)
    return 'BASE_URL: needed in production; set the address that people type, such as https://assent.example.com';
  if (!URL.canParse(address)) return false;
  const { protocol, hostname, origin, href } = new URL(address);
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname)))
    return 'BASE_URL: must begin with https:// in production, unless it is http://localhost; browsers send sign-in cookies nowhere else';
  return href !== `${origin}/` && 'BASE_URL: must be an address without user, path or query, such as https://assent.example.com';
}

/**
 * Returns a line for each secret that can be guessed, and for an address that production cannot use. Previous master keys may be
 * weak, because they only decrypt until a rotation has ended.
 */
export function secretProblems(given: Record<string, string | undefined>): string[] {
  const { JWT_SECRET: jwt, SECRETS_MASTER_KEY: master, FORGE_WEBHOOK_SECRET: forge } = given;
  const masterKey = Buffer.from(master ?? '', 'base64');
  const webhooks = ['FORGE_WEBHOOK_SECRET', 'FORGE_WEBHOOK_SECRET_PREVIOUS'].flatMap((name) => {
    const text = given[name] ?? '';
    if (text === '') return [];
    if (Buffer.byteLength(text) < LEAST_WEBHOOK_BYTES) return [`${name}: must be at least ${LEAST_WEBHOOK_BYTES} bytes`];
    return isGuessable(text) ? [`${name}: can be guessed`] : [];
  });
  const problems = [
    jwt !== undefined && Buffer.byteLength(jwt) >= 32 && isGuessable(jwt) && 'JWT_SECRET: can be guessed',
    masterKey.length === 32 &&
      isPatterned(masterKey) &&
      'SECRETS_MASTER_KEY: can be guessed; if it is in use, move it to SECRETS_MASTER_KEY_PREVIOUS and run npm run secrets:rotate',
    jwt !== undefined && jwt === forge && 'FORGE_WEBHOOK_SECRET: must differ from JWT_SECRET, because the code host knows it',
    ...webhooks,
    addressProblem(given['BASE_URL']),
  ];
  return problems.filter((problem) => typeof problem === 'string');
}

/** Adds to the problem of a secret the command that makes a good one. */
export function withCommand(problem: string): string {
  const command = COMMANDS[problem.slice(0, problem.indexOf(':'))];
  return command === undefined ? problem : `${problem}; make one: ${command}`;
}
