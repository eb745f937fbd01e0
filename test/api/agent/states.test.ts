/** What is done, and what was canceled or is a duplicate; what blocks, and what did. On PostgreSQL. */
import { useHarbor } from './harbor.js';

const harbor = useHarbor();
const { addTask, addDropped } = harbor;
const relate = async (source_id: string, target_id: string) => {
  const edge = { source_id, target_id, relation_type: 'blocks' };
  expect((await harbor.app.as(harbor.team.member).post('/api/work-items/relations', edge)).status).toBe(201);
};

it.each(['what got finished since yesterday?', 'what was completed today?', 'which tasks are done?', 'list all closed tasks'])(
  'leaves what was canceled out of “%s”, and says how many',
  async (question) => {
    await addTask('Order the wheels', { status: 'done' });
    await addTask('Paint the arm');
    await addDropped('Rent a crane');
    await addDropped('Buy wheels', 'duplicate');
    const { content } = await (await harbor.begin())(question);
    expect(content).toMatch(/^1 task:\n- “Order the wheels” \([A-Z]+-\d+\): done/);
    expect(content).toContain('\n\nNot counted as done: 1 canceled and 1 closed as a duplicate.');
  },
);

it('lists what was canceled, and what is a duplicate, where that is asked for', async () => {
  await addTask('Order the wheels', { status: 'done' });
  const crane = await addDropped('Rent a crane');
  const wheels = await addDropped('Buy wheels', 'duplicate');
  const say = await harbor.begin();
  for (const asked of ['what was canceled today?', 'which tasks are cancelled?', 'list everything that was abandoned'])
    expect((await say(asked)).content).toMatch(/^1 task:\n- “Rent a crane” \(\S+\): canceled, .*$/);
  expect((await say('list all duplicates')).content).toMatch(/^1 task:\n- “Buy wheels” \(\S+\): closed as a duplicate, /);
  expect((await say('reopen all canceled tasks')).actions).toMatchObject([{ entity_id: crane, params: { status: 'todo' } }]);
  expect((await say('delete all duplicates')).actions).toMatchObject([{ tool: 'task.delete', entity_id: wheels }]);
});

it('says of one task that it was canceled, and not that it is done', async () => {
  const id = await addDropped('Rent a crane');
  const say = await harbor.begin(id);
  for (const asked of [
    'is the crane done?',
    'was the crane canceled?',
    'what is the status of the crane?',
    'how is the crane going?',
  ])
    expect((await say(asked)).content).toMatch(/^- task “Rent a crane” \(\S+\): canceled, medium priority, not assigned$/);
});

it('deletes what is done without what was canceled, and says so', async () => {
  const done = await addTask('Order the wheels', { status: 'done' });
  await addDropped('Rent a crane');
  const say = await harbor.begin();
  for (const said of ['delete all done tasks', 'delete everything that is done', 'remove all completed tasks']) {
    const { actions, content } = await say(said);
    expect(actions).toMatchObject([{ tool: 'task.delete', entity_id: done }]);
    expect(content).toContain('Not counted as done: 1 canceled.');
  }
  await harbor.app.as(harbor.team.member).delete(`/api/tasks/${done}`);
  expect(await say('delete all done tasks')).toMatchObject({ actions: [], content: expect.stringContaining('1 canceled') });
});

it('names only open tasks as what blocks one, and those that are done as done', async () => {
  const wheels = await addTask('Order the wheels');
  const [open, done] = [await addTask('Inspect the crane'), await addTask('Ask the bank')];
  for (const id of [open, done]) await relate(id, wheels);
  await harbor.app.as(harbor.team.member).patch(`/api/tasks/${done}`, { status: 'done' });
  const say = await harbor.begin();
  const { content } = await say('what is blocking the wheels?');
  expect(content).toMatch(
    /^1 task:\n- “Inspect the crane”.*\n\nThese are done, so they block it no longer:\n- “Ask the bank” \(\S+\): done/,
  );
  await harbor.app.as(harbor.team.member).patch(`/api/tasks/${open}`, { status: 'done' });
  expect((await say('why are the wheels stuck?')).content).toMatch(/^No open task blocks it\.\n\nThese are done/);
  await harbor.app.as(harbor.team.member).patch(`/api/tasks/${wheels}`, { status: 'done' });
  expect((await say('what does the bank block?')).content).toMatch(/^It blocks no open task\.\n\nThese are done already/);
});
