/** Messages and turns without a worker: each test plays the part of the workflow, so that every order can be had. */
import { v7 as uuidv7 } from 'uuid';
import { answerByRules } from '../../../api/agent/turns/answer-by-rules.js';
import { claimTurn } from '../../../api/agent/turns/claim-turn.js';
import { submitMessage } from '../../../api/agent/turns/submit-message.js';
import { withdrawMessage } from '../../../api/agent/turns/withdraw-message.js';
import { buildSession, buildContext } from '../../factories/agent.js';
import { buildPerson, buildProject, buildTask, buildTeam, leave, type Person, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };

const db = () => app.services.db;
const beat = (temporal: boolean) =>
  db()('heartbeats')
    .insert({ process: 'worker:test', seen_at: new Date(Date.now() + 600_000), details: JSON.stringify({ temporal }) })
    .onConflict('process')
    .merge();

beforeAll(async () => {
  app = await startApp({ AI_CHAT_BEGIN_SECONDS: '3', AI_CHAT_SECONDS: '4' });
});
afterAll(() => app.close());
beforeEach(async () => {
  await beat(true);
  team = await buildTeam(app);
  project = await buildProject(app, team);
});

/** A session of a person in which these tasks are linked. */
async function openFuzzSession(person: Person, ...titles: string[]) {
  const { session_id } = await buildSession(app, person);
  const tasks = [];
  for (const title of titles) {
    const { task_id } = await buildTask(app, team, project, { title });
    await app.as(person).post(`/api/ai-workspace/sessions/${session_id}/link`, { item_type: 'task', item_id: task_id });
    tasks.push(task_id as string);
  }
  return { session_id, tasks };
}
const submit = (person: Person, session_id: string, message = 'summarise') =>
  submitMessage(buildContext(app, person), { session_id, message });
const answer = (messageId: string, execution = 'first', incarnation = 1) =>
  answerByRules(app.services, { messageId, incarnation, execution });
const findMessages = (session_id: string) =>
  db()('agent_messages').where({ session_id }).orderBy('position').select('role', 'content', 'answers', 'action_id');
const rows = async (session_id: string) => ({
  messages: (await findMessages(session_id)).length,
  turns: (await db()('agent_turns').where({ session_id })).length,
});
const used = async (team_id: string) => (await db()('agent_usage').where({ team_id }).first())?.messages ?? 0;

describe('a message that nobody can answer', () => {
  it.each([
    ['no worker', async () => void (await db()('heartbeats').delete())],
    ['a worker without Temporal', async () => void (await beat(false))],
  ])('is refused at once with %s, and nothing is stored', async (_what, cut) => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    await cut();
    const { status, headers, body } = await app
      .as(team.member)
      .post('/api/ai-workspace/chat', { session_id, message: 'close it' });
    expect([status, headers.get('retry-after'), body.error_code]).toEqual([503, '5', 'INTERNAL_ERROR']);
    expect([await rows(session_id), await used(team.team_id)]).toEqual([{ messages: 0, turns: 0 }, 0]);
  });

  it('is withdrawn after a while although the worker’s heartbeat is fresh', async () => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    const { status, headers } = await app.as(team.member).post('/api/ai-workspace/chat', { session_id, message: 'close it' });
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect([await rows(session_id), await used(team.team_id)]).toEqual([{ messages: 0, turns: 0 }, 0]);
    expect(await db()('outbox').where({ kind: 'turn.start' })).toEqual([]);
  });

  it('is either withdrawn or answered when a worker comes at that moment', async () => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    let answered = 0;
    for (let round = 0; round < Number(process.env['CAS_ROUNDS'] ?? 8); round += 1) {
      const message = await submit(team.member, session_id);
      const [isWithdrawn, view] = await Promise.all([
        withdrawMessage(buildContext(app, team.member), message),
        answer(message.message_id),
      ]);
      expect(view.state).toBe(isWithdrawn ? 'superseded' : 'answered');
      answered += isWithdrawn ? 0 : 1;
      expect(await rows(session_id)).toEqual({ messages: 2 * answered, turns: answered });
      expect(await used(team.team_id)).toBe(answered);
    }
  });
});

describe('messages that wait', () => {
  it('are at most 5 in a session and 10 of a user; a refused one counts for no quota', async () => {
    const sessions = [];
    for (const title of ['One', 'Two', 'Three']) sessions.push((await openFuzzSession(team.member, title)).session_id);
    const [first, second, third] = sessions as [string, string, string];
    for (let n = 0; n < 5; n += 1) await submit(team.member, first);
    await expect(submit(team.member, first)).rejects.toMatchObject({
      status: 409,
      message: '5 messages of this session wait for an answer',
    });
    for (let n = 0; n < 5; n += 1) await submit(team.member, second);
    await expect(submit(team.member, third)).rejects.toMatchObject({
      status: 409,
      message: '10 of your messages wait for an answer',
    });
    expect(await used(team.team_id)).toBe(10);
    const { session_id } = await openFuzzSession(team.manager, 'Four');
    await submit(team.manager, session_id);
  });
});

describe('the wait for an answer', () => {
  it('ends as pending, and the answer comes to the session', async () => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    const asked = app.as(team.member).post('/api/ai-workspace/chat', { session_id, message: 'close it' });
    let message_id: string | undefined;
    while (message_id === undefined) message_id = (await db()('agent_turns').where({ session_id }).first())?.message_id;
    await db().transaction((trx) => claimTurn(trx, { messageId: message_id as string, incarnation: 1, execution: 'first' }));
    expect((await asked).body).toEqual({
      response: expect.stringContaining('will be in the session'),
      requires_confirmation: false,
      message_id,
      pending: true,
    });
    expect((await answer(message_id)).state).toBe('answered');
    expect((await app.as(team.member).get(`/api/ai-workspace/sessions/${session_id}`)).body.pending_action_id).not.toBeNull();
  });

  it('ends when the session is deleted', async () => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    const asked = app.as(team.member).post('/api/ai-workspace/chat', { session_id, message: 'close it' });
    while ((await rows(session_id)).turns === 0);
    await app.as(team.member).delete(`/api/ai-workspace/sessions/${session_id}`);
    expect((await asked).status).toBe(503);
    expect(await rows(session_id)).toEqual({ messages: 0, turns: 0 });
  });
});

describe('the monthly quota', () => {
  it('lets exactly as many of fifty messages through as it says', async () => {
    await db()('agent_settings').insert({ team_id: team.team_id, monthly_message_quota: 20 });
    const people = await Promise.all(Array.from({ length: 10 }, () => buildPerson(app)));
    await db()('memberships').insert(people.map(({ user_id }) => ({ team_id: team.team_id, user_id, role: 'member' })));
    const sessions = await Promise.all(people.map((person) => buildSession(app, person)));
    const { task_id: item_id } = await buildTask(app, team, project);
    const links = sessions.map(({ session_id }) => ({ session_id, item_type: 'task', item_id, linked_by: team.member.user_id }));
    await db()('agent_links').insert(links);
    const sent = sessions.flatMap(({ session_id }, at) =>
      Array.from({ length: 5 }, () => submit(people[at] as Person, session_id)),
    );
    const outcomes = await Promise.allSettled(sent);
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []));
    expect(refused).toEqual(Array.from({ length: 30 }, () => 'QUOTA_EXCEEDED'));
    expect(await used(team.team_id)).toBe(20);
    const [{ session_id } = { session_id: '' }] = sessions;
    const { status, body } = await app.as(people[0]).post('/api/ai-workspace/chat', { session_id, message: 'x' });
    expect([status, body.error_code]).toEqual([402, 'QUOTA_EXCEEDED']);
    expect(body.message).toMatch(/its 20 messages of this month; the next ones start on 1 \w+ 20\d\d$/);
  });

  it('of nothing lets nothing through', async () => {
    await db()('agent_settings').insert({ team_id: team.team_id, monthly_message_quota: 0 });
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    await expect(submit(team.member, session_id)).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED' });
    expect(await rows(session_id)).toEqual({ messages: 0, turns: 0 });
  });

  it('is not used by a message that is refused afterwards', async () => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    for (let sent = 0; sent < 5; sent += 1) await submit(team.member, session_id);
    await expect(submit(team.member, session_id)).rejects.toMatchObject({ code: 'RESOURCE_CONFLICT' });
    expect(await used(team.team_id)).toBe(5);
  });
});

describe('messages of one session', () => {
  it('are answered in order, whichever workflow is first', async () => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    const [first, second, third] = [
      await submit(team.member, session_id, 'one'),
      await submit(team.member, session_id, 'two'),
      await submit(team.member, session_id, 'three'),
    ];
    expect(await answer(third.message_id)).toEqual({ state: 'waiting' });
    expect(await answer(second.message_id)).toEqual({ state: 'waiting' });
    // A worker has seen it, so that it is no longer withdrawn.
    expect(await withdrawMessage(buildContext(app, team.member), second)).toBe(false);
    expect((await answer(first.message_id)).state).toBe('answered');
    const woken = db()('outbox').where({ kind: 'turn.wake' }).whereIn('subject', [second.message_id, third.message_id]);
    expect(await woken.pluck('subject')).toEqual([second.message_id]);
    expect((await answer(third.message_id)).state).toBe('waiting');
    expect((await answer(second.message_id)).state).toBe('answered');
    expect((await answer(third.message_id)).state).toBe('answered');
    const order = (await findMessages(session_id)).filter(({ role }) => role === 'assistant').map(({ answers }) => answers);
    expect(order).toEqual([first, second, third].map(({ message_id }) => message_id));
  });

  it('are answered by one execution, once', async () => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    const { message_id } = await submit(team.member, session_id, 'close it');
    await db().transaction((trx) => claimTurn(trx, { messageId: message_id, incarnation: 1, execution: 'first' }));
    expect((await answer(message_id, 'second')).state).toBe('superseded');
    expect((await answer(message_id, 'first', 2)).state).toBe('superseded');
    const views = await Promise.all([answer(message_id), answer(message_id), answer(message_id)]);
    expect(views.map(({ state }) => state).sort()).toEqual(['answered', 'superseded', 'superseded']);
    expect(await rows(session_id)).toEqual({ messages: 2, turns: 1 });
    expect(await db()('agent_plans').where({ session_id })).toHaveLength(1);
  });

  it('get no other answer after a stop', async () => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    const sent = [await submit(team.member, session_id, 'close it'), await submit(team.member, session_id, 'start it')];
    const stop = () => app.as(team.member).post(`/api/ai-workspace/sessions/${session_id}/stop`);
    expect((await stop()).body).toEqual({ success: true, session_id, stopped: 2 });
    expect((await stop()).body.stopped).toBe(0);
    for (const { message_id } of sent) expect((await answer(message_id)).state).toBe('superseded');
    expect((await findMessages(session_id)).slice(2).map(({ content }) => content)).toEqual([
      'Stopped. Nothing was changed.',
      'Stopped. Nothing was changed.',
    ]);
    expect(await db()('agent_plans').where({ session_id })).toEqual([]);
  });

  it('are answered or stopped, never both', async () => {
    const { session_id } = await openFuzzSession(team.member, 'Login 500');
    for (let round = 1; round <= Number(process.env['CAS_ROUNDS'] ?? 8); round += 1) {
      const { message_id } = await submit(team.member, session_id);
      const stopped = app.as(team.member).post(`/api/ai-workspace/sessions/${session_id}/stop`);
      const [view, { body }] = await Promise.all([answer(message_id), stopped]);
      expect(view.state).toBe(body.stopped === 1 ? 'superseded' : 'answered');
      expect(await rows(session_id)).toEqual({ messages: 2 * round, turns: round });
    }
  });
});

describe('a link', () => {
  const said = async (session_id: string, message: string) => {
    const { message_id } = await submit(team.member, session_id, message);
    await answer(message_id);
    return (await findMessages(session_id)).at(-1) as { content: string; action_id: string | null };
  };

  it.each<[string, () => Promise<unknown>]>([
    ['has left the team', () => leave(app, team, team.member)],
    [
      'is only a guest now',
      () => db()('memberships').where({ team_id: team.team_id, user_id: team.member.user_id }).update({ role: 'guest' }),
    ],
  ])('gives nothing when the person %s', async (_what, lose) => {
    const { session_id, tasks } = await openFuzzSession(team.member, 'Login 500');
    await lose();
    const { content, action_id } = await said(session_id, `close ${tasks[0]}`);
    expect(content).toContain('1 linked item is no longer available to you');
    expect([content.includes('Login 500'), action_id]).toEqual([false, null]);
    const { body } = await app.as(team.member).get(`/api/ai-workspace/sessions/${session_id}`);
    expect(body.linked_items).toEqual([]);
  });

  it('to an item in the trash is left out, and the others remain', async () => {
    const { session_id, tasks } = await openFuzzSession(team.member, 'Login 500', 'Logout 500');
    await app.as(team.member).delete(`/api/tasks/${tasks[0]}`);
    const { content, action_id } = await said(session_id, 'close it');
    expect(content).toContain('1 linked item is no longer available');
    expect(await db()('agent_actions').where({ action_id }).pluck('entity_id')).toEqual([tasks[1]]);
  });

  it('is idempotent, needs a role, and knows an idea from a note', async () => {
    const { session_id } = await buildSession(app, team.guest);
    const { session_id: own } = await buildSession(app, team.member);
    const link = (person: Person, session: string, item_type: string, item_id: string) =>
      app.as(person).post(`/api/ai-workspace/sessions/${session}/link`, { item_type, item_id });
    const { task_id } = await buildTask(app, team, project);
    const note = (await app.as(team.member).post('/api/notes', { title: 'N', team_id: team.team_id, kind: 'note' })).body.note_id;
    const idea = (await app.as(team.member).post('/api/notes', { title: 'I', team_id: team.team_id, kind: 'idea' })).body.note_id;
    expect((await link(team.guest, session_id, 'task', task_id)).status).toBe(403);
    const first = await link(team.member, own, 'task', task_id);
    const again = await link(team.member, own, 'task', task_id);
    expect([first.status, again.status, again.body]).toEqual([200, 200, first.body]);
    expect(await link(team.member, own, 'idea', note)).toMatchObject({
      status: 400,
      body: { message: 'The item is a note that is no idea; link it with item_type note' },
    });
    expect((await link(team.guest, session_id, 'idea', note)).status).toBe(403);
    expect((await link(team.member, own, 'idea', idea)).body).toMatchObject({ item_type: 'idea', title: 'I', linked: true });
    expect((await link(team.member, own, 'note', idea)).body).toMatchObject({ item_type: 'idea', item_id: idea });
    const linked = (await app.as(team.member).get(`/api/ai-workspace/sessions/${own}`)).body.linked_items;
    expect(linked.filter(({ item_id }: { item_id: string }) => item_id === idea)).toHaveLength(1);
    const path = `/api/ai-workspace/sessions/${own}/link/note/${idea}`;
    expect([(await app.as(team.member).delete(path)).status, (await app.as(team.member).delete(path)).status]).toEqual([
      200, 404,
    ]);
    expect((await link(team.member, own, 'doc', idea)).status).toBe(422);
    expect((await link(team.member, own, 'project', task_id)).status).toBe(404);
    expect((await link(team.member, session_id, 'task', task_id)).status).toBe(404);
  });
});

it('an assignee is a member of the item’s team, by a name that only one of them has', async () => {
  const { session_id } = await openFuzzSession(team.member, 'Login 500');
  await db()('users').where({ user_id: team.manager.user_id }).update({ display_name: 'Sam Lee' });
  const stranger = await buildTeam(app);
  await db()('users').where({ user_id: stranger.member.user_id }).update({ display_name: 'Zoe' });
  const assigned = async (name: string) => {
    const { message_id } = await submit(team.member, session_id, `assign it to ${name}`);
    await answer(message_id);
    const { content, action_id } = (await findMessages(session_id)).at(-1) as { content: string; action_id: string | null };
    if (action_id === null) return content;
    return JSON.parse((await db()('agent_plans').where({ action_id }).first()).canonical).actions[0].params;
  };
  expect(await assigned('sam LEE')).toEqual({ assigned_to: team.manager.user_id });
  expect(await assigned('Zoe')).toContain('No member of the team is called “zoe”');
  await db()('users').where({ user_id: team.admin.user_id }).update({ name: 'Sam Lee' });
  expect(await assigned('Sam Lee')).toContain('Several members');
});

it('writes the text of a message to no audit entry and no outbox row', async () => {
  const canary = `canary-${uuidv7()}`;
  const { session_id } = await openFuzzSession(team.member, 'Login 500');
  const { message_id } = await submit(team.member, session_id, `comment on it: ${canary}`);
  await answer(message_id);
  const audit = JSON.stringify(await db()('audit_entries').select());
  const outbox = JSON.stringify(await db()('outbox').select());
  expect([audit.includes(canary), outbox.includes(canary), audit.includes(message_id)]).toEqual([false, false, true]);
});
