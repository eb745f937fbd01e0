/** What stays of sessions, links and messages when a person or a team goes, or an item is deleted for good. */
import { deprovisionActivities } from '../../../activities/deprovisioning.js';
import { planJob } from '../../../api/identity/admin/deprovisioning/plan-job.js';
import { answerByRules } from '../../../api/agent/turns/answer-by-rules.js';
import { submitMessage } from '../../../api/agent/turns/submit-message.js';
import type { DeprovisionActivity } from '../../../workflows/contracts/deprovision-contract.js';
import { buildSession, buildContext } from '../../factories/agent.js';
import { buildPerson, buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { startApp, type TestApp } from '../../support/app.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let session_id: string;
let task_id: string;

const db = () => app.services.db;
const link = async (item_type: string, item_id: string) => {
  const made = await app.as(team.member).post(`/api/ai-workspace/sessions/${session_id}/link`, { item_type, item_id });
  expect(made.status).toBe(200);
};
const linked = () => db()('agent_links').where({ session_id }).orderBy('item_type').pluck('item_id');

beforeAll(async () => {
  app = await startApp();
});
afterAll(() => app.close());
beforeEach(async () => {
  const details = JSON.stringify({ temporal: true });
  const beat = { process: 'worker:test', seen_at: new Date(Date.now() + 600_000), details };
  await db()('heartbeats').insert(beat).onConflict('process').merge();
  team = await buildTeam(app);
  project = await buildProject(app, team);
  ({ task_id } = await buildTask(app, team, project, { title: 'Login 500' }));
  ({ session_id } = await buildSession(app, team.member));
  await link('task', task_id);
});

it('a member who leaves takes no link along, not even after coming back', async () => {
  const other = await buildTeam(app);
  await db()('memberships').insert({ team_id: other.team_id, user_id: team.member.user_id, role: 'member' });
  const { task_id: elsewhere } = await buildTask(app, { ...other, member: team.member }, await buildProject(app, other));
  await link('task', elsewhere);
  await app.as(team.member).delete(`/api/teams/${team.team_id}/members/${team.member.user_id}`);
  expect(await linked()).toEqual([elsewhere]);
  const [entry] = await db()('audit_entries').where({ team_id: team.team_id, action: 'remove_member' });
  expect(JSON.parse(entry.details)).toMatchObject({ agent_links: 1 });
});

it('a deprovisioned person leaves no messages, and an open turn is stopped', async () => {
  const { message_id } = await submitMessage(buildContext(app, team.member), { session_id, message: 'close it' });
  const admin = app.as(await buildPerson(app, { role: 'admin' }));
  const reason = 'Left the company';
  const { job_id } = (await admin.post(`/api/admin/users/${team.member.user_id}/deprovision`, { reason })).body;
  const activities = deprovisionActivities(app.services);
  for (const { step, teamId } of (await planJob(app.services, job_id))?.steps ?? [])
    await (activities[step] as DeprovisionActivity)(job_id, teamId);
  const left = await Promise.all(
    ['agent_messages', 'agent_links', 'agent_turns'].map((table) => db()(table).where({ session_id }).select()),
  );
  expect(left).toEqual([[], [], []]);
  expect(await db()('agent_sessions').where({ session_id }).first()).toMatchObject({ title: '', deleted_at: expect.any(Date) });
  expect(await db()('outbox').where({ kind: 'turn.wake', subject: message_id })).toHaveLength(1);
});

it('a deleted team takes its own sessions along', async () => {
  const own = await buildSession(app, { team_id: team.team_id });
  await db()('agent_messages').insert({ session_id: own.session_id, role: 'assistant', content: 'Twelve suggestions' });
  await app.as(team.admin).delete(`/api/projects/${project.project_id}`);
  expect((await app.as(team.admin).delete(`/api/teams/${team.team_id}`)).status).toBe(200);
  expect(await db()('agent_messages').where({ session_id: own.session_id })).toEqual([]);
  expect((await app.as(team.member).get(`/api/ai-workspace/sessions/${session_id}`)).body.linked_items).toEqual([]);
});

it('removes the links of purged items', async () => {
  const note = (await app.as(team.member).post('/api/notes', { title: 'N', team_id: team.team_id })).body.note_id;
  await link('note', note);
  await link('project', project.project_id);
  const manager = app.as(team.manager);
  await manager.delete(`/api/notes/${note}`);
  await manager.delete(`/api/trash/note/${note}`);
  expect(await linked()).toEqual([project.project_id, task_id]);
  await manager.delete(`/api/projects/${project.project_id}`);
  await manager.delete(`/api/trash/project/${project.project_id}`);
  expect(await linked()).toEqual([]);
});

it('a deleted session keeps nothing of what was said, and its plans are discarded', async () => {
  const { message_id: messageId } = await submitMessage(buildContext(app, team.member), { session_id, message: 'close it' });
  await answerByRules(app.services, { messageId, incarnation: 1, execution: 'first' });
  const client = app.as(team.member);
  expect((await client.delete(`/api/ai-workspace/sessions/${session_id}`)).body).toEqual({ success: true, session_id });
  expect((await client.get(`/api/ai-workspace/sessions/${session_id}`)).status).toBe(404);
  expect((await client.get('/api/ai-workspace/sessions')).body).toEqual([]);
  expect(await db()('agent_messages').where({ session_id })).toEqual([]);
  expect(await db()('agent_plans').where({ session_id }).pluck('status')).toEqual(['discarded']);
});
