import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PRIVATE_FOLDER, replacePrivate, writeNewPrivate } from '../node/private-file.js';
import type { Report } from './api.js';
import { type ProcessId, isRunning, ownProcess } from './processes.js';

/** What the daemon keeps in its folder. Nobody but its user can read it. */

export interface Registration {
  url: string;
  runner_id: string;
  runner_token: string;
  name: string;
  labels: string[];
}

/**
 * The job in hand, written before each step. After a crash it tells whether the command may have begun: without a process it cannot have,
 * because the shell waits until its process is on record.
 */
export interface SavedJob {
  job_id: string;
  process?: ProcessId;
  /** The command has ended; the service may not know. */
  report?: Report;
}

/** A registration that is missing or no longer counts. systemd calls this status CONFIG. */
const UNREGISTERED = 78;

/** What the caller has to change, and the status that the program ends with. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  constructor(
    message: string,
    readonly status = UNREGISTERED,
  ) {
    super(message);
  }
}

export class State {
  constructor(readonly dir: string) {}

  get workDir(): string {
    return join(this.dir, 'work');
  }

  create(): void {
    mkdirSync(this.workDir, { recursive: true, mode: PRIVATE_FOLDER });
    chmodSync(this.dir, PRIVATE_FOLDER);
  }

  /** @throws {UsageError} without a registration that can be read */
  registration(): Registration {
    const found = this.#read<Registration>('runner.json');
    if (!found) throw new UsageError(`No runner is registered in ${this.dir}. Run "assent-runner register" first.`);
    return found;
  }

  get isRegistered(): boolean {
    return existsSync(join(this.dir, 'runner.json'));
  }

  saveRegistration(registration: Registration): void {
    this.#write('runner.json', registration);
  }

  job(): SavedJob | undefined {
    return this.#read<SavedJob>('job.json');
  }

  saveJob(job: SavedJob): void {
    this.#write('job.json', job);
  }

  /** A runner that cannot keep a record, such as one with a full disk, must take no job. @throws Error nothing can be written */
  checkWritable(): void {
    this.#write('check.json', {});
    rmSync(join(this.dir, 'check.json'), { force: true });
  }

  forgetJob(): void {
    rmSync(join(this.dir, 'job.json'), { recursive: true, force: true });
  }

  /**
   * Makes this process the only daemon of the folder, until it ends.
   * @throws {UsageError} if another one runs
   */
  lock(): void {
    const path = join(this.dir, 'daemon.json');
    const other = this.#read<ProcessId>('daemon.json');
    if (other && other.pid !== process.pid && isRunning(other)) {
      throw new UsageError(`A daemon already runs in ${this.dir} (process ${other.pid}).`, 1);
    }
    rmSync(path, { force: true });
    try {
      writeNewPrivate(path, ownProcess());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new UsageError(`Another daemon is starting in ${this.dir}.`, 1);
    }
  }

  unlock(): void {
    rmSync(join(this.dir, 'daemon.json'), { force: true });
  }

  #read<T>(name: string): T | undefined {
    try {
      return JSON.parse(readFileSync(join(this.dir, name), 'utf8')) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #write(name: string, content: object): void {
    replacePrivate(join(this.dir, name), content);
  }
}
