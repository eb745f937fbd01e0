import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { seededRandom } from '../../../../scripts/chaos/random.js';
import { expireRequests, forgetOutcomes } from '../../../../api/gate/requests/waiting/settle-request.js';
import { buildPerson, buildTeam, buildToken, type Person, type TestTeam } from '../../../factories/people.js';
import { about, buildRequest, OPERATION, type TestRequest } from '../../../factories/requests.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';

// People decide, time passes and the requester acts, all at once. One end wins, and what is used was approved by enough other people.

/** `npm run test:long` plays each race far more often. */
const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 3);
const LONG = 120_000 + ROUNDS * 4_000;

let app: TestApp;
let team: TestTeam;
let other: Person;
let operator: Person;
/** Answers of a round; none may be a 5xx. */
let answers: Answer[] = [];

beforeAll(async () => {
  app = await startApp({}, 60_000);
  operator = await buildPerson(app, { role: 'admin' });
  // A second administrator of the installation, so that the first one may be busy.
  await buildPerson(app, { role: 'admin' });
});
afterAll(() => app.close());
beforeEach(() => {
  answers = [];
});
afterEach(async () => {
  expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  expect(await violations()).toEqual([]);
}, LONG);

const db = () => app.services.db;
const times = <T>(count: number, of: (nth: number) => T): T[] => Array.from({ length: count }, (_, nth) => of(nth));
const row = ({ request_id }: { request_id: string }) => db()('change_requests').where({ request_id }).first();
const decisions = ({ request_id }: { request_id: string }) => db()('change_request_decisions').where({ request_id });
const audits = ({ request_id }: { request_id: string }, action: string) =>
  db()('audit_entries').where({ entity_id: request_id, action }).pluck<string[]>('audit_id');
const as = (who: Person | string, request: TestRequest) => about(app.as(who), request);
/** Keeps an answer for the check of the round. */
async function noted(call: Promise<Answer>): Promise<Answer> {
  const answer = await call;
  answers.push(answer);
  return answer;
}
const all = (calls: Promise<Answer>[]): Promise<Answer[]> => Promise.all(calls.map(noted));
const statuses = (of: Answer[]) => of.map(({ status }) => status).toSorted((a, b) => a - b);
const seat = ({ user_id }: Person) => `/api/teams/${team.team_id}/members/${user_id}`;
const later = (ms: number) => db().raw(`clock_timestamp() + interval '${ms} ms'`);
const move = ({ request_id }: TestRequest, fields: Record<string, unknown>) =>
  db()('change_requests').where({ request_id }).update(fields);

/** A team with four people who may decide. */
async function prepare(): Promise<void> {
  team = await buildTeam(app);
  other = await buildPerson(app);
  await db()('memberships').insert({ team_id: team.team_id, user_id: other.user_id, role: 'manager' });
}
const ask = (fields: Record<string, unknown> = {}, by: Person | string = team.member) => buildRequest(app, team, by, fields);
const rounds = async (play: (round: number) => Promise<void>): Promise<void> => {
  for (let round = 0; round < ROUNDS; round += 1) {
    await prepare();
    await play(round);
  }
};

/**
 * Requests that were used, or may be, without approvals of enough different people who are not behind them, for the very text; and ends with more or
 * fewer entries in the audit log than one.
 */
async function violations(): Promise<string[]> {
  const { rows } = await db().raw<{ rows: { violation: string }[] }>(/* sql */ `
    select format('%s is %s with %s of %s approvals', r.request_id, r.status, a.count, r.required_approvals) as violation
    from change_requests r cross join lateral (
      select count(distinct d.user_id) from change_request_decisions d
      where d.request_id = r.request_id and d.revision = r.revision and d.request_hash = r.request_hash and d.decision = 'approved'
        and (r.allow_self or d.user_id <> all(r.self_ids))
    ) a where (r.status in ('approved', 'redeemed') and a.count < r.required_approvals)
      or (r.status = 'pending' and a.count >= r.required_approvals)
    union all
    select format('%s is %s with %s entries of its use', r.request_id, r.status, a.count) from change_requests r cross join lateral (
      select count(*) from audit_entries e where e.entity_id = r.request_id::text and e.action = 'redeem'
    ) a where a.count <> (r.status = 'redeemed')::int
    union all
    select format('%s is %s with an approval of %s, who may not give one', r.request_id, r.status, d.user_id)
    from change_requests r join change_request_decisions d using (request_id, revision)
      left join memberships m on m.team_id = r.team_id and m.user_id = d.user_id left join users u on u.user_id = d.user_id
    where r.status in ('pending', 'approved') and d.decision = 'approved'
      and (m.role is null or m.role not in ('manager', 'admin') or u.status <> 'active')
    union all
    select format('%s is %s, yet nobody may use it', r.request_id, r.status) from change_requests r
      left join memberships m on m.team_id = r.team_id and m.user_id = r.requested_by left join users u on u.user_id = r.requested_by
      left join personal_access_tokens t using (token_id)
    where r.status in ('pending', 'approved') and (m.role is null or m.role = 'guest' or u.status <> 'active' or t.revoked_at is not null)`);
  return rows.map(({ violation }) => violation);
}

it(
  'two approvals at once meet a quorum of two',
  () =>
    rounds(async () => {
      const requests = await Promise.all(
        times(10, (nth) =>
          ask({ operation: { ...OPERATION, target: `host ${nth}` }, requirement: { role: 'manager', approvals: 2 } }),
        ),
      );
      const given = await Promise.all(
        requests.map((request) => all([as(team.manager, request).approve(), as(other, request).approve()])),
      );
      for (const [nth, pair] of given.entries()) {
        expect(statuses(pair)).toEqual([200, 200]);
        expect(new Set(pair.map(({ body }) => body.approvals_needed as number))).toEqual(new Set([0, 1]));
        expect((await row(requests[nth] as TestRequest)).status).toBe('approved');
      }
    }),
  LONG,
);

it(
  'everything at once: what is used has its quorum, and is used once',
  () =>
    rounds(async (round) => {
      const random = seededRandom(round + 1);
      // The requester has the role too, and is behind the request.
      const requester = await buildPerson(app);
      await db()('memberships').insert({ team_id: team.team_id, user_id: requester.user_id, role: 'manager' });
      const play = async (nth: number): Promise<void> => {
        const target = `host ${nth}`;
        const request = await ask({ operation: { ...OPERATION, target }, requirement: { approvals: 2 } }, requester);
        // A third of them nobody ends, however slow the machine is.
        const isCalm = nth % 3 === 0;
        const lasts = isCalm ? 3_600_000 : random.between(20, 400);
        await move(request, { expires_at: later(lasts) });
        const soon = async <T>(what: () => Promise<T>, max = 80): Promise<T> => {
          await sleep(random.between(0, max));
          return what();
        };
        const use = async (redemption_id: string) => {
          // A caller polls until it may use it, as programs do.
          for (let tries = 0; ; tries += 1) {
            const answer = await noted(as(requester, request).redeem({ redemption_id }));
            if (answer.body.request_status !== 'pending' || tries === 6) return answer;
            await sleep(random.between(0, 30));
          }
        };
        const ids = times(3, () => randomUUID());
        const wrong = { request_hash: `sha256:${'0f'.repeat(32)}` };
        const [approvals, refused, ends, uses] = await Promise.all([
          Promise.all([team.manager, other, team.admin].map((who) => soon(() => noted(as(who, request).approve())))),
          Promise.all([
            soon(() => noted(as(requester, request).approve())),
            soon(() => noted(as(team.admin, request).approve(wrong))),
            soon(() => noted(as(team.guest, request).approve())),
            soon(() => noted(as(other, request).redeem())),
          ]),
          Promise.all([
            isCalm ? undefined : soon(() => noted(as(requester, request).cancel()), 600),
            isCalm ? undefined : soon(() => noted(as(other, request).reject()), 400),
            soon(() => expireRequests(app.services), 500),
          ]),
          Promise.all([ids[0], ids[0], ids[1], ids[2]].map((id) => soon(() => use(id as string)))),
        ]);
        if (isCalm) uses.push(await use(ids[0] as string));
        for (const { status } of refused) expect([403, 409, 410]).toContain(status);
        for (const { status } of approvals) expect([200, 409, 410]).toContain(status);
        const { status, redemption_id, request_hash } = await row(request);
        const used = uses.filter((answer) => answer.status === 200);
        expect([...new Set(used.map(({ body }) => body.request.redeemed_at as string))]).toHaveLength(
          status === 'redeemed' ? 1 : 0,
        );
        expect(new Set(used.map(({ body }) => body.receipt as string)).size).toBeLessThanOrEqual(1);
        if (status === 'redeemed') {
          expect(ids).toContain(redemption_id);
          expect(new Set(used.map(({ body }) => body.request.seq as number)).size).toBe(1);
          const claims = JSON.parse(Buffer.from(used[0]?.body.receipt.split('.')[1], 'base64url').toString());
          const people = (await decisions(request).where({ decision: 'approved', request_hash }).pluck('user_id')) as string[];
          const named = (claims.assent.approved_by as { user_id: string }[]).map(({ user_id }) => user_id);
          expect(named.toSorted()).toEqual(people.toSorted());
          expect(new Set(named).size).toBe(2);
          expect(named).not.toContain(requester.user_id);
        } else for (const answer of uses) expect([409, 410]).toContain(answer.status);
        const [cancelled, rejected] = ends;
        expect([cancelled?.status === 200, rejected?.status === 200]).toEqual([status === 'cancelled', status === 'rejected']);
        if (isCalm) expect(status).toBe('redeemed');
      };
      await Promise.all(times(12, play));
    }),
  LONG,
);

const decideMany = (who: Person, mode: 'each' | 'all', requests: TestRequest[], decision = 'approve') =>
  app.as(who).post('/api/approvals/decide', {
    decision,
    mode,
    items: requests.map(({ request_id, request_hash }) => ({ kind: 'request', id: request_id, staged_hash: request_hash })),
  });
const askMany = (count: number, by: Person | string = team.member) =>
  Promise.all(times(count, (nth) => ask({ operation: { ...OPERATION, target: `host ${nth}` } }, by)));

it(
  'batches from both ends, batches of all or none and single decisions: each request is decided once',
  () =>
    rounds(async () => {
      const requests = await askMany(16);
      const groups = [requests.slice(2, 6), requests.slice(5, 9).toReversed(), requests.slice(12)];
      const [up, down, ...rest] = await all([
        decideMany(team.manager, 'each', requests),
        decideMany(team.admin, 'each', requests.toReversed()),
        ...groups.map((group) => decideMany(other, 'all', group)),
        ...[1, 7, 14].map((at) => as(other, requests[at] as TestRequest).reject()),
      ]);
      const together = rest.slice(0, groups.length);
      for (const [at, { status }] of together.entries()) {
        expect([200, 409]).toContain(status);
        const ids = (groups[at] as TestRequest[]).map(({ request_id }) => request_id);
        const own = db()('change_request_decisions').whereIn('request_id', ids).where({ user_id: other.user_id });
        if (status === 200) expect(await own.where({ decision: 'approved' })).toHaveLength(ids.length);
      }
      for (const request of requests) {
        const { status } = await row(request);
        expect(['approved', 'rejected']).toContain(status);
        expect(await decisions(request)).toMatchObject([{ decision: status }]);
        expect([(await audits(request, 'approve')).length, (await audits(request, 'reject')).length]).toEqual(
          status === 'approved' ? [1, 0] : [0, 1],
        );
        const yes = [up, down].flatMap((answer) =>
          ((answer as Answer).body.results as { id: string; status?: string }[]).filter(
            (one) => one.id === request.request_id && one.status === 'approved',
          ),
        );
        expect(yes.length).toBeLessThanOrEqual(1);
      }
    }),
  LONG,
);

it(
  'batches of all in opposite order: one wins whole',
  () =>
    rounds(async () => {
      const requests = await askMany(12);
      const given = await all([
        decideMany(team.manager, 'all', requests),
        decideMany(other, 'all', requests.toReversed()),
        decideMany(team.admin, 'all', requests, 'reject'),
      ]);
      expect(statuses(given)).toEqual([200, 409, 409]);
      expect(new Set(await db()('change_requests').where({ team_id: team.team_id }).pluck('status')).size).toBe(1);
    }),
  LONG,
);

/** Ways in which an approver loses what an approval needs. */
const LOSSES: [string, (who: Person) => Promise<Answer>][] = [
  ['demoted', (who) => app.as(team.admin).patch(seat(who), { role: 'member' })],
  ['removed', (who) => app.as(team.admin).delete(seat(who))],
  ['suspended', (who) => app.as(operator).post(`/api/admin/users/${who.user_id}/suspend`, { reason: 'Left' })],
];

it.each(LOSSES)(
  'an approver is %s while the request is used: before it, or it waits again',
  (_, lose) =>
    rounds(async () => {
      const requests = await askMany(6);
      await all(requests.map((request) => as(team.manager, request).approve()));
      const [lost, ...used] = await all([lose(team.manager), ...requests.map((request) => as(team.member, request).redeem())]);
      expect(lost?.status).toBe(200);
      for (const [at, { status, body }] of used.entries()) {
        const request = requests[at] as TestRequest;
        expect((await row(request)).status).toBe(status === 200 ? 'redeemed' : 'pending');
        if (status !== 200) expect(body).toMatchObject({ reason: 'not_approved', request_status: 'pending' });
        expect(await decisions(request)).toHaveLength(status === 200 ? 1 : 0);
      }
    }),
  LONG,
);

it.each(LOSSES)(
  'an approver is %s while they approve, singly and in batches: no approval of theirs stays',
  (_, lose) =>
    rounds(async () => {
      const requests = await askMany(8);
      const halves = [requests.slice(0, 3), requests.slice(3, 6).toReversed()] as const;
      const [lost] = await all([
        lose(team.manager),
        decideMany(team.manager, 'all', halves[0]),
        decideMany(team.manager, 'each', halves[1]),
        ...requests.slice(6).map((request) => as(team.manager, request).approve()),
        ...requests.slice(4).map((request) => as(other, request).approve()),
      ]);
      expect(lost?.status).toBe(200);
    }),
  LONG,
);

it.each(LOSSES)(
  'the requester is %s while requests are made, approved in batches and used: none stays that they cannot use',
  (_, lose) =>
    rounds(async () => {
      const requests = await askMany(6);
      await all(requests.slice(0, 3).map((request) => as(team.manager, request).approve()));
      const made = times(4, (nth) =>
        app.as(team.member).post('/api/change-requests', {
          team_id: team.team_id,
          title: 'Late',
          operation: { ...OPERATION, target: `late ${nth}` },
        }),
      );
      const [lost] = await all([
        lose(team.member),
        ...made,
        decideMany(other, 'all', requests.slice(2).toReversed()),
        decideMany(team.admin, 'all', requests.slice(3)),
        ...requests.map((request) => as(team.member, request).redeem()),
      ]);
      expect(lost?.status).toBe(200);
    }),
  LONG,
);

it(
  'a token is revoked while it asks and uses, and people decide in batches: nothing of it stays open',
  () =>
    rounds(async () => {
      const secret = await buildToken(app, team.member, ['requests:create', 'requests:read']);
      const { token_id } = await db()('personal_access_tokens').where({ user_id: team.member.user_id }).first();
      const requests = await askMany(8, secret);
      await all(requests.slice(0, 4).map((request) => as(team.manager, request).approve()));
      const [revoked, ...rest] = await all([
        app.as(team.member).delete(`/api/auth/tokens/${token_id}`),
        ...requests.map((request) => as(nthOf(request) % 2 === 0 ? secret : team.member, request).redeem()),
        ...times(4, (nth) =>
          app.as(secret).post('/api/change-requests', {
            team_id: team.team_id,
            title: 'Late',
            operation: { ...OPERATION, target: `late ${nth}` },
          }),
        ),
        decideMany(other, 'all', requests.slice(4).toReversed()),
        decideMany(team.admin, 'each', requests.slice(4)),
      ]);
      expect(revoked?.status).toBe(200);
      for (const { status } of rest) expect([200, 201, 401, 409]).toContain(status);
      for (const request of requests) expect(['redeemed', 'cancelled']).toContain((await row(request)).status);

      function nthOf({ request_id }: TestRequest): number {
        return requests.findIndex((one) => one.request_id === request_id);
      }
    }),
  LONG,
);

it(
  'an edit, approvals and uses: what is used is the text that people approved',
  () =>
    rounds(async () => {
      const editable = ['/operations/0/arguments/version'];
      const requests = await Promise.all(
        times(8, (nth) => ask({ editable, operation: { ...OPERATION, target: `host ${nth}` } })),
      );
      await Promise.all(
        requests.map(async (request, nth) => {
          const operations = [{ ...OPERATION, target: `host ${nth}`, arguments: { version: '4.3' } }];
          const editing = noted(as(team.admin, request).edit({ operations }));
          const [edited, ...uses] = await Promise.all([
            editing,
            ...times(4, async () => {
              await sleep(nth * 2);
              return noted(as(team.member, request).redeem());
            }),
            editing.then(({ status, body }) => noted(as(team.member, status === 200 ? (body as TestRequest) : request).redeem())),
            noted(as(team.manager, request).approve()).then((answer) => ({ ...answer, status: 0 })),
            editing.then(async ({ status, body }) => ({
              ...(await noted(as(other, status === 200 ? (body as TestRequest) : request).approve())),
              status: 0,
            })),
          ]);
          const { status, revision, request_hash } = await row(request);
          const used = uses.filter((answer) => answer.status === 200);
          expect(used).toHaveLength(status === 'redeemed' ? 1 : 0);
          if (status !== 'redeemed') return;
          expect(edited.status).toBe(revision === 2 ? 200 : 409);
          const { operations: got, request: shown } = (used[0] as Answer).body as { operations: object[]; request: TestRequest };
          expect(got).toMatchObject([{ arguments: { version: revision === 2 ? '4.3' : '4.2' } }]);
          expect(shown.request_hash).toBe(`sha256:${(request_hash as Buffer).toString('hex')}`);
        }),
      );
    }),
  LONG,
);

it(
  'the last microsecond: an approval is before the end of the time, or there is none',
  () =>
    rounds(async () => {
      const requests = await askMany(10);
      await Promise.all(
        requests.map(async (request, nth) => {
          await move(request, { expires_at: later(nth * 4) });
          const [approved, late] = await all([as(team.manager, request).approve(), as(other, request).approve()]);
          await Promise.all(times(3, () => expireRequests(app.services, request.request_id)));
          const { status, expires_at, seq } = await row(request);
          const given = (await db().raw(
            /* sql */ `select count(*)::int as count, bool_and(d.decided_at < r.expires_at) as before
              from change_request_decisions d join change_requests r using (request_id) where request_id = ?`,
            [request.request_id],
          )) as { rows: [{ count: number; before: boolean | null }] };
          const isApproved = [approved, late].some((answer) => answer?.status === 200);
          expect(given.rows[0]).toEqual(isApproved ? { count: 1, before: true } : { count: 0, before: null });
          const isOver = (await db().raw('select clock_timestamp() > ? as over', [expires_at])).rows[0].over as boolean;
          expect(status).toBe(isApproved ? 'approved' : isOver ? 'expired' : status);
          if (!isApproved && isOver) expect(seq).toBe(2);
        }),
      );
    }),
  LONG,
);

it(
  'the last microsecond of the use: it is used or has expired, and every caller is told the same',
  () =>
    rounds(async () => {
      const requests = await askMany(10);
      await Promise.all(
        requests.map(async (request, nth) => {
          await noted(as(team.manager, request).approve());
          await move(request, { use_until: later(nth * 3) });
          const redemption_id = randomUUID();
          const [uses] = await Promise.all([
            all(times(3, () => as(team.member, request).redeem({ redemption_id }))),
            expireRequests(app.services, request.request_id),
            expireRequests(app.services),
          ]);
          await expireRequests(app.services, request.request_id);
          const { status } = await row(request);
          // The clock decides for all three: the first to come has used it, or all came too late.
          expect(statuses(uses)).toEqual(status === 'redeemed' ? [200, 200, 200] : [410, 410, 410]);
          if (status === 'redeemed') return;
          for (const { body } of uses) expect(body).toMatchObject({ error_code: 'REQUEST_EXPIRED', reason: 'use_window' });
          expect(await audits(request, 'expire')).toHaveLength(1);
        }),
      );
    }),
  LONG,
);

it(
  'reports and the end of their time: a report wins over unknown, and only one',
  () =>
    rounds(async () => {
      const requests = await askMany(10);
      await Promise.all(
        requests.map(async (request, nth) => {
          await noted(as(team.manager, request).approve());
          await noted(as(team.member, request).redeem());
          await move(request, { outcome_due: later(nth * 2) });
          const report = (status: string) => as(team.member, request).report({ status, duration_ms: 1_000 });
          const [reports] = await Promise.all([
            all([report('succeeded'), report('failed'), report('succeeded'), report('unknown')]),
            forgetOutcomes(app.services, request.request_id),
            forgetOutcomes(app.services),
          ]);
          await forgetOutcomes(app.services);
          const { outcome, outcome_details } = await row(request);
          expect(outcome_details).toEqual({ duration_ms: 1_000 });
          for (const [at, { status, body }] of reports.entries()) {
            expect(status).toBe(['succeeded', 'failed', 'succeeded', 'unknown'][at] === outcome ? 200 : 409);
            if (status === 409) expect(body).toMatchObject({ reason: 'outcome_differs' });
          }
          expect((await audits(request, 'report')).length).toBeLessThanOrEqual(2);
        }),
      );
    }),
  LONG,
);

it(
  'two requests under one redemption id: one is used',
  () =>
    rounds(async () => {
      const requests = await askMany(6);
      await all(requests.map((request) => as(team.manager, request).approve()));
      const redemption_id = randomUUID();
      const uses = await all(requests.map((request) => as(team.member, request).redeem({ redemption_id })));
      expect(statuses(uses)).toEqual([200, ...times(5, () => 409)]);
      for (const { status, body } of uses) if (status === 409) expect(body).toMatchObject({ reason: 'redemption_id_used' });
    }),
  LONG,
);

it('nobody has waited for each other in a circle', async () => {
  // A session tells its figures when it ends.
  await db().destroy();
  const session = new pg.Client(app.services.config.DATABASE_URL);
  await session.connect();
  const { rows } = await session.query('select deadlocks::int from pg_stat_database where datname = current_database()');
  await session.end();
  db().initialize();
  expect(rows).toEqual([{ deadlocks: 0 }]);
});
