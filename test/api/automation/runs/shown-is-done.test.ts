import fc from 'fast-check';
import type { Context } from '../../../../api/platform/context.js';
import { withVisibleNames } from '../../../../api/platform/validation/invisible.js';
import { openGate } from '../../../../api/automation/runs/approvals/asking/open-gate.js';
import { performAction } from '../../../../api/automation/runs/execution/perform-action.js';
import { describeGates } from '../../../../api/automation/runs/staging/describe-gates.js';
import type { StagedStep } from '../../../../api/automation/runs/staging/tail.js';
import type { ActionLine } from '../../../../api/gate/staging/schema.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATE, type TestRun } from '../../../factories/runs.js';
import { startApp, type TestApp } from '../../../support/app.js';

// What is shown is what happens: random actions are shown at a gate, approved, performed, and compared with the rows that they leave.

let app: TestApp;
let team: TestTeam;
let ids: { tasks: string[]; projects: string[]; people: string[]; cycle: string };
beforeAll(async () => {
  app = await startApp({ NOTIFICATIONS_PER_RUN: '100000' });
});
afterAll(() => app.close());

const db = () => app.services.db;
const RUNS = 90;
const SEED = 20_261_123;
type Action = { type: string; params: Record<string, unknown>; on_failure: 'continue' };

async function buildWorld(): Promise<void> {
  team = await buildTeam(app);
  const projects = [await buildProject(app, team), await buildProject(app, team)];
  const [first] = projects as [{ project_id: string }];
  const tasks = [];
  for (const title of ['Alpha', 'Beta', 'Gamma', 'Delta']) tasks.push((await buildTask(app, team, first, { title })).task_id);
  const cycle = {
    name: 'Now',
    team_id: team.team_id,
    project_id: first.project_id,
    start_date: '2026-11-01',
    end_date: '2099-01-01',
  };
  const made = await app.as(team.manager).post('/api/sprints', cycle);
  expect(made.status).toBe(201);
  ids = {
    tasks,
    projects: projects.map(({ project_id }) => project_id),
    people: [team.member.user_id, team.manager.user_id, team.admin.user_id],
    cycle: made.body.cycle_id,
  };
}

const NASTY = [
  '{{secret:KEY}}',
  '{{event.t0}}',
  'a\nb: c',
  '‮reversed',
  'x\u200by',
  '"quoted" \\',
  '<b>&amp;</b>',
  ' · ',
  'nobody → you',
  '$1',
];
const text = fc
  .oneof(fc.constantFrom(...NASTY), fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }))
  .filter((t) => t.trim() !== '');
const date = fc.constantFrom('2027-01-31', '2028-02-29', null);

/** Random actions. Texts come from the event, where anybody may have written them: a parameter names the one at its place. */
function buildActions(known: typeof ids): fc.Arbitrary<{ actions: Action[]; texts: string[] }> {
  const task = fc.constantFrom(...known.tasks, 'nobody', 'constructor');
  const project = fc.constantFrom(...known.projects, '0197a000-0000-7000-8000-000000000001');
  const priority = fc.constantFrom('low', 'medium', 'high', 'urgent');
  const said = fc.nat({ max: 9 }).map((at) => `{{event.t${at}}}`);
  const fields = {
    title: said,
    description: said,
    priority,
    due_date: date,
    assigned_to: fc.constantFrom(...known.people, null),
    tags: fc.constant(['a', 'b']),
  };
  const of = (type: string, shape: Record<string, fc.Arbitrary<unknown>>, requiredKeys: string[]) =>
    fc.record(shape, { requiredKeys }).map((params): Action => ({ type, params, on_failure: 'continue' }));
  const one = fc.oneof(
    of('create_task', { ...fields, project_id: project }, ['title', 'project_id']),
    of('update_task', { ...fields, project_id: project, parent_task_id: task, task_id: task }, ['task_id', 'priority']),
    of('set_task_status', { task_id: task, status: fc.constantFrom('todo', 'in_progress', 'done') }, ['task_id', 'status']),
    of('assign_task', { task_id: task, assigned_to: fc.constantFrom(...known.people, null) }, ['task_id', 'assigned_to']),
    of('add_comment', { task_id: task, content: said }, ['task_id', 'content']),
    of('create_note', { title: said, content: said, project_id: project }, ['title', 'project_id']),
    of(
      'create_relation',
      { source_id: task, target_id: task, relation_type: fc.constantFrom('blocks', 'related_to', 'parent_child') },
      ['source_id', 'target_id', 'relation_type'],
    ),
    of('move_to_cycle', { task_id: task, cycle_id: fc.constant(known.cycle) }, ['task_id', 'cycle_id']),
    of('notify', { user_ids: fc.subarray(known.people, { minLength: 1 }), message: said }, ['user_ids', 'message']),
  );
  return fc.record({
    actions: fc.array(one, { minLength: 2, maxLength: 8 }),
    texts: fc.array(text, { minLength: 10, maxLength: 10 }),
  });
}

const carrier = ({ run_id }: { run_id: string }) => ({ runId: run_id, incarnation: 1, execution: 'an-execution' });

async function openedRun({ actions, texts }: { actions: Action[]; texts: string[] }): Promise<TestRun> {
  const all = [GATE, ...actions];
  const event = JSON.stringify({ type: 'forge.pr_merged', ...Object.fromEntries(texts.map((each, at) => [`t${at}`, each])) });
  const run = await buildRun(app, team, {
    actions: all,
    status: 'running',
    statuses: all.map(() => 'pending'),
    gateIndex: 99,
    fields: { event },
  });
  await openGate(app.services, carrier(run), 0);
  return run;
}

async function splitLines(run: TestRun): Promise<readonly ActionLine[]> {
  const { user_id: userId, email } = team.manager;
  const ctx = { ...app.services, actor: { type: 'user', userId, email, role: 'user' } } as unknown as Context;
  return (await describeGates(ctx, [run.run_id]))[run.run_id]?.lines ?? [];
}

/** Everything that a person can read in a line. */
const splitWords = (line: ActionLine): string =>
  [line.title, ...line.fields.flatMap(({ before, after }) => [before, after])].filter((each) => each !== null).join('\n');

const NAMES: Readonly<Record<string, (id: string) => Promise<string>>> = {
  tasks: async (id) => (await db()('tasks').where({ task_id: id }).first('title'))?.title ?? id,
  people: async (id) => (await db()('users').where({ user_id: id }).first('display_name'))?.display_name ?? id,
};
const WORDS: Readonly<Record<string, string>> = {
  parent_child: 'is the parent of',
  related_to: 'is related to',
  in_progress: 'In progress',
  todo: 'To do',
  done: 'Done',
};

/** Returns the values of an action that stand in no line. */
async function hiddenIn({ params }: StagedStep, line: ActionLine): Promise<string[]> {
  const leaves = Object.values(params ?? {})
    .flat()
    .filter((value) => value !== null && value !== '');
  const shown = splitWords(line).toLowerCase();
  const known = async (leaf: unknown): Promise<boolean> => {
    const plain = String(leaf);
    const words = [
      plain,
      WORDS[plain],
      await NAMES['tasks']?.(plain),
      plain.includes('-') ? await NAMES['people']?.(plain).catch(() => plain) : undefined,
    ];
    return words.some((each) => each !== undefined && shown.includes(withVisibleNames(each.trim()).toLowerCase()));
  };
  const found = await Promise.all(leaves.map(async (leaf) => ((await known(leaf)) ? [] : [String(leaf)])));
  // Names of projects and of the cycle: by id, unless the page has a name for them.
  const named = [...ids.projects, ids.cycle];
  return found.flat().filter((leaf) => !named.includes(leaf));
}

const getEnds = ({ source_id, target_id }: Readonly<Record<string, unknown>>): string[] =>
  [String(source_id), String(target_id)].toSorted();

/** The row that an action left, as far as the staged text says what it is to be. */
async function toRow({ type, params, entity_id }: StagedStep, effect: { entity_id: string }): Promise<Record<string, unknown>> {
  const api = app.as(team.admin);
  if (type === 'create_task') return (await api.get(`/api/tasks/${effect.entity_id}`)).body;
  if (type === 'create_note') return db()('items').where({ item_id: effect.entity_id }).first();
  if (type === 'add_comment') return db()('comments').where({ comment_id: effect.entity_id }).first();
  if (type === 'create_relation') {
    const ends = { source_id: params?.['source_id'], target_id: params?.['target_id'], relation_type: params?.['relation_type'] };
    const nested = await db()('tasks').where({ task_id: ends.target_id, parent_task_id: ends.source_id }).first();
    const row = nested ? ends : await db()('relations').where({ relation_id: effect.entity_id }).first();
    return { ...row, ends: getEnds(row ?? {}) };
  }
  if (type === 'move_to_cycle') return db()('tasks').where({ task_id: params?.['task_id'] }).first();
  return (await api.get(`/api/tasks/${entity_id}`)).body;
}

/** What the text says that the row will be. */
function promised({ type, params, after }: StagedStep): Record<string, unknown> {
  const pick = (...fields: string[]) => Object.fromEntries(fields.map((field) => [field, params?.[field]]));
  if (type === 'add_comment') return pick('content');
  if (type === 'move_to_cycle') return pick('cycle_id');
  // `related_to` has no direction.
  if (type === 'create_relation' && params?.['relation_type'] === 'related_to') return { ends: getEnds(params) };
  if (type === 'create_relation') return pick('source_id', 'target_id', 'relation_type');
  const { subtasks_moved: _moved, next_occurrence: _next, ...fields } = after ?? {};
  return type === 'create_note' ? { title: fields['title'] } : fields;
}

const KINDS = { task: 'tasks', comment: 'comments', note: 'items', notification: 'notifications' } as const;
const countAll = async (): Promise<Record<string, number>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(KINDS).map(async ([kind, table]) => [kind, Number((await db()(table).count().first())?.['count'])]),
    ),
  );
const MAKES: Readonly<Record<string, keyof typeof KINDS>> = { create_task: 'task', add_comment: 'comment', create_note: 'note' };

/** Performs one action, and compares what it did with what was shown. Returns whether it succeeded. */
async function check(run: TestRun, step: StagedStep): Promise<boolean> {
  const { outcome } = await performAction(app.services, carrier(run), step.index);
  const row = await db()('run_actions').where({ run_id: run.run_id, index: step.index }).first();
  expect([step.type, outcome, row.error?.code ?? null]).toEqual([
    step.type,
    step.refused ? 'failed' : step.skipped === undefined ? 'succeeded' : 'skipped',
    step.refused?.code ?? null,
  ]);
  if (step.refused || step.skipped !== undefined) return false;
  const effect = await db()('effects').where({ run_id: run.run_id, action_index: step.index }).first();
  if (step.type === 'notify') {
    const told = await db()('notifications').where({ run_id: run.run_id, message: step.params?.['message'] }).pluck('user_id');
    expect(told).toEqual(expect.arrayContaining(step.params?.['user_ids'] as string[]));
  } else expect(JSON.parse(JSON.stringify(await toRow(step, effect)))).toMatchObject(promised(step));
  return true;
}

it(`shows all of random actions, and does what it shows (seed ${SEED})`, async () => {
  await buildWorld();
  let performed = 0;
  for (const plan of fc.sample(buildActions(ids), { seed: SEED, numRuns: RUNS })) {
    const run = await openedRun(plan);
    const lines = await splitLines(run);
    const gate = await db()('gates').where({ run_id: run.run_id }).first();
    // A gate that would release nothing that changes something asks nobody.
    if (!gate) continue;
    const { actions } = JSON.parse(gate.staged) as { actions: StagedStep[] };
    expect(lines.map(({ index, type }) => [index, type])).toEqual(plan.actions.map(({ type }, at) => [at + 1, type]));
    for (const [at, step] of actions.entries())
      expect([step.type, await hiddenIn(step, lines[at] as ActionLine)]).toEqual([step.type, []]);
    expect((await app.as(team.manager).post(`/api/automations/runs/${run.run_id}/approve`)).status).toBe(200);
    const before = await countAll();
    const made = { task: 0, comment: 0, note: 0 };
    for (const step of actions) {
      const kind = (await check(run, step)) ? MAKES[step.type] : undefined;
      if (kind !== undefined && kind in made) made[kind as keyof typeof made] += 1;
      performed += 1;
    }
    const after = await countAll();
    for (const kind of ['task', 'comment', 'note'] as const)
      expect([kind, (after[kind] ?? 0) - (before[kind] ?? 0)]).toEqual([kind, made[kind]]);
  }
  expect(performed).toBeGreaterThanOrEqual(400);
}, 120_000);
