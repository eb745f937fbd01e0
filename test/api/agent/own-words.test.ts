/** Stages and custom fields in messages to the rules, on PostgreSQL: by the names of the team, and of no other. */
import { createField } from '../../factories/custom-fields.js';
import { buildTeam } from '../../factories/people.js';
import { useHarbor } from './harbor.js';

const harbor = useHarbor();

const addStage = async (name: string, status = 'in_review', where = harbor.team): Promise<string> =>
  (await harbor.app.as(where.manager).post('/api/stages', { team_id: where.team_id, name, status })).body.stage_id;

it('moves a task to a stage, and lists and moves what is in one', async () => {
  const [qa, ready] = [await addStage('In QA'), await addStage('Ready to deploy')];
  const keys = await harbor.addTask('Rotate the keys', { stage_id: qa });
  await harbor.addTask('Paint the crane', { status: 'in_review' });
  const say = await harbor.begin();
  const asked = await say('what is in QA?');
  expect(asked.content).toContain('Rotate the keys');
  expect(asked.content).not.toContain('Paint the crane');
  expect((await say('how many tasks are in QA?')).content).toContain('1 task');
  const { actions } = await say('move everything in QA to Ready to deploy');
  expect(actions).toMatchObject([{ entity_id: keys, params: { stage_id: ready } }]);
  expect((await say('move the keys to ready to deploy')).actions).toMatchObject([
    { entity_id: keys, params: { stage_id: ready } },
  ]);
});

it('sets a custom field, and says what its values are', async () => {
  const { field_id } = await createField(harbor.app, harbor.team, 'select', { name: 'Severity' });
  const keys = await harbor.addTask('Rotate the keys');
  const say = await harbor.begin(keys);
  const { actions } = await say('set the severity to High');
  expect(actions).toMatchObject([{ entity_id: keys, params: { custom_fields: { [field_id]: 'high' } } }]);
  const wrong = await say('set the severity of the keys to enormous');
  expect(wrong).toMatchObject({ actions: [], content: expect.stringContaining('must be one of high, low') });
});

it('asks where a name means several things, and knows no name of another team', async () => {
  const other = await buildTeam(harbor.app);
  await addStage('Secret stage', 'in_review', other);
  await createField(harbor.app, other, 'text', { name: 'Secret field' });
  await addStage('Harbor');
  await createField(harbor.app, harbor.team, 'text', { name: 'Severity' });
  await createField(harbor.app, harbor.team, 'text', { name: 'severity' });
  const say = await harbor.begin({ item_type: 'task', item_id: await harbor.addTask('Rotate the keys') }, harbor.linked);
  expect((await say('move the keys to Harbor')).content).toContain('is a stage and a project');
  expect((await say('set the severity of the keys to high')).content).toContain('Which field do you mean');
  for (const words of ['move the keys to Secret stage', 'set the secret field of the keys to x']) {
    const answer = await say(words);
    expect([words, answer.actions]).toEqual([words, []]);
  }
});

it('tells who moved a task to its state, and when', async () => {
  const qa = await addStage('In QA');
  const keys = await harbor.addTask('Rotate the keys');
  await harbor.app.as(harbor.team.member).patch(`/api/tasks/${keys}`, { stage_id: qa });
  await harbor.app.as(harbor.team.member).patch(`/api/tasks/${keys}`, { priority: 'urgent' });
  const say = await harbor.begin(keys);
  for (const words of ['Why is it in review?', 'why is the keys in QA?', 'who moved the keys?']) {
    expect([words, (await say(words)).content]).toEqual([
      words,
      expect.stringMatching(/changed status from to do to in review.* “Rotate the keys” on /),
    ]);
  }
});

it('counts all tasks with the value of a custom field, however many, and asks for fewer conditions than a question may have', async () => {
  const options = [1, 2, 3, 4, 5, 6].map((at) => ({ value: `s${at}`, label: `S${at}` }));
  const { field_id } = await createField(harbor.app, harbor.team, 'select', { name: 'Severity', options });
  const ids = await Promise.all(Array.from({ length: 60 }, (_, at) => harbor.addTask(`Weld the rail ${at}`)));
  const set = ids.map((entity_id) => ({ field_id, entity_type: 'task', entity_id, value: 's1' }));
  expect((await harbor.app.as(harbor.team.member).put('/api/custom-fields/values', set)).status).toBe(200);
  const say = await harbor.begin();
  expect((await say('how many tasks are S1?')).content).toContain('60');
  expect((await say('show s1 s2 s3 s4 s5 s6 tasks')).actions ?? []).toEqual([]);
});

it('lists and changes tasks by the values of their custom fields, and says the value of one', async () => {
  const { field_id } = await createField(harbor.app, harbor.team, 'select', {
    name: 'Severity',
    options: [
      { value: 's1', label: 'S1' },
      { value: 's2', label: 'S2 – slow' },
    ],
  });
  const [keys, crane] = [await harbor.addTask('Rotate the keys'), await harbor.addTask('Paint the crane')];
  await harbor.addTask('Order wheels');
  const set = [
    [keys, 's1'],
    [crane, 's2'],
  ].map(([entity_id, value]) => ({ field_id, entity_type: 'task', entity_id, value }));
  expect((await harbor.app.as(harbor.team.member).put('/api/custom-fields/values', set)).status).toBe(200);
  const say = await harbor.begin();
  const titles = async (said: string) => (await say(said)).mentions.map(({ title }: { title: string }) => title);
  expect(await titles('which tasks are S1?')).toEqual(['Rotate the keys']);
  expect(await titles('tasks whose severity is s2 slow')).toEqual(['Paint the crane']);
  expect(await titles('which tasks have no severity?')).toEqual(['Order wheels']);
  expect((await say('what is the severity of the crane?')).content).toContain('severity: “S2 – slow”');
  const { actions } = await say('set the severity of all S1 tasks to S2 – slow');
  expect(actions).toMatchObject([
    { entity_id: keys, before: { custom_fields: { [field_id]: 's1' } }, params: { custom_fields: { [field_id]: 's2' } } },
  ]);
  expect((await say('clear the severity of the crane')).actions).toMatchObject([
    { entity_id: crane, params: { custom_fields: { [field_id]: null } } },
  ]);
});
