import { quote } from '../grammar/doubts/naming.js';
import { STATUS_WORDS } from '../grammar/terms.js';

/** What a field is already, by its name. */
const FIELDS: Readonly<Record<string, (value: string | null) => string>> = {
  status: (value) => `is already ${STATUS_WORDS[value ?? ''] ?? value}`,
  priority: (value) => `is already ${value?.toLowerCase()}`,
  assigned_to: (value) => (value === null ? 'is assigned to nobody already' : 'is already assigned to this member'),
  lead_id: (value) => (value === null ? 'has no lead already' : 'is already led by this member'),
  due_date: (value) => (value === null ? 'has no due date already' : `is already due ${value.slice(0, 10)}`),
  end_date: (value) => (value === null ? 'has no end date already' : `already ends on ${value.slice(0, 10)}`),
  title: () => 'already has this title',
  name: () => 'already has this name',
  description: () => 'already has this description',
  tags: () => 'already has these tags',
  project_id: () => 'is already in this project',
  parent_task_id: (value) => (value === null ? 'has no parent already' : 'already has this parent'),
  is_archived: (value) => (value === 'true' ? 'is already archived' : 'is not archived'),
  estimate: (value) => (value === null ? 'has no estimate already' : 'already has this estimate'),
  estimated_hours: () => 'already has these estimated hours',
};

const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : typeof value === 'string' ? value : JSON.stringify(value);

/** Says why an action that changes nothing is not in a plan. `title`: that of its target. */
export function unchangedWords(tool: string, title: string, params: Readonly<Record<string, unknown>>): string {
  const facts = Object.entries(params).map(([name, value]) => FIELDS[name]?.(textOf(value)));
  const isRelation = tool === 'relation.create';
  const known = facts.length > 0 && facts.every((fact) => fact !== undefined) ? facts.join(' and ') : 'is already like that';
  return `${quote(title)} ${isRelation ? 'already has this relation' : known}, so there is nothing to change`;
}

/** Says that an action is in its plan already. */
export const repeatedWords = (title: string): string => `${quote(title)} has this change in the plan already`;
