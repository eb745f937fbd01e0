import { activityInfo, ApplicationFailure, heartbeat } from '@temporalio/activity';
import { ApplicationFailureCategory } from '@temporalio/common';
import { OUTBOUND_HEARTBEAT } from '../workflows/contracts/queues.js';

/**
 * Shares the outbound actions of a worker among teams. A team takes another slot while it has fewer than are free: half of them if it is
 * alone, a quarter if another team has half. So receivers that hang leave slots for a team that has none.
 */
export class TeamSlots {
  private readonly teams = new Map<string, number>();
  private used = 0;

  constructor(private readonly max: number) {}

  /** Takes a slot for a team. Returns false if others may need the rest; a team that has none always gets one. */
  take(team: string): boolean {
    const own = this.teams.get(team) ?? 0;
    if (own > 0 && own >= this.max - this.used) return false;
    this.teams.set(team, own + 1);
    this.used += 1;
    return true;
  }

  release(team: string): void {
    const own = this.teams.get(team) ?? 0;
    if (own > 1) this.teams.set(team, own - 1);
    else this.teams.delete(team);
    this.used -= 1;
  }
}

/** Longest delay after which an action asks again for a slot, ms. Many that wait must not keep the worker busy with refusals. */
const MAX_BUSY_RETRY_MS = 60_000;

/** Says that an action asks again later. Nothing of it has begun, so this is no attempt of the action. */
function busy(attempt: number): ApplicationFailure {
  return ApplicationFailure.create({
    type: 'TeamSlotsTaken',
    message: 'The team has as many requests under way as are left for others',
    nextRetryDelay: Math.min(1_000 * 2 ** (attempt - 1), MAX_BUSY_RETRY_MS),
    category: ApplicationFailureCategory.BENIGN,
  });
}

/** Shares the slots of a worker among teams: whatever calls another server takes one while it works. */
export class OutboundTurns {
  private readonly shared: TeamSlots;

  constructor(slots: number) {
    this.shared = new TeamSlots(slots);
  }

  /** @throws ApplicationFailure `TeamSlotsTaken`, after which the activity is tried again */
  async take<T>(perform: () => Promise<T>): Promise<T> {
    const { priority, attempt } = activityInfo();
    // The team, or the creator of a personal automation (runs/automation-runs.ts).
    const team = priority?.fairnessKey ?? '';
    if (!this.shared.take(team)) throw busy(attempt);
    const beat = setInterval(heartbeat, OUTBOUND_HEARTBEAT.everyMs);
    try {
      return await perform();
    } finally {
      clearInterval(beat);
      this.shared.release(team);
    }
  }
}
