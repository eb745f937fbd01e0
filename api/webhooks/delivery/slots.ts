import { MAX_IN_FLIGHT } from './timetable.js';

/** Requests in progress of one worker. */
const MAX_SLOTS = 500;

interface Use {
  all: number;
  failing: number;
}

/**
 * Shares the requests of a worker among teams. A team takes a slot only while it has fewer than there are free ones: with n greedy
 * teams, a part of n + 1 stays free for the others, however long the requests of those teams hang. Endpoints that fail share half of the
 * slots, by the same rule.
 */
export class Slots {
  private readonly teams = new Map<string, Use>();
  private readonly used: Use = { all: 0, failing: 0 };

  constructor(private readonly max = MAX_SLOTS) {}

  /** Takes up to `wanted` slots for requests to one endpoint. Returns how many. */
  take(team: string, wanted: number, isFailing: boolean): number {
    const own = this.teams.get(team) ?? { all: 0, failing: 0 };
    let taken = 0;
    while (taken < Math.min(wanted, MAX_IN_FLIGHT) && this.isFree(own, isFailing)) {
      taken += 1;
      this.count(own, isFailing, 1);
    }
    if (taken > 0) this.teams.set(team, own);
    return taken;
  }

  release(team: string, isFailing: boolean, count = 1): void {
    const own = this.teams.get(team);
    if (!own) return;
    this.count(own, isFailing, -count);
    if (own.all === 0) this.teams.delete(team);
  }

  get inFlight(): number {
    return this.used.all;
  }

  private isFree(own: Use, isFailing: boolean): boolean {
    if (own.all >= this.max - this.used.all) return false;
    return !isFailing || own.failing < this.max / 2 - this.used.failing;
  }

  private count(own: Use, isFailing: boolean, by: number): void {
    for (const use of [own, this.used]) {
      use.all += by;
      if (isFailing) use.failing += by;
    }
  }
}
