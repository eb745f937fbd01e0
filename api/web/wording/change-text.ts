import type { ActivityChanges, ActivityEntry } from '../../work/activity-feed/schema.js';
import { parseCustomKey } from '../../work/custom-fields/rules.js';
import { withVisibleNames } from '../../platform/validation/invisible.js';

interface Words {
  formatStatus: (status: string) => string;
  day: (iso: string) => string;
}
type Value = ActivityChanges[string]['from'];

/** The other values of a status are stages, by their ids. */
const STATUS = /^[a-z_]+$/;
/** Values of a field of people. */
const USER_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DATE = /^\d{4}-\d\d-\d\d/;
/** Fields that hold a user. */
const PEOPLE = ['assigned_to', 'lead_id'];
/** Longer texts are left out of a line. */
const MAX_LENGTH = 80;

/** Says which words of a list came and went: "tags: added #a, removed #b". */
function listText(field: string, from: readonly string[], to: readonly string[]): string {
  const signed = (values: readonly string[]) => values.map((value) => `#${withVisibleNames(value)}`).join(' ');
  const [added, removed] = [to.filter((one) => !from.includes(one)), from.filter((one) => !to.includes(one))];
  const said = [added.length > 0 && `added ${signed(added)}`, removed.length > 0 && `removed ${signed(removed)}`].filter(Boolean);
  return said.length === 0 ? field : `${field} (${said.join(', ')})`;
}

/** Returns the words of a field's value; undefined for one that is too long for a line, or that names a record which is not known. */
function valueText(field: string, value: Value, names: Record<string, string>, words: Words): string | undefined {
  if (Array.isArray(value)) return undefined;
  if (value === null) return PEOPLE.includes(field) ? 'nobody' : 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return String(value);
  if (PEOPLE.includes(field)) return names[value] === 'You' ? 'you' : (names[value] ?? 'a former member');
  if (field === 'cycle_id') return names[value] && `“${withVisibleNames(names[value])}”`;
  if (field === 'status' && STATUS.test(value)) return words.formatStatus(value);
  if (field === 'status' || field === 'stage_id') return names[value] ?? 'a former stage';
  if (field.endsWith('_date') && DATE.test(value)) return words.day(value);
  if (field === 'title' || field === 'name') return value.length > MAX_LENGTH ? undefined : `“${withVisibleNames(value)}”`;
  return value.length > MAX_LENGTH ? undefined : value;
}

/**
 * Returns the changes as people chose them: what says why nobody completed a task is part of its status, and so is the stage that it left or entered with
 * it.
 */
function withChoices(changes: ActivityChanges | null | undefined): ActivityChanges | null | undefined {
  const { resolution, stage_id: stage, status, ...others } = changes ?? {};
  if (!resolution && !(stage && status)) return changes;
  const { from = 'done', to = 'done' } = status ?? {};
  return { ...others, status: { from: resolution?.from ?? stage?.from ?? from, to: resolution?.to ?? stage?.to ?? to } };
}

/** Returns a value of a custom field in words; undefined for one that is too long for a line, or that names a person who is not known. */
function customText(value: Value, names: Record<string, string>): string | undefined {
  if (Array.isArray(value)) return customText(value.join(', '), names);
  if (value === null) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return String(value);
  if (USER_ID.test(value)) return names[value] === 'You' ? 'you' : names[value];
  return value.length > MAX_LENGTH ? undefined : withVisibleNames(value);
}

/** Says from what to what a custom field changed: "set Severity from S3 to S1". */
function customSummary(summary: string, { from, to }: ActivityChanges[string], names: Record<string, string>): string {
  const [before, after] = [customText(from, names), customText(to, names)];
  if (to === null) return before === undefined ? summary : `${summary}, which was ${before}`;
  if (after === undefined || before === undefined) return summary;
  return from === null ? `${summary} to ${after}` : `${summary} from ${before} to ${after}`;
}

/**
 * Returns the summary of a line in words, with the values of short fields: "changed status from In review to Done, cycle". A summary of another
 * form stays as it is. `names`: of users and stages, by id.
 */
export function summaryText(
  { summary, changes }: Pick<ActivityEntry, 'summary' | 'changes'>,
  names: Record<string, string>,
  words: Words,
): string {
  const [custom] = Object.entries(changes ?? {}).filter(([field]) => parseCustomKey(field) !== undefined);
  if (custom) return customSummary(summary, custom[1], names);
  if (!/^changed [a-z_, ]+$/.test(summary)) return summary;
  const changed = summary.slice('changed '.length).split(', ');
  const chosen = withChoices(changes);
  const isSaid = (field: string) => changes?.[field] !== undefined && chosen?.[field] === undefined;
  const fields = [...new Set(changed.map((field) => (isSaid(field) ? 'status' : field)))];
  // The time of completion follows from the status.
  const shown = fields.filter((field) => field !== 'completed_at' || !fields.includes('status'));
  const parts = shown.map((field) => {
    const name = field === 'assigned_to' ? 'assignee' : field.replaceAll(/_id\b/g, '').replaceAll('_', ' ');
    const change = chosen?.[field];
    if (Array.isArray(change?.from) && Array.isArray(change.to)) return listText(name, change.from, change.to);
    const [from, to] = [change?.from, change?.to].map((value) =>
      value === undefined ? undefined : valueText(field, value, names, words),
    );
    return from === undefined || to === undefined ? name : `${name} from ${from} to ${to}`;
  });
  return `changed ${parts.join(', ')}`;
}

/** Returns changes in words: "priority from urgent to low, title". */
export const changesText = (changes: ActivityChanges, names: Record<string, string>, words: Words): string =>
  summaryText({ summary: `changed ${Object.keys(changes).join(', ')}`, changes }, names, words).slice('changed '.length);
