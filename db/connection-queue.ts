/** Who a connection counts for while it is held. */
export interface Holder {
  /** The user, or the address of somebody who has not signed in; null where there is no one person. */
  person: string | null;
  /** Every team of the person: the connection counts for each of them. */
  teams: readonly string[];
  /** Requests that wait take turns by this: a team, or a person without one. */
  turn: string;
}

interface Waiter {
  holder: Holder | undefined;
  admit: () => void;
  timer: NodeJS.Timeout;
}

/** How many connections of a pool are held, and how many requests wait for one. */
export interface PoolUse {
  size: number;
  used: number;
  waiting: number;
}

/** Requests with the same line are served in their order. */
const lineOf = ({ person, turn }: Holder): string => person ?? turn;

const PERSON_SHARE = 3 / 8;
const TEAM_SHARE = 5 / 8;

/**
 * Decides who gets a connection of a pool. One person holds at most 3/8 of them, people whose only team is the same at most 5/8, and
 * all persons together leave one for what belongs to nobody alone: look-ups and writes of many callers in one statement. What
 * exceeds that waits. Teams take turns, and so do the persons of a team; a person's requests are served in their order.
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
  /** Turn to person to requests in order; a turn that was served goes to the end. */
  private readonly turns = new Map<string, Map<string, Waiter[]>>();

  /**
   * @param patience longest wait, ms
   * @param timeout makes the error of a request that waited longer
   */
  constructor(
    private readonly size: number,
    private readonly patience: number,
    private readonly timeout: () => Error,
  ) {
    this.perAll = Math.max(1, size - 1);
    // In a small pool too, one more than a share is left for somebody else.
    const share = (part: number) => Math.max(1, Math.min(Math.ceil(size * part), this.perAll - 1));
    this.perPerson = share(PERSON_SHARE);
    this.perTeam = share(TEAM_SHARE);
  }

  /**
   * Counts a connection for its holder. Returns undefined when it may be taken at once, else a promise that ends when it may.
   * Without a holder it counts for the pool alone. @throws the timeout error
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
      }, this.patience).unref();
      const waiter: Waiter = { holder, admit: resolve, timer };
      this.add(waiter);
    });
  }

  /** Gives a connection back and lets in who waits for it. `holder` is the one it was counted for. */
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
    // Any of the teams: whoever is made a member of a busy team must not wait for it with everything else.
    return teams.length === 0 || teams.some((team) => this.holds(team) < this.perTeam);
  }

  /** Nobody with the same right to it waits, and it exceeds no share. */
  private mayEnter(holder: Holder | undefined): boolean {
    if (!this.isFree(holder)) return false;
    if (!holder) return this.shared.length === 0;
    // Whoever waits although a connection is free has used up a share; only a request of the same person must not pass by.
    return this.isWithinShare(holder) && !this.turns.get(holder.turn)?.has(lineOf(holder));
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
    let persons = this.turns.get(holder.turn);
    if (!persons) this.turns.set(holder.turn, (persons = new Map()));
    const waiters = persons.get(lineOf(holder));
    if (waiters) waiters.push(waiter);
    else persons.set(lineOf(holder), [waiter]);
  }

  /** Takes a waiter out. Its person and its turn go to the end, or away when nothing of theirs waits any more. */
  private remove(waiter: Waiter): void {
    this.waiting -= 1;
    const { holder } = waiter;
    if (!holder) {
      this.shared.splice(this.shared.indexOf(waiter), 1);
      return;
    }
    const persons = this.turns.get(holder.turn) as Map<string, Waiter[]>;
    const line = lineOf(holder);
    const waiters = persons.get(line) as Waiter[];
    waiters.splice(waiters.indexOf(waiter), 1);
    persons.delete(line);
    if (waiters.length > 0) persons.set(line, waiters);
    this.turns.delete(holder.turn);
    if (persons.size > 0) this.turns.set(holder.turn, persons);
  }

  private next(): Waiter | undefined {
    if (this.shared.length > 0) return this.isFree(undefined) ? this.shared[0] : undefined;
    if (this.waiting === 0 || this.used >= this.size || this.personal >= this.perAll) return undefined;
    for (const persons of this.turns.values()) {
      for (const [first] of persons.values()) if (first?.holder && this.isWithinShare(first.holder)) return first;
    }
    return undefined;
  }
}
