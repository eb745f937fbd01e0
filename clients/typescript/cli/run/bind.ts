import { createHmac, randomBytes } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { canonicalJson } from '../../canonical.js';
import { Failure } from '../exit.js';
import { isTerminal, STDIN } from '../terminal.js';
import { type Hashed, type HashedFile, type HashedFolder, hashPath, isSame, sha256 } from './hash.js';
import { findProgram, openProgram, type Program } from './program.js';

/** What the user wants to be bound. */
export interface BindOptions {
  argv: readonly string[];
  /** Arguments that are files are bound. */
  bindsArguments: boolean;
  /** Files and folders. */
  paths: readonly string[];
  /** Standard input as it was read; undefined if it is not bound. */
  stdin: Buffer | undefined;
  hiddenEnv: readonly string[];
  shownEnv: readonly string[];
  isEnvClean: boolean;
}

/** Arguments of the operation: what people approve, and what has to be the same when the command starts. */
export interface ShellArguments {
  argv: readonly string[];
  cwd: string;
  program: HashedFile;
  files: HashedFile[];
  folders: HashedFolder[];
  /** What is read from standard input, or where it comes from. */
  stdin: { sha256: string; size: number } | 'terminal' | 'none';
  env: {
    /** Only the few variables of every session, and those named here, reach the command. */
    clean: boolean;
    shown: Record<string, string>;
    /** HMAC-SHA-256 under a key of this process: nobody can guess a value by it. */
    hidden: Record<string, string>;
    /** Variables that are set and make programs load code from elsewhere. */
    loaders: string[];
  };
}

/** One look at everything that is bound. */
export interface Look {
  arguments: ShellArguments;
  program: Program;
  env: Record<string, string>;
  paths: Hashed<HashedFile | HashedFolder>[];
}

/** It never leaves the process, so a value that is hidden cannot be found by trying. */
const ENV_KEY = randomBytes(32);
const OWN_VARIABLES = ['ASSENT_TOKEN'];
const SESSION_VARIABLES = ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TERM', 'TZ', 'TMPDIR', 'LANG', 'LANGUAGE'];
const isSessionVariable = (name: string): boolean => SESSION_VARIABLES.includes(name) || name.startsWith('LC_');
/** They make a program run code that is not in its arguments. */
const LOADERS = new Set(
  [
    'LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH BASH_ENV ENV PROMPT_COMMAND ZDOTDIR',
    'NODE_OPTIONS NODE_PATH PYTHONPATH PYTHONHOME PYTHONSTARTUP PERL5OPT PERL5LIB PERL5DB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS',
    '_JAVA_OPTIONS JDK_JAVA_OPTIONS GIT_SSH GIT_SSH_COMMAND GIT_EXEC_PATH GIT_CONFIG_GLOBAL GIT_PROXY_COMMAND SSH_ASKPASS LESSOPEN',
  ].flatMap((names) => names.split(' ')),
);
const isLoader = (name: string): boolean => LOADERS.has(name) || name.startsWith('BASH_FUNC_');

/** @throws {Failure} a variable that is bound is not set, or is ours */
function pickVariables(names: readonly string[], option: string): [string, string][] {
  return names.map((name) => {
    const value = process.env[name];
    if (OWN_VARIABLES.includes(name)) throw new Failure('usage', `--${option} ${name}: the command never gets it`);
    if (value === undefined) throw new Failure('usage', `--${option} ${name}: the variable is not set`);
    return [name, value];
  });
}

function bindEnv({ hiddenEnv, shownEnv, isEnvClean }: BindOptions): {
  bound: ShellArguments['env'];
  env: Record<string, string>;
} {
  const shown = Object.fromEntries(pickVariables(shownEnv, 'show-env'));
  const kept = pickVariables(hiddenEnv, 'env');
  const hidden = kept.map(([name, value]) => [name, createHmac('sha256', ENV_KEY).update(`${name}=${value}`).digest('hex')]);
  const isKept = (name: string) =>
    !OWN_VARIABLES.includes(name) && (!isEnvClean || isSessionVariable(name) || name in shown || hiddenEnv.includes(name));
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => isKept(name))) as Record<string, string>;
  const loaders = Object.keys(env).filter(isLoader).toSorted();
  return { bound: { clean: isEnvClean, shown, hidden: Object.fromEntries(hidden) as Record<string, string>, loaders }, env };
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Returns the paths that arguments name: a whole argument, or what stands right of its first `=`. */
function* namedPaths(argv: readonly string[], cwd: string): Generator<string> {
  for (const argument of argv.slice(1)) {
    const at = argument.indexOf('=');
    for (const name of at < 0 ? [argument] : [argument, argument.slice(at + 1)]) if (name !== '') yield resolve(cwd, name);
  }
}

/** Text that cannot be passed on: what the shell gave us is not what the command would get. */
function checkArguments(argv: readonly string[]): void {
  const broken = argv.find((each) => !each.isWellFormed() || each.includes('\uFFFD'));
  if (broken !== undefined) throw new Failure('usage', `the argument ${broken} is not UTF-8, so it cannot be shown as it is`);
  const pipe = argv.find((each) => /^\/(dev|proc\/self)\/fd\/\d+$/.test(each));
  if (pipe !== undefined)
    throw new Failure('usage', `${pipe} is a pipe of the shell, which nobody could approve`, 'Write it into a file first.');
}

async function hashPaths({ argv, bindsArguments, paths }: BindOptions, cwd: string): Promise<Look['paths']> {
  const found = bindsArguments ? [...namedPaths(argv, cwd)].filter(isFile) : [];
  const all: Look['paths'] = [];
  for (const path of new Set([...found, ...paths.map((each) => resolve(cwd, each))])) all.push(await hashPath(path));
  return all;
}

/** Files and folders that are named twice, or by links, are shown once. */
function group(paths: Look['paths']): Pick<ShellArguments, 'files' | 'folders'> {
  const all = [...new Map(paths.map(({ hashed }) => [hashed.path, hashed])).values()];
  return {
    files: all.filter((each): each is HashedFile => !('files' in each)),
    folders: all.filter((each): each is HashedFolder => 'files' in each),
  };
}

const pathOf = (env: Record<string, string>): string => env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin';

/** Node remembers the folder that it started in; the system knows where it is now. */
const currentFolder = (): string => realpathSync.native('.');

/**
 * Hashes everything that is bound, as it is now. Two looks that are equal bind the same.
 * @throws {Failure} the program cannot be found, run or read | a variable is not set | an argument cannot be shown
 * @throws what the system says about a file
 */
export async function look(options: BindOptions): Promise<Look> {
  const { argv, stdin } = options;
  checkArguments(argv);
  const { bound, env } = bindEnv(options);
  const cwd = currentFolder();
  const program = await openProgram(argv[0] as string, cwd, pathOf(env));
  try {
    const paths = await hashPaths(options, cwd);
    const input = isTerminal(STDIN) ? 'terminal' : 'none';
    const bytes = stdin && { sha256: sha256(stdin), size: stdin.length };
    return {
      program,
      env,
      paths,
      arguments: { argv, cwd, program: program.file.hashed, ...group(paths), stdin: bytes ?? input, env: bound },
    };
  } catch (error) {
    await program.handle.close();
    throw error;
  }
}

const nameAll = ({ program, files, folders, env, ...rest }: ShellArguments): Map<string, unknown> =>
  new Map<string, unknown>([
    ...[program, ...files, ...folders].map((each): [string, unknown] => [each.path, each]),
    ...Object.entries(env.shown).map(([name, value]): [string, unknown] => [`variable ${name}`, value]),
    ['--env', env.hidden],
    ['--clean-env', env.clean],
    ['variables that load code', env.loaders],
    ['program', program.path],
    ['arguments', rest.argv],
    ['folder', rest.cwd],
    ['standard input', rest.stdin],
  ]);

/** Returns the names of what is not the same in both, in the order of the first. */
export function differences(before: ShellArguments, after: ShellArguments): string[] {
  const [old, now] = [nameAll(before), nameAll(after)];
  return [...new Set([...old.keys(), ...now.keys()])].filter(
    (name) => canonicalJson(old.get(name) ?? null) !== canonicalJson(now.get(name) ?? null),
  );
}

/** Whether the name of the program still leads to the same place. */
function findsSame({ program, env }: Look, name: string, cwd: string): boolean {
  try {
    return findProgram(name, cwd, pathOf(env)) === program.file.given;
  } catch {
    return false;
  }
}

/**
 * Returns the paths of what has changed since a look; empty if nothing did. Files that nobody touched are not read again, so that it costs
 * next to nothing just before the start.
 */
export async function changedSince(before: Look): Promise<string[]> {
  const { argv, cwd, program } = before.arguments;
  const changed: string[] = [];
  for (const each of [before.program.file, ...before.paths]) if (!(await isSame(each))) changed.push(each.hashed.path);
  if (!findsSame(before, argv[0] as string, cwd)) changed.push(program.path);
  if (currentFolder() !== cwd) changed.push(cwd);
  return [...new Set(changed)];
}
