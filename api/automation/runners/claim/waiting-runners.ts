import type { RunnerIdentity } from '../../../platform/access/actor.js';
import type { Logger } from '../../../platform/telemetry/log.js';

/** A job that waits for a runner. */
export interface QueuedJob {
  job_id: string;
  team_id: string;
  labels: readonly string[];
}

/** Why a wait ended. `replaced`: the runner asks again elsewhere; `stopped`: this process stops. */
type WaitEnd = 'woken' | 'late' | 'gone' | 'replaced' | 'stopped';

/** One request that waits for a job. */
export interface WaitingRunner {
  /** Waits until a job may be there for it, or for `ms` at most. A wake that came since the last call counts. */
  next: (ms: number) => Promise<WaitEnd>;
  /** The client has closed its connection. */
  leave: () => void;
  /** Ends the request. `taken`: the job that it got. `hasFailed`: the last look did not happen. */
  close: (result: { taken?: string | undefined; hasFailed: boolean }) => void;
}

class Waiter {
  /** The job that woke it, and that it has not looked for yet. */
  private job: QueuedJob | undefined;
  /** The job that it looks for. */
  private sought: QueuedJob | undefined;
  private end: 'gone' | 'replaced' | 'stopped' | undefined;
  private notify: (() => void) | undefined;

  constructor(readonly runner: RunnerIdentity) {}

  /** It could take the job and is not on its way to another. */
  takes({ labels }: QueuedJob): boolean {
    return this.job === undefined && this.end === undefined && labels.every((label) => this.runner.labels.includes(label));
  }

  wake(job: QueuedJob): void {
    this.job = job;
    this.notify?.();
  }

  stop(end: 'gone' | 'replaced' | 'stopped'): void {
    this.end ??= end;
    this.notify?.();
  }

  async next(ms: number): Promise<WaitEnd> {
    if (this.end === undefined && this.job === undefined && ms > 0) {
      await new Promise<void>((done) => {
        const timer = setTimeout(done, ms);
        this.notify = () => {
          clearTimeout(timer);
          done();
        };
      });
      this.notify = undefined;
    }
    if (this.end !== undefined) return this.end;
    this.sought = this.job;
    this.job = undefined;
    return this.sought ? 'woken' : 'late';
  }

  /** Returns the jobs that woke it and that it has neither taken nor looked for. */
  missed(taken: string | undefined, hasFailed: boolean): QueuedJob[] {
    const sought = taken !== undefined || hasFailed ? this.sought : undefined;
    return [sought, this.job].filter((job) => job !== undefined && job.job_id !== taken) as QueuedJob[];
  }
}

/** The connection through which jobs are announced. */
interface Announcements {
  open: (log: Logger) => void;
  closeSoon: () => void;
}

/**
 * The runners of one process that wait for jobs, by team. A job wakes one runner that has its labels: if that one takes another job, or
 * fails, the wake passes on. So n jobs cause n looks, however many runners wait.
 */
export class WaitingRunners {
  /** Team to runner to its wait, those that have waited longest first. */
  private readonly teams = new Map<string, Map<string, Waiter>>();
  private isStopped = false;

  constructor(private readonly announcements: Announcements) {}

  teamIds(): string[] {
    return [...this.teams.keys()];
  }

  /** Number of other runners of the team that wait. */
  countOthers({ team_id, runner_id }: RunnerIdentity): number {
    const waiters = this.teams.get(team_id);
    return (waiters?.size ?? 0) - (waiters?.has(runner_id) ? 1 : 0);
  }

  /** Begins to wait, before the first look for a job, so that no notification is missed. The runner's older wait ends. */
  enter(runner: RunnerIdentity, log: Logger): WaitingRunner {
    const waiter = new Waiter(runner);
    if (this.isStopped) waiter.stop('stopped');
    const waiters = this.teams.get(runner.team_id) ?? new Map<string, Waiter>();
    this.teams.set(runner.team_id, waiters);
    const older = waiters.get(runner.runner_id);
    waiters.delete(runner.runner_id);
    waiters.set(runner.runner_id, waiter);
    older?.stop('replaced');
    this.announcements.open(log);
    return {
      next: (ms) => waiter.next(ms),
      leave: () => waiter.stop('gone'),
      close: ({ taken, hasFailed }) => this.close(waiter, taken, hasFailed),
    };
  }

  private close(waiter: Waiter, taken: string | undefined, hasFailed: boolean): void {
    const { team_id, runner_id } = waiter.runner;
    const waiters = this.teams.get(team_id);
    if (waiters?.get(runner_id) === waiter) waiters.delete(runner_id);
    if (waiters?.size === 0) this.teams.delete(team_id);
    waiter.stop('gone');
    for (const job of waiter.missed(taken, hasFailed)) this.announce(job);
    if (this.teams.size === 0) this.announcements.closeSoon();
  }

  /** A job waits: wakes one runner of its team that has its labels. */
  announce(job: QueuedJob): void {
    for (const waiter of this.teams.get(job.team_id)?.values() ?? []) {
      if (!waiter.takes(job)) continue;
      waiter.wake(job);
      return;
    }
  }

  /** Ends every wait: the process stops. */
  stop(): void {
    this.isStopped = true;
    for (const waiters of this.teams.values()) for (const waiter of waiters.values()) waiter.stop('stopped');
  }
}
