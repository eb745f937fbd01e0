import type { Parameters } from '../../../../db/statement-parameters.js';
import { NONE, type ValueFilter, type ValueFilters } from '../filters.js';
import { TASK_RESOLUTIONS } from '../rules.js';

type Values = readonly string[];
/** Writes the condition that a row `row` has one of the values. */
type Condition = (row: string, values: Values, $: Parameters) => string;

const any =
  (column: string, type: 'text' | 'uuid'): Condition =>
  (row, values, $) =>
    `${row}.${column} = any(${$.add(values, `${type}[]`)})`;

const anyOrNone =
  (column: string): Condition =>
  (row, values, $) => {
    const ids = values.filter((value) => value !== NONE);
    const named = any(column, 'uuid')(row, ids, $);
    return values.includes(NONE) ? `(${row}.${column} is null or ${named})` : named;
  };

/** A task that was canceled is done too: `done` finds it, and so does `canceled`. */
const anyStatus: Condition = (row, values, $) => {
  const reasons = values.filter((value) => TASK_RESOLUTIONS.some((reason) => reason === value));
  const statuses = values.filter((value) => !reasons.includes(value));
  const some = [
    ...(statuses.length > 0 ? [any('status', 'text')(row, statuses, $)] : []),
    ...(reasons.length > 0 ? [any('resolution', 'text')(row, reasons, $)] : []),
  ];
  return some.length > 1 ? `(${some.join(' or ')})` : some.join('');
};

const CONDITIONS: Readonly<Record<ValueFilter, Condition>> = {
  status: anyStatus,
  resolution: any('resolution', 'text'),
  priority: any('priority', 'text'),
  assigned_to: anyOrNone('assigned_to'),
  cycle_id: anyOrNone('cycle_id'),
  stage_id: anyOrNone('stage_id'),
  created_by: any('created_by', 'uuid'),
  project_id: any('project_id', 'uuid'),
  tags: (row, values, $) => `${row}.tags && ${$.add(values, 'text[]')}`,
};
const NAMES = Object.keys(CONDITIONS) as ValueFilter[];

/**
 * Returns one condition for each filter that has values. What is excluded also keeps the rows without a value: a task of nobody is not
 * assigned to Milo. `guard`: whether an index on the column would read rows of other teams, and must not be used.
 */
export const valueConditions = (
  row: string,
  filters: ValueFilters,
  $: Parameters,
  guard = (_name: ValueFilter) => false,
): string[] =>
  NAMES.flatMap((name) => {
    const [wanted, unwanted] = [filters[name] ?? [], filters[`not_${name}`] ?? []];
    const write = (values: Values) => CONDITIONS[name](row, values, $);
    return [
      ...(wanted.length === 0 ? [] : [guard(name) ? `(${write(wanted)}) is true` : write(wanted)]),
      ...(unwanted.length === 0 ? [] : [`(${write(unwanted)}) is not true`]),
    ];
  });
