/** Work that an upgrade meets while it waits or is under way. */
export interface Pending {
  what: string;
  goal: string;
  /** What begins once the schema is that of the new version, just before the workers are replaced. */
  begin?: () => Promise<unknown>;
  /** Ends the work, and returns what became of it. */
  settle: () => Promise<{ found: string; holds: boolean }>;
}
