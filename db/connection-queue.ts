/** Whose quota a connection uses. */
export interface Holder {
  /** The user, or the address of a client that is not signed in; null for several users. */
  person: string | null;
  /** Every team of the user: the connection counts for each. */
  teams: readonly string[];
  /** Key of the round-robin between waiting requests: a team, or a user without one. */
  fairnessKey: string;
}

interface Waiter {
  holder: Holder | undefined;
  admit: () => void;
  timer: NodeJS.Timeout;
}

/** Use of a pool: connections in use and requests waiting for one. */
export interface PoolUse {
  size: number;
  used: number;
  waiting: number;
}

/** Requests with the same key are served in order. */
const getQueueKey = ({ person, fairnessKey }: Holder): string => person ?? fairnessKey;

const PERSON_SHARE = 3 / 8;
const TEAM_SHARE = 5 / 8;

/**
 * Decides who gets a connection of a pool. One user gets at most 3/8 of them, users of one team together at most 5/8, and all users
 * together leave one for shared work: batched lookups and writes of many callers. Further requests wait. Teams take turns, and so do the
 * users of a team; a user's requests are served in order. See docs/adr/0014-fair-connections.md.
 */
export class ConnectionQueue {
  private readonly perPerson: number;
  private readonly perTeam: number;
  private readonly perAll: number;
  private used = 0;
  private personal = 0;
  private waiting = 0;
  private readonly held = new Map<string, number>();
  private readonly shared: Waiter[] = [];
  /** Fairness key to user to requests in order; a served key goes to the end. */
  private readonly queues = new Map<string, Map<string, Waiter[]>>();

  /**
   * @param acquireTimeoutMs maximum wait, ms
   * @param timeout creates the error of a request that waited longer
   */
  constructor(
    private readonly size: number,
    private readonly acquireTimeoutMs: number,
    private readonly timeout: () => Error,
  ) {
    this.perAll = Math.max(1, size - 1);
    // Even in a small pool a share leaves one connection for others.
    const share = (part: number) => Math.max(1, Math.min(Math.ceil(size * part), this.perAll - 1));
    this.perPerson = share(PERSON_SHARE);
    this.perTeam = share(TEAM_SHARE);
  }

  /**
   * Reserves a connection for its holder. Returns undefined if it is free at once, otherwise a promise that resolves when it is. Without a
   * holder only the pool's size counts. @throws the timeout error
   */
  enter(holder: Holder | undefined): Promise<void> | undefined {
    if (this.mayEnter(holder)) {
      this.count(holder, 1);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.remove(waiter);
        reject(this.timeout());
      }, this.acquireTimeoutMs).unref();
      const waiter: Waiter = { holder, admit: resolve, timer };
      this.add(waiter);
    });
  }

  /** Releases a connection and admits the next waiting requests. `holder` is the one it was counted for. */
  leave(holder: Holder | undefined): void {
    this.count(holder, -1);
    for (let next = this.next(); next; next = this.next()) {
      this.remove(next);
      clearTimeout(next.timer);
      this.count(next.holder, 1);
      next.admit();
    }
  }

  use(): PoolUse {
    return { size: this.size, used: this.used, waiting: this.waiting };
  }

  private holds(key: string): number {
    return this.held.get(key) ?? 0;
  }

  private isFree(holder: Holder | undefined): boolean {
    return this.used < this.size && (!holder || this.personal < this.perAll);
  }

  private isWithinShare({ person, teams }: Holder): boolean {
    if (person !== null && this.holds(person) >= this.perPerson) return false;
    // One free team suffices: membership in a busy team must not slow a user's other work.
    return teams.length === 0 || teams.some((team) => this.holds(team) < this.perTeam);
  }

  /** Returns whether a request may pass: it exceeds no share, and no request with the same claim waits. */
  private mayEnter(holder: Holder | undefined): boolean {
    if (!this.isFree(holder)) return false;
    if (!holder) return this.shared.length === 0;
    // Requests that wait despite a free connection have used up a share; only requests of the same user must not be overtaken.
    return this.isWithinShare(holder) && !this.queues.get(holder.fairnessKey)?.has(getQueueKey(holder));
  }

  private count(holder: Holder | undefined, by: 1 | -1): void {
    this.used += by;
    if (!holder) return;
    this.personal += by;
    if (holder.person !== null) this.countFor(holder.person, by);
    for (const team of holder.teams) this.countFor(team, by);
  }

  private countFor(key: string, by: number): void {
    const holds = this.holds(key) + by;
    if (holds > 0) this.held.set(key, holds);
    else this.held.delete(key);
  }

  private add(waiter: Waiter): void {
    this.waiting += 1;
    const { holder } = waiter;
    if (!holder) {
      this.shared.push(waiter);
      return;
    }
    let persons = this.queues.get(holder.fairnessKey);
    if (!persons) this.queues.set(holder.fairnessKey, (persons = new Map()));
    const waiters = persons.get(getQueueKey(holder));
    if (waiters) waiters.push(waiter);
    else persons.set(getQueueKey(holder), [waiter]);
  }

  /** Removes a waiting request. Its user and fairness key go to the end, or away if nothing else of theirs waits. */
  private remove(waiter: Waiter): void {
    this.waiting -= 1;
    const { holder } = waiter;
    if (!holder) {
      this.shared.splice(this.shared.indexOf(waiter), 1);
      return;
    }
    const persons = this.queues.get(holder.fairnessKey) as Map<string, Waiter[]>;
    const line = getQueueKey(holder);
    const waiters = persons.get(line) as Waiter[];
    waiters.splice(waiters.indexOf(waiter), 1);
    persons.delete(line);
    if (waiters.length > 0) persons.set(line, waiters);
    this.queues.delete(holder.fairnessKey);
    if (persons.size > 0) this.queues.set(holder.fairnessKey, persons);
  }

  private next(): Waiter | undefined {
    if (this.shared.length > 0) return this.isFree(undefined) ? this.shared[0] : undefined;
    if (this.waiting === 0 || this.used >= this.size || this.personal >= this.perAll) return undefined;
    for (const persons of this.queues.values()) {
      for (const [first] of persons.values()) if (first?.holder && this.isWithinShare(first.holder)) return first;
    }
    return undefined;
  }
}
