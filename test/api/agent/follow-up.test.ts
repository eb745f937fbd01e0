import { answerByRules } from '../../../api/agent/turns/answer-by-rules.js';
import { submitMessage } from '../../../api/agent/turns/submit-message.js';
import { buildContext } from '../../factories/agent.js';
import { day, useHarbor } from './harbor.js';

// What a message says of the one before: it answers our question, or changes the plan that waits. Nothing happens twice.

const harbor = useHarbor();
const { addTask, db } = harbor;

/** The plans of a session, oldest first. */
const plansOf = (session_id: string) =>
  db()('agent_plans').where({ session_id }).orderBy('staged_at').select('action_id', 'status', 'closed_reason', 'superseded_by');
const confirm = (session_id: string, action_id: string) =>
  harbor.app.as(harbor.team.member).post('/api/ai-workspace/agent/confirm', { session_id, action_id });
const last = async (session_id: string) => (await plansOf(session_id)).at(-1) as { action_id: string };

it('replaces the plan that waits by one that says both, and confirms only that', async () => {
  const id = await addTask('Order the wheels');
  await harbor.rename(harbor.team.guest, 'Uma Patel');
  const say = await harbor.begin(id);
  await say('assign the wheels to me');
  const both = await say('and due in 3 days');
  expect(both.actions).toMatchObject([{ params: { assigned_to: harbor.team.member.user_id } }, { params: { due_date: day(3) } }]);
  expect(both.content).toContain('It replaces the plan before, which is canceled.');
  expect((await say('make it urgent')).actions).toHaveLength(3);
  const high = await say('no, high');
  expect(high.actions.at(-1)).toMatchObject({ params: { priority: 'high' } });
  const plans = await plansOf(say.session_id);
  expect(plans.map(({ status }) => status)).toEqual(['discarded', 'discarded', 'discarded', 'staged']);
  expect(plans.map(({ closed_reason }) => closed_reason).slice(0, 3)).toEqual(['superseded', 'superseded', 'superseded']);
  expect(plans.map(({ superseded_by }) => superseded_by)).toEqual([...plans.slice(1).map(({ action_id }) => action_id), null]);
  expect((await confirm(say.session_id, plans[0].action_id)).status).toBe(409);
  expect((await confirm(say.session_id, plans[3].action_id)).status).toBe(200);
  expect(await db()('tasks').where({ task_id: id }).first()).toMatchObject({
    priority: 'high',
    assigned_to: harbor.team.member.user_id,
  });
});

it('creates a task once, whenever its plan was confirmed', async () => {
  await addTask('Order the wheels');
  const say = await harbor.begin();
  await say('create a task “Call the bank”');
  expect((await say('for me, due in 3 days')).actions.map(({ tool }) => tool)).toEqual([
    'task.create',
    'task.assign',
    'task.update',
  ]);
  expect((await confirm(say.session_id, (await last(say.session_id)).action_id)).status).toBe(200);
  for (const said of ['no, due tomorrow', 'to me', 'and high priority'])
    expect((await say(said)).actions.map(({ tool }) => tool)).not.toContain('task.create');
  expect(await db()('tasks').where({ title: 'Call the bank' })).toHaveLength(1);
});

it('stages nothing instead of a plan that is confirmed while the message is read', async () => {
  await addTask('Order the wheels');
  const say = await harbor.begin();
  await say('create a task “Ring the port”');
  const { action_id } = await last(say.session_id);
  const { member } = harbor.team;
  const { message_id } = await submitMessage(buildContext(harbor.app, member), { session_id: say.session_id, message: 'for me' });
  await Promise.all([
    confirm(say.session_id, action_id),
    answerByRules(harbor.app.services, { messageId: message_id, incarnation: 1, execution: 'first' }),
  ]);
  const staged = (await plansOf(say.session_id)).filter(({ status }) => status === 'staged');
  for (const plan of staged) await confirm(say.session_id, plan.action_id);
  expect((await db()('tasks').where({ title: 'Ring the port' })).length).toBeLessThan(2);
});

it('discards the plan that waits by words, and confirms none', async () => {
  const id = await addTask('Order the wheels');
  const say = await harbor.begin(id);
  for (const said of ['no, leave it', 'never mind', 'no thanks', 'discard the plan']) {
    await say('close the wheels');
    expect((await say(said)).content).toBe('The plan is discarded. Nothing was changed.');
    expect(await last(say.session_id)).toMatchObject({ status: 'discarded' });
  }
  await say('close the wheels');
  for (const said of ['yes', 'ok, go ahead', 'confirm it']) expect((await say(said)).content).toContain('choose “Confirm” there');
  await say('close the wheels');
  expect((await say('cancel it')).content).toContain('Do you mean the plan, or the task?');
  expect((await plansOf(say.session_id)).filter(({ status }) => status === 'applied')).toEqual([]);
});

it('keeps the plan before where the new one cannot be staged', async () => {
  const id = await addTask('Order the wheels');
  const say = await harbor.begin(id);
  await say('assign the wheels to me');
  expect((await say('no, to Zacharias')).actions).toEqual([]);
  expect(await last(say.session_id)).toMatchObject({ status: 'staged' });
});

it('takes the answer to its question: by place, by words, by a fact, all of them', async () => {
  const [wheels, arm] = [await addTask('Order crane wheels', { priority: 'urgent' }), await addTask('Paint the crane arm')];
  const say = await harbor.begin();
  const answers: [said: string, ids: string[]][] = [
    ['the second one', [arm]],
    ['2', [arm]],
    ['the first', [wheels]],
    ['the arm', [arm]],
    ['the urgent one', [wheels]],
    ['both', [wheels, arm]],
  ];
  for (const [said, ids] of answers) {
    const asked = await say('close the crane');
    expect(asked.mentions.map(({ item_id }) => item_id)).toEqual([wheels, arm]);
    expect((await say(said)).actions.map(({ entity_id }) => entity_id)).toEqual(ids);
  }
  await say('when is the crane lift due?');
  expect((await say('the second one')).content).toContain('“Paint the crane arm”');
});

it('asks for what a change leaves out, and takes it alone', async () => {
  const id = await addTask('Order the wheels');
  const say = await harbor.begin(id);
  expect((await say('assign the wheels')).content).toContain('To whom shall the task “Order the wheels”');
  expect((await say('to me')).actions).toMatchObject([{ entity_id: id, params: { assigned_to: harbor.team.member.user_id } }]);
});

it('leaves a plan that a person has edited as it is', async () => {
  const id = await addTask('Order the wheels');
  const say = await harbor.begin(id);
  await say('set the wheels to high');
  const { action_id } = await last(say.session_id);
  const client = harbor.app.as(harbor.team.member);
  const { plan_hash } = (await client.get(`/api/ai-workspace/agent/plans/${action_id}`)).body as { plan_hash: string };
  const edited = await client.post(`/api/ai-workspace/agent/plans/${action_id}/edit`, {
    plan_hash,
    changes: [{ index: 0, params: { priority: 'urgent' } }],
  });
  expect(edited.status).toBeLessThan(300);
  expect((await say('and to me')).content).not.toContain('replaces');
  expect(await last(say.session_id)).toMatchObject({ status: 'staged' });
});

it('takes “them” and “the second one” for what its list shows, and nothing where it shows a part', async () => {
  const ids = [await addTask('Order the wheels', { due_date: day(-5) }), await addTask('Paint the arm', { due_date: day(-2) })];
  const say = await harbor.begin();
  await say('what is overdue?');
  expect((await say('set the second one to high')).actions.map(({ entity_id }) => entity_id)).toEqual([ids[1]]);
  await say('what is overdue?');
  expect((await say('close them')).actions.map(({ entity_id }) => entity_id)).toEqual(ids);
  await say('what is overdue?');
  const urgent = await say('only the urgent ones');
  expect(urgent.content).toContain('No task of the team is like that.');
  for (let n = 0; n < 20; n += 1) await addTask(`Many ${n}`, { due_date: day(-9) });
  expect((await say('what is overdue?')).content).toContain('22 tasks');
  expect(await say('close them')).toMatchObject({ actions: [], content: expect.stringContaining('Which of the listed tasks') });
});

it('says whom a task is taken from, and takes no other', async () => {
  const { manager, member } = harbor.team;
  await harbor.rename(manager, 'Uma Patel');
  await harbor.rename(member, 'Bo Lind');
  const hers = await addTask('Order the wheels', { priority: 'urgent', assigned_to: manager.user_id });
  await addTask('Paint the arm', { priority: 'urgent' });
  const { actions } = await (await harbor.begin())('reassign the urgent ones from Uma to Bo');
  expect(actions.map(({ entity_id }) => entity_id)).toEqual([hers]);
});
