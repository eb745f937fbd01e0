import { setTimeout as sleep } from 'node:timers/promises';
import { listMails } from '../../../../api/platform/mail/list-mails.js';
import { always } from '../../../../scripts/chaos/state-invariants.sql.js';
import { buildCookie, buildPerson, buildTeam, type Person, type TestTeam } from '../../../factories/people.js';
import { buildRun, GATED } from '../../../factories/runs.js';
import { type Answer, startApp, type TestApp } from '../../../support/app.js';
import { resend } from '../../../support/resend.js';

// An automation acts as its creator. When that person may not write in its team any more it is disabled, and a manager takes it over.

let app: TestApp;
let team: TestTeam;
let root: Person;

beforeAll(async () => {
  app = await startApp();
  root = await buildPerson(app, { role: 'admin' });
});
afterAll(() => app.close());
beforeEach(async () => {
  team = await buildTeam(app);
});

/** Repetitions of each race; more by CAS_ROUNDS (`npm run test:long`). */
const ROUNDS = Number(process.env['CAS_ROUNDS'] ?? 8);
const db = () => app.services.db;
const DEFINITION = { name: 'Ship', trigger_type: 'task.created' };
async function make(creator: Person = team.member, fields: object = {}) {
  const body = { ...DEFINITION, team_id: team.team_id, actions: GATED, ...fields };
  const made = await app.as(creator).post('/api/automations', body);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return made.body as { automation_id: string; version: number };
}
const path = ({ automation_id }: { automation_id: string }) => `/api/automations/${automation_id}`;
const takeOver = (person: Person, automation: { automation_id: string }, body: object = {}) =>
  app.as(person).post(`${path(automation)}/take-over`, body);
const toggle = (person: Person, automation: { automation_id: string }, is_active = true) =>
  app.as(person).post(`${path(automation)}/toggle`, { is_active });
const toRow = ({ automation_id }: { automation_id: string }) => db()('automations').where({ automation_id }).first();
const entriesByTeam = ({ automation_id }: { automation_id: string }) =>
  db()('audit_entries').where({ entity_id: automation_id }).orderBy('timestamp');
const seat = ({ user_id }: Person) => `/api/teams/${team.team_id}/members/${user_id}`;
const act = (verb: string, person = team.member) =>
  app.as(root).post(`/api/admin/users/${person.user_id}/${verb}`, { reason: 'Lost laptop' });
const join = async (role: string): Promise<Person> => {
  const person = await buildPerson(app);
  await db()('memberships').insert({ team_id: team.team_id, user_id: person.user_id, role });
  return person;
};

type Change = (person?: Person) => Promise<Answer>;
const back = (person = team.member) =>
  app.as(team.admin).post(`/api/teams/${team.team_id}/members`, { user_id: person.user_id, role: 'member' });
const DOORS: [name: string, lose: Change, regain: Change | null, words: string][] = [
  ['removal', (p = team.member) => app.as(team.admin).delete(seat(p)), back, 'has left the team'],
  ['leaving', (p = team.member) => app.as(p).delete(seat(p)), back, 'has left the team'],
  [
    'the role guest',
    (p = team.member) => app.as(team.admin).patch(seat(p), { role: 'guest' }),
    (p = team.member) => app.as(team.admin).patch(seat(p), { role: 'member' }),
    'has become a guest',
  ],
  ['suspension', (p) => act('suspend', p), (p) => act('reinstate', p), 'is suspended'],
  ['deprovisioning', (p) => act('deprovision', p), null, 'has been deprovisioned'],
];
/** What the invariant checker says of enabled automations without a creator who may write. */
async function orphans(): Promise<string[]> {
  const invariant = always.find(({ name }) => name === 'enabled_automations_have_creators');
  const { rows } = await db().raw<{ rows: { violation: string }[] }>(invariant?.sql ?? '');
  return rows.map(({ violation }) => violation);
}

describe('a creator who may not write any more', () => {
  it.each(DOORS)(
    '%s disables their automations in the same commit, and coming back enables none',
    async (_name, lose, regain, words) => {
      const [own, second, off] = [await make(), await make(team.member, { name: 'Second' }), await make()];
      await toggle(team.member, off, false);
      const others = await make(team.manager);
      const lost = await lose();
      expect(lost.status).toBeLessThan(300);
      for (const automation of [own, second]) {
        expect(await toRow(automation)).toMatchObject({ is_active: false, disabled_reason: 'creator_left', version: 1 });
        const entry = (await entriesByTeam(automation)).at(-1);
        expect(entry).toMatchObject({
          action: 'toggle',
          severity: 'MEDIUM',
          correlation_id: lost.headers.get('x-correlation-id'),
        });
        expect(JSON.parse(entry.details)).toMatchObject({ disabled_reason: 'creator_left', creator_id: team.member.user_id });
      }
      expect(await toRow(off)).toMatchObject({ is_active: false, disabled_reason: null });
      expect(await toRow(others)).toMatchObject({ is_active: true });
      const [entry] = await db()('audit_entries').where({ audit_id: lost.headers.get('x-correlation-id') });
      expect(JSON.parse(entry.details)).toMatchObject({ disabled_automations: 2 });
      for (const person of [team.manager, team.admin]) {
        const [notice] = await db()('notifications').where({ user_id: person.user_id, kind: 'automation_disabled' });
        expect(notice).toMatchObject({
          team_id: team.team_id,
          message: expect.stringContaining(`${words}, so Second, Ship are`),
        });
        expect(await listMails(app.services, person.email)).toMatchObject([
          { subject: expect.stringMatching(/^Disabled: 2 automations of /) },
        ]);
      }
      expect(await db()('notifications').where({ user_id: team.guest.user_id })).toEqual([]);
      if (!regain) return;
      expect((await regain()).status).toBeLessThan(300);
      expect(await toRow(own)).toMatchObject({ is_active: false, disabled_reason: 'creator_left' });
      expect((await toggle(team.manager, own)).body).toMatchObject({ is_active: true });
      expect(await toRow(own)).toMatchObject({ disabled_reason: null });
    },
  );

  it('a lower role that still writes disables nothing, and neither does another team’s loss', async () => {
    const other = await buildTeam(app);
    await db()('memberships').insert({ team_id: other.team_id, user_id: team.manager.user_id, role: 'member' });
    const automation = await make(team.manager);
    await app.as(team.admin).patch(seat(team.manager), { role: 'member' });
    await app.as(other.admin).delete(`/api/teams/${other.team_id}/members/${team.manager.user_id}`);
    expect(await toRow(automation)).toMatchObject({ is_active: true });
  });

  it.each([DOORS[3], DOORS[4]] as typeof DOORS)('%s disables personal automations too', async (_name, lose) => {
    const personal = await app.as(team.member).post('/api/automations', DEFINITION);
    await lose();
    expect(await toRow(personal.body)).toMatchObject({ is_active: false, disabled_reason: 'creator_left' });
  });

  it('leaving a team keeps personal automations', async () => {
    const personal = await app.as(team.member).post('/api/automations', DEFINITION);
    await DOORS[1]?.[1]();
    expect(await toRow(personal.body)).toMatchObject({ is_active: true });
  });

  it.each(DOORS)('after %s no request enables them before they are taken over', async (_name, lose) => {
    const automation = await make();
    await lose();
    const refusals = [
      await toggle(team.manager, automation),
      await app.as(team.admin).patch(path(automation), { is_active: true }),
      await app.as(team.admin).put(path(automation), { ...DEFINITION, is_active: true }),
      await app.as(team.admin).put(path(automation), DEFINITION),
    ];
    for (const { status, body } of refusals) expect([status, body.detail]).toEqual([409, 'creator_not_authorized']);
    expect((await app.as(team.admin).patch(path(automation), { description: 'Kept' })).status).toBe(200);
    expect((await app.as(team.admin).post(`${path(automation)}/rollback`, { version: 1 })).status).toBe(200);
    expect(await toRow(automation)).toMatchObject({ is_active: false, disabled_reason: 'creator_left' });
    expect((await takeOver(team.manager, automation)).body).toMatchObject({ is_active: false, disabled_reason: null });
    expect((await toggle(team.manager, automation)).body).toMatchObject({ is_active: true });
  });
});

describe('races with a creator who leaves', () => {
  const creators = async (): Promise<Person> => join('member');
  it.each(DOORS)('%s against saving, enabling, creating and taking over: nothing is left enabled', async (_name, lose) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const person = await creators();
      const [off, on] = [await make(person, { is_active: false }), await make(person)];
      const left = await make(team.manager, { is_active: false });
      await app.as(team.admin).patch(seat(person), { role: 'manager' });
      const late = sleep(round % 4);
      const writes = [
        () => toggle(person, off),
        () => toggle(team.manager, off),
        () => app.as(team.manager).patch(path(on), { is_active: true }),
        () => app.as(person).put(path(on), { ...DEFINITION, is_active: true }),
        () => app.as(person).post('/api/automations', { ...DEFINITION, team_id: team.team_id }),
        () => takeOver(person, left).then(() => toggle(team.admin, left)),
      ];
      const [lost, ...answers] = await Promise.all([late.then(() => resend(() => lose(person))), ...writes.map(resend)]);
      expect(lost.status).toBeLessThan(300);
      for (const { status } of answers) expect([200, 201, 401, 403, 409]).toContain(status);
      expect(await orphans()).toEqual([]);
    }
  });

  it.each([DOORS[3], DOORS[4]] as typeof DOORS)(
    '%s against creating a personal one: nothing is left enabled',
    async (_name, lose) => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const person = await buildPerson(app);
        const late = sleep(round % 4);
        const [answer] = await Promise.all([app.as(person).post('/api/automations', DEFINITION), late.then(() => lose(person))]);
        expect([201, 401]).toContain(answer.status);
        expect(await orphans()).toEqual([]);
      }
    },
  );
});

describe('POST /api/automations/{id}/take-over', () => {
  it('makes the caller the creator, as a new version with an audit entry; enabling is a second step', async () => {
    const automation = await make();
    await DOORS[0]?.[1]();
    const { status, body, headers } = await takeOver(team.manager, automation, { version: 1 });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: { created_by: team.manager.user_id, version: 2, is_active: false, disabled_reason: null, warnings: [] },
    });
    const entry = (await entriesByTeam(automation)).at(-1);
    expect(entry).toMatchObject({ action: 'change_owner', severity: 'MEDIUM', audit_id: headers.get('x-correlation-id') });
    expect(JSON.parse(entry.details)).toMatchObject({
      version: 2,
      changes: { created_by: { from: team.member.user_id, to: team.manager.user_id } },
    });
    const versions = (await app.as(team.guest).get(`${path(automation)}/versions`)).body;
    expect(versions).toMatchObject([{ version: 2, changed_by: team.manager.user_id, change_note: 'Taken over' }, { version: 1 }]);
    expect(versions[0].actions).toEqual(versions[1].actions);
  });

  it('of an enabled one, whose creator is present, keeps it enabled and tells that person', async () => {
    const automation = await make();
    expect((await takeOver(team.manager, automation)).body).toMatchObject({ is_active: true, created_by: team.manager.user_id });
    expect(await db()('notifications').where({ user_id: team.member.user_id })).toMatchObject([
      { kind: 'message', message: expect.stringContaining('was taken over') },
    ]);
  });

  it('runs that have begun keep their creator; a later one and a replay act as the new one', async () => {
    const automation = await make();
    const paused = await buildRun(app, team, { automation });
    const failed = await buildRun(app, team, { automation, status: 'failed' });
    await takeOver(team.admin, automation);
    const findCreator = async (run_id: string) => (await db()('automation_runs').where({ run_id }).first()).creator_id;
    expect(await findCreator(paused.run_id)).toBe(team.member.user_id);
    const replay = await app.as(team.admin).post(`/api/automations/dead-letter/${failed.run_id}/retry`, {});
    expect(await findCreator(replay.body.run_id)).toBe(team.admin.user_id);
    const executed = await app.as(team.admin).post(`${path(automation)}/execute`, {});
    expect(await findCreator(executed.body.run_id)).toBe(team.admin.user_id);
    const listed = async () => (await app.as(team.manager).get('/api/automations/approvals')).body.approvals[0].creator_left;
    expect(await listed()).toBe(false);
    await DOORS[0]?.[1]();
    expect(await listed()).toBe(true);
    const cookie = await buildCookie(app, team.manager);
    for (const page of ['/app/approvals', `/app/runs/${paused.run_id}`]) {
      const html = await (await fetch(`${app.url}${page}`, { headers: { cookie } })).text();
      expect(html).toContain('so this run can only be rejected');
    }
    const { status, body } = await app.as(team.manager).post(`/api/automations/runs/${paused.run_id}/approve`);
    expect([status, body.detail]).toEqual([409, 'creator_not_authorized']);
  });

  it('one’s own changes nothing; a stale version is 409, and so it is to 20 managers at once but for one', async () => {
    const automation = await make();
    expect((await takeOver(team.member, automation)).status).toBe(403);
    const managers = await Promise.all(Array.from({ length: 20 }, () => join('manager')));
    const answers = await Promise.all(managers.map((person) => takeOver(person, automation, { version: 1 })));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200,
      ...Array.from({ length: 19 }, () => 409),
    ]);
    const winner = managers[answers.findIndex(({ status }) => status === 200)] as Person;
    expect(await toRow(automation)).toMatchObject({ created_by: winner.user_id, version: 2 });
    expect((await takeOver(winner, automation)).body).toMatchObject({ version: 2 });
    expect((await entriesByTeam(automation)).filter(({ action }) => action === 'change_owner')).toHaveLength(1);
  });

  it('is offered to managers on the team’s page, and done from there', async () => {
    const automation = await make(team.member, { name: 'Left behind' });
    await DOORS[0]?.[1]();
    const cookie = await buildCookie(app, team.manager);
    const url = `${app.url}/app/teams/${team.team_id}`;
    const shown = async (person: Person) => (await fetch(url, { headers: { cookie: await buildCookie(app, person) } })).text();
    expect(await shown(team.guest)).toContain('Left behind');
    expect(await shown(team.guest)).not.toContain('Take over');
    const html = await shown(team.manager);
    expect(html).toContain('Take over');
    const csrf = /name="_csrf" value="([^"]+)"/.exec(html)?.[1] as string;
    const answer = await fetch(`${app.url}/app/automations/${automation.automation_id}/take-over`, {
      method: 'POST',
      redirect: 'manual',
      headers: { cookie, 'content-type': 'application/x-www-form-urlencoded', origin: app.url },
      body: new URLSearchParams({ _csrf: csrf, version: '1', back: `/app/teams/${team.team_id}` }),
    });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, `/app/teams/${team.team_id}`]);
    expect(await toRow(automation)).toMatchObject({ created_by: team.manager.user_id, is_active: false });
  });
});
