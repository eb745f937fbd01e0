import { MAX_IN_FLIGHT } from './timetable.js';

/** Requests in progress of one worker. */
const MAX_SLOTS = 500;
/** Part of the slots that one team may have. */
const TEAM_PART = 1 / 10;
/** A team takes another slot while it has less than this part of the free ones. */
const FREE_PART = 1 / 4;
/** Part of the slots for endpoints whose last request failed, or that never received one. */
const UNPROVEN_PART = 1 / 2;

interface Use {
  all: number;
  unproven: number;
}

/**
 * Shares the requests of a worker among teams. A team has a tenth of the slots at most, and a quarter of what is left. Endpoints that fail, or have not yet answered,
 * share half of the slots, and of these no team takes more than are left: requests that hang there cost nobody else a slot
 * (docs/decisions/integrations.md#webhook-slots).
 */
export class Slots {
  private readonly teams = new Map<string, Use>();
  private readonly used: Use = { all: 0, unproven: 0 };

  constructor(private readonly max = MAX_SLOTS) {}

  /** Takes up to `wanted` slots for requests to one endpoint. Returns how many. */
  take(team: string, wanted: number, isProven: boolean): number {
    const own = this.teams.get(team) ?? { all: 0, unproven: 0 };
    let taken = 0;
    while (taken < Math.min(wanted, MAX_IN_FLIGHT) && this.isFree(own, isProven)) {
      taken += 1;
      this.count(own, isProven, 1);
    }
    if (taken > 0) this.teams.set(team, own);
    return taken;
  }

  release(team: string, isProven: boolean, count = 1): void {
    const own = this.teams.get(team);
    if (!own) return;
    this.count(own, isProven, -count);
    if (own.all === 0) this.teams.delete(team);
  }

  get inFlight(): number {
    return this.used.all;
  }

  private isFree(own: Use, isProven: boolean): boolean {
    // Teams that answer once and then hang leave slots for one that has none.
    if (own.all >= (this.max - this.used.all) * FREE_PART || own.all >= this.max * TEAM_PART) return false;
    return isProven || own.unproven < this.max * UNPROVEN_PART - this.used.unproven;
  }

  private count(own: Use, isProven: boolean, by: number): void {
    for (const use of [own, this.used]) {
      use.all += by;
      if (!isProven) use.unproven += by;
    }
  }
}
