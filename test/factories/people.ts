import { randomBytes } from 'node:crypto';
import { decodeJwt } from 'jose';
import { v7 as uuidv7 } from 'uuid';
import { computeHash, issueToken, PAT_PREFIX } from '../../api/identity/auth/authenticate.js';
import type { Seat } from '../../api/platform/access/access.js';
import type { Scope } from '../../api/platform/access/scopes.js';
import type { TestApp } from '../support/app.js';
import type { InstanceRole } from '../../api/platform/access/actor.js';

export interface Person {
  user_id: string;
  email: string;
  token: string;
}

interface PersonOptions {
  status?: 'active' | 'suspended' | 'deprovisioned';
  role?: InstanceRole;
}

/** A person with an open session. */
export async function buildPerson(app: TestApp, { status = 'active', role = 'user' }: PersonOptions = {}): Promise<Person> {
  const { db } = app.services;
  const user_id = uuidv7();
  const name = `p${randomBytes(5).toString('hex')}`;
  const email = `${name}@test.example`;
  const session_id = uuidv7();
  await db('users').insert({
    user_id,
    email,
    name,
    username: name,
    display_name: name,
    avatar: 'https://example.test/a.png',
    status,
    role,
  });
  await db('sessions').insert({ session_id, user_id, expires_at: db.raw("now() + interval '1 day'") });
  const { token } = await issueToken(app.services, user_id, session_id);
  return { user_id, email, token };
}

/** A personal access token of a person; the secret is returned as the product would show it once. */
export async function buildToken(
  app: TestApp,
  person: Person,
  scopes: Scope[],
  fields: Record<string, unknown> = {},
): Promise<string> {
  const secret = `${PAT_PREFIX}${randomBytes(32).toString('base64url')}`;
  await app.services.db('personal_access_tokens').insert({
    user_id: person.user_id,
    name: 'test',
    scopes,
    token_hash: computeHash(secret),
    prefix: secret.slice(0, 12),
    ...fields,
  });
  return secret;
}

/** The Cookie header of a browser in which this person is signed in to the web app, by the session of the token. */
export async function buildCookie(app: TestApp, person: Person): Promise<string> {
  const session = decodeJwt(person.token)['sid'] as string;
  const { token } = await issueToken(app.services, person.user_id, session, { use: 'web' });
  return `assent-session=${token}`;
}

export interface TestTeam {
  team_id: string;
  admin: Person;
  manager: Person;
  member: Person;
  guest: Person;
}

/** A team with one person in every seat. */
export async function buildTeam(app: TestApp): Promise<TestTeam> {
  const { db } = app.services;
  const [admin, manager, member, guest] = await Promise.all([
    buildPerson(app),
    buildPerson(app),
    buildPerson(app),
    buildPerson(app),
  ]);
  const team_id = uuidv7();
  await db('teams').insert({ team_id, name: `Team ${team_id}`, created_by: admin.user_id });
  const seats: [Seat, Person][] = [
    ['admin', admin],
    ['manager', manager],
    ['member', member],
    ['guest', guest],
  ];
  await db('memberships').insert(seats.map(([role, person]) => ({ team_id, user_id: person.user_id, role })));
  return { team_id, admin, manager, member, guest };
}

type Losing = (app: TestApp, team: { team_id: string }, person: Person) => Promise<unknown>;
const findSeat = (app: TestApp, { team_id }: { team_id: string }, { user_id }: Person) =>
  app.services.db('memberships').where({ team_id, user_id });
export const leave: Losing = (app, team, person) => findSeat(app, team, person).delete();

/** Ways in which a person may no longer act in a team: what a test calls it, how it comes about, what a run's record says of its creator. */
export const UNSEATED: [what: string, lose: Losing, message: string][] = [
  ['has left the team', leave, 'The automation’s creator is no longer a member of the team'],
  [
    'has become a guest',
    (app, team, person) => findSeat(app, team, person).update({ role: 'guest' }),
    'The automation’s creator is only a guest of the team',
  ],
  [
    'is suspended',
    (app, _team, { user_id }) => app.services.db('users').where({ user_id }).update({ status: 'suspended' }),
    'The automation’s creator can no longer act: the account is not active',
  ],
];

/** A live project; its team's creator made it. */
export async function buildProject(
  app: TestApp,
  team: TestTeam,
  fields: Record<string, unknown> = {},
): Promise<{ project_id: string }> {
  const project_id = uuidv7();
  await app.services.db('item_keys').insert({ item_id: project_id, item_type: 'project' });
  await app.services
    .db('projects')
    .insert({ project_id, team_id: team.team_id, name: 'Apollo', created_by: team.admin.user_id, ...fields });
  await app.services.db('search_dirty').insert({ team_id: team.team_id, item_id: project_id });
  return { project_id };
}

/** A task created by the team's member through the API's own operation. */
export async function buildTask(
  app: TestApp,
  team: TestTeam,
  project: { project_id: string },
  fields: Record<string, unknown> = {},
) {
  const made = await app
    .as(team.member)
    .post('/api/tasks', { title: 'Write it down', project_id: project.project_id, ...fields });
  if (made.status !== 201) throw new Error(`no task: ${JSON.stringify(made.body)}`);
  return made.body.data as { task_id: string; version: number; title: string; project_id: string };
}
