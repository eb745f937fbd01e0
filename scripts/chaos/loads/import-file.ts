import { v7 as uuidv7 } from 'uuid';
import type { Random } from '../random.js';
import type { ImportTeam } from '../world.js';

const MAX_CONFLICTS = 20;
const MAX_WRONG = 10;
const MAX_OTHERS = 8;
/** Tasks at the start of a file that may be parents of the others. */
const PARENTS = 10;

/** A file to import, with what must become of its lines. */
export interface ImportFile {
  /** Part of the titles of everything that the file creates; unique. */
  tag: string;
  project_id: string;
  on_conflict: 'error' | 'skip' | 'update';
  text: string;
  counts: { total: number; created: number; updated: number; skipped: number; failed: number };
  /** Numbers of the lines that fail, from 1, ascending. */
  failing: number[];
}

interface Line {
  record: object;
  outcome: 'created' | 'updated' | 'skipped' | 'failed';
}

const OUTCOMES = { error: 'failed', skip: 'skipped', update: 'updated' } as const;

const many = <T>(count: number, make: (n: number) => T): T[] => Array.from({ length: count }, (_, n) => make(n));

function shuffle<T>(random: Random, items: T[]): T[] {
  return items
    .map((item) => ({ item, at: random.next() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** What hangs on tasks, some of it on one that the team has. */
function others(random: Random, title: string, taskIds: readonly string[], base: string): Line[] {
  const about = (): string => random.pick(taskIds);
  const comments = [base, ...many(random.between(1, MAX_OTHERS), about)].map((task_id) => ({ task_id, content: title }));
  const notes = many(random.between(1, MAX_OTHERS), () => ({ note_id: uuidv7(), title }));
  const relations = taskIds.slice(1, 4).map((target_id) => ({ source_id: taskIds[0], target_id, relation_type: 'related_to' }));
  return [
    ...comments.map((record) => ({ entity: 'comment', ...record })),
    ...notes.map((record) => ({ entity: 'note', ...record })),
    ...relations.map((record) => ({ entity: 'relation', ...record })),
  ].map((record) => ({ record, outcome: 'created' }));
}

/** Lines without a title, of a project that is not there, and under a parent that is not there. */
function wrong(random: Random, title: string, project_id: string): Line[] {
  const records = [
    { entity: 'task', project_id },
    { entity: 'task', title, project_id: uuidv7() },
    { entity: 'task', title, project_id, parent_task_id: uuidv7() },
  ];
  return many(random.between(1, MAX_WRONG), () => ({ record: random.pick(records), outcome: 'failed' }));
}

/**
 * Writes a file of `tasks` tasks in a new project, with subtasks, comments, notes and relations, tasks that the team has, and lines that are
 * wrong, in any order.
 */
export function makeImportFile(random: Random, { base }: ImportTeam, tasks: number): ImportFile {
  const tag = uuidv7();
  const title = `imported ${tag}`;
  const project_id = uuidv7();
  const on_conflict = random.pick(['error', 'skip', 'update'] as const);
  const taskIds = many(tasks, () => uuidv7());
  const buildTask = (task_id: string, n: number) => {
    const parent_task_id = n >= PARENTS && random.chance(0.1) ? taskIds[random.between(0, PARENTS - 1)] : null;
    return { entity: 'task', task_id, title, project_id, parent_task_id };
  };
  const known = shuffle(random, [...base]).slice(0, random.between(1, MAX_CONFLICTS));
  const lines: Line[] = shuffle(random, [
    { record: { entity: 'project', project_id, name: title }, outcome: 'created' },
    ...taskIds.map((id, n): Line => ({ record: buildTask(id, n), outcome: 'created' })),
    ...others(random, title, taskIds, random.pick(base)),
    ...known.map(
      (task_id): Line => ({ record: { entity: 'task', task_id, title: `base ${tag}` }, outcome: OUTCOMES[on_conflict] }),
    ),
    ...wrong(random, title, project_id),
  ]);
  const count = (wanted: Line['outcome']) => lines.filter(({ outcome }) => outcome === wanted).length;
  return {
    tag,
    project_id,
    on_conflict,
    text: lines.map(({ record }) => `${JSON.stringify(record)}\n`).join(''),
    counts: {
      total: lines.length,
      created: count('created'),
      updated: count('updated'),
      skipped: count('skipped'),
      failed: count('failed'),
    },
    failing: lines.flatMap(({ outcome }, n) => (outcome === 'failed' ? [n + 1] : [])),
  };
}
