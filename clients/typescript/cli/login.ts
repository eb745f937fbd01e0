import { type Login, readLogin, removeLogin, saveLogin } from './account.js';
import { Api, type Me } from './api.js';
import { type Command, flag, type Given, text } from './args.js';
import { AssentError } from '../errors.js';
import { readServiceAddress } from '../node/service-address.js';
import { EXIT, Failure } from './exit.js';
import { ask, hasKeyboard, isTerminal, print, printable, printNote, readStdin, STDIN } from './terminal.js';

const DECIDE_HOURS = 12;
const DECIDE_SCOPES = 'requests:read and approvals:decide, and teams:read to see names';
const SCOPES = 'requests:create and requests:read, and teams:read to see names';

async function readUrl(given: Given): Promise<string> {
  const known = text(given, 'url') ?? (process.env['ASSENT_URL'] || undefined) ?? readLogin()?.url;
  if (known === undefined && !hasKeyboard())
    throw new Failure('usage', '--url is required, such as --url https://assent.example');
  return readServiceAddress(known ?? (await ask('Address of the service: ')).trim(), flag(given, 'insecure'));
}

/** Reads a token from the terminal, where it is not shown, or from standard input. Never from the command line: others can list that. */
async function readToken(url: string, canDecide: boolean): Promise<string> {
  if (!isTerminal(STDIN)) return (await readStdin()).toString('utf8').trim();
  const scopes = canDecide ? `${DECIDE_SCOPES}, to end after a day` : SCOPES;
  printNote(`Create a token at ${url}/app/account/tokens with the scopes ${scopes}.\n`);
  return (await ask('Token: ', true)).trim();
}

/** An id that no request has: what is refused for a scope is refused before the request is looked for. */
const NO_REQUEST = '00000000-0000-4000-8000-000000000000';
const NO_HASH = `sha256:${'0'.repeat(64)}`;

/** Whether the token may do this, by an attempt that can change nothing. */
async function isAllowed(attempt: Promise<unknown>): Promise<boolean> {
  try {
    await attempt;
    return true;
  } catch (error) {
    if (error instanceof AssentError && error.status === 403) return false;
    if (error instanceof AssentError && error.status === 404) return true;
    throw error;
  }
}

/** @throws {Failure} the token is none, or may do too little or too much */
async function checkToken(api: Api, canDecide: boolean): Promise<Me> {
  const me = await api.getMe().catch((error: unknown) => {
    const status = error instanceof AssentError ? error.status : undefined;
    if (status === 401) throw new Failure('notLoggedIn', 'the token is unknown, expired or revoked');
    if (status === 404)
      throw new Failure(
        'usage',
        'the service is not at this address',
        'Write it without /api or /app, such as https://assent.example.',
      );
    throw error;
  });
  const [reads, decides] = [
    await isAllowed(api.get(NO_REQUEST)),
    await isAllowed(api.approve(NO_REQUEST, { request_hash: NO_HASH })),
  ];
  if (!reads) throw new Failure('notLoggedIn', 'the token lacks the scope requests:read');
  if (canDecide && !decides) throw new Failure('notLoggedIn', 'the token lacks the scope approvals:decide');
  if (!canDecide && decides)
    throw new Failure(
      'notLoggedIn',
      'the token may decide, and a program that finds it could approve what it asks for',
      `Create one with ${SCOPES} only, or store this one expressly: assent login --decide`,
    );
  if (!canDecide && !(await isAllowed(api.cancel(NO_REQUEST))))
    throw new Failure('notLoggedIn', 'the token lacks the scope requests:create');
  return me;
}

async function logIn(given: Given): Promise<number> {
  const canDecide = flag(given, 'decide');
  const url = await readUrl(given);
  const stored = readLogin();
  const known = stored?.url === url ? stored : undefined;
  if (canDecide && !known) throw new Failure('usage', 'first log in without --decide', `assent login --url ${url}`);
  const token = await readToken(url, canDecide);
  if (token === '') throw new Failure('usage', 'no token was given');
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new Failure('usage', 'that is no token: it has blanks or other characters that no token has');
  const me = await checkToken(new Api(url, token), canDecide);
  const until = Date.now() + DECIDE_HOURS * 3_600_000;
  const login: Login = canDecide && known ? { ...known, decide: { token, until } } : { url, token, user: me.user_id };
  if (canDecide && known?.user !== me.user_id)
    throw new Failure('usage', 'the token is of another user than the one who is logged in');
  const file = saveLogin(login);
  if (flag(given, 'json')) print(JSON.stringify({ url, user_id: me.user_id, file }));
  else print(`logged in to ${url} as ${printable(me.name ?? me.email)}; stored in ${file}`);
  if (canDecide)
    printNote(
      `The token decides for ${DECIDE_HOURS} hours, then it is removed from the file. Revoke it earlier under Account → Access tokens.\n`,
    );
  return EXIT.done;
}

async function logOut(given: Given): Promise<number> {
  const existed = removeLogin();
  if (flag(given, 'json')) print(JSON.stringify({ removed: existed }));
  else print(existed ? 'logged out; the token is valid until you revoke it under Account → Access tokens' : 'not logged in');
  return EXIT.done;
}

export const loginCommand: Command = {
  summary: 'store an access token',
  synopsis: '[--url URL] [--decide]',
  words: 0,
  options: { decide: { type: 'boolean' } },
  help: `Reads an access token from the terminal, or from standard input, and stores it in a file that only you can read. Create the token
under Account → Access tokens with the scopes ${SCOPES}, as a strict one.
ASSENT_TOKEN and ASSENT_URL win over what is stored.

  --decide          store a second token, with ${DECIDE_SCOPES}.
                    'assent approve' and 'assent reject' use it for ${DECIDE_HOURS} hours. Every program of yours can read it, so the
                    browser is safer`,
  run: logIn,
};
export const logoutCommand: Command = {
  summary: 'remove the stored tokens',
  synopsis: '',
  words: 0,
  options: {},
  help: 'Removes the stored tokens from this machine. They are valid until you revoke them.',
  run: logOut,
};
