/** Every event that a delivery can map to. */
export const FORGE_EVENTS = [
  'forge.issue_opened',
  'forge.issue_closed',
  'forge.issue_reopened',
  'forge.pr_opened',
  'forge.pr_synchronize',
  'forge.pr_merged',
  'forge.pr_closed',
  'forge.push',
  'forge.release_published',
  'forge.check_suite_failed',
  'forge.workflow_run_failed',
  'security.dependency_alert',
] as const;

export type ForgeEventType = (typeof FORGE_EVENTS)[number];

/** Trigger names for several events. `forge.*` excludes the dependency alert, whose prefix is `security.`. */
export const FORGE_FAMILIES: Readonly<Record<'forge.pull_request' | 'forge.issue' | 'forge.*', readonly ForgeEventType[]>> = {
  'forge.pull_request': ['forge.pr_opened', 'forge.pr_synchronize', 'forge.pr_merged', 'forge.pr_closed'],
  'forge.issue': ['forge.issue_opened', 'forge.issue_closed', 'forge.issue_reopened'],
  'forge.*': FORGE_EVENTS.filter((type) => type.startsWith('forge.')),
};

/** Returns the trigger types that an event starts: its own name and its families. */
export function triggersOf(type: string): string[] {
  const families = Object.entries(FORGE_FAMILIES).filter(([, members]) => members.some((member) => member === type));
  return [type, ...families.map(([family]) => family)];
}
