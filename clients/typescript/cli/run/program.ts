import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { describeErrno, Failure } from '../exit.js';
import { type Hashed, hashOpenFile } from './hash.js';

/** A program as the shell would find it, opened: what is read here is what starts, whatever its path shows by then. */
export interface Program {
  /** `given` is where it was found, which may be a link. A script starts by that path. */
  file: Hashed;
  handle: FileHandle;
  /** A binary of Linux, which starts from its open file. */
  isBinary: boolean;
}

const ELF = Buffer.from([0x7f, 0x45, 0x4c, 0x46]);

function statOrNone(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the places where the name may be found, in the order of the shell. */
const candidates = (name: string, cwd: string, path: string): string[] =>
  name.includes('/') ? [resolve(cwd, name)] : path.split(delimiter).map((folder) => join(resolve(cwd, folder || '.'), name));

/** Words of the shell that a user may take for programs. */
const BUILTINS = ['.', 'alias', 'cd', 'eval', 'exec', 'exit', 'export', 'set', 'source', 'trap', 'umask', 'unset'];

function explainMissing(name: string): string[] {
  if (BUILTINS.includes(name)) return [`${name} is a word of the shell: assent run -- sh -c '${name} …'`];
  if (/\s/.test(name)) return [`Write its words apart, or run a shell: assent run -- sh -c '${name}'`];
  return [];
}

/**
 * Returns the path of a program.
 * @throws {Failure} there is none (127), or it cannot be run (126)
 */
export function findProgram(name: string, cwd: string, path: string): string {
  if (name === '') throw new Failure('notFound', 'the name of the command is empty');
  const existing = candidates(name, cwd, path).filter((each) => statOrNone(each) !== undefined);
  const found = existing.find((each) => statOrNone(each)?.isFile() && isExecutable(each));
  if (found !== undefined) return found;
  const [other] = existing;
  if (other === undefined) throw new Failure('notFound', `${name}: command not found`, ...explainMissing(name));
  const why = statOrNone(other)?.isDirectory() ? 'it is a folder' : 'it is not executable';
  throw new Failure('cannotRun', `${other}: ${why}`);
}

/**
 * Opens the program of a command and hashes it. The caller closes the handle.
 * @throws {Failure} there is none, or it cannot be run or read
 */
export async function openProgram(name: string, cwd: string, path: string): Promise<Program> {
  const found = findProgram(name, cwd, path);
  let handle: FileHandle | undefined;
  try {
    handle = await open(found, 'r');
    const file = await hashOpenFile(handle, found);
    const { buffer } = await handle.read(Buffer.alloc(ELF.length), 0, ELF.length, 0);
    return { file, handle, isBinary: process.platform === 'linux' && buffer.equals(ELF) };
  } catch (error) {
    await handle?.close();
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new Failure('cannotRun', `${found} cannot be read, so nobody could approve what it is: ${describeErrno(code)}`);
  }
}
