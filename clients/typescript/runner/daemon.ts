import { setTimeout as sleep } from 'node:timers/promises';
import { type ClaimedJob, Refused, type RunnerApi, ServerAway } from './api.js';
import { Backoff } from './backoff.js';
import { removeFolder } from './command.js';
import { deliverReport, failure, type JobOptions, JobRun } from './job.js';
import { endLeftover } from './processes.js';
import { type State, UsageError } from './state.js';

/** A job that this daemon does not know, if the service still says so after this time, was lost on the way here. */
const SECOND_LOOK_MS = 5_000;
/** Another daemon works with the same token, or a lease has to end. */
const OTHERS_MS = 15_000;
/** A claim that ends so soon was ended by a newer one. */
const SHORT_CLAIM_MS = 10_000;
/** Pause after it, up to five times as long, so that two daemons with one token do not chase each other. */
const MIN_PAUSE_MS = 1_000;
/** Time to report the end of a job when the daemon has to end at once, beside the grace period. */
const REPORT_MS = 5_000;
/** Ctrl-C may arrive twice: from the terminal, and from npx. */
const SAME_SIGNAL_MS = 1_000;
/** A job's id becomes the name of a folder. */
const JOB_ID = /^[\w-]{1,64}$/;

export interface DaemonOptions {
  version: string;
  graceMs: number;
  print: (line: string) => void;
}

/** Claims jobs one after the other and runs them, until it is told to stop. */
export class Daemon {
  #run: JobRun | undefined;
  #stoppedAt = 0;
  /** A job of which only the service knows, and that it has given to this runner. */
  #unknownJob: string | undefined;
  readonly #drain = new AbortController();
  readonly #quit = new AbortController();
  readonly #backoff = new Backoff();
  readonly #jobOptions: JobOptions;

  constructor(
    private readonly api: RunnerApi,
    private readonly state: State,
    private readonly options: DaemonOptions,
  ) {
    this.#jobOptions = { graceMs: options.graceMs, print: options.print, quit: this.#quit.signal };
  }

  /**
   * Returns when the daemon was told to stop and its job has ended.
   * @throws {UsageError} the service does not know this runner
   */
  async work(): Promise<void> {
    try {
      await this.#recover();
      while (!this.#drain.signal.aborted) await this.#workOnce();
    } catch (error) {
      if (!this.#quit.signal.aborted) throw error;
    }
  }

  /** First call: no further job. A later call: the running job is ended and reported as failed. */
  stop(): void {
    if (!this.#drain.signal.aborted) {
      this.#stoppedAt = performance.now();
      this.options.print(this.#run ? 'stopping after this job; once more ends the job' : 'stopping');
      this.#drain.abort(new Error('stopped'));
      if (!this.#run) this.#quit.abort(new Error('stopped'));
      return;
    }
    if (performance.now() - this.#stoppedAt < SAME_SIGNAL_MS) return;
    this.#run?.stop('stopped');
    setTimeout(() => this.#quit.abort(new Error('stopped')), this.options.graceMs + REPORT_MS).unref();
  }

  async #workOnce(): Promise<void> {
    const { signal } = this.#drain;
    const began = performance.now();
    try {
      await this.#untilWritable(signal);
      const job = await this.api.claim(this.options.version, signal);
      this.#quit.signal.throwIfAborted();
      this.#backoff.reset();
      this.#unknownJob = undefined;
      if (job) await this.#perform(job);
      else if (performance.now() - began < SHORT_CLAIM_MS)
        await sleep(MIN_PAUSE_MS * (1 + 4 * Math.random()), undefined, { signal });
    } catch (error) {
      if (this.#quit.signal.aborted) throw error;
      if (!signal.aborted) await this.#judge(error);
    }
  }

  /** A job that cannot be written down would end as lost, and the next one too. @throws the signal's reason */
  async #untilWritable(signal: AbortSignal): Promise<void> {
    for (;;) {
      try {
        return this.state.checkWritable();
      } catch (error) {
        this.options.print(`no job is taken: nothing can be written to ${this.state.dir}: ${String(error)}`);
        await this.#backoff.wait(error, signal);
      }
    }
  }

  async #perform(job: ClaimedJob): Promise<void> {
    if (!JOB_ID.test(job.job_id)) throw new Error(`The service named a job ${JSON.stringify(job.job_id)}`);
    this.options.print(`job ${job.job_id} started`);
    this.#run = new JobRun({ api: this.api, state: this.state }, job, this.#jobOptions);
    try {
      await this.#run.perform();
    } finally {
      this.#run = undefined;
    }
  }

  /** Waits as long as the error asks for. @throws {UsageError} the runner was deleted | the error, if it is none of the service's */
  async #judge(error: unknown): Promise<void> {
    const { signal } = this.#drain;
    try {
      if (error instanceof ServerAway) {
        this.options.print(`the service is away: ${error.message}`);
        await this.#backoff.wait(error, signal);
      } else if (error instanceof Refused && error.status === 401) {
        throw new UsageError(
          'The service does not know this runner: it was deleted. Register it again with "assent-runner register --replace".',
        );
      } else if (error instanceof Refused && error.status === 409) {
        await this.#judgeUnknownJob(error);
      } else if (error instanceof Refused) {
        this.options.print(`the claim was refused: ${error.message}`);
        await this.#backoff.wait(error, signal);
      } else throw error;
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
  }

  /** A claim whose answer was lost left a job that nobody runs. One that runs is in other hands: two daemons share a token. */
  async #judgeUnknownJob({ envelope, message }: Refused): Promise<void> {
    const { job_id, job_status } = envelope;
    const { signal } = this.#drain;
    if (typeof job_id !== 'string' || job_status !== 'claimed') {
      this.options.print(`${message}; waiting. Does another daemon use this runner's token?`);
      await sleep(OTHERS_MS, undefined, { signal });
      return;
    }
    if (this.#unknownJob !== job_id) {
      this.#unknownJob = job_id;
      await sleep(SECOND_LOOK_MS, undefined, { signal });
      return;
    }
    this.#unknownJob = undefined;
    const report = failure('The job did not reach its runner. The command was not run.');
    await deliverReport({ api: this.api, state: this.state }, job_id, report, this.#jobOptions);
  }

  /** Ends what an earlier daemon left behind, and reports it. The command is not run again. */
  async #recover(): Promise<void> {
    const saved = this.state.job();
    if (saved) {
      const { job_id, process: leader, report } = saved;
      this.options.print(`job ${job_id} was in hand when the runner ended`);
      if (leader && !report) await endLeftover(leader, job_id, this.options.graceMs);
      const what = leader
        ? 'The runner restarted during this job. The command was ended.'
        : 'The runner restarted before the command began.';
      await deliverReport({ api: this.api, state: this.state }, job_id, report ?? failure(what), this.#jobOptions);
      this.state.forgetJob();
    }
    await removeFolder(this.state.workDir).catch((error: unknown) =>
      this.options.print(`${this.state.workDir}: ${String(error)}`),
    );
    this.state.create();
  }
}
