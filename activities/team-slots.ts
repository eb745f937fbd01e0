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
