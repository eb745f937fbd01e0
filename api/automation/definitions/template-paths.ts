import { CommentRecord } from '../../work/comments/schema.js';
import { EVENT_TYPES, payloadSchema } from '../../platform/events/event-types.js';
import { FORGE_EVENTS, FORGE_FAMILIES, type ForgeEventType } from '../../platform/events/catalogue/forge.js';
import { didYouMean, nearest } from '../../platform/validation/suggestions.js';
import { Cycle } from '../../work/cycles/schema.js';
import { forgeFieldNames } from '../../integrations/forge/rules.js';
import { ProjectRecord } from '../../work/projects/schema.js';
import { ProjectUpdateRecord } from '../../work/projects/updates/schema.js';
import { Relation } from '../../work/relations/schema.js';
import { JobRecord } from '../runners/record/job-schema.js';
import { Task } from '../../work/tasks/schema.js';
import { findPaths } from '../language/template.js';
import { TRIGGERS } from '../language/triggers.js';

/** A hint costs a comparison with every known name. */
const MAX_WARNINGS = 20;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Records that events hold as the API returns them, by the name of their field: a sample shows some of their fields. The samples of other records,
 * such as a note, show all.
 */
const RECORDS: Readonly<Record<string, object>> = {
  task: { ...Task.shape, name: null },
  project: ProjectRecord.shape,
  update: ProjectUpdateRecord.shape,
  comment: CommentRecord.shape,
  cycle: Cycle.shape,
  relation: Relation.shape,
  job: JobRecord.shape,
};

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Names whose values are not known. */
const unknowns = (names: readonly string[]): Fields => Object.fromEntries(names.map((name) => [name, null]));

/** Fields whose own fields are not known here, or differ from event to event. */
const FREE = ['changes', 'member', 'body', 'query'];

/** Every field of a record that a sample shows. */
function wholeRecord(name: string, sample: unknown): unknown {
  if (FREE.includes(name)) return null;
  return isFields(sample) ? { ...unknowns(Object.keys(RECORDS[name] ?? {})), ...sample } : sample;
}

const isForgeEvent = (type: unknown): type is ForgeEventType => FORGE_EVENTS.some((known) => known === type);

/** Names of all fields of an event, whatever its sample shows. */
function fieldNames(type: unknown): string[] {
  const declared = EVENT_TYPES.find((known) => known === type);
  return [
    'event_id',
    ...(declared ? Object.keys(payloadSchema(declared).shape) : []),
    ...(isForgeEvent(type) ? forgeFieldNames(type) : []),
  ];
}

/** Returns what is known of a trigger's events; null stands for any value. Undefined if a caller may give any event. */
function describeEvent(triggerType: string): Fields | undefined {
  if (triggerType === 'manual') return undefined;
  const members: readonly string[] = Object.entries(FORGE_FAMILIES).find(([family]) => family === triggerType)?.[1] ?? [
    triggerType,
  ];
  const samples = TRIGGERS.filter(({ key }) => members.includes(key)).map(({ sample_payload }) => sample_payload);
  if (samples.length === 0) return undefined;
  const fields = samples.flatMap((sample) =>
    Object.entries(sample).map(([name, value]) => [name, wholeRecord(name, value)] as const),
  );
  return { ...unknowns(samples.flatMap(({ type }) => fieldNames(type))), ...Object.fromEntries(fields) };
}

/** Returns the number of the first step that no event has; undefined if an event may have the path. */
function missingStep(steps: readonly string[], event: Fields): { at: number; known: string[] } | undefined {
  let value: unknown = event;
  for (let at = 1; at < steps.length; at++) {
    const step = steps[at] as string;
    if (value === null || (isFields(value) && Object.keys(value).length === 0)) return undefined;
    if (Array.isArray(value) && /^\d+$/.test(step)) value = value[0] ?? null;
    else if (isFields(value) && Object.hasOwn(value, step)) value = value[step];
    else return { at, known: isFields(value) ? Object.keys(value) : [] };
  }
  return undefined;
}

/** Returns the nearest path that an event has, as words. */
function hintFor(steps: readonly string[], { at, known }: { at: number; known: string[] }): string {
  const step = steps[at] as string;
  const near = nearest(step, known, 1, Math.max(2, Math.floor(step.length / 2)));
  return didYouMean(near.map((name) => steps.with(at, name).join('.')));
}

/**
 * Returns a warning for each template whose path no event of the trigger has, `MAX_WARNINGS` at most. An automation that is started with an
 * event of its caller may have it all the same, so it can be saved.
 */
export function warnOfPaths(triggerType: string, actions: readonly { params: unknown }[]): string[] {
  const event = describeEvent(triggerType);
  if (!event) return [];
  const found = actions.flatMap(({ params }, index) =>
    findPaths(params).flatMap(({ place, path }) => {
      const steps = path.split('.');
      const missing = steps[0] === 'event' && missingStep(steps, event);
      return missing ? [{ place: `actions[${index}].params.${place}`, path, steps, missing }] : [];
    }),
  );
  return found
    .slice(0, MAX_WARNINGS)
    .map(({ place, path, steps, missing }) => `${place}: events of ${triggerType} have no ${path}${hintFor(steps, missing)}`);
}
