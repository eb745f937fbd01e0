import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { PRIVATE_FOLDER, replacePrivate } from '../node/private-file.js';
import { readServiceAddress } from '../node/service-address.js';
import { Api, type Me } from './api.js';
import { flag, type Given, text } from './args.js';
import { Failure } from './exit.js';

/** What `assent login` stored. Only the user can read the file. */
export interface Login {
  url: string;
  token: string;
  user: string;
  /** A token that may decide, and until when it is used, ms since 1970. */
  decide?: { token: string; until: number };
}

/** Returns the folder of our files: ASSENT_CONFIG_DIR, or `assent` in the folder of the user's settings. */
export const configFolder = (): string =>
  process.env['ASSENT_CONFIG_DIR'] ?? join(process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config'), 'assent');
const loginFile = (): string => join(configFolder(), 'login.json');

/** Creates a folder that only the user can read. */
export function createPrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_FOLDER });
  chmodSync(path, PRIVATE_FOLDER);
}

/** @throws {Failure} the file cannot be read */
export function readLogin(): Login | undefined {
  let content: string;
  try {
    content = readFileSync(loginFile(), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(content) as Login;
  } catch {
    throw new Failure('notLoggedIn', `${loginFile()} is damaged`, "'assent login' writes it again.");
  }
}

/** Returns the path of the file. */
export function saveLogin(login: Login): string {
  createPrivateFolder(configFolder());
  replacePrivate(loginFile(), login);
  return loginFile();
}

/** Returns whether there was one. */
export function removeLogin(): boolean {
  const existed = readLogin() !== undefined;
  rmSync(loginFile(), { force: true });
  return existed;
}

/** A token that may decide ends after some hours, whether it is used or not. */
function dropEnded(login: Login): Login {
  if (!login.decide || login.decide.until > Date.now()) return login;
  const { decide: _, ...rest } = login;
  saveLogin(rest);
  return rest;
}

const howToLogIn = (url: string): string[] => [
  `'assent login --url ${url}' stores a token for this machine.`,
  'In CI set ASSENT_URL and ASSENT_TOKEN.',
];

/** Returns the address from the command line, the environment or the login. @throws {Failure} there is none */
export function findUrl(given: Given): string {
  const url = text(given, 'url') ?? (process.env['ASSENT_URL'] || undefined) ?? readLogin()?.url;
  if (url === undefined)
    throw new Failure('notLoggedIn', 'the address of the service is unknown', ...howToLogIn('https://assent.example'));
  return readServiceAddress(url, flag(given, 'insecure'));
}

/** Returns the stored login of this address. A token goes nowhere else. */
function findLogin(url: string): Login | undefined {
  const login = readLogin();
  return login?.url === url ? dropEnded(login) : undefined;
}

/**
 * Returns the service as the user of this command line.
 * @throws {Failure} not logged in
 */
export function connect(given: Given): Api {
  const url = findUrl(given);
  const fromEnv = process.env['ASSENT_TOKEN'];
  if (fromEnv === '')
    throw new Failure('notLoggedIn', 'ASSENT_TOKEN is empty', 'A CI system gives no secrets to jobs of a fork, for example.');
  const token = fromEnv ?? findLogin(url)?.token;
  if (token === undefined) throw new Failure('notLoggedIn', `not logged in to ${url}`, ...howToLogIn(url));
  return new Api(url, token);
}

/** Returns the service with a token that may decide; undefined without one. A token in the environment may be one. */
export function connectToDecide(given: Given): Api | undefined {
  const url = findUrl(given);
  const token = process.env['ASSENT_TOKEN'] || findLogin(url)?.decide?.token;
  return token ? new Api(url, token) : undefined;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Returns the id of a team that is given by its id or its name, or the user's only one.
 * @throws {Failure} there is no such team, or there are several
 */
export function findTeam({ teams }: Me, wanted: string | undefined): string {
  if (wanted !== undefined && UUID.test(wanted)) return wanted.toLowerCase();
  const own = teams.map(({ name, team_id }) => `${name}  ${team_id}`);
  const found = wanted === undefined ? teams : teams.filter(({ name }) => name === wanted);
  if (found[0] && found.length === 1) return found[0].team_id;
  if (found.length > 1)
    throw new Failure(
      'usage',
      wanted === undefined ? '--team is required: you are in several' : `several teams are called ${wanted}`,
      ...own,
    );
  if (teams.length === 0) throw new Failure('usage', 'you are in no team', 'A team admin can invite you.');
  throw new Failure('usage', `you are in no team called ${wanted}`, ...own);
}
