/** What may go wrong, what is blocked by what, and why a task is closed, on PostgreSQL. */
import { day, useHarbor } from './harbor.js';

const harbor = useHarbor();
const { addTask } = harbor;

it.each([
  'what is at risk?',
  'good morning, anything I should know?',
  'how are we doing?',
  'any risks?',
  'does anything need my attention?',
  'anything I should worry about?',
])('tells for “%s” what is late, blocked, or soon due and not begun', async (question) => {
  const late = await addTask('Order the wheels', { due_date: day(-2) });
  const stuck = await addTask('Paint the arm', { due_date: day(60) });
  await addTask('Ask the bank', { due_date: day(3) });
  await addTask('Far', { due_date: day(60) });
  await addTask('Done', { status: 'done', due_date: day(-9) });
  const edge = { source_id: late, target_id: stuck, relation_type: 'blocks' };
  await harbor.app.as(harbor.team.member).post('/api/work-items/relations', edge);
  const { content, mentions } = await (await harbor.begin())(question);
  expect(content).toMatch(
    /^4 open tasks, 1 of them overdue, .*\.\n\nOverdue:\n- “Order the wheels”.*\n\nBlocked by open tasks:\n- “Paint the arm”.*\n\nDue within 7 days, and not begun:\n- “Ask the bank”[^\n]*$/,
  );
  expect(mentions.map(({ title }) => title)).toEqual(['Order the wheels', 'Paint the arm', 'Ask the bank']);
});

it('tells that nothing is late where nothing is', async () => {
  await addTask('Far', { due_date: day(60) });
  expect((await (await harbor.begin())('what is at risk?')).content).toContain('None is overdue, blocked, or due within 7 days');
});

it.each(['is anything blocked, and by what?', 'which tasks are blocked by which tasks?', 'what blocks what?'])(
  'names for “%s” each blocked task with the open tasks that block it',
  async (question) => {
    const [wheels, inspection, old] = [
      await addTask('Order the wheels'),
      await addTask('Inspect the crane'),
      await addTask('Old'),
    ];
    const say = await harbor.begin();
    expect((await say(question)).content).toContain('No task of the team is like that');
    for (const source_id of [inspection, old]) {
      const edge = { source_id, target_id: wheels, relation_type: 'blocks' };
      await harbor.app.as(harbor.team.member).post('/api/work-items/relations', edge);
    }
    await harbor.app.as(harbor.team.member).patch(`/api/tasks/${old}`, { status: 'done' });
    expect((await say(question)).content).toMatch(
      /^- “Order the wheels” \(\S+\): .*; it waits for:\n {2}- “Inspect the crane” \(\S+\): [^\n]*$/,
    );
  },
);

it('lists what is overdue or due until a day', async () => {
  await addTask('Late', { due_date: day(-2) });
  await addTask('Soon', { due_date: day(1) });
  await addTask('Far', { due_date: day(60) });
  expect((await (await harbor.begin())(`anything overdue or due before ${day(3)}?`)).content).toMatch(
    /^2 tasks:\n- “Late”.*\n- “Soon”[^\n]*$/,
  );
});

it('closes as canceled what is not needed, and tells a member why', async () => {
  const wheels = await addTask('Order the wheels');
  await harbor.rename(harbor.team.manager, 'Tomas Reyes');
  const { username } = await harbor.db()('users').where({ user_id: harbor.team.manager.user_id }).first();
  const say = await harbor.begin();
  const canceled = { tool: 'task.set_status', entity_id: wheels, params: { status: 'done', resolution: 'canceled' } };
  for (const said of [
    'Close the wheels, we do not need it',
    'close the wheels, it is not needed any more',
    "we don't need the wheels anymore",
  ])
    expect((await say(said)).actions).toMatchObject([canceled]);
  const { actions } = await say('cancel the wheels and tell Tomas why: the yard has some');
  const comment = { tool: 'task.comment', entity_id: wheels, params: { content: `@${username} the yard has some` } };
  expect(actions).toMatchObject([canceled, comment]);
});
