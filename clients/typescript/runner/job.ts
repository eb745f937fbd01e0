import { setTimeout as sleep } from 'node:timers/promises';
import type { ClaimedJob, Report, RunnerApi } from './api.js';
import { Refused, ServerAway } from './api.js';
import { Backoff } from './backoff.js';
import { Command, createFolder, getFolder, type JobFolder, readOutput, removeFolder } from './command.js';
import { JobLog } from './job-log.js';
import type { State } from './state.js';

/** Why the daemon ended a command (docs/decisions/automation.md#runner-jobs). */
type StopReason = 'cancelled' | 'timed_out' | 'stopped' | 'lease' | 'lost';

export interface JobOptions {
  /** Time between SIGTERM and SIGKILL. */
  graceMs: number;
  /** Aborts when the daemon has to end at once. The report is then kept for its next start. */
  quit: AbortSignal;
  print: (line: string) => void;
}

interface Services {
  api: RunnerApi;
  state: State;
}

const FIRST_RETRY_MS = 1_000;
/** The time of a job begins a little earlier for the service than for the runner. */
const CLOCK_DIFFERENCE_MS = 2_000;

/** Returns the line that ends the log of a command that was ended. */
function buildNote(reason: StopReason, job: ClaimedJob): string {
  const notes: Record<StopReason, string> = {
    cancelled: 'The job was cancelled. The command was ended.',
    timed_out: `The job ran longer than ${Math.ceil(job.timeout_seconds / 60)} minutes. The command was ended.`,
    stopped: 'The runner was stopped. The command was ended.',
    lease: `The service did not answer for ${job.lease_seconds} seconds. The command was ended.`,
    lost: 'The service gave this job up. The command was ended.',
  };
  return notes[reason];
}

/** Reports how a job ended, until the service answers. @throws the signal's reason when it aborts */
export async function deliverReport({ api }: Services, jobId: string, report: Report, options: JobOptions): Promise<void> {
  const backoff = new Backoff(FIRST_RETRY_MS);
  for (;;) {
    try {
      const { status } = await api.complete(jobId, report, { signal: options.quit });
      return options.print(`job ${jobId} ${status}${report.exit_code === null ? '' : `, exit code ${report.exit_code}`}`);
    } catch (error) {
      if (error instanceof Refused) return options.print(`the end of job ${jobId} was not accepted: ${error.message}`);
      if (!(error instanceof ServerAway)) throw error;
      options.print(`the end of job ${jobId} cannot be reported yet: ${error.message}`);
      await backoff.wait(error, options.quit);
    }
  }
}

/** One job from its claim to its report. */
export class JobRun {
  #stopReason: StopReason | undefined;
  #command: Command | undefined;
  #ending: Promise<void> | undefined;
  #leaseTimer: NodeJS.Timeout | undefined;
  readonly #claimedAt = performance.now();
  /** Ends the heartbeats: the log has been sent, or the daemon must end. */
  readonly #finished = new AbortController();

  constructor(
    private readonly services: Services,
    private readonly job: ClaimedJob,
    private readonly options: JobOptions,
  ) {}

  /** Runs the command, at most once, and reports its end. @throws the reason of `quit` */
  async perform(): Promise<void> {
    const { state } = this.services;
    const { job_id } = this.job;
    const abort = () => this.#finished.abort();
    this.options.quit.addEventListener('abort', abort, { once: true });
    const report = await this.#execute().catch((error: unknown) => failure(`The command could not be run: ${toText(error)}`));
    this.options.quit.removeEventListener('abort', abort);
    // On a full disk the files of the job make room. Without any the report is sent all the same; only a crash now would lose it.
    const isSaved = this.#saved(report);
    const root = getFolder(state.workDir, job_id);
    await removeFolder(root).catch((error: unknown) => this.options.print(`${root} remains: ${toText(error).slice(0, 500)}`));
    if (!isSaved && !this.#saved(report)) this.options.print(`job ${job_id}: its end cannot be written to ${state.dir}`);
    await deliverReport(this.services, job_id, report, this.options);
    state.forgetJob();
  }

  /** Writes down how the job ended. Returns whether that was possible. */
  #saved(report: Report): boolean {
    try {
      this.services.state.saveJob({ job_id: this.job.job_id, report });
      return true;
    } catch {
      return false;
    }
  }

  /** Ends the command, once. Its end is then reported like any other. */
  stop(reason: StopReason): void {
    if (this.#stopReason !== undefined) return;
    this.#stopReason = reason;
    this.options.print(`job ${this.job.job_id}: ${buildNote(reason, this.job)}`);
    this.#ending ??= this.#command?.end(this.job.job_id, this.options.graceMs);
  }

  /** @throws Error if no command can be started, or recorded */
  async #execute(): Promise<Report> {
    const { job } = this;
    this.services.state.saveJob({ job_id: job.job_id });
    const folder = createFolder(this.services.state.workDir, job.job_id);
    const command = await Command.prepare(job, folder);
    this.#command = command;
    try {
      this.services.state.saveJob({ job_id: job.job_id, process: command.process });
    } catch (error) {
      await command.end(job.job_id, 0);
      throw error;
    }
    return this.#follow(command, folder);
  }

  /** Lets the command begin and waits for its end, and until its log has arrived. */
  async #follow(command: Command, folder: JobFolder): Promise<Report> {
    const { job } = this;
    const log = new JobLog((chunk, offset) => this.#sendLog(chunk, offset));
    log.attach(command.output);
    const timer = setTimeout(() => this.stop('timed_out'), job.timeout_seconds * 1000);
    this.#renewLease(performance.now());
    const sending = log.send(this.options.quit).catch((error: unknown) => this.#lose(error));
    const beating = this.#keepLease();
    // The daemon may have been told to end in the meantime.
    if (this.#stopReason === undefined) command.begin();
    else this.#ending = command.end(job.job_id, 0);
    const exitCode = await command.exited;
    clearTimeout(timer);
    await (this.#ending ??= command.end(job.job_id, this.options.graceMs));
    await command.drained();
    const reason = this.#stopReason;
    if (reason) log.note(buildNote(reason, job));
    log.close();
    await sending;
    clearTimeout(this.#leaseTimer);
    this.#finished.abort();
    await beating;
    const secrets = job.masked.flatMap((name) => job.env[name] ?? []);
    const output = readOutput(folder.output, secrets) ?? log.output(secrets);
    const status = exitCode === 0 && reason === undefined ? 'succeeded' : 'failed';
    return { status, exit_code: exitCode, ...(output === '' ? {} : { output }) };
  }

  async #sendLog(chunk: string, offset: number) {
    const began = performance.now();
    const answer = await this.services.api.sendLog(this.job.job_id, { chunk, offset }, { signal: this.options.quit });
    this.#renewLease(began);
    if (answer.cancel) this.#cancel();
    return answer;
  }

  /** Sends heartbeats until the log has been sent or the job is lost. */
  async #keepLease(): Promise<void> {
    const { signal } = this.#finished;
    const usualMs = this.job.heartbeat_seconds * 1000;
    const backoff = new Backoff(FIRST_RETRY_MS);
    try {
      for (;;) {
        const began = performance.now();
        let waitMs = usualMs;
        try {
          const { cancel } = await this.services.api.heartbeat(this.job.job_id, { signal });
          this.#renewLease(began);
          backoff.reset();
          if (cancel) this.#cancel();
        } catch (error) {
          if (!(error instanceof ServerAway)) throw error;
          waitMs = Math.min(usualMs, backoff.next(error));
        }
        await sleep(waitMs, undefined, { signal });
      }
    } catch (error) {
      if (!signal.aborted) this.#lose(error);
    }
  }

  /** The service asks for the end of the command: someone cancelled the job, or its time is over by the clock of the service. */
  #cancel(): void {
    const isLate = performance.now() - this.#claimedAt > this.job.timeout_seconds * 1000 - CLOCK_DIFFERENCE_MS;
    this.stop(isLate ? 'timed_out' : 'cancelled');
  }

  /** The lease counts from the moment of the request: the service counts from a later one. */
  #renewLease(began: number): void {
    clearTimeout(this.#leaseTimer);
    const left = this.job.lease_seconds * 1000 - (performance.now() - began);
    this.#leaseTimer = setTimeout(() => this.stop('lease'), left);
  }

  #lose(error: unknown): void {
    if (this.options.quit.aborted) return;
    this.options.print(`job ${this.job.job_id}: ${toText(error)}`);
    this.stop('lost');
  }
}

export const failure = (output: string): Report => ({ status: 'failed', exit_code: null, output });

const toText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
