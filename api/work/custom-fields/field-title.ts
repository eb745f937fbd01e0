import { listTaskColumns } from '../tasks/columns.js';

const fold = (name: string): string => name.normalize('NFKC').toLowerCase().replace(/\s+/g, ' ').trim();

/** What people call the fields that every task has. */
const BUILT_IN = new Set([
  'assignee',
  'due',
  'labels',
  'points',
  'repeats',
  ...listTaskColumns('shown').map((column) => column.replace(/_id$/, '').replaceAll('_', ' ')),
]);

/** Returns the name of a custom field where it stands beside fields that every task has: one that is called as they are says so. */
export const fieldTitle = (name: string): string => (BUILT_IN.has(fold(name)) ? `${name} (custom field)` : name);
