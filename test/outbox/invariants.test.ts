/** The invariant checker is itself checked: each test plants one violation and sees exactly that one reported. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 as uuidv7 } from 'uuid';
import { verifyChain } from '../../api/audit/verify-chain.js';
import { type McpUpstream, startUpstream } from '../../scripts/chaos/gateway/mcp-upstream.js';
import { ASKED, buildArguments, PASSED } from '../../scripts/chaos/gateway/recorder.js';
import { judgeFiles } from '../../scripts/chaos/gateway/secret-files.js';
import { checkInvariants } from '../../scripts/chaos/invariants.js';
import { buildToolCall, type ToolResult } from '../../scripts/chaos/loads/mcp-request.js';
import { CANARY } from '../../scripts/chaos/loads/request-load.js';
import { emptyLedger, type Ledger } from '../../scripts/chaos/ledger.js';
import { SECRET } from '../../scripts/chaos/world.js';
import { performRequest } from '../../api/automation/requests/perform-request.js';
import { buildSession, staged } from '../factories/agent.js';
import { createField } from '../factories/custom-fields.js';
import { buildPerson, buildProject, buildTask, buildTeam, buildToken, type TestTeam } from '../factories/people.js';
import { about, buildRequest, OPERATION } from '../factories/requests.js';
import { buildRun, type TestRun } from '../factories/runs.js';
import { startApp, type TestApp } from '../support/app.js';
import { startReceiver } from '../support/receiver.js';
import { finishUndo, importText, ndjson } from '../api/bulk/import-support.js';

let app: TestApp;
let team: TestTeam;
let project: { project_id: string };
let task: { task_id: string };
let run: TestRun;

beforeEach(async () => {
  app = await startApp({ OUTBOUND_LOOPBACK: 'allow' });
  team = await buildTeam(app);
  project = await buildProject(app, team);
  task = await buildTask(app, team, project);
  // As the gate leaves it: one action done, one gate open, one action staged.
  run = await buildRun(app, team);
  await effect(0);
  // What the factories write past the product has left no mark.
  await db().raw('insert into search_dirty (team_id, item_id) select team_id, item_id from item_place');
  await app.services.db('outbox').delete();
});
afterEach(() => app.close());

const db = () => app.services.db;
/** Changes rows that the product can only add to. */
const forge = (sql: string, values: unknown[] = []) =>
  db().transaction(async (trx) => {
    await trx.raw('set local session_replication_role = replica');
    await trx.raw(sql, values as never);
  });
const broken = async (ledger?: Ledger): Promise<Record<string, string[]>> =>
  Object.fromEntries(
    (await checkInvariants({ services: app.services, ledger }))
      .filter(({ violations }) => violations.length > 0)
      .map(({ name, violations }) => [name, violations]),
  );
/** What a comment of the run leaves behind. */
async function effect(index: number): Promise<string> {
  const [comment] = await db()('comments')
    .insert({ task_id: task.task_id, team_id: team.team_id, content: `by action ${index}`, author_id: team.member.user_id })
    .returning<{ comment_id: string }[]>('comment_id');
  const entity_id = comment?.comment_id as string;
  await db()('effects').insert({ run_id: run.run_id, action_index: index, entity_type: 'comment', entity_id });
  await trace(entity_id);
  return entity_id;
}
/** The audit entry of a write that the run made. */
const trace = (entity_id: string) =>
  db().raw('select record_change(?::jsonb, ?::jsonb)', [
    JSON.stringify({
      request_id: uuidv7(),
      correlation_id: uuidv7(),
      actor_type: 'automation',
      user_id: team.member.user_id,
      run_id: run.run_id,
      caused_by: { run_id: run.run_id },
    }),
    JSON.stringify({
      team_id: team.team_id,
      feature: 'comments',
      action: 'create',
      entity_type: 'comment',
      entity_id,
      details: { task_id: task.task_id },
    }),
  ]);
/** A ledger of which everything arrived at the receiver, unless the part says otherwise. */
function buildLedger(part: Partial<Ledger>): Ledger {
  const { tasks = [], updates = [] } = part;
  const received = [
    ...tasks.map(({ task_id }) => ({ event_id: uuidv7(), type: 'task.created', entity_id: task_id, version: 1 })),
    ...updates.map(({ task_id, version }) => ({ event_id: uuidv7(), type: 'task.updated', entity_id: task_id, version })),
  ];
  return { ...emptyLedger(), received, ...part };
}
const acked = (more: object = {}) => ({
  task_id: task.task_id,
  project_id: project.project_id,
  title: 'Write it down',
  description: null,
  version: 1,
  trashed: false,
  comments: [],
  ...more,
});

it('finds nothing in a sound database, and judges what was acknowledged only when told', async () => {
  const verdicts = await checkInvariants({ services: app.services });
  expect(verdicts.flatMap(({ violations }) => violations)).toEqual([]);
  expect(verdicts.filter(({ skipped }) => skipped !== null).every(({ name }) => /^(acked|refused|deliveries)_/.test(name))).toBe(
    true,
  );
  expect(new Set(verdicts.map(({ name }) => name)).size).toBe(verdicts.length);
  expect(await broken(buildLedger({ tasks: [acked()] }))).toEqual({});
});

describe('what was acknowledged', () => {
  it('a use of a request that its row does not have, a lost approval, and words that were told', async () => {
    const request = await buildRequest(app, team, team.member, { operation: { ...OPERATION, arguments: { [CANARY]: CANARY } } });
    const { request_id } = request;
    await about(app.as(team.manager), request).approve({ comment: 'Go' });
    const used = await about(app.as(team.member), request).redeem();
    await about(app.as(team.member), request).report({ status: 'failed', output: CANARY });
    await db()('outbox').delete();
    const { redemption_id } = await db()('change_requests').where({ request_id }).first();
    const ledger = (use: object = {}, approvals = [{ request_id }]) =>
      buildLedger({ requests: [{ request_id, redemption_id, outcome: 'failed', ...use }], approvals });
    expect([used.status, await broken(ledger())]).toEqual([200, {}]);
    const names = async (of: Ledger) => Object.keys(await broken(of));
    expect(await names(ledger({ redemption_id: randomUUID() }))).toEqual(['acked_uses_kept']);
    expect(await names(ledger({ outcome: 'succeeded' }))).toEqual(['acked_uses_kept']);
    expect(await names(ledger({}, [{ request_id }, { request_id }]))).toEqual(['acked_approvals_kept']);
    await db()('notifications')
      .where({ request_id })
      .update({ message: `It says ${CANARY}` });
    expect(await broken(ledger())).toEqual({ acked_requests_silent: ['notifications'] });
  });

  it('a request that Assent sent twice, or never, and the secret that it carried', async () => {
    const receiver = await startReceiver();
    try {
      const http = { method: 'POST', url: receiver.url };
      const request = await buildRequest(app, team, team.member, { operation: undefined, http });
      const { request_id } = request;
      const names = async (arrivals: number) =>
        Object.keys(await broken(buildLedger({ performed: Array.from({ length: arrivals }, () => ({ request_id })) })));
      expect([await names(0), await names(1)]).toEqual([[], ['acked_performed_once']]);
      await about(app.as(team.manager), request).approve();
      await performRequest(app.services, request_id);
      await db()('outbox').delete();
      expect([await names(0), await names(1), await names(2)]).toEqual([['acked_performed_once'], [], ['acked_performed_once']]);
      await db()('change_request_results')
        .where({ request_id })
        .update({ result: `key ${SECRET}` });
      expect(await names(1)).toEqual(['acked_secret_silent']);
    } finally {
      receiver.close();
    }
  });

  describe('calls through the gateway', () => {
    let upstream: McpUpstream;
    let path: string;
    let token: string;
    const call = async (name: string, given: object) => {
      const { headers = {}, body } = buildToolCall(path, token, name, given);
      const answer = await fetch(app.url + path, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      });
      return ((await answer.json()) as { result: ToolResult }).result;
    };
    /** Asks for a call; `verb` decides about it, and the worker's part follows. */
    const ask = async (call_id: string, verb?: 'approve' | 'reject') => {
      const { structuredContent } = await call(ASKED, buildArguments(call_id));
      const request_id = structuredContent?.['request_id'] as string;
      const { body } = await app.as(team.manager).get(`/api/change-requests/${request_id}`);
      if (verb) await about(app.as(team.manager), body)[verb]();
      await performRequest(app.services, request_id);
      await db()('outbox').delete();
      return request_id;
    };
    const names = async (part: Partial<Ledger>) => Object.keys(await broken(buildLedger(part)));
    const acted = (call_id: string, tool: string, times: number) => Array.from({ length: times }, () => ({ call_id, tool }));

    beforeEach(async () => {
      const tool = (name: string) => ({ name, inputSchema: { type: 'object' } as const });
      upstream = await startUpstream([tool(ASKED), tool(PASSED)]);
      const body = { team_id: team.team_id, slug: 'chaos', url: upstream.url, hold_seconds: 0 };
      const made = (await app.as(team.admin).post('/api/mcp/upstreams', body)).body;
      path = `/api/mcp/gateway/${made.upstream_id}`;
      const { tool_hash } = made.tools.find(({ name }: { name: string }) => name === PASSED);
      await app.as(team.admin).put(`/api/mcp/upstreams/${made.upstream_id}/tools/${PASSED}`, { policy: 'allow', tool_hash });
      token = await buildToken(app, team.member, ['requests:create', 'requests:read']);
    });
    afterEach(() => upstream.close());

    it('one that was performed twice, without an approval, or never though it succeeded', async () => {
      const call_id = uuidv7();
      const acts = (times: number) => names({ acts: acted(call_id, ASKED, times) });
      expect([await acts(0), await acts(1)]).toEqual([[], ['acked_asks_act_once']]);
      await ask(call_id);
      expect([await acts(0), await acts(1)]).toEqual([[], ['acked_asks_act_once']]);
      const once = uuidv7();
      await ask(once, 'approve');
      const acts2 = (times: number) => names({ acts: acted(once, ASKED, times) });
      expect([await acts2(0), await acts2(1), await acts2(2)]).toEqual([['acked_asks_act_once'], [], ['acked_asks_act_once']]);
      // The agent calls again after it has the result: people approve once more.
      await call('assent_result', {
        request_id: (await db()('change_requests').whereNotNull('redemption_id').first()).request_id,
      });
      await ask(once, 'approve');
      expect(upstream.calls).toHaveLength(2);
      expect([await acts2(2), await acts2(3)]).toEqual([[], ['acked_asks_act_once']]);
    });

    it('a result that was not performed, is not kept, or is of another request', async () => {
      const call_id = uuidv7();
      const request_id = await ask(call_id, 'approve');
      const answered = { call_id, tool: ASKED, sent: 1, end: 'answered' as const, request_id };
      const acts = acted(call_id, ASKED, 1);
      expect(await names({ calls: [answered], acts })).toEqual([]);
      expect(await names({ calls: [answered], acts: [] })).toEqual(['acked_asks_act_once', 'acked_asks_answered']);
      expect(await names({ calls: [{ ...answered, request_id: randomUUID() }], acts })).toEqual(['acked_asks_answered']);
      const other = uuidv7();
      await ask(other);
      expect(await names({ calls: [{ ...answered, call_id: other, request_id: null }], acts })).toEqual(['acked_asks_answered']);
      await db()('change_request_results').where({ request_id }).delete();
      expect(await names({ calls: [answered], acts })).toEqual(['acked_asks_answered']);
    });

    it('a rejection that is lost or was used, and a call of which the agent was told that nothing was called', async () => {
      const [used, refused] = [uuidv7(), uuidv7()];
      const request_id = await ask(used, 'approve');
      const rejected = await ask(refused, 'reject');
      const acts = acted(used, ASKED, 1);
      const told = { call_id: refused, tool: ASKED, sent: 1, end: 'nothing' as const, request_id: rejected };
      expect(await names({ acts, calls: [told], rejections: [{ request_id: rejected }] })).toEqual([]);
      expect(await names({ acts, rejections: [{ request_id }] })).toEqual(['refused_calls_rest']);
      expect(await names({ acts, rejections: [{ request_id: randomUUID() }] })).toEqual(['refused_calls_rest']);
      expect(await names({ acts, calls: [{ ...told, request_id }] })).toEqual(['refused_calls_rest']);
      const more = [...acts, ...acted(refused, ASKED, 1)];
      expect(await names({ acts: more, calls: [told] })).toEqual(['acked_asks_act_once', 'refused_calls_rest']);
      const waiting = await ask(uuidv7());
      expect(await names({ acts, rejections: [{ request_id: waiting }] })).toEqual(['refused_calls_rest']);
    });

    it('one that passes through and was performed more often than it was sent, or answered and not performed, or not noted', async () => {
      const call_id = uuidv7();
      const answered = await call(PASSED, buildArguments(call_id));
      expect([answered.isError, upstream.calls.length]).toEqual([undefined, 1]);
      const passed = { call_id, tool: PASSED, sent: 1, end: 'answered' as const, request_id: null };
      const of = (times: number, more: object = {}) =>
        names({ calls: [{ ...passed, ...more }], acts: acted(call_id, PASSED, times) });
      expect([await of(1), await of(0), await of(2)]).toEqual([[], ['acked_passes_noted'], ['acked_passes_noted']]);
      expect([await of(2, { sent: 2 }), await of(0, { end: 'lost' })]).toEqual([[], []]);
      expect(await names({ acts: acted(call_id, PASSED, 1) })).toEqual(['acked_passes_noted']);
      await db()('mcp_calls').delete();
      expect([await of(1), await of(1, { end: 'lost' })]).toEqual([['acked_passes_noted'], []]);
    });

    it('the secret in a tool, and in a file of a copy over two blocks of the read', async () => {
      await db()('mcp_tools')
        .where({ name: ASKED })
        .update({ seen: `x ${SECRET}` });
      expect(await names({})).toEqual(['acked_secret_silent']);
      const dir = mkdtempSync(join(tmpdir(), 'assent-files-'));
      try {
        mkdirSync(join(dir, 'logs'));
        writeFileSync(join(dir, 'logs', 'api.log'), 'x'.repeat(3_000_000));
        expect((await judgeFiles(dir)).violations).toEqual([]);
        writeFileSync(join(dir, 'logs', 'worker.log'), `${'x'.repeat((1 << 20) - 5)}${SECRET}${'x'.repeat(100)}`);
        expect((await judgeFiles(dir)).violations).toEqual([join('logs', 'worker.log')]);
      } finally {
        rmSync(dir, { recursive: true });
      }
    });
  });

  it('a task that is gone, older, changed, or in the trash', async () => {
    const names = async (more: object) => Object.keys(await broken(buildLedger({ tasks: [acked(more)] })));
    expect(await names({ task_id: 'nowhere' })).toEqual(['acked_tasks_kept']);
    expect(await names({ version: 2 })).toEqual(['acked_tasks_kept']);
    expect(await names({ title: 'Something else' })).toEqual(['acked_tasks_kept']);
    expect(await names({ description: 'lost' })).toEqual(['acked_tasks_kept']);
    expect(await names({ trashed: true })).toEqual(['acked_tasks_kept']);
  });

  it('an update without a record, and one recorded under another version', async () => {
    await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: 'Second', version: 1 });
    await db()('outbox').delete();
    const update = { task_id: task.task_id, version: 2, title: 'Second' };
    expect(await broken(buildLedger({ updates: [update] }))).toEqual({});
    expect(Object.keys(await broken(buildLedger({ updates: [{ ...update, version: 3 }] })))).toEqual(['acked_updates_recorded']);
    expect(Object.keys(await broken(buildLedger({ updates: [{ ...update, title: 'Other' }] })))).toEqual([
      'acked_updates_recorded',
    ]);
  });

  it('a task or an update that no receiver got, and a delivery under two ids', async () => {
    const update = { task_id: task.task_id, version: 1, title: 'Write it down' };
    const names = async (part: Partial<Ledger>) => Object.keys(await broken(buildLedger(part)));
    expect(await names({ tasks: [acked()], received: [] })).toEqual(['acked_tasks_delivered']);
    expect(await names({ updates: [update], received: [] })).toContain('acked_updates_delivered');
    const again = () => ({ event_id: uuidv7(), type: 'task.created', entity_id: task.task_id, version: 1 });
    expect(await names({ tasks: [acked()], received: [again(), again()] })).toEqual(['deliveries_one_id']);
  });

  it('a task that set nothing off, or too much', async () => {
    const ledger = buildLedger({ tasks: [acked({ comments: ['by action 0'] })] });
    expect(await broken(ledger)).toEqual({});
    expect(Object.keys(await broken(buildLedger({ tasks: [acked({ comments: ['never'] })] })))).toEqual(['acked_tasks_fired']);
    await db()('comments').insert({
      task_id: task.task_id,
      team_id: team.team_id,
      content: 'by action 0',
      author_id: team.member.user_id,
    });
    expect(Object.keys(await broken(ledger))).toEqual(['acked_tasks_fired']);
  });

  it('a delivery that was lost, not applied, or applied twice', async () => {
    const ledger = buildLedger({ deliveries: [{ delivery_id: 'd1', title: 'Write it down' }] });
    expect(Object.keys(await broken(ledger))).toEqual(['acked_deliveries_applied']);
    await db()('forge_deliveries').insert({ delivery_id: 'd1', body_sha256: Buffer.alloc(32), outcome: 'failed' });
    expect(Object.keys(await broken(ledger))).toEqual(['acked_deliveries_applied']);
    await db()('forge_deliveries').update({ outcome: 'applied' });
    expect(await broken(ledger)).toEqual({});
    await buildTask(app, team, project);
    await db()('outbox').delete();
    expect(Object.keys(await broken(ledger))).toEqual(['acked_deliveries_applied']);
  });

  it('a decision that was lost, or not carried out, or carried out against a no', async () => {
    const of = (decision: 'approved' | 'rejected') =>
      buildLedger({ decisions: [{ run_id: run.run_id, gate_index: 1, decision }] });
    expect(Object.keys(await broken(of('approved')))).toEqual(['acked_decisions_carried_out']);
    await db()('gates').update({ decision: 'approved', decided_at: db().fn.now() });
    await db()('run_actions').where({ index: 1 }).update({ status: 'succeeded' });
    await db()('run_actions').where({ index: 2 }).update({ status: 'skipped' });
    await db()('automation_runs').update({ status: 'succeeded', finished_at: db().fn.now() });
    expect(Object.keys(await broken(of('approved')))).toEqual(['acked_decisions_carried_out']);
    await db()('run_actions').where({ index: 2 }).update({ status: 'succeeded' });
    await effect(2);
    expect(await broken(of('approved'))).toEqual({});
    await db()('gates').update({ decision: 'rejected' });
    expect(Object.keys(await broken(of('rejected')))).toEqual(['acked_decisions_carried_out', 'gates_kept']);
  });

  it('something done against a refusal', async () => {
    expect(await broken(buildLedger({ refused: [{ task_id: 'nowhere' }] }))).toEqual({});
    expect(Object.keys(await broken(buildLedger({ refused: [{ task_id: task.task_id }] })))).toEqual(['refused_left_nothing']);
  });

  it('a replay that never was', async () => {
    const ledger = buildLedger({ retries: [{ run_id: randomUUID(), retry_of: run.run_id }] });
    expect(Object.keys(await broken(ledger))).toEqual(['acked_retries_made']);
  });
});

describe('what always holds', () => {
  const plant = async (work: () => Promise<unknown>, ...names: string[]) => {
    await work();
    expect(Object.keys(await broken())).toEqual(names);
  };

  it('an effect of an action that did not succeed, and a success without one', async () => {
    await plant(() => db()('run_actions').where({ index: 0 }).update({ status: 'failed' }), 'effects_once');
    await db()('run_actions').where({ index: 0 }).update({ status: 'succeeded' });
    await plant(() => db()('effects').delete(), 'effects_once', 'effects_traced');
  });

  it('a write of a run beyond its effects: the second time is seen though the key is taken', async () => {
    await plant(() => trace(randomUUID()), 'effects_traced');
  });

  it('an effect whose comment is not there', async () => {
    await plant(() => db()('comments').delete(), 'effects_traced');
  });

  it('an effect behind a closed gate', async () => {
    await db()('run_actions').where({ index: 2 }).update({ status: 'succeeded' });
    await plant(() => effect(2), 'gates_kept');
  });

  it('a paused run that waits for another time than its gate, or without a gate, and a gate of a run that is not paused', async () => {
    await plant(() => db()('automation_runs').update({ status: 'running' }), 'paused_runs_wait');
    await db()('automation_runs').update({ status: 'paused' });
    await plant(() => db()('automation_runs').update({ gate_expires_at: db().fn.now() }), 'paused_runs_wait');
    await db()('automation_runs').update({ gate_expires_at: db()('gates').select('expires_at') });
    await plant(() => db()('gates').delete(), 'paused_runs_wait');
  });

  it('a run that ended with an action to come, and an end without a time', async () => {
    await db()('gates').update({ decision: 'rejected', decided_at: db().fn.now() });
    await plant(() => db()('automation_runs').update({ status: 'skipped', finished_at: db().fn.now() }), 'ends_are_whole');
    await db()('run_actions').whereNot({ index: 0 }).update({ status: 'skipped' });
    await plant(() => db()('automation_runs').update({ finished_at: null }), 'ends_are_whole');
  });

  it('a plan that is applied without its confirmation, open past its time, or half done', async () => {
    const action = { tool: 'task.set_status' as const, entity_id: task.task_id, params: { status: 'done' } };
    const { action_id } = await staged(app, team.member, [action]);
    await app.services.db('outbox').delete();
    const plan = () => db()('agent_plans').where({ action_id });
    const past = { staged_at: new Date(0), expires_at: db().raw("now() - interval '3 minutes'") };
    await plant(() => plan().update(past), 'plans_end', 'plans_carried');
    await plant(() => plan().update({ status: 'applied', decided_at: new Date() }), 'plans_applied_once', 'plans_are_whole');
    await db()('agent_actions').where({ action_id }).update({ result: 'applied' });
    await plant(() => plan().update({ status: 'discarded' }), 'plans_are_whole');
  });

  it('a request that is used without its quorum, twice, or open past its time', async () => {
    const request = await buildRequest(app, team, team.member);
    const [asker, approver] = [about(app.as(team.member), request), about(app.as(team.manager), request)];
    await db()('outbox').delete();
    const rows = () => db()('change_requests').where({ request_id: request.request_id });
    const given = () => db()('change_request_decisions').where({ request_id: request.request_id });
    const past = db().raw("now() - interval '3 minutes'");
    const { created_at, expires_at, request_hash, self_ids } = await rows().first();
    await plant(() => rows().update({ expires_at: past, created_at: new Date(0) }), 'requests_end', 'requests_carried');
    await rows().update({ expires_at, created_at });
    await approver.approve();
    await asker.redeem();
    await db()('outbox').delete();
    expect(await broken()).toEqual({});
    await plant(() => given().update({ request_hash: Buffer.alloc(32) }), 'requests_used_with_quorum');
    await given().update({ request_hash });
    await plant(() => rows().update({ self_ids: [team.manager.user_id] }), 'requests_used_with_quorum');
    await rows().update({ self_ids });
    await plant(() => rows().update({ outcome_due: past }), 'requests_end');
    await rows().update({ outcome_due: expires_at });
    await plant(() => rows().update({ redemption_id: randomUUID() }), 'requests_used_once');
  });

  it('a message without an answer, answered twice, out of order, or not counted', async () => {
    const { session_id } = await buildSession(app, team.member);
    const said = () => db()('agent_messages').insert({ session_id, role: 'user', content: 'close it' }).returning('message_id');
    const [[first], [second]] = [await said(), await said()];
    const turn = { session_id, user_id: team.member.user_id, provider: 'rules', correlation_id: uuidv7() };
    const done = { ...turn, state: 'answered', finished_at: new Date() };
    await db()('agent_turns').insert([
      { ...done, ...first },
      { ...done, ...second },
    ]);
    const answer = (message: { message_id: string }) =>
      db()('agent_messages').insert({ session_id, role: 'assistant', content: 'Done', answers: message.message_id });
    await plant(() => answer(second), 'turns_answered_once', 'turns_in_order');
    await plant(() => answer(first), 'turns_in_order');
    await db()('agent_messages').where({ answers: second.message_id }).delete();
    await answer(second);
    expect(await broken()).toEqual({});
    await plant(() => db()('agent_turns').where(first).update({ team_id: team.team_id }), 'messages_counted');
    await db()('agent_usage').insert({
      team_id: team.team_id,
      month: db().raw("date_trunc('month', now() at time zone 'utc')::date"),
      messages: 1,
    });
    await db()('agent_messages').where({ answers: second.message_id }).delete();
    const open = { state: 'running', finished_at: null, created_at: new Date(0) };
    await plant(() => db()('agent_turns').where(second).update(open), 'turns_end', 'turns_carried');
  });

  it('a series, a deprovisioning or a revocation without a workflow', async () => {
    const { user_id } = team.member;
    const created_at = db().raw("now() - interval '2 minutes'");
    const sealed = { data_key: Buffer.alloc(1), sealed_value: Buffer.alloc(1) };
    await buildTask(app, team, project, { recurrence: { rule: 'FREQ=DAILY', mode: 'on_complete', timezone: 'UTC' } });
    await db()('outbox').delete();
    const names = ['series_carried', 'deprovisions_carried', 'revocations_carried'];
    await plant(() => db()('task_series').update({ started_at: created_at }), ...names.slice(0, 1));
    const job = { user_id, reason: 'Left', correlation_id: uuidv7(), created_at };
    await plant(() => db()('deprovision_jobs').insert(job), ...names.slice(0, 2));
    await plant(() => db()('integration_revocations').insert({ user_id, provider: 'forge', ...sealed, created_at }), ...names);
  });

  it('a confirmed plan without its effect', async () => {
    const plans = [{ action_id: uuidv7(), content: 'agreed' }];
    expect(Object.keys(await broken({ ...emptyLedger(), plans }))).toEqual(['acked_plans_applied']);
  });

  it('an undo that left its comment, a proposal that is two plans, a failed run without a plan or with two', async () => {
    const names = async (part: Partial<Ledger>) => Object.keys(await broken(buildLedger(part)));
    const action = { tool: 'task.comment' as const, entity_id: task.task_id, params: { content: 'agreed' } };
    const first = await staged(app, team.member, [action]);
    await db()('outbox').delete();
    const { action_id } = first;
    expect(await names({ undone: [{ action_id, content: 'agreed' }] })).toEqual(['acked_undos_applied']);
    const proposals = [{ action_id, key: 'agreed' }];
    await db()('agent_plans').update({ source: 'mcp' });
    expect(await names({ proposals })).toEqual([]);
    expect(await names({ failures: [{ run_id: 7 }] })).toEqual(['acked_failures_triaged_once']);
    const failed = { source: 'ci_failure_triage', trigger: JSON.stringify({ forge_run_id: 7 }) };
    await db()('agent_plans').where({ action_id }).update(failed);
    expect(await names({ failures: [{ run_id: 7 }] })).toEqual([]);
    const second = await staged(app, team.member, [action]);
    await db()('outbox').delete();
    await db()('agent_plans').where({ action_id: second.action_id }).update(failed);
    expect(await names({ failures: [{ run_id: 7 }] })).toEqual(['acked_failures_triaged_once']);
    await db()('agent_plans').update({ source: 'mcp' });
    expect(await names({ proposals })).toEqual(['acked_proposals_staged_once']);
  });

  it('a night with two plans, and a plan that nothing waits for in Temporal', async () => {
    const session = await buildSession(app, { team_id: team.team_id }, { subject_key: 'triage:one' });
    const night = () => {
      const params = { content: `night ${uuidv7()}` };
      return staged(app, team.member, [{ tool: 'task.comment', entity_id: task.task_id, params }], { session });
    };
    const { action_id } = await night();
    await db()('outbox').delete();
    expect(await broken()).toEqual({});
    await night();
    await db()('outbox').delete();
    await plant(
      () =>
        db()('agent_plans')
          .where({ action_id })
          .update({ staged_at: db().raw("now() - interval '2 minutes'") }),
      'triages_staged_once',
      'plans_carried',
    );
  });

  it('one event that started one automation twice', async () => {
    await db()('automation_runs').update({ event: JSON.stringify({ event_id: 'e1' }) });
    const twin = () =>
      buildRun(app, team, {
        automation: run,
        status: 'skipped',
        statuses: ['skipped', 'skipped', 'skipped'],
        fields: { event: '{"event_id":"e1"}' },
      });
    await plant(
      async () =>
        db()('gates')
          .where({ run_id: (await twin()).run_id })
          .delete(),
      'events_fire_once',
    );
  });

  it('a delivery that nothing will finish', async () => {
    await plant(
      () => db()('forge_deliveries').insert({ delivery_id: 'd1', body_sha256: Buffer.alloc(32) }),
      'deliveries_settled',
    );
  });

  it('work that nobody takes from the outbox', async () => {
    const row = { kind: 'event', subject: 'task.created', correlation_id: uuidv7() };
    await plant(() => db()('outbox').insert({ ...row, created_at: db().raw("now() - interval '10 seconds'") }), 'outbox_empty');
  });

  it('a live task in a trashed project', async () => {
    await plant(() => db()('projects').update({ deleted_at: db().fn.now() }), 'trash_is_whole');
  });

  it('a live note in a trashed project', async () => {
    const other = await buildProject(app, team);
    await app.as(team.member).post('/api/notes', { title: 'x', ...other });
    await plant(() => db()('projects').where(other).update({ deleted_at: db().fn.now() }), 'trash_is_whole');
  });

  it('a version that no change explains, a change that no version counts, and a lost version of an automation', async () => {
    await plant(() => db()('tasks').update({ version: 2 }), 'versions_count_changes');
    await db()('tasks').update({ version: 1 });
    await app.as(team.member).patch(`/api/tasks/${task.task_id}`, { title: 'Second' });
    await db()('outbox').delete();
    expect(await broken()).toEqual({});
    await plant(() => db()('tasks').update({ version: 1 }), 'versions_count_changes');
    await db()('tasks').update({ version: 2 });
    await plant(() => db()('automations').update({ version: 2 }), 'versions_count_changes');
  });

  it('a task that came and went explains a version by its moves only', async () => {
    await app.as(team.member).delete(`/api/tasks/${task.task_id}`);
    await app.as(team.member).post(`/api/trash/task/${task.task_id}/restore`);
    await db()('outbox').delete();
    expect(await broken()).toEqual({});
    await plant(() => db()('tasks').update({ version: 4 }), 'versions_count_changes');
  });

  it('a 51st token', async () => {
    for (let n = 0; n < 51; n += 1) await buildToken(app, team.member, ['tasks:read']);
    expect(Object.keys(await broken())).toEqual(['tokens_limited']);
  });

  it('a team whose only admin was deprovisioned, and what that user left behind', async () => {
    const { user_id } = team.admin;
    await plant(() => db()('users').where({ user_id }).update({ status: 'deprovisioned' }), 'teams_have_admin');
    await db()('users').where({ user_id }).update({ status: 'active' });
    const job = { user_id: team.guest.user_id, reason: 'Left', correlation_id: uuidv7(), status: 'succeeded' };
    await plant(() => db()('deprovision_jobs').insert(job), 'deprovisioned_keep_nothing');
  });

  it('an automation that is enabled while its creator may not write', async () => {
    const name = 'enabled_automations_have_creators';
    const membership = () => db()('memberships').where({ team_id: team.team_id, user_id: team.member.user_id });
    await plant(() => membership().update({ role: 'guest' }), name);
    await plant(() => membership().delete(), name);
    await membership().insert({ team_id: team.team_id, user_id: team.member.user_id, role: 'member' });
    await plant(() => db()('users').where({ user_id: team.member.user_id }).update({ status: 'suspended' }), name);
  });

  it('a task below itself', async () => {
    const child = await buildTask(app, team, project, { parent_task_id: task.task_id });
    await db()('outbox').delete();
    await plant(() => db()('tasks').where({ task_id: task.task_id }).update({ parent_task_id: child.task_id }), 'edges_end');
  });

  it('a cycle of relations, an edge whose end is in another team, an id under another type', async () => {
    const other = await buildTask(app, team, project);
    const as = app.as(team.member);
    const edge = { source_id: task.task_id, target_id: other.task_id, relation_type: 'blocks' };
    const { relation_id } = (await as.post('/api/work-items/relations', edge)).body;
    await db()('outbox').delete();
    expect(await broken()).toEqual({});
    const back = {
      relation_type: 'blocks',
      source_id: other.task_id,
      target_id: task.task_id,
      kind: 'blocks',
      created_by: team.member.user_id,
    };
    const teams = { from_team_id: team.team_id, to_team_id: team.team_id, team_id: team.team_id };
    const reverse = { ...back, ...teams, from_id: other.task_id, to_id: task.task_id };
    await plant(() => db()('relations').insert(reverse), 'edges_end');
    await db()('relations').where({ source_id: other.task_id }).delete();
    const stranger = await buildTeam(app);
    await plant(() => db()('relations').where({ relation_id }).update({ to_team_id: stranger.team_id }), 'edges_have_ends');
    await db()('relations').where({ relation_id }).update({ to_team_id: team.team_id });
    await plant(() => db()('item_keys').where({ item_id: other.task_id }).update({ item_type: 'note' }), 'items_keyed');
  });

  it('an item that search does not know, one that it should not know, and a mark that is never taken', async () => {
    const document = (fields: Record<string, unknown>) => ({ team_id: team.team_id, touched_at: new Date(), tsv: '', ...fields });
    await db()('search_dirty').delete();
    expect(Object.keys(await broken())).toEqual(['items_indexed']);
    const { rows } = await db().raw('select item_id, title from item_place where deleted_at is null');
    await db()('search_documents').insert(rows.map(document));
    expect(await broken()).toEqual({});
    await plant(() => db()('search_documents').insert(document({ item_id: 'nothing', title: 'gone' })), 'items_indexed');
    await db()('search_documents').where({ item_id: 'nothing' }).delete();
    await db()('heartbeats').insert({ process: 'worker', seen_at: new Date(), details: '{}' });
    const old = { team_id: team.team_id, item_id: task.task_id, marked_at: db().raw("now() - interval '2 minutes'") };
    await plant(() => db()('search_dirty').insert(old), 'marks_indexed');
  });

  it('an acknowledged note that is gone, or twice, or has an older text; an acknowledged relation that is gone', async () => {
    const note = { note_id: uuidv7(), title: 'Acknowledged', content: 'new' };
    const relation = { relation_id: uuidv7(), source_id: task.task_id, target_id: note.note_id };
    expect(Object.keys(await broken({ ...emptyLedger(), notes: [note] }))).toEqual(['acked_notes_kept']);
    expect(Object.keys(await broken({ ...emptyLedger(), relations: [relation] }))).toEqual(['acked_relations_kept']);
    const made = (await app.as(team.member).post('/api/notes', { title: note.title, content: 'new', ...project })).body;
    await db()('outbox').delete();
    expect(await broken({ ...emptyLedger(), notes: [{ ...note, note_id: made.note_id }] })).toEqual({});
    expect(
      Object.keys(await broken({ ...emptyLedger(), notes: [{ ...note, note_id: made.note_id, content: 'newer' }] })),
    ).toEqual(['acked_notes_kept']);
    await app.as(team.member).post('/api/notes', { title: note.title, content: 'new', ...project });
    await db()('outbox').delete();
    expect(Object.keys(await broken({ ...emptyLedger(), notes: [{ ...note, note_id: made.note_id }] }))).toEqual([
      'acked_notes_kept',
    ]);
  });

  it('a cycle without its tasks, tasks without their cycle, two active cycles, and a date without a clock', async () => {
    const member = app.as(team.member);
    const { cycle_id } = (await member.post('/api/sprints', { name: 'Cycle', ...project })).body;
    await member.post(`/api/sprints/${cycle_id}/tasks`, { task_ids: [task.task_id] });
    await member.post(`/api/sprints/${cycle_id}/start`);
    await db()('outbox').delete();
    expect(await broken()).toEqual({});
    const cycle = () => db()('cycles').where({ cycle_id });
    const stay = () => db()('cycle_tasks').where({ cycle_id });
    await plant(() => stay().update({ removed_at: new Date() }), 'stays_open');
    await stay().update({ removed_at: null });
    const other = await buildProject(app, team);
    await plant(() => cycle().update(other), 'cycles_hold_their_own');
    await cycle().update(project);
    const due = { end_date: '2099-01-01', auto_complete: true, updated_at: db().raw("now() - interval '2 minutes'") };
    await cycle().update(due);
    await plant(() => db()('outbox').delete(), 'cycles_clocked');
    await cycle().update({ auto_complete: false });
    await db()('outbox').delete();
    await db().raw('drop index active_cycle');
    const twin = (await member.post('/api/sprints', { name: 'Twin', ...project })).body;
    const second = () => db()('cycles').where({ cycle_id: twin.cycle_id });
    await plant(() => second().update({ status: 'active', started_at: new Date() }), 'one_active_cycle');
    await second().delete();
    expect(Object.keys(await broken(buildLedger({ cycles: [{ cycle_id }] })))).toEqual(['acked_cycles_completed']);
    await member.post(`/api/sprints/${cycle_id}/complete`);
    await db()('outbox').delete();
    expect(await broken(buildLedger({ cycles: [{ cycle_id }] }))).toEqual({});
    await plant(() => stay().update({ outcome: 'completed' }), 'snapshots_true');
  });

  it('a document without its values, a value of another team, a view of nobody, and lost values and views', async () => {
    const field = await createField(app, team, 'number');
    const value = { field_id: field.field_id, entity_type: 'task', entity_id: task.task_id, value: 7 };
    await app.as(team.member).put('/api/custom-fields/values', value);
    const body = { name: 'View', entity_type: 'task', team_id: team.team_id };
    const { view_id } = (await app.as(team.member).post('/api/saved-views', body)).body;
    await db()('outbox').delete();
    const values = [{ field_id: field.field_id, entity_id: task.task_id, value: 7 }];
    const views = [{ view_id, name: 'View', deleted: false }];
    expect(await broken(buildLedger({ values, views }))).toEqual({});
    const outsider = await buildPerson(app);
    const lost = { values: [{ ...values[0]!, value: 8 }], views: [{ ...views[0]!, deleted: true }] };
    expect(Object.keys(await broken(buildLedger(lost)))).toEqual(['acked_values_kept', 'acked_views_kept']);
    await plant(() => db()('custom_field_documents').update({ members: '' }), 'documents_true');
    await db()('custom_field_documents').update({ members: `"${field.key}":7` });
    await plant(() => db()('saved_views').update({ owner_id: outsider.user_id }), 'views_of_members');
    await db()('saved_views').delete();
    await plant(
      () => forge('update custom_field_values set team_id = (select uuidv7()) where entity_id = ?', [task.task_id]),
      'values_of_their_team',
      'teams_apart',
    );
  });

  it('a job that waits for nobody, ends twice, exports half, or has no workflow', async () => {
    const { job_id } = (await app.as(team.manager).post('/api/bulk/export', { team_id: team.team_id, format: 'json' })).body;
    await db()('outbox').delete();
    expect(await broken()).toEqual({});
    const job = () => db()('bulk_jobs').where({ job_id });
    await plant(() => job().update({ is_dispatched: false, waiting_since: new Date() }), 'jobs_take_turns');
    await job().update({ is_dispatched: true, waiting_since: null });
    await plant(() => job().update({ created_at: db().raw("now() - interval '2 minutes'") }), 'jobs_carried');
    await app.as(team.manager).post(`/api/bulk/jobs/${job_id}/cancel`);
    expect(await broken()).toEqual({});
    await plant(() => job().update({ status: 'succeeded', processed: 1, total: 2 }), 'exports_are_whole');
    await job().update({ status: 'cancelled' });
    await plant(() => job().update({ status: 'running', finished_at: null }), 'jobs_end_once');
  });

  it('an import that counts what it did not write, or writes twice, and an undo that leaves something', async () => {
    const manager = app.as(team.manager);
    const { project_id } = project;
    const [tag, id] = ['a tag', uuidv7()];
    const lines = [{ entity: 'task', task_id: id, title: `imported ${tag}`, project_id }, { entity: 'task' }];
    const { job_id } = await importText(app, manager, team, ndjson(lines));
    await db()('outbox').delete();
    const counts = { total: 2, created: 1, updated: 0, skipped: 0, failed: 1 };
    const wanted = { job_id, tag, counts, failing: [2], cancelled: false, undone: false, kept: null };
    const ledger = (more: object = {}) => buildLedger({ imports: [{ ...wanted, ...more }] });
    expect(await broken(ledger())).toEqual({});
    for (const lost of [{ counts: { ...counts, created: 2 } }, { failing: [] }, { cancelled: true, failing: [] }])
      expect(Object.keys(await broken(ledger(lost)))).toEqual(['acked_imports_applied']);
    for (const lost of [{ tag: 'another' }, { undone: true }, { kept: id, undone: true }])
      expect(Object.keys(await broken(ledger(lost)))).toEqual(['acked_imports_left']);
    const job = () => db()('bulk_jobs').where({ job_id });
    const rows = () => db()('bulk_rows').where({ job_id, outcome: 'created' });
    await plant(() => job().update({ created: 0, skipped: 1 }), 'imports_add_up');
    await plant(() => job().update({ created: 1, skipped: 0, processed: 1 }), 'imports_add_up');
    await job().update({ processed: 2 });
    await plant(() => rows().update({ undone_at: new Date() }), 'undos_are_whole');
    await rows().update({ undone_at: null });
    await manager.post(`/api/bulk/jobs/${job_id}/undo`);
    await db()('outbox').delete();
    expect(await broken()).toEqual({});
    const late = () => forge("update audit_entries set timestamp = '2026-01-01T00:00:00.000000' where action = 'undo'");
    await plant(late, 'undos_carried', 'chain_intact');
    await finishUndo(app, job_id);
    await db()('outbox').delete();
    expect(Object.keys(await broken(ledger({ undone: true })))).toEqual(['chain_intact']);
    await plant(() => rows().update({ undone_at: null }), 'versions_count_changes', 'undos_are_whole', 'chain_intact');
    await rows().update({ undone_at: new Date() });
    await plant(
      () => forge("delete from audit_entries where entity_id = ? and action = 'create'", [id]),
      'imports_write_once',
      'chain_intact',
    );
  });

  it('a run that stands still', async () => {
    const still = { status: 'running', queued_at: db().raw("now() - interval '2 minutes'") };
    await db()('gates').update({ decision: 'approved', decided_at: db().raw("now() - interval '90 seconds'") });
    await plant(() => db()('automation_runs').update(still), 'runs_carried');
  });

  it('a row that refers to another team’s', async () => {
    const other = await buildTeam(app);
    const apart = 'update tasks set team_id = ?';
    await expect(db().raw(apart, [other.team_id])).rejects.toMatchObject({ code: '23503' });
    await plant(() => forge(apart, [other.team_id]), 'teams_apart');
    const names = (await broken())['teams_apart']?.map((line) => line.split(':')[0]);
    expect(names?.toSorted()).toEqual(['comments_task_id_fkey', 'tasks_project_id_team_id_fkey']);
  });

  it('an audit entry that was changed', async () => {
    await verifyChain(app.services);
    await plant(() => forge("update audit_entries set action = 'discard' where entity_type = 'automation'"), 'chain_intact');
  });
});
