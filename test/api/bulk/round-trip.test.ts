import { buildProject, buildTeam, type TestTeam } from '../../factories/people.js';
import { type Client, startApp, type TestApp } from '../../support/app.js';
import { createCycle } from '../work/cycles/support.js';
import { importText } from './import-support.js';
import { download, createExporter, requestExport } from './support.js';

/** Export, purge, import: what comes back equals what was there, for teams that were made up at random. */

let app: TestApp;
let exporter: ReturnType<typeof createExporter>;
beforeAll(async () => {
  app = await startApp();
  exporter = createExporter(app);
});
afterAll(async () => {
  await exporter.close();
  await app.close();
});

type Row = Record<string, unknown>;
const db = () => app.services.db;

/** Numbers that a seed repeats (mulberry32). */
function dice(seed: number) {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (max: number): number => Math.floor(next() * max);
  const pick = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  return { below, pick, maybe: () => next() < 0.5 };
}
type Dice = ReturnType<typeof dice>;

const WORDS = [
  'plain',
  'with "quotes"',
  '=1+1',
  'ünïcode 漢字 😀',
  'line\nbreak',
  "it's",
  '<b>&amp;',
  ' \\u0000 as text',
  'a,b;c\t',
];

const canceled = { status: 'done', resolution: 'canceled' };

async function made(call: Promise<{ status: number; body: Row }>): Promise<Row> {
  const { status, body } = await call;
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}

async function makeTasks(client: Client, team: TestTeam, projects: string[], cycles: string[], d: Dice): Promise<string[]> {
  const ids: string[] = [];
  const places = new Map<string, string>();
  for (let nth = 0; nth < 12; nth += 1) {
    const parent = ids.length > 0 && d.maybe() ? d.pick(ids) : null;
    const project_id = parent === null ? d.pick(projects) : (places.get(parent) as string);
    const { task_id } = await made(
      client.post('/api/tasks', {
        title: `${nth} ${d.pick(WORDS)}`.trim(),
        project_id,
        ...(parent && { parent_task_id: parent }),
        description: d.maybe() ? d.pick(WORDS) : null,
        ...d.pick([{ status: 'todo' }, { status: 'in_progress' }, { status: 'in_review' }, { status: 'done' }, canceled]),
        priority: d.pick(['low', 'medium', 'high', 'urgent']),
        assigned_to: d.maybe() ? team.member.user_id : null,
        due_date: d.pick([null, '2026-12-24', '2026-12-24T10:00:00.000Z']),
        tags: d.maybe() ? [d.pick(WORDS).trim(), `t${nth}`] : [],
        estimated_hours: d.pick([null, 0, 2.5]),
        estimate: d.pick([null, 0, 8]),
        ...(d.maybe() && { task_id: `own-${nth}-${team.team_id.slice(-6)}` }),
        ...(nth === 0 && {
          status: 'todo',
          resolution: null,
          recurrence: { rule: 'FREQ=WEEKLY', mode: 'on_complete', timezone: 'UTC' },
          due_date: '2026-12-01',
        }),
      }),
    );
    const id = task_id as string;
    await made(
      client.patch(`/api/tasks/${id}`, { actual_hours: d.below(5), is_archived: d.maybe(), position: d.pick([null, 1.5, -2]) }),
    );
    if (d.maybe()) await made(client.post(`/api/sprints/${d.pick(cycles)}/tasks`, { task_ids: [id] }));
    ids.push(id);
    places.set(id, project_id);
  }
  return ids;
}

async function makeTexts(client: Client, team: TestTeam, projects: string[], tasks: string[], d: Dice): Promise<string[]> {
  for (let nth = 0; nth < 6; nth += 1) {
    const task = d.pick(tasks);
    const comment = await made(client.post(`/api/tasks/${task}/comments`, { content: d.pick(WORDS) }));
    const parent_comment_id = comment['comment_id'];
    if (d.maybe()) await made(client.post(`/api/tasks/${task}/comments`, { content: `re: ${d.pick(WORDS)}`, parent_comment_id }));
    if (d.maybe()) await made(client.delete(`/api/comments/${String(parent_comment_id)}`));
  }
  const items: string[] = [];
  for (const type of ['note', 'doc', 'whiteboard', 'file']) {
    const place = d.maybe() ? { project_id: d.pick(projects) } : { team_id: team.team_id };
    const content = type === 'note' || type === 'doc' ? { content: d.pick(WORDS) } : {};
    const body = { type, title: `A ${type}`, description: d.pick([null, ...WORDS]), ...content, ...place };
    const item = await made(
      client.post('/api/work-items', { ...body, status: d.pick(['active', 'archived']), fields: { n: d.below(9) } }),
    );
    items.push(item['item_id'] as string);
  }
  return items;
}

async function makeFields(client: Client, team: TestTeam, tasks: string[], projects: string[], d: Dice): Promise<void> {
  const types = [
    ['text', () => d.pick(WORDS)],
    ['number', () => d.below(100) / 4],
    ['date', () => '2026-12-24'],
    ['boolean', () => d.maybe()],
    ['select', () => 'a'],
    ['multi_select', () => ['b', 'a']],
    ['user', () => team.member.user_id],
    ['url', () => 'https://example.test/?a=1&b=2'],
  ] as const;
  for (const [field_type, value] of types) {
    const options = field_type.includes('select')
      ? { options: [{ value: 'a', label: 'A', color: '#3366cc' }, { value: 'b' }] }
      : {};
    const entity_type = d.pick(['task', 'project']);
    const body = { team_id: team.team_id, name: `Field ${field_type}`, field_type, entity_type, required: d.maybe(), ...options };
    const { field_id } = await made(client.post('/api/custom-fields', body));
    for (const entity_id of [d.pick(entity_type === 'task' ? tasks : projects)]) {
      await made(client.put('/api/custom-fields/values', { field_id, entity_type, entity_id, value: value() }));
    }
    if (d.maybe()) await made(client.patch(`/api/custom-fields/${String(field_id)}`, { is_archived: true }));
  }
}

async function makeTeam(d: Dice): Promise<TestTeam> {
  const team = await buildTeam(app);
  const client = app.as(team.manager);
  const projects: string[] = [];
  for (const name of ['One', 'Two']) {
    const { project_id } = await buildProject(app, team);
    await made(
      client.patch(`/api/projects/${project_id}`, {
        name,
        description: d.pick([null, ...WORDS]),
        status: d.pick(['active', 'archived']),
        end_date: d.pick([null, '2027-01-31']),
        lead_id: d.pick([null, team.member.user_id]),
      }),
    );
    for (const health of ['on_track', d.pick(['at_risk', 'off_track'])])
      await made(client.post(`/api/projects/${project_id}/updates`, { health, content: d.pick(WORDS) }));
    projects.push(project_id);
  }
  const cycles: string[] = [];
  for (const fields of [
    { team_id: team.team_id },
    { team_id: team.team_id, goal: 'Much' },
    { team_id: team.team_id, end_date: '2027-02-01', auto_complete: true },
  ]) {
    cycles.push((await createCycle(client, fields)).cycle_id);
  }
  const tasks = await makeTasks(client, team, projects, cycles, d);
  const [first, second] = cycles;
  await made(client.post(`/api/sprints/${first}/start`));
  await made(client.post(`/api/sprints/${first}/complete`, { rollover_to: 'backlog' }));
  await made(client.post(`/api/sprints/${second}/start`));
  const items = await makeTexts(client, team, projects, tasks, d);
  await makeFields(client, team, tasks, projects, d);
  for (let nth = 0; nth < 8; nth += 1) {
    const relation_type = d.pick(['related_to', 'caused_by', 'attached_to']);
    const [source_id, target_id] = [d.pick(tasks), d.pick([...items, ...projects])];
    await made(client.post('/api/work-items/relations', { source_id, target_id, relation_type }));
  }
  await made(
    client.post('/api/automations', {
      name: 'Tell',
      team_id: team.team_id,
      trigger_type: 'task.created',
      condition: 'task.priority == "urgent"',
      actions: [{ type: 'add_comment', params: { content: '{{event.task.title}}' } }],
      is_active: false,
    }),
  );
  return team;
}

/** What a file has of no record that a person wrote: who and when, counters, and what follows from other records. */
const VOLATILE =
  /^(created_(at|by)|updated_(at|by)|author_id|version|value_id|number|series_id|occurrence_index|completed_at|started_at|mentions|edited|forge_links|recurrence_of|automation_id|file|entity)$/;

async function exported(team: TestTeam): Promise<{ text: string; rows: string[] }> {
  const jobId = await requestExport(app, team.manager, { team_id: team.team_id });
  await exporter.write(jobId);
  const text = (await download(app, team.manager, jobId)).bytes.toString();
  const rows = text
    .trimEnd()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const row = JSON.parse(line) as Row;
      const kept = Object.entries(row).filter(
        ([key, value]) => !VOLATILE.test(key) && !(row['deleted'] === true && value === ''),
      );
      return `${String(row['entity'])} ${JSON.stringify(Object.fromEntries(kept.toSorted(([a], [b]) => (a < b ? -1 : 1))))}`;
    });
  return { text, rows: rows.toSorted((a, b) => (a < b ? -1 : 1)) };
}

/** Removes everything of a team, for good, in the order of the references. */
async function purge({ team_id }: TestTeam): Promise<void> {
  const tasks = db()('tasks').where({ team_id }).select('task_id');
  await db()('custom_field_values').where({ team_id }).delete();
  for (const table of ['custom_fields', 'relations']) await db()(table).where({ team_id }).delete();
  await db()('comments').where({ team_id }).whereNotNull('parent_comment_id').delete();
  await db()('comments').whereIn('task_id', tasks).delete();
  await db()('cycle_tasks').whereIn('task_id', tasks).delete();
  await db()('automations').where({ team_id }).update({ deleted_at: new Date() });
  const items = (await db()('item_place').where({ team_id }).pluck('item_id')) as string[];
  await db()('tasks').where({ team_id }).update({ parent_task_id: null });
  for (const table of ['tasks', 'items', 'cycles', 'projects']) await db()(table).where({ team_id }).delete();
  await db()('item_keys').whereIn('item_id', items).delete();
}

test.each([1, 2, 3])('team %i comes back as it was', async (seed) => {
  const team = await makeTeam(dice(seed));
  const before = await exported(team);
  await purge(team);
  expect((await exported(team)).rows).toEqual([]);
  const job = await importText(app, app.as(team.manager), team, before.text);
  expect(job).toMatchObject({ status: 'succeeded', failed: 0, errors: [], notes: [] });
  expect((await exported(team)).rows).toEqual(before.rows);
  const again = await importText(app, app.as(team.manager), team, before.text, { on_conflict: 'skip' });
  expect(again).toMatchObject({ created: 1, failed: 0, errors: [] });
});
