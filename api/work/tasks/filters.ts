import { z } from 'zod';

/** Values of one filter. */
export const MAX_FILTER_VALUES = 50;

/** Stands for the caller in filters of people. */
export const CALLER = 'me';
/** Stands for tasks that nobody is assigned, that are in no cycle, or that are due on no day. */
export const NONE = 'none';

/** Filters that take several values, any of which counts. */
const VALUE_FILTERS = [
  'status',
  'resolution',
  'priority',
  'assigned_to',
  'created_by',
  'cycle_id',
  'stage_id',
  'project_id',
  'tags',
] as const;
export type ValueFilter = (typeof VALUE_FILTERS)[number];

/** The values of each filter that are wanted, and under `not_` those that are not. An empty list filters nothing. */
export type ValueFilters = { [name in ValueFilter | `not_${ValueFilter}`]?: readonly string[] | undefined };

/** Refuses a list, so that of one value and a list only the one that was sent explains what is wrong. */
const single = <S extends z.ZodType>(one: S) =>
  z.preprocess((value, { issues }) => {
    if (Array.isArray(value)) issues.push({ code: 'invalid_type', expected: 'string', input: value });
    return value;
  }, one);

/** A parameter of a query that may be repeated; always a list. */
export const several = <S extends z.ZodType>(one: S) =>
  z
    .union([
      single(one),
      z
        .array(one)
        .max(MAX_FILTER_VALUES, `is given more than ${MAX_FILTER_VALUES} times; send at most ${MAX_FILTER_VALUES} values`),
    ])
    .transform((given): z.output<S>[] => [given].flat() as z.output<S>[])
    .optional();
