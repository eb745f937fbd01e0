import { readContent } from '../../../api/gate/requests/content.js';
import { buildRequest } from '../../factories/requests.js';
import { planHash, readPlan } from '../../../api/agent/plans/plan-content.js';
import { canonicalJson } from '../../../api/gate/staging/canonical.js';
import { invitationPath } from '../../../api/identity/teams/invitations/invitation-link.js';
import { PAGES } from '../../../api/web/pages.js';
import { buildSession, staged } from '../../factories/agent.js';
import { buildProject, buildTask, buildTeam, type TestTeam } from '../../factories/people.js';
import { buildRun, GATE } from '../../factories/runs.js';
import { createField, setFields } from '../../factories/custom-fields.js';
import { buildRunnerJob } from '../../factories/runner-jobs.js';
import { buildRunner } from '../../factories/runners.js';
import { buildDelivery, createWebhook } from '../../factories/webhooks.js';
import { buildBulkJob, buildLinearUpload } from '../../factories/bulk.js';
import { createCycle } from '../work/cycles/support.js';
import { startApp, type TestApp } from '../../support/app.js';
import { type Browser, givePasswords, signIn } from './browser.js';

/** As a template would print it if nothing were escaped, each in its own way out of text, attribute, script, style or address. */
const CORPUS = [
  '<script>alert(1)</script>',
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '<img src=x onerror=alert(1)>',
  '<svg/onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '</title><script>alert(1)</script>',
  '</textarea><script>alert(1)</script>',
  '</code></pre><iframe src=javascript:alert(1)>',
  '" autofocus onfocus="alert(1)',
  "' onmouseover='alert(1)",
  '` onload=`alert(1)',
  'javascript:alert(1)',
  'data:text/html,<script>alert(1)</script>',
  '<a href="javascript:alert(1)">x</a>',
  '<form action=https://evil.example><button>',
  '<base href=https://evil.example>',
  '<meta http-equiv=refresh content=0;url=https://evil.example>',
  '<%= 7654321 * 3 %><%~ it.csrf %>',
  '<template hx type=partial hx-target=body><script>alert(1)</script></template>',
  '<hx-partial hx-target="body"><b>gone</b></hx-partial>',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '\u2028\u2029<\u0000script>alert(1)</script>'.replace('\u0000', ''),
  '\u202e<style>*{display:none}</style>',
];

let app: TestApp;
let team: TestTeam;
let browser: Browser;
let paths: string[];
let runs: string[];
let automationId: string;
let dryRunId: string;
let projectId: string;
let taskId: string;
let jobId: string;
let runnerJobId: string;
let noteId: string;
let sessionId: string;
let fileId: string;
let webhookId: string;
let cycleId: string;
let fieldId: string;
let bulkJobId: string;
let uploadId: string;
let deliveryId: string;
let requestId: string;
const viewIds: string[] = [];

/** Puts a text wherever people or programs can put one that pages show. */
async function writeEverywhere(text: string): Promise<void> {
  const { db } = app.services;
  const json = JSON.stringify({ title: text, repo: text, sender: text, [text]: text, task: { title: text } });
  await db('users')
    .where({ user_id: team.manager.user_id })
    .update({ name: text, display_name: text, preferences: { locale: text, timezone: text } });
  await db('teams').where({ team_id: team.team_id }).update({ name: text, description: text });
  await db('projects').where({ project_id: projectId }).update({ name: text });
  await db('tasks')
    .where({ task_id: taskId })
    .update({ title: text, tags: [text] });
  await db('tasks').whereNotNull('deleted_at').update({ title: text });
  await db('items').whereIn('item_id', [noteId, fileId]).update({ title: text });
  await db('automation_runs')
    .whereIn('run_id', [...runs, dryRunId])
    .update({ automation_name: text, event: json, condition_error: text });
  const action = { type: 'add_comment', name: text, params: { content: text, [text]: text }, on_failure: 'continue' };
  const definition = {
    name: text,
    condition: text,
    actions: JSON.stringify([action, { ...GATE, name: text, params: { message: text } }]),
  };
  await db('automations').update({ ...definition, description: text, schedule_cron: text, schedule_timezone: text });
  await db('automation_versions')
    .where({ automation_id: automationId })
    .update({ ...definition, change_note: text });
  await db('run_actions').whereIn('run_id', runs).update({ name: text });
  await db('run_actions')
    .where({ status: 'failed' })
    .update({ error: JSON.stringify({ code: text, message: text }) });
  await db('gates').update({ message: text });
  await db('gates').where({ decision: 'rejected' }).update({ reason: text });
  await db('invitations').update({ email: text });
  await db('personal_access_tokens').update({ name: text });
  await db('sessions').update({ user_agent: text });
  await db('trusted_devices').update({ user_agent: text });
  await db('deprovision_jobs').update({ reason: text });
  await db('saved_views').update({ name: text.slice(0, 100), columns: [text, `custom_field:${text}`] });
  await db('stages').update({ name: text.slice(0, 40) });
  await db('request_rules').update({ system: text, name: text, target: text });
  await db('custom_fields').update({ name: text.slice(0, 80) });
  await db('custom_fields')
    .whereIn('field_type', ['select', 'multi_select'])
    .update({ options: JSON.stringify([{ value: text, label: text, color: text }]) });
  await db('custom_field_values').whereNotNull('value_text').update({ value_text: text });
  await db('custom_field_values')
    .whereNotNull('value_list')
    .update({ value_list: [text] });
  await db('webhooks').update({ description: text, url: `https://93.184.216.34/${text}` });
  await db('cycles').update({ name: text, goal: text });
  await db('bulk_rows').update({ message: text, entity: text });
  await buildLinearUpload(app, team, text, uploadId);
  await db('webhook_events').update({ body: text });
  await db('forge_repositories').update({ repo: text });
  await db('forge_deliveries').update({ repo: text, event: text, reason: text });
  const attempt = { at: '2026-11-20T17:51:02.123Z', status_code: 500, duration_ms: 1, error: text, response: text };
  await db('webhook_deliveries').update({ attempts: JSON.stringify([attempt]) });
  await db('runners').update({ name: text, labels: [text], version: text });
  const job = { runner_name: text, labels: [text], env: JSON.stringify({ [text]: [text] }), output: text, error: text };
  await db('runner_jobs').update({ command: text, ...job, log_size: Buffer.byteLength(text) });
  await db('runner_job_logs').update({ text });
  await db('agent_sessions').update({ title: text });
  await db('agent_messages').update({ content: text });
  const operation = { system: 'payments', name: text, target: text, arguments: { [text]: text, list: [text] }, summary: text };
  const { canonical: asked } = await db('change_requests').where({ request_id: requestId }).first();
  const content = { ...readContent(asked), title: text, reason: text, operations: [operation], context: { [text]: text } };
  await db('change_requests')
    .where({ request_id: requestId })
    .update({ title: text, canonical: canonicalJson(content) });
  await db('change_request_decisions').update({ comment: text });
  for (const { action_id, canonical: stored } of await db('agent_plans').select('action_id', 'canonical')) {
    const plan = readPlan(stored);
    const actions = plan.actions.map((action) => ({ ...action, title: text, params: { content: text } }));
    const canonical = canonicalJson({ ...plan, summary: text, actions });
    await db('agent_plans')
      .where({ action_id })
      .update({ canonical, plan_hash: planHash(canonical), summary: text });
  }
}

/** The page's tags with the names of their attributes, without what people wrote and without times. */
const toSkeleton = (html: string): string =>
  [...html.matchAll(/<\/?[a-z!][^\s>]*(?:\s+[^\s"'>=]+(?:=(?:"[^"]*"|'[^']*'|[^\s"'>]*))?)*\s*\/?>/gi)]
    .map(([tag]) => tag.replace(/="[^"]*"|='[^']*'/g, ''))
    .join('\n');

beforeAll(async () => {
  app = await startApp();
  team = await buildTeam(app);
  await givePasswords(app);
  await app.services.db('users').where({ user_id: team.manager.user_id }).update({ role: 'admin' });
  await app.services.db('memberships').where({ user_id: team.manager.user_id }).update({ role: 'admin' });
  const project = await buildProject(app, team);
  projectId = project.project_id;
  taskId = (await buildTask(app, team, project, { assigned_to: team.manager.user_id, due_date: '2020-01-01' })).task_id;
  await app.as(team.manager).patch(`/api/projects/${projectId}`, { lead_id: team.manager.user_id });
  await app.as(team.manager).post(`/api/projects/${projectId}/updates`, { health: 'at_risk', content: 'x' });
  const gone = await buildTask(app, team, project);
  await app.as(team.manager).delete(`/api/tasks/${gone.task_id}`);
  const note = await app.as(team.manager).post('/api/notes', { title: 'x', ...project });
  noteId = note.body.note_id;
  await app.as(team.manager).post('/api/work-items/relations', {
    source_id: taskId,
    target_id: noteId,
    relation_type: 'related_to',
  });
  const actions = [{ type: 'add_comment', params: { task_id: '{{event.task.title}}', content: '{{event.title}}' } }, GATE];
  const waiting = await buildRun(app, team, { actions });
  const failed = await buildRun(app, team, { actions, status: 'failed', statuses: ['failed', 'skipped'] });
  const rejected = await buildRun(app, team, { actions });
  await app.as(team.manager).post(`/api/automations/runs/${rejected.run_id}/reject`, { reason: 'no' });
  automationId = rejected.automation_id;
  const dryRun = { automation: rejected, status: 'succeeded', fields: { is_test: true } } as const;
  dryRunId = (await buildRun(app, team, dryRun)).run_id;
  runs = [waiting, failed, rejected].map(({ run_id }) => run_id);
  const invited = await app.as(team.manager).post(`/api/teams/${team.team_id}/members`, { email: 'new@test.example' });
  const invitationId = invited.body.invitation_id as string;
  await app.as(team.manager).post('/api/auth/tokens', { name: 'x', scopes: ['tasks:read'] });
  cycleId = (await createCycle(app.as(team.manager), project)).cycle_id;
  await app.as(team.manager).post(`/api/sprints/${cycleId}/tasks`, { task_ids: [taskId] });
  await app.as(team.manager).post(`/api/sprints/${cycleId}/start`);
  const stage = { team_id: team.team_id, name: 'x', status: 'in_review' };
  const { stage_id } = (await app.as(team.manager).post('/api/stages', stage)).body;
  await app.as(team.manager).patch(`/api/tasks/${taskId}`, { stage_id });
  bulkJobId = await buildBulkJob(app, team);
  uploadId = await buildLinearUpload(app, team, 'x');
  for (const layout of ['list', 'board']) {
    const view = { name: 'x', entity_type: 'task', layout, team_id: team.team_id, group_by: 'status' };
    viewIds.push((await app.as(team.manager).post('/api/saved-views', view)).body.view_id);
  }
  for (const [type, value] of [
    ['text', 'x'],
    ['url', 'https://x.example'],
    ['select', 'high'],
    ['multi_select', ['low']],
    ['user', team.member.user_id],
    ['number', 1],
    ['date', '2026-01-02'],
    ['boolean', true],
  ] as const) {
    const field = await createField(app, team, type);
    if (type === 'select') fieldId = field.field_id;
    await setFields(app, team, [{ field, task_id: taskId, value }]);
  }
  webhookId = (await createWebhook(app, team)).webhook_id;
  deliveryId = (await buildDelivery(app, team, webhookId)).delivery_id;
  const repository = { repo: 'x', team_id: team.team_id, created_by: team.manager.user_id };
  await app.services.db('forge_repositories').insert(repository);
  await app.services.db('forge_deliveries').insert({ delivery_id: 'x', repo: 'x', body_sha256: Buffer.alloc(32) });
  requestId = (await buildRequest(app, team, team.member, { requirement: { approvals: 2 } })).request_id;
  const { request_hash } = (await app.as(team.manager).get(`/api/change-requests/${requestId}`)).body;
  await app.as(team.manager).post(`/api/change-requests/${requestId}/approve`, { request_hash, comment: 'x' });
  await buildRunner(app, team);
  runnerJobId = await buildRunnerJob(app, team, { exit_code: 2, runner_name: 'Builder' });
  const leaver = `/api/admin/users/${team.guest.user_id}/deprovision`;
  jobId = (await app.as(team.manager).post(leaver, { reason: 'Left' })).body.job_id;
  const form = new FormData();
  form.append('team_id', team.team_id);
  form.append('file', new Blob(['x']), 'x.txt');
  const headers = { authorization: `Bearer ${team.manager.token}` };
  const uploaded = await fetch(`${app.url}/api/files`, { method: 'POST', headers, body: form });
  fileId = ((await uploaded.json()) as { file_id: string }).file_id;
  const comment = [{ tool: 'task.comment' as const, entity_id: taskId, params: { content: 'x' } }];
  const session = await buildSession(app, { user_id: team.manager.user_id });
  sessionId = session.session_id;
  const { action_id } = await staged(app, team.manager, comment, { session });
  const message = { session_id: sessionId, role: 'assistant', content: 'x' };
  await app.services.db('agent_messages').insert({ ...message, action_id });
  const ofTeam = await buildSession(app, { team_id: team.team_id }, { kind: 'automation' });
  const plan = await staged(app, team.manager, comment, { session: ofTeam, source: 'automation', lifeHours: 168 });
  await app.services.db('request_rules').insert({
    team_id: team.team_id,
    position: 0,
    system: 'x',
    name: 'x',
    target: 'x',
    require_code: true,
    is_denied: false,
  });
  const logged = {
    team_id: team.team_id,
    source: 'x',
    state: 'approved',
    requested_at: new Date(),
    decided_by: team.manager.user_id,
  };
  await app.services.db('decision_log').insert([
    { ...logged, kind: 'gate', subject_id: runs[0], gate_index: 1 },
    { ...logged, kind: 'plan', subject_id: plan.action_id, gate_index: null },
    { ...logged, kind: 'request', subject_id: requestId, gate_index: null },
  ]);
  browser = await signIn(app, team.manager);
  const shown = PAGES.filter(({ method, access }) => method === 'get' && access !== 'visitor').map(({ path }) => path);
  // A download leaves a line in the audit log, which would change that page; the bytes are no page, and a name of a task leads to one.
  paths = shown
    .filter((path) => !path.endsWith('/download') && !path.endsWith('/picture') && !path.endsWith('/:task_name'))
    .flatMap((path) =>
      path.includes(':run_id')
        ? (path.includes('/gate/') ? runs.slice(0, 1) : runs).map((id) => path.replace(':run_id', id))
        : path.includes(':item_id')
          ? [taskId, projectId, noteId].map((id) => path.replace(':item_id', id))
          : [
              path
                .replace('/app/tasks/line', `/app/tasks/line?project_id=${projectId}`)
                .replace('/app/tasks/change', `/app/tasks/change?pick=assignee:1:${taskId}`)
                .replace('/app/invitations/:invitation_id', invitationPath(app.services.config, invitationId))
                .replace(':session_id', sessionId)
                .replace(':action_id', plan.action_id)
                .replace('/app/bulk/import/:file_id', `/app/bulk/import/${uploadId}?team=${team.team_id}`)
                .replace(':file_id', fileId)
                .replace(':automation_id', automationId)
                .replace(':dry_run_id', dryRunId)
                .replace(':webhook_id', webhookId)
                .replace(':view_id', viewIds[0] as string)
                .replace(':cycle_id', cycleId)
                .replace(':field_id', fieldId)
                .replace(':request_id', requestId)
                .replace(':delivery_id', deliveryId)
                .replace(':team_id', team.team_id)
                .replace(':project_id', projectId)
                .replace(':user_id', team.guest.user_id)
                .replace(':runner_job_id', runnerJobId)
                .replace(':job_id', path.startsWith('/app/bulk') ? bulkJobId : jobId),
            ],
    );
  paths.push(`/app/views/${viewIds[1]}`);
});
afterAll(() => app.close());

it('whatever people write, every page has the tags that it has with a plain word', async () => {
  const read = async (path: string) => {
    const { status, html } = await browser.get(path);
    expect([path, status]).toEqual([path, 200]);
    return html;
  };
  await writeEverywhere('word');
  const plain = new Map<string, string>();
  for (const path of paths) plain.set(path, toSkeleton(await read(path)));
  expect([...plain.values()].join('').length).toBeGreaterThan(5_000);
  for (const text of CORPUS) {
    await writeEverywhere(text);
    for (const path of paths) {
      const html = await read(path);
      expect([text, path, toSkeleton(html)]).toEqual([text, path, plain.get(path)]);
      expect(html).not.toContain('22962963');
    }
  }
  // Every page once for each text.
}, 300_000);

it('shows form input as text', async () => {
  const forms = ['/app/account/tokens', '/app/teams', '/app/account'];
  for (const path of forms) {
    const fields = (text: string) => ({
      name: `${text}${'x'.repeat(250)}`,
      description: text,
      username: text,
      display_name: text,
      locale: text,
    });
    const plain = toSkeleton((await browser.post(path, fields('plain words'))).html);
    for (const text of CORPUS)
      expect([text, path, toSkeleton((await browser.post(path, fields(text))).html)]).toEqual([text, path, plain]);
  }
});
