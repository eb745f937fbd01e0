/** Questions about cycles and projects as a whole, on PostgreSQL: how far they are, and that nothing is foretold. */
import { staged } from '../../factories/agent.js';
import { buildTeam, type Person } from '../../factories/people.js';
import { day, useHarbor } from './harbor.js';

const harbor = useHarbor();
const { addTask } = harbor;

async function addCycle(
  name: string,
  { status = 'active', from = -4, to = 3, project = null as string | null } = {},
): Promise<string> {
  const body = { name, team_id: harbor.team.team_id, project_id: project, start_date: day(from), end_date: day(to) };
  const made = await harbor.app.as(harbor.team.manager).post('/api/sprints', body);
  expect(made.status).toBe(201);
  const { cycle_id } = await harbor.db()('cycles').where({ team_id: harbor.team.team_id, name }).first();
  if (status === 'active')
    expect((await harbor.app.as(harbor.team.manager).post(`/api/sprints/${cycle_id}/start`, {})).status).toBe(200);
  return cycle_id as string;
}
const put = (cycle_id: string, ...ids: string[]) => harbor.db()('tasks').whereIn('task_id', ids).update({ cycle_id });

/** A cycle that runs, with two open tasks, one that is done, and one that was canceled. */
async function fillSprint(): Promise<void> {
  const sprint = await addCycle('Sprint 1');
  const late = await addTask('Order the wheels', { due_date: day(-2) });
  const others = [await addTask('Paint the arm', { status: 'in_review' }), await addTask('Ask the bank', { status: 'done' })];
  await put(sprint, late, ...others, await harbor.addDropped('Rent a crane'));
  await addTask('Elsewhere');
}

it.each([
  'how is the sprint going?',
  'how is Sprint 1 going?',
  'what is the status of the current cycle?',
  'what is left in the sprint?',
  'what do we still have to do in this sprint?',
  'how many days are left in the sprint?',
  'are we on track with Sprint 1?',
  'when does the sprint end?',
  'which tasks are in the sprint?',
])('tells for “%s” what is open, done and late in the cycle that runs', async (question) => {
  await fillSprint();
  const { content, mentions } = await (await harbor.begin())(question);
  expect(content).toMatch(new RegExp(`^- cycle “Sprint 1” of .*: active, began ${day(-4)}, ends ${day(3)}, 3 days left\n`));
  expect(content).toContain(
    '\n- 2 open tasks, 1 of them overdue, 0 in progress, 1 in review, 0 blocked; 1 done. Not counted as done: 1 canceled.\n\nOpen:\n- “Order the wheels”',
  );
  expect(mentions.map(({ title }) => title)).toEqual(['Order the wheels', 'Paint the arm']);
});

it('knows cycles by their names, the next one and the last one, and says where there is none', async () => {
  const say = await harbor.begin();
  expect((await say('how is the sprint going?')).content).toBe('No cycle of your teams runs now.');
  expect((await say('how is Sprint 9 going?')).content).toBe('I know no cycle called “sprint 9”.');
  await fillSprint();
  await addCycle('Launch sprint', { status: 'planned', from: 4, to: 10 });
  expect((await say('what is in the next sprint?')).content).toMatch(/^- cycle “Launch sprint” of .*: planned, starts /);
  expect((await say('how is the launch sprint going?')).content).toMatch(/^- cycle “Launch sprint”/);
  expect((await say('how was the last sprint?')).content).toBe('No cycle of your teams was completed.');
  await addCycle('Harbor 4', { project: harbor.project.project_id });
  expect((await say('how is the sprint going?')).content.match(/^- cycle /gm)).toHaveLength(2);
});

it('means tasks with the word where no cycle is called a release', async () => {
  await addTask('Write notes of the release');
  const say = await harbor.begin();
  expect((await say('what is left for the release?')).content).toContain('“Write notes of the release”');
  await put(await addCycle('Release'), await addTask('Paint the arm'));
  expect((await say('what is left for the release?')).content).toMatch(/^- cycle “Release”/);
});

it('tells nothing of cycles of another team', async () => {
  await fillSprint();
  const { cycle_id } = await harbor.db()('cycles').where({ name: 'Sprint 1', team_id: harbor.team.team_id }).first();
  await harbor.db()('memberships').where({ user_id: harbor.team.member.user_id }).delete();
  const say = await harbor.begin();
  for (const said of ['how is the sprint going?', `how is Sprint 1 going?`]) {
    const { content } = await say(said);
    expect([content.includes('Order the wheels'), content.includes(cycle_id)]).toEqual([false, false]);
  }
});

it.each([
  ['put the wheels into Sprint 1', null, 'Sprint 1'],
  ['move the wheels to the next sprint', null, 'Launch'],
  ['add the wheels to the current cycle', 'Launch', 'Sprint 1'],
  ['take the wheels out of the cycle', 'Sprint 1', null],
])('plans “%s”, and does and takes it back once confirmed', async (said, from, to) => {
  const wheels = await addTask('Order the wheels');
  const ids: Record<string, string> = {
    'Sprint 1': await addCycle('Sprint 1'),
    Launch: await addCycle('Launch', { status: 'planned', from: 4, to: 10 }),
  };
  const { app, team } = harbor;
  const idOf = (name: string | null) => (name === null ? null : ids[name]);
  if (from !== null)
    expect((await app.as(team.member).post(`/api/sprints/${idOf(from)}/tasks`, { task_ids: [wheels] })).status).toBe(200);
  const say = await harbor.begin();
  const { actions } = await say(said);
  const [was, is] = [idOf(from), idOf(to)];
  expect(actions).toMatchObject([
    { tool: 'task.set_cycle', entity_id: wheels, before: { cycle_id: was }, after: { cycle_id: is }, reversible: true },
  ]);
  const cycleNow = async () => (await harbor.db()('tasks').where({ task_id: wheels }).first()).cycle_id;
  const confirm = async () => {
    const { action_id } = await harbor
      .db()('agent_plans')
      .where({ session_id: say.session_id })
      .orderBy('action_id', 'desc')
      .first();
    const body = { session_id: say.session_id, action_id, confirmed: true };
    expect((await app.as(team.member).post('/api/ai-workspace/agent/confirm', body)).status).toBe(200);
  };
  await confirm();
  expect(await cycleNow()).toBe(is);
  await say('undo that');
  await confirm();
  expect(await cycleNow()).toBe(was);
});

it('asks where several cycles run, or the task is in another one, and moves nothing then', async () => {
  const wheels = await addTask('Order the wheels');
  await addCycle('Sprint 1');
  await addCycle('Harbor 4', { project: harbor.project.project_id });
  const say = await harbor.begin();
  const several = await say('put the wheels into the current cycle');
  expect(several).toMatchObject({ actions: [], content: expect.stringContaining('Several open cycles are meant') });
  const none = await say('take the wheels out of Sprint 1');
  expect(none).toMatchObject({ actions: [], content: expect.stringContaining('is not in “sprint 1”') });
  expect((await say('put the wheels into Sprint 9')).content).toContain('No open cycle for the task is called “sprint 9”');
  expect((await harbor.db()('tasks').where({ task_id: wheels }).first()).cycle_id).toBeNull();
});

it('moves what is open in a cycle to the next one', async () => {
  await fillSprint();
  const next = await addCycle('Launch', { status: 'planned', from: 4, to: 10 });
  const { actions } = await (await harbor.begin())('move everything unfinished in Sprint 1 to the next cycle');
  expect(actions).toHaveLength(2);
  expect(actions).toMatchObject([
    { title: 'Order the wheels', after: { cycle_id: next } },
    { title: 'Paint the arm', after: { cycle_id: next } },
  ]);
});

it.each([
  'when will we be done with Harbor?',
  'when will Harbor be finished?',
  'when will we be done?',
  'how long will Harbor take?',
  'are we on track?',
  'are we on track with Harbor?',
  'will we make it in time?',
])('foretells nothing for “%s”: it tells what is open, and until when', async (question) => {
  await addTask('Order the wheels', { due_date: day(-2) });
  await addTask('Paint the arm', { due_date: day(9) });
  await addTask('Inspect the crane');
  await addTask('Ask the bank', { status: 'done' });
  const { content } = await (await harbor.begin())(question);
  expect(content).toMatch(
    /^I make no forecast: .*\n- project “Harbor”\n- 1 of 4 tasks done\n- 3 open tasks, 1 of them overdue, .*; 1 done\n/,
  );
  expect(content).toContain(`- the last due date is ${day(9)}; 1 open task has none\n\nOpen:\n- “Order the wheels”`);
  expect(content).not.toContain('Ask the bank');
});

it('tells of a release that nothing is called the facts of the linked project, or of the tasks with that word', async () => {
  await addTask('Order the wheels');
  const say = await harbor.begin();
  expect((await say('are we on track for the release?')).content).toMatch(
    /^I know no cycle, and no task, called “release”\. This is the linked project\.\n\nI make no forecast: .*\n- project “Harbor”\n- 0 of 1 task done\n/,
  );
  await addTask('Write notes for the release');
  expect((await say('are we on track for the release?')).content).toContain('task “Write notes for the release”');
});

it('lists the tasks of a cycle that a question names by a member or a fact, and changes those that are meant', async () => {
  await harbor.rename(harbor.team.manager, 'Uma Patel');
  await fillSprint();
  await harbor
    .db()('tasks')
    .whereIn('title', ['Order the wheels', 'Elsewhere'])
    .update({ assigned_to: harbor.team.manager.user_id });
  const say = await harbor.begin();
  for (const asked of ['what does Uma have in the sprint?', 'tasks of Uma in Sprint 1', 'what is overdue in the sprint?'])
    expect((await say(asked)).content).toMatch(/^1 task:\n- “Order the wheels” [^\n]*$/);
  expect((await say('what does Uma have in the next sprint?')).content).toBe('No cycle of your teams is planned.');
  const changed = await say('move the tasks of Uma in the sprint to Friday');
  expect(changed.actions.map(({ params }) => Object.keys(params))).toEqual([['due_date']]);
});

it('lists what has one of several facts, each task once and by its day', async () => {
  await addTask('Late', { due_date: day(-2), priority: 'urgent' });
  await addTask('Urgent', { due_date: day(9), priority: 'urgent' });
  await addTask('Neither', { due_date: day(3) });
  const say = await harbor.begin();
  expect((await say('what is overdue or urgent?')).content).toMatch(/^2 tasks:\n- “Late”.*\n- “Urgent”[^\n]*$/);
  expect((await say('how many tasks are urgent, overdue or unassigned?')).content).toMatch(/^3 tasks:/);
  expect((await say('set overdue or urgent to low')).actions).toHaveLength(2);
});

it.each([null, 'current'])(
  'stages cycle %s for no task that the person may not change, and says nothing of it',
  async (cycle_id) => {
    const { app, team, db } = harbor;
    const task_id = await addTask('Buy the other yard');
    const action = (entity_id: string) => ({ tool: 'task.set_cycle', params: { cycle_id }, entity_id }) as const;
    const stranger = (await buildTeam(app)).admin;
    const refused = async (person: Person, id: string) =>
      staged(app, person, [action(id)]).then(
        () => 'staged',
        (error: Error) => error.message,
      );
    for (const [person, id] of [
      [stranger, task_id],
      [team.guest, task_id],
      [team.member, 'no-such-task'],
    ] as const) {
      const answer = await refused(person, id);
      expect(answer).not.toMatch(/Buy the other yard|left no row|^staged$/);
    }
    await db()('tasks').where({ task_id }).update({ deleted_at: new Date() });
    expect(await refused(team.member, task_id)).not.toMatch(/already like that|left no row|^staged$/);
  },
);
